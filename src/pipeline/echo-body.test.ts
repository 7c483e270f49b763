import { describe, expect, it } from 'vitest'
import { Secret } from '../lib/secret.ts'
import { echoBody, takeEchoes } from './echo-body.ts'

const shown = (body: unknown, credential?: Parameters<typeof echoBody>[1]): unknown => JSON.parse(echoBody(JSON.stringify(body), credential))
const credential = { id: 'c1', secret: new Secret('sk-upstream-1234567890') } as Parameters<typeof echoBody>[1]

describe('an echoed body', () => {
  it('is the body, member by member and in its order', () => {
    const body = { model: 'small-1', messages: [{ role: 'user', content: 'data: hi, token: 5' }], max_tokens: 5, stream: true, stop: null }
    expect(echoBody(JSON.stringify(body), undefined)).toBe(JSON.stringify(body))
  })

  it.each([
    ['an image as a data URL', `data:image/png;base64,${'A'.repeat(400)}`, 'data:image/png;base64,[400 characters]'],
    ['bytes', 'iVBORw0KGgo'.repeat(40), '[440 characters of base64]'],
    ['bytes with padding', `${'ab-_'.repeat(100)}==`, '[402 characters of base64]'],
    ['a short text that could be one', 'iVBORw0KGgo', 'iVBORw0KGgo'],
    ['a long text', 'word '.repeat(200), 'word '.repeat(200)],
  ])('contains the size of media, not its bytes: %s', (_name, sent, told) => {
    expect(shown({ content: [{ data: sent }] })).toEqual({ content: [{ data: told }] })
  })

  it('holds no credential: by the name of its member, in headers, or the one the attempt used wherever it stands', () => {
    const tool = { server_url: 'https://mcp.example', authorization: 'Bearer abc', headers: { 'x-team': 'blue', cookie: 'c' } }
    expect(shown({ tools: [tool], mcp_servers: [{ authorization_token: 'abc' }], note: 'by sk-upstream-1234567890.' }, credential)).toEqual({
      tools: [{ server_url: 'https://mcp.example', authorization: '[redacted]', headers: { 'x-team': '[redacted]', cookie: '[redacted]' } }],
      mcp_servers: [{ authorization_token: '[redacted]' }],
      note: 'by [redacted].',
    })
  })

  it.each([
    ['https://mcp.example/k-4711/sse?token=s3cret', 'https://mcp.example'],
    ['https://user:s3cret@mcp.example:8443/', 'https://mcp.example:8443'],
    ['s3cret', '[redacted]'],
    ['data:s3cret', '[redacted]'],
  ])('contains only the origin of a tool’s server URL, which may come from a preset: %s', (server_url, told) => {
    expect(shown({ tools: [{ type: 'mcp', server_label: 'docs', server_url }] })).toEqual({
      tools: [{ type: 'mcp', server_label: 'docs', server_url: told }],
    })
  })

  it('keeps what only looks like a credential: counts of tokens, and the schema of a parameter named token', () => {
    const body = { max_tokens: 5, parameters: { properties: { token: { type: 'string' }, headers: [1] } } }
    expect(shown(body)).toEqual(body)
  })

  it('has its texts cut when it is large, and is replaced by its size when that does not help', () => {
    expect(shown({ model: 'small-1', text: 'word '.repeat(300_000) })).toEqual({
      model: 'small-1',
      text: `${'word '.repeat(200)} [1499000 more characters]`,
    })
    expect(shown({ text: `${'x'.repeat(999)}${'😀'.repeat(1_000_000)}` })).toEqual({ text: `${'x'.repeat(999)} [2000000 more characters]` })
    for (const many of [{ list: Array.from({ length: 60_000 }, () => 1) }, { list: Array.from({ length: 2_000 }, () => 'x'.repeat(999) + ' ') }])
      expect(shown(many)).toEqual({ left_out: `a body of ${JSON.stringify(many).length} characters` })
    expect(JSON.parse(echoBody('<xml/>', undefined))).toEqual({ left_out: 'a body of 6 characters' })
  })
})

it('upstream bodies are sent once, in the order of the attempts', () => {
  const attempt = (echo?: string) => ({ endpoint: {} as never, status: 200, startedAt: 0, ...(echo === undefined ? {} : { echo }) })
  const attempts = [attempt('{"a":1}'), attempt(), attempt('{"b":2}')]
  expect(takeEchoes(attempts)).toEqual(['{"a":1}', '{"b":2}'])
  expect(takeEchoes(attempts)).toEqual([])
})
