import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../core/error.ts'
import type { ModelEvent } from '../../core/event.ts'
import { createUsage } from '../../core/usage.ts'
import { manualClock, sequentialIds } from '../../testing/deterministic.ts'
import { Assembler } from '../responses/assemble.ts'
import type { AssemblerOptions } from '../responses/assembler-options.ts'
import { ChatWriter } from './chat-writer.ts'
import type { ChatPreferences } from './to-responses.ts'

type Json = { readonly [field: string]: unknown }
interface Chunk extends Json {
  readonly choices: readonly { readonly delta: Json; readonly finish_reason: string | null; readonly logprobs: unknown }[]
}

function assembler(stream: boolean, preferences: Partial<ChatPreferences> = {}, options: Partial<AssemblerOptions> = {}): Assembler {
  const clock = manualClock()
  const facts = () => ({ model: 'acme/small' })
  const all: AssemblerOptions = {
    id: 'gen-1',
    request: { input: [] },
    receivedAt: clock.now(),
    stream,
    clock,
    newId: sequentialIds(),
    facts,
    ...options,
  }
  return new Assembler(all, new ChatWriter(all, { usage: undefined, reasoning: true, ...preferences }))
}

function parse(wire: string): readonly Chunk[] {
  expect(wire.endsWith('data: [DONE]\n\n')).toBe(true)
  const lines = wire.split('\n\n').slice(0, -2)
  return lines.map((line) => JSON.parse(line.replace(/^data: /, '')) as Chunk)
}

function stream(events: readonly ModelEvent[], preferences?: Partial<ChatPreferences>, options?: Partial<AssemblerOptions>): readonly Chunk[] {
  const subject = assembler(true, preferences, options)
  subject.push(events)
  subject.finish()
  return parse(subject.takeWire())
}

function whole(
  events: readonly ModelEvent[],
  preferences?: Partial<ChatPreferences>,
  options?: Partial<AssemblerOptions>,
): { readonly choices: readonly [{ readonly message: Json } & Json] } & Json {
  const subject = assembler(false, preferences, options)
  subject.push(events)
  subject.finish()
  return JSON.parse(subject.answer())
}

const usage = createUsage({ inputTokens: 5, outputTokens: 3, cachedTokens: 2, reasoningTokens: 1 })
const end = (reason: 'stop' | 'length' | 'content_filter' = 'stop'): ModelEvent => ({ type: 'response-end', reason, nativeReason: 'END', usage })
const message = (key: string): ModelEvent => ({ type: 'item-start', key, item: { type: 'message', role: 'assistant', content: [] } })
const call = (key: string): ModelEvent => ({
  type: 'item-start',
  key,
  item: { type: 'function_call', call_id: `call_${key}`, name: 'look', arguments: '' },
})
const thinks = (key: string): ModelEvent => ({ type: 'item-start', key, item: { type: 'reasoning', summary: [] } })
const text = (key: string, delta: string): ModelEvent => ({ type: 'text-delta', key, delta })
const thought = (key: string, delta: string): ModelEvent => ({ type: 'reasoning-delta', key, kind: 'text', delta })
const args = (key: string, delta: string): ModelEvent => ({ type: 'arguments-delta', key, delta })
const close = (key: string, item?: Json): ModelEvent => (item ? { type: 'item-end', key, item } : { type: 'item-end', key })
const hello = [message('m'), text('m', 'Hel'), text('m', 'lo'), close('m')]
const deltas = (chunks: readonly Chunk[]): readonly Json[] => chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta))

