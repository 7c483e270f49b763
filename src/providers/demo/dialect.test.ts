import { describe, expect, test } from 'vitest'
import type { Target } from '../../core/dialect.ts'
import type { ModelEvent } from '../../core/event.ts'
import type { ModelRequest } from '../../core/request.ts'
import { openAiChat } from '../../dialects/openai-chat/index.ts'
import { createDemoTransport } from './transport.ts'
import { demo } from './index.ts'

const transport = createDemoTransport()
const options = openAiChat.options.parse(demo.options)

/** One call with the steps of an attempt: encode, send, split frames, decode. */
async function call(upstreamModel: string, request: Partial<ModelRequest>, stream: boolean): Promise<readonly ModelEvent[]> {
  const target: Target<typeof options> = {
    provider: demo.slug,
    providerName: demo.name,
    upstreamModel,
    options,
    supports: new Set(openAiChat.supports),
    contextLength: 1_000,
    scope: 'demo',
    stream,
  }
  const full: ModelRequest = { input: [{ type: 'message', role: 'user', content: 'hello brave world' }], ...request }
  const encoded = openAiChat.encodeRequest(full, target)
  const answer = await transport({ ...encoded, url: `http://demo.invalid/v1${encoded.path}` }, new AbortController().signal)
  const decoder = openAiChat.decoder(full, target)
  const events: ModelEvent[] = []
  let body = ''
  for await (const bytes of answer.body) body += bytes.toString()
  if (stream) for (const frame of body.split('\n\n').filter(Boolean)) decoder.push(frame.slice('data: '.length), undefined, events)
  else decoder.body(body, events)
  decoder.end(events)
  return events
}
const joined = (events: readonly ModelEvent[], type: ModelEvent['type']): string =>
  events.map((event) => (event.type === type && 'delta' in event ? event.delta : '')).join('')

const TOOL = { type: 'function', name: 'add', parameters: { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] } }

describe.each([true, false])('through its dialect, streaming: %s', (stream) => {
  test('demo/echo repeats the text and counts its tokens', async () => {
    const events = await call('echo', {}, stream)
    expect(joined(events, 'text-delta')).toBe('hello brave world')
    expect(events.at(-1)).toMatchObject({ type: 'response-end', reason: 'stop', usage: { outputTokens: 3, inputTokens: 5 } })
  })
  test('max_output_tokens reaches it', async () => {
    const events = await call('echo', { max_output_tokens: 2 }, stream)
    expect(joined(events, 'text-delta')).toBe('hello brave')
    expect(events.at(-1)).toMatchObject({ type: 'response-end', reason: 'length' })
  })
  test('demo/reason reasons', async () => {
    const events = await call('reason', {}, stream)
    expect(joined(events, 'reasoning-delta')).toContain('(simulated)')
    expect(joined(events, 'text-delta')).toBe('hello brave world')
  })
  test('demo/tool calls', async () => {
    const events = await call('tool', { tools: [TOOL] }, stream)
    expect(events.find((event) => event.type === 'item-start')).toMatchObject({ item: { type: 'function_call', name: 'add' } })
    expect(joined(events, 'arguments-delta')).toBe('{"a":1}')
  })
  test('demo/json receives the schema', async () => {
    const schema = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] }
    const events = await call('json', { text: { format: { type: 'json_schema', name: 's', schema } } }, stream)
    expect(joined(events, 'text-delta')).toBe('{"ok":true}')
  })
})

test('an error answer becomes a typed error', async () => {
  const target = {
    provider: 'demo',
    providerName: 'Demo',
    upstreamModel: 'error-429',
    options,
    supports: new Set(openAiChat.supports),
    contextLength: 1,
    scope: '',
    stream: true,
  }
  const encoded = openAiChat.encodeRequest({ input: [{ type: 'message', role: 'user', content: 'x' }] }, target)
  const answer = await transport({ ...encoded, url: 'x' }, new AbortController().signal)
  let body = ''
  for await (const bytes of answer.body) body += bytes.toString()
  expect(openAiChat.decodeError(answer.status, answer.headers, body, target)).toMatchObject({
    errorType: 'rate_limit_exceeded',
    details: { retryAfterMs: 1_000 },
  })
})
