import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../core/error.ts'
import type { ModelEvent } from '../../core/event.ts'
import { openReasoning } from '../../core/reasoning-envelope.ts'
import type { ModelRequest } from '../../core/request.ts'
import { createSseParser } from '../../lib/sse.ts'
import { checkEventBalance, foldEvents } from '../../testing/event-balance.ts'
import { cohereTarget } from './__fixtures__/target.ts'
import { cohereV2 } from './index.ts'
import { CohereDecoder } from './stream.ts'

type Frame = { readonly type: string; readonly [field: string]: unknown }

const message = (type: string, inner: unknown, index?: number): Frame => ({
  type,
  ...(index === undefined ? {} : { index }),
  delta: { message: inner },
})
const start: Frame = {
  id: 'up-1',
  type: 'message-start',
  delta: { message: { role: 'assistant', content: [], tool_plan: '', tool_calls: [], citations: [] } },
}
const plan = (text: string): Frame => message('tool-plan-delta', { tool_plan: text })
const open = (kind: 'text' | 'thinking', index = 0): Frame => message('content-start', { content: { type: kind, [kind]: '' } }, index)
const text = (delta: string, index = 0): Frame => message('content-delta', { content: { text: delta } }, index)
const thinking = (delta: string, index = 0): Frame => message('content-delta', { content: { thinking: delta } }, index)
const close = (index = 0): Frame => ({ type: 'content-end', index })
const call = (index: number, id: string, name: string, args: unknown = ''): Frame =>
  message('tool-call-start', { tool_calls: { id, type: 'function', function: { name, arguments: args } } }, index)
const args = (index: number, piece: string): Frame => message('tool-call-delta', { tool_calls: { function: { arguments: piece } } }, index)
const callEnd = (index: number): Frame => ({ type: 'tool-call-end', index })
const cite = (citation: object): Frame => message('citation-start', { citations: citation }, 0)
const USAGE = {
  billed_units: { input_tokens: 5, output_tokens: 3 },
  tokens: { input_tokens: 100, output_tokens: 20, reasoning_tokens: 7, image_tokens: 11 },
  cached_tokens: 64,
}
const end = (finish_reason: string | undefined = 'COMPLETE', more: object = {}): Frame => ({
  type: 'message-end',
  delta: { ...(finish_reason === undefined ? {} : { finish_reason }), usage: USAGE, ...more },
})

function decode(frames: readonly Frame[], request: ModelRequest = { input: [] }, fast = true): ModelEvent[] {
  const out: ModelEvent[] = []
  const decoder = new CohereDecoder(request, cohereTarget(), fast)
  for (const frame of frames) decoder.push(JSON.stringify(frame), frame.type, out)
  decoder.push('[DONE]', undefined, out)
  decoder.end(out)
  checkEventBalance(out)
  return out
}

function whole(body: object): ModelEvent[] {
  const out: ModelEvent[] = []
  new CohereDecoder({ input: [] }, cohereTarget()).body(JSON.stringify(body), out)
  checkEventBalance(out)
  return out
}