describe('a stream', () => {
  it('begins with the role, contains every delta, and ends with finish reason and usage', () => {
    const chunks = stream([...hello, end()])
    const head = { id: 'gen-1', object: 'chat.completion.chunk', model: 'acme/small', created: expect.any(Number) }
    expect(chunks).toEqual([
      { ...head, choices: [{ index: 0, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null }] },
      { ...head, choices: [{ index: 0, delta: { content: 'Hel' }, logprobs: null, finish_reason: null }] },
      { ...head, choices: [{ index: 0, delta: { content: 'lo' }, logprobs: null, finish_reason: null }] },
      {
        ...head,
        choices: [{ index: 0, delta: {}, logprobs: null, finish_reason: 'stop', native_finish_reason: 'END' }],
        usage: expect.objectContaining({ prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 }),
        service_tier: 'default',
      },
    ])
  })

  it('has usage in a chunk of its own with include_usage, and none without it', () => {
    const apart = stream([...hello, end()], { usage: true })
    expect(apart.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 8 } })
    expect(apart.filter((chunk) => 'usage' in chunk)).toHaveLength(1)
    expect(stream([...hello, end()], { usage: false }).some((chunk) => 'usage' in chunk)).toBe(false)
  })

  it('that breaks says why in a last chunk of its shape', () => {
    const subject = assembler(true)
    subject.push([message('m'), text('m', 'Hel')])
    subject.fail(new GatewayError('rate_limit_exceeded', 'Slow "down"'))
    expect(parse(subject.takeWire()).at(-1)).toMatchObject({
      error: { code: 429, message: 'Slow "down"', metadata: { error_type: 'rate_limit_exceeded' } },
      choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }],
    })
  })

  it('does not finish with tool_calls after a call that broke off, whatever its provider says', () => {
    const chunks = stream([call('c'), args('c', '{"a":'), close('c', { status: 'incomplete' }), end()])
    expect(chunks.at(-1)).toMatchObject({ choices: [{ finish_reason: 'length' }] })
  })

  it('carries empty keep-alive chunks, once it has begun', () => {
    const subject = assembler(true)
    const [role, sign] = subject.keepAlive().trim().split('\n\n')
    expect(JSON.parse(role!.slice(6))).toMatchObject({ choices: [{ delta: { role: 'assistant' } }] })
    expect(JSON.parse(sign!.slice(6))).toMatchObject({ choices: [{ delta: {}, finish_reason: null }] })
  })

  it('contains the upstream bodies and the routing metadata, if requested', () => {
    const chunks = stream([...hello, end()], {}, { echoes: () => ['{"a":1}'], extra: () => ({ gateway_metadata: { attempt: 1 } }) })
    expect(chunks.filter((chunk) => 'debug' in chunk)[0]).toMatchObject({ choices: [], debug: { echo_upstream_body: { a: 1 } } })
    expect(chunks.at(-1)).toMatchObject({ gateway_metadata: { attempt: 1 } })
  })
})

describe('a completion', () => {
  it('is the same in one object', () => {
    expect(whole([...hello, end()])).toEqual({
      id: 'gen-1',
      object: 'chat.completion',
      created: expect.any(Number),
      model: 'acme/small',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hello', refusal: null, reasoning: null },
          logprobs: null,
          finish_reason: 'stop',
          native_finish_reason: 'END',
        },
      ],
      system_fingerprint: null,
      usage: {
        prompt_tokens: 5,
        completion_tokens: 3,
        total_tokens: 8,
        prompt_tokens_details: { cached_tokens: 2 },
        completion_tokens_details: { reasoning_tokens: 1 },
        cost: null,
        is_byok: false,
      },
      service_tier: 'default',
    })
  })

  it.each([
    ['length', 'length'],
    ['content_filter', 'content_filter'],
  ] as const)('that ended for %s says so, with and without calls', (reason, said) => {
    expect(whole([...hello, call('c'), close('c'), end(reason)]).choices[0]).toMatchObject({ finish_reason: said })
  })
})

describe('calls', () => {
  const events = [call('a'), args('a', '{"x":'), call('b'), args('b', '{}'), args('a', '1}'), close('a'), close('b'), call('c'), close('c'), end()]

  it('are streamed piece by piece under their index', () => {
    const chunks = stream(events)
    expect(deltas(chunks).flatMap((delta) => (delta['tool_calls'] as readonly Json[] | undefined) ?? [])).toEqual([
      { index: 0, id: 'call_a', type: 'function', function: { name: 'look', arguments: '' } },
      { index: 0, function: { arguments: '{"x":' } },
      { index: 0, function: { arguments: '1}' } },
      { index: 1, id: 'call_b', type: 'function', function: { name: 'look', arguments: '' } },
      { index: 1, function: { arguments: '{}' } },
      { index: 2, id: 'call_c', type: 'function', function: { name: 'look', arguments: '' } },
      { index: 2, function: { arguments: '{}' } },
    ])
    expect(chunks.at(-1)!.choices[0]).toMatchObject({ finish_reason: 'tool_calls' })
  })

  it('leave the content of a completion empty', () => {
    const [{ message: said }] = whole(events).choices
    expect(said).toMatchObject({ content: null, tool_calls: [{ id: 'call_a', function: { name: 'look', arguments: '{"x":1}' } }, {}, {}] })
  })

  it('of free text have a form of their own', () => {
    const write: ModelEvent = { type: 'item-start', key: 'w', item: { type: 'custom_tool_call', call_id: 'w', name: 'write', input: '' } }
    const custom = [write, args('w', 'a'), close('w', { input: 'ab' }), end()]
    expect(whole(custom).choices[0].message['tool_calls']).toEqual([{ id: 'w', type: 'custom', custom: { name: 'write', input: 'ab' } }])
    expect(deltas(stream(custom)).at(-2)).toEqual({ tool_calls: [{ index: 0, custom: { input: 'b' } }] })
  })

  it('that wait for the caller in a way this format does not have are a failure, not an empty answer', () => {
    const patch: ModelEvent = { type: 'item-start', key: 'p', item: { type: 'apply_patch_call', call_id: 'p', status: 'completed' } }
    expect(() => assembler(true).push([patch])).toThrow(/apply_patch_call, which has no place in this format/)
  })
})

