import { describe, expect, it } from 'vitest'
import type { ModelRequest } from '../../core/request.ts'
import { openAiChat } from '../openai-chat/index.ts'
import { openAiResponses } from '../openai-responses/index.ts'
import { hasOptionalMembers } from './optional-members.ts'

const name = { type: 'string' }
const closed = { type: 'object', properties: { name }, required: ['name'], additionalProperties: false }
const open = { type: 'object', properties: { name, nick: name }, required: ['name'], additionalProperties: false }

describe('members that may be left out', () => {
  it.each([closed, { type: 'object' }, { type: 'array', items: closed }, { properties: { required: name }, required: ['required'] }])(
    'are none in %j',
    (schema) => {
      expect(hasOptionalMembers(schema)).toBe(false)
    },
  )
  it.each([open, { type: 'array', items: open }, { $defs: { open } }, { anyOf: [closed, open] }, { properties: { name } }])(
    'are found in %j',
    (schema) => {
      expect(hasOptionalMembers(schema)).toBe(true)
    },
  )
})

describe.each([openAiChat, openAiResponses])('$name', (dialect) => {
  const target = {
    provider: 'acme',
    providerName: 'Acme',
    upstreamModel: 'small-1',
    options: {},
    supports: new Set(dialect.supports),
    contextLength: 128_000,
    scope: 'acme',
    stream: true,
  }
  const ask = (schema: object, optional: 'refused' | 'taken' = 'refused'): { readonly body: string; readonly dropped: readonly string[] } => {
    const request: ModelRequest = {
      input: [{ type: 'message', role: 'user', content: 'Hi' }],
      tools: [{ type: 'function', name: 'f', parameters: schema as never, strict: true }],
      text: { format: { type: 'json_schema', name: 'answer', schema: schema as never, strict: true } },
    }
    const options = dialect.options.parse({ optional_members: optional, ...(dialect === openAiChat ? { strict_tools: true } : {}) })
    return (dialect.encodeRequest as (request: ModelRequest, target: unknown) => ReturnType<typeof ask>)(request, { ...target, options })
  }

  it('does not enforce a schema that the vendor would refuse for them, and says so', () => {
    const { body, dropped } = ask(open)
    expect(body).not.toContain('"strict":true')
    expect(dropped).toEqual(
      expect.arrayContaining(['tools: strict: members that may be left out', 'text.format: strict: members that may be left out']),
    )
  })
  it('enforces it where the vendor accepts it', () => {
    const { body, dropped } = ask(open, 'taken')
    expect(body.match(/"strict":true/g)).toHaveLength(2)
    expect(dropped).toEqual([])
  })
  it('enforces all others', () => {
    const { body, dropped } = ask(closed)
    expect(body.match(/"strict":true/g)).toHaveLength(2)
    expect(dropped).toEqual([])
  })
})