function failure(act: () => unknown): GatewayError {
  try {
    act()
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
  return expect.unreachable('it should have failed')
}

const last = (events: readonly ModelEvent[]) => events.at(-1) as Extract<ModelEvent, { type: 'response-end' }>
const annotations = (events: readonly ModelEvent[]) => events.flatMap((event) => (event.type === 'annotation' ? [event.annotation] : []))
const envelopes = (events: readonly ModelEvent[]) =>
  events.flatMap((event) =>
    event.type === 'item-end' && typeof event.item?.['encrypted_content'] === 'string' ? [openReasoning(event.item['encrypted_content'])] : [],
  )

describe('content', () => {
  it('is thoughts, then text', () => {
    const events = decode([
      start,
      open('thinking'),
      thinking('Let '),
      thinking('me'),
      close(),
      open('text', 1),
      text('Hel', 1),
      text('lo', 1),
      close(1),
      end(),
    ])
    expect(foldEvents(events)).toMatchObject({ reasoning: 'Let me', text: 'Hello', calls: [] })
    expect(envelopes(events)).toEqual([{ format: 'unknown', scope: 'acme', text: 'Let me', data: 'thinking' }])
    expect(events[0]).toEqual({ type: 'response-start', upstreamId: 'up-1' })
  })
  it('shows a plan as reasoning, not as text', () => {
    const events = decode([start, plan('I will '), plan('look.'), call(0, 'a', 'f'), callEnd(0), end('TOOL_CALL')])
    expect(foldEvents(events)).toMatchObject({ reasoning: 'I will look.', text: '', calls: [{ callId: 'a', name: 'f', text: '{}' }] })
    expect(envelopes(events)).toMatchObject([{ data: 'tool_plan' }])
  })
  it('keeps a plan and thoughts apart', () => {
    expect(
      envelopes(decode([start, plan('p'), open('thinking'), thinking('t'), close(), open('text', 1), text('x', 1), end()])).map((each) => each?.data),
    ).toEqual(['tool_plan', 'thinking'])
  })
  it('carries log probabilities', () => {
    const delta = (text: string, ...logprobs: readonly number[]): Frame => ({
      type: 'content-delta',
      index: 0,
      delta: { message: { content: { text } } },
      logprobs: { token_ids: logprobs.map(() => 7), text, logprobs },
    })
    const texts = decode([start, delta('Hi', -0.25), delta(' you', -0.5, -0.25), end()]).filter(({ type }) => type === 'text-delta')
    expect(texts).toMatchObject([
      { delta: 'Hi', logprobs: [{ token: 'Hi', logprob: -0.25, bytes: [72, 105], top_logprobs: [] }] },
      { delta: ' you', logprobs: [{ token: ' you', logprob: -0.75 }] },
    ])
  })
  it.each<[string, string, readonly object[], readonly string[] | undefined]>([
    [
      'its text',
      'Hi you',
      [
        { text: 'Hi', logprobs: [-1] },
        { text: ' you', logprobs: [-1] },
      ],
      ['Hi', ' you'],
    ],
    [
      'its thoughts before that',
      'Hi',
      [
        { text: 'Hm', logprobs: [-1] },
        { text: 'Hi', logprobs: [-1] },
      ],
      ['Hi'],
    ],
    [
      'the mark of its end',
      'Hi',
      [
        { text: 'Hi', logprobs: [-1] },
        { text: '<|END|>', logprobs: [-1] },
      ],
      ['Hi'],
    ],
    ['another text', 'Hi', [{ text: 'xHi', logprobs: [-1] }], undefined],
    ['only a part of it', 'Hi you', [{ text: ' you', logprobs: [-1] }], undefined],
    [
      'a chunk without numbers',
      'Hi',
      [
        { text: 'H', logprobs: [-1] },
        { text: 'i', logprobs: ['x'] },
      ],
      undefined,
    ],
  ])('shows log probabilities of a whole answer with what they belong to: %s', (_, text, logprobs, shown) => {
    const message = { role: 'assistant', content: [{ type: 'text', text }] }
    const delta = whole({ message, logprobs, finish_reason: 'COMPLETE' }).find(({ type }) => type === 'text-delta')
    expect((delta as { logprobs?: readonly { token: string }[] }).logprobs?.map(({ token }) => token)).toEqual(shown)
  })
  it('is decoded the same with and without the short way', () => {
    const piece = fc.tuple(fc.constantFrom('text', 'thinking', 'plan'), fc.string({ unit: 'grapheme', maxLength: 12 }))
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 25 }), (pieces) => {
        const frames = pieces.map(([kind, delta]) => (kind === 'text' ? text(delta, 1) : kind === 'plan' ? plan(delta) : thinking(delta)))
        expect(decode([...frames, text('x', 2), end()])).toEqual(decode([...frames, text('x', 2), end()], { input: [] }, false))
      }),
    )
  })
})

describe('tool calls', () => {
  it('run beside each other', () => {
    const events = decode([
      start,
      call(0, 'a', 'f'),
      args(0, '{"n":'),
      args(0, '1}'),
      callEnd(0),
      call(1, 'b', 'f', null),
      callEnd(1),
      call(2, 'c', 'g', 'null'),
      callEnd(2),
      end('TOOL_CALL'),
    ])
    expect(foldEvents(events).calls.map(({ callId, text: each }) => [callId, each])).toEqual([
      ['a', '{"n":1}'],
      ['b', '{}'],
      ['c', '{}'],
    ])
    expect(last(events).reason).toBe('tool_calls')
  })
  it('cut off by the limit are incomplete', () => {
    expect(decode([start, call(0, 'a', 'f'), args(0, '{"n": "x'), callEnd(0), end('MAX_TOKENS')])).toContainEqual({
      type: 'item-end',
      key: 'c0',
      item: { status: 'incomplete' },
    })
  })
  it('come back under the names of the caller', () => {
    const request: ModelRequest = { input: [], tools: [{ type: 'custom', name: 'apply-patch' }] }
    const body = JSON.parse(cohereV2.encodeRequest(request, cohereTarget()).body) as { tools: { function: { name: string } }[] }
    const events = decode([start, call(0, 'a', body.tools[0]!.function.name, '{"input":"x"}'), callEnd(0), end('TOOL_CALL')], request)
    expect(foldEvents(events).calls).toEqual([{ type: 'custom_tool_call', callId: 'a', name: 'apply-patch', text: 'x' }])
  })
})