describe('thoughts', () => {
  const sealed = { encrypted_content: 'sb1.x', signature: 's', format: 'anthropic-claude-v1' }
  const events = [thinks('r'), thought('r', 'Let me'), thought('r', ' see'), close('r', sealed), ...hello, end()]

  it('are text to read, and details to send back', () => {
    expect(whole(events).choices[0].message).toMatchObject({
      content: 'Hello',
      reasoning: 'Let me see',
      reasoning_details: [
        { type: 'reasoning.text', text: 'Let me see', signature: 's', format: 'anthropic-claude-v1', index: 0 },
        { type: 'reasoning.encrypted', data: 'sb1.x', format: 'anthropic-claude-v1', index: 1 },
      ],
    })
  })

  it('are streamed as they come, their ends behind them', () => {
    const pieces = deltas(stream(events)).filter((delta) => 'reasoning_details' in delta)
    expect(pieces).toMatchObject([
      { reasoning: 'Let me', reasoning_details: [{ type: 'reasoning.text', text: 'Let me', index: 0 }] },
      { reasoning: ' see', reasoning_details: [{ type: 'reasoning.text', text: ' see', index: 0 }] },
      { reasoning_details: [{ type: 'reasoning.text', signature: 's', index: 0 }] },
      { reasoning_details: [{ type: 'reasoning.encrypted', data: 'sb1.x', index: 1 }] },
    ])
    expect(pieces.slice(2).some((delta) => 'reasoning' in delta)).toBe(false)
  })

  it('are sent under the other field name, too, if so configured', () => {
    const mirrored = { mirrorReasoning: true }
    expect(whole(events, {}, mirrored).choices[0].message).toMatchObject({ reasoning: 'Let me see', reasoning_content: 'Let me see' })
    const told = deltas(stream(events, {}, mirrored)).filter((delta) => 'reasoning' in delta || 'reasoning_content' in delta)
    expect(told).toMatchObject(['Let me', ' see'].map((said) => ({ reasoning: said, reasoning_content: said })))
    expect(
      JSON.stringify([stream(events), whole(events), stream([...hello, end()], {}, mirrored), whole([...hello, end()], {}, mirrored)]),
    ).not.toContain('reasoning_content')
  })

  it('are left out where the caller excludes them', () => {
    expect(JSON.stringify([stream(events, { reasoning: false }), whole(events, { reasoning: false })])).not.toMatch(/Let me|sb1/)
  })
})

describe('other parts of an answer', () => {
  it('several messages are one, with an empty line between them, and citations count in the whole', () => {
    const cite: ModelEvent = {
      type: 'annotation',
      key: 'n',
      annotation: { type: 'url_citation', url: 'https://a.example', title: 'A', start_index: 0, end_index: 3 },
    }
    const events = [...hello, message('n'), text('n', 'The end'), cite, close('n'), end()]
    const told = [{ type: 'url_citation', url_citation: { url: 'https://a.example', title: 'A', start_index: 7, end_index: 10 } }]
    expect(whole(events).choices[0].message).toMatchObject({ content: 'Hello\n\nThe end', annotations: told })
    const pieces = deltas(stream(events))
    expect(pieces.map((delta) => (delta['content'] as string | undefined) ?? '').join('')).toBe('Hello\n\nThe end')
    expect(pieces.filter((delta) => 'annotations' in delta)).toEqual([{ annotations: told }])
  })

  it('refusals, probabilities and pictures', () => {
    const logprob = { token: 'Hi', logprob: -0.1, bytes: [72, 105], top_logprobs: [] }
    const image: ModelEvent = {
      type: 'item-start',
      key: 'i',
      item: { type: 'image_generation_call', status: 'completed', result: 'AA', output_format: 'webp' },
    }
    const events: readonly ModelEvent[] = [
      message('m'),
      { type: 'text-delta', key: 'm', delta: 'Hi', logprobs: [logprob] },
      { type: 'refusal-delta', key: 'm', delta: 'No.' },
      close('m'),
      image,
      close('i'),
      end(),
    ]
    const images = [{ type: 'image_url', image_url: { url: 'data:image/webp;base64,AA' }, index: 0 }]
    expect(whole(events).choices[0]).toMatchObject({
      message: { content: 'Hi', refusal: 'No.', images },
      logprobs: { content: [logprob], refusal: null },
    })
    const chunks = stream(events)
    expect(chunks[1]!.choices[0]).toMatchObject({ delta: { content: 'Hi' }, logprobs: { content: [logprob], refusal: null } })
    expect(deltas(chunks).slice(2, 4)).toEqual([{ refusal: 'No.' }, { images }])
  })
})