describe('citations', () => {
  it('are in the message that they cite', () => {
    const source = (content_index: number, words: string): Frame =>
      cite({ start: 0, end: words.length, text: words, content_index, sources: [{ type: 'document', id: 'http://d' }] })
    const blocks = [open('text'), text('Hello'), close(), open('thinking', 1), thinking('hm', 1), close(1), open('text', 2), text('World', 2)]
    const notes = decode([start, ...blocks, source(0, 'Hello'), source(2, 'World'), end()]).filter(({ type }) => type === 'annotation')
    expect(notes).toMatchObject([{ key: 'm2', annotation: { start_index: 0, end_index: 5 } }])
    const whole = [open('text'), text('Hi '), close(), open('text', 1), text('you', 1), source(1, 'you'), source(0, 'Hi'), end()]
    expect(decode([start, ...whole]).filter(({ type }) => type === 'annotation')).toMatchObject([
      { annotation: { start_index: 3, end_index: 6 } },
      { annotation: { start_index: 0, end_index: 2 } },
    ])
  })
  const web = { type: 'tool', id: 'x:0', tool_output: { url: 'https://a.test/', title: 'A' } }
  const file = { type: 'document', id: 'doc:1', document: { id: 'doc:1', title: 'facts.txt' } }
  it('are at the right place, one annotation per source', () => {
    const events = decode([
      start,
      open('text'),
      text('Ruby is fun.'),
      cite({ start: 0, end: 4, text: 'Ruby', sources: [web, file], type: 'TEXT_CONTENT' }),
      close(),
      end(),
    ])
    expect(annotations(events)).toEqual([
      { type: 'url_citation', url: 'https://a.test/', title: 'A', start_index: 0, end_index: 4 },
      { type: 'file_citation', file_id: 'doc:1', filename: 'facts.txt', index: 4 },
    ])
  })
  it('count characters, not code units', () => {
    const events = decode([start, open('text'), text('🎉🎉 Ruby!'), cite({ start: 3, end: 7, text: 'Ruby', sources: [web] }), close(), end()])
    expect(annotations(events)).toMatchObject([{ start_index: 5, end_index: 9 }])
  })
  it('count from their content block', () => {
    const events = decode([
      start,
      open('thinking'),
      thinking('Hm'),
      close(),
      open('text', 1),
      text('One. ', 1),
      close(1),
      open('text', 2),
      text('Two.', 2),
      cite({ start: 0, end: 3, text: 'Two', sources: [web], content_index: 2 }),
      close(2),
      end(),
    ])
    expect(annotations(events)).toMatchObject([{ start_index: 5, end_index: 8 }])
  })
  it('of a whole answer stand in its text, whatever calls follow', () => {
    const message = {
      content: [{ type: 'text', text: 'Ruby is fun.' }],
      tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }],
      citations: [{ start: 0, end: 4, text: 'Ruby', sources: [web], type: 'TEXT_CONTENT' }],
    }
    const out = whole({ id: 'x', message, finish_reason: 'TOOL_CALL', usage: USAGE })
    expect(annotations(out)).toEqual([{ type: 'url_citation', url: 'https://a.test/', title: 'A', start_index: 0, end_index: 4 }])
  })
  it('wait for their text, and leave thoughts alone', () => {
    const events = decode([
      start,
      open('text'),
      text('Ru'),
      cite({ start: 0, end: 4, sources: [web] }),
      cite({ start: 0, end: 1, sources: [web], type: 'THINKING_CONTENT' }),
      text('by'),
      close(),
      end(),
    ])
    expect(annotations(events)).toMatchObject([{ start_index: 0, end_index: 4 }])
  })
})

describe('the end', () => {
  it('brings usage: tokens, and beside them what is billed', () => {
    expect(last(decode([start, text('a'), end()])).usage).toMatchObject({
      inputTokens: 111,
      cachedTokens: 64,
      outputTokens: 20,
      reasoningTokens: 7,
      totalTokens: 131,
      billed: { inputTokens: 5, outputTokens: 3 },
      raw: USAGE,
    })
    const billed = { type: 'message-end', delta: { finish_reason: 'COMPLETE', usage: { billed_units: { input_tokens: 5, output_tokens: 3 } } } }
    expect(last(decode([start, text('a'), billed])).usage).toMatchObject({ inputTokens: 5, outputTokens: 3 })
  })
  it.each([
    ['COMPLETE', 'stop'],
    ['STOP_SEQUENCE', 'stop'],
    ['TOOL_CALL', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['ERROR_TOXIC', 'content_filter'],
    ['SOMETHING_NEW', 'stop'],
  ])('%s of a text is %s', (native, reason) => {
    expect(last(decode([start, text('a'), end(native)]))).toMatchObject({ reason, nativeReason: native })
  })
  it.each<[string, object, string]>([
    ['ERROR', {}, 'provider_unavailable'],
    ['ERROR', { error: 'the server is overloaded' }, 'provider_overloaded'],
    ['TIMEOUT', {}, 'timeout'],
  ])('%s %j is a failure: %s', (native, more, type) => {
    expect(failure(() => decode([start, text('a'), end(native, more)])).errorType).toBe(type)
  })
  it('toxic without content is a refusal of the prompt', () => {
    expect(failure(() => decode([start, end('ERROR_TOXIC')])).errorType).toBe('content_policy_violation')
  })
  it.each<[string, Frame[]]>([
    ['nothing', []],
    ['a message without end', [start, text('a'), close()]],
    ['an empty answer', [start, end()]],
  ])('%s is a failure', (_name, frames) => {
    expect(failure(() => decode(frames)).errorType).toBe('provider_unavailable')
  })
  it('an error in the stream is an error', () => {
    const decoder = new CohereDecoder({ input: [] }, cohereTarget())
    expect(failure(() => decoder.push('{"id":"x","message":"too many tokens: size limit exceeded"}', undefined, [])).errorType).toBe(
      'context_length_exceeded',
    )
    expect(failure(() => decoder.push('{"message":"slow down, rate limit exceeded"}', 'error', [])).errorType).toBe('rate_limit_exceeded')
  })
})

describe('errors before the stream', () => {
  it.each<[number, string, string]>([
    [400, '{"id":"x","message":"too many tokens: size limit exceeded by 25836 tokens.","error_type":"TOO_MANY_TOKENS"}', 'context_length_exceeded'],
    [401, '{"id":"x","message":"Incorrect API key provided: ****."}', 'authentication'],
    [404, '{"message":"model \'x\' not found"}', 'not_found'],
    [422, '{"message":"invalid request: unknown field"}', 'invalid_request'],
    [429, '{"message":"You are using a Trial key, which is limited to 20 API calls / minute."}', 'rate_limit_exceeded'],
    [498, '{"message":"The output was blocked"}', 'content_policy_violation'],
    [499, '{"message":"request cancelled"}', 'provider_unavailable'],
    [500, '{"message":"internal server error"}', 'provider_unavailable'],
    [503, '', 'provider_overloaded'],
  ])('%i %s', (status, body, type) => {
    expect(cohereV2.decodeError(status, {}, body, cohereTarget()).errorType).toBe(type)
  })
})

describe('any bytes', () => {
  const part = fc.dictionary(
    fc.constantFrom('text', 'thinking', 'type', 'id', 'function', 'start', 'end', 'sources'),
    fc.oneof(fc.string(), fc.nat(20), fc.constant(null), fc.constant({ name: 'f', arguments: '{' }), fc.constant([{ id: 'x' }])),
  )
  const inner = fc.dictionary(
    fc.constantFrom('tool_plan', 'content', 'tool_calls', 'citations'),
    fc.oneof(fc.string(), part, fc.array(part, { maxLength: 2 })),
  )
  const frame = fc.oneof(
    fc.string(),
    fc.json(),
    fc
      .record({
        type: fc.constantFrom(
          'message-start',
          'tool-plan-delta',
          'content-start',
          'content-delta',
          'content-end',
          'tool-call-start',
          'tool-call-delta',
          'tool-call-end',
          'citation-start',
          'x',
        ),
        index: fc.nat(2),
        delta: fc.record({ message: inner }),
      })
      .map((value) => JSON.stringify(value)),
    fc.constant(JSON.stringify(end())),
  )
  it('give balanced events or a typed error, as frames and as a body', () => {
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 25 }), (frames) => {
        for (const whole of [false, true]) {
          const out: ModelEvent[] = []
          const decoder = new CohereDecoder({ input: [] }, cohereTarget())
          try {
            if (whole) decoder.body(frames[0] ?? '', out)
            else for (const data of frames) decoder.push(data, undefined, out)
            decoder.end(out)
          } catch (error) {
            expect(error).toBeInstanceOf(GatewayError)
            continue
          }
          checkEventBalance(out)
        }
      }),
      { numRuns: 500 },
    )
  })
})

const folder = join(import.meta.dirname, '__fixtures__/answers')

describe('answers, by golden file', () => {
  it.each(readdirSync(folder).filter((name) => name.endsWith('.sse')))('%s', async (name) => {
    const out: ModelEvent[] = []
    const decoder = cohereV2.decoder({ input: [] }, cohereTarget())
    const parser = createSseParser((data, event) => decoder.push(data, event, out))
    let failed = ''
    try {
      parser.push(readFileSync(join(folder, name)))
      parser.end()
      decoder.end(out)
      checkEventBalance(out)
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error
      failed = `failed: ${error.errorType} (${error.failover}) ${error.message}\n`
    }
    await expect(`${out.map((event) => JSON.stringify(event)).join('\n')}\n${failed}`).toMatchFileSnapshot(
      join(folder, name.replace('.sse', '.events.jsonl')),
    )
  })
})
