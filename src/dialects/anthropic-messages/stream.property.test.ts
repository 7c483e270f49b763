import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Decoder } from '../../core/dialect.ts'
import { isGatewayError } from '../../core/error.ts'
import type { ModelEvent } from '../../core/event.ts'
import { checkEventBalance, foldEvents } from '../../testing/event-balance.ts'
import { delta, finish, open, start, stop, textDelta } from './__fixtures__/frames.ts'
import { messagesTarget } from './__fixtures__/target.ts'
import type { TargetOverrides } from './__fixtures__/target.ts'
import { anthropicMessages } from './index.ts'
import { invokeModel } from './invoke-model.ts'
import { MessagesDecoder } from './stream.ts'

// The same cases in every run, so that a failure does not depend on chance.
fc.configureGlobal({ seed: 20260301 })

const REQUESTS = [
  { input: [], tools: [{ type: 'custom', name: 'patch' }] },
  { input: [], text: { format: { type: 'json_schema' as const, name: 'n', schema: { type: 'object' } } } },
]

type Outcome = { readonly events: readonly ModelEvent[]; readonly error?: string }
type Frame = readonly [data: string, event?: string]

/** The outcome of an answer: its events, and the error that ended it. Any error except GatewayError fails the test. */
function run(decoder: Decoder, frames: readonly Frame[]): Outcome {
  const events: ModelEvent[] = []
  try {
    for (const [data, event] of frames) decoder.push(data, event, events)
    decoder.end(events)
    return { events }
  } catch (error) {
    if (!isGatewayError(error)) throw error
    return { events, error: `${error.errorType}: ${error.message}` }
  }
}

const settings = fc.constantFrom<TargetOverrides>(
  {},
  { options: { unsigned_thinking: true, allow_empty_answer: true } },
  { options: { json_schema: 'native' } },
)
const request = fc.constantFrom(...REQUESTS)

/** Text with everything that could break the scanner: quotes, escapes, control characters, half surrogate pairs, field names. */
const nasty = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.string({ unit: 'grapheme', maxLength: 5 }),
  fc.constantFrom(
    '',
    ' ',
    '\n',
    '"',
    '\\',
    '\u0000',
    '\ud83d',
    '\ude00',
    '😀',
    '"text":"',
    '"}}',
    '"},"x":"',
    '}}',
    'text',
    '(another text)',
    '{"input":"',
  ),
)
const value = fc.oneof(nasty, fc.constantFrom<unknown>(null, undefined, 0, 1, true, [], {}, [{}], 'end_turn', 'max_tokens', 'refusal', 'pause_turn'))
const index = fc.constantFrom<unknown>(0, 0, 0, 1, 2, undefined, null, '1')

const block = fc.record(
  {
    type: fc.constantFrom<unknown>(
      'text',
      'text',
      'thinking',
      'redacted_thinking',
      'tool_use',
      'server_tool_use',
      'web_search_tool_result',
      'mcp_tool_use',
      'mcp_tool_result',
      'compaction',
      'odd',
      undefined,
    ),
    text: value,
    thinking: value,
    signature: value,
    data: value,
    id: fc.constantFrom<unknown>('a', 'b', undefined, 3),
    tool_use_id: fc.constantFrom<unknown>('a', 'b', undefined),
    name: fc.constantFrom<unknown>('f', 'patch', 'structured_answer', 'web_search', '', undefined),
    input: fc.constantFrom<unknown>({}, { x: 1 }, { input: 'y' }, null, '{}', []),
    content: value,
    citations: fc.constantFrom<unknown>([], [{ url: 'u', title: 't' }], [null, 3], 'x', undefined),
  },
  { requiredKeys: ['type'] },
)
const deltas = fc.record(
  {
    type: fc.constantFrom<unknown>(
      'text_delta',
      'text_delta',
      'thinking_delta',
      'signature_delta',
      'input_json_delta',
      'citations_delta',
      'compaction_delta',
      undefined,
    ),
    text: value,
    thinking: value,
    signature: value,
    partial_json: fc.oneof(value, fc.constantFrom('{', '}', '{}', '{"input":"x"}')),
    citation: fc.constantFrom<unknown>({ url: 'u' }, { document_index: 1 }, null, 1),
    content: value,
  },
  { requiredKeys: [] },
)
const usage = fc.oneof(
  value,
  fc.record(
    {
      input_tokens: value,
      output_tokens: fc.integer(),
      cache_read_input_tokens: value,
      cache_creation: value,
      iterations: value,
      server_tool_use: value,
      service_tier: value,
    },
    { requiredKeys: [] },
  ),
)
const frame = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('message_start'),
      message: fc.oneof(value, fc.record({ id: fc.constantFrom<unknown>('m', 'm', 'n', undefined), model: value, usage })),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ type: fc.constant('content_block_start'), index, content_block: fc.oneof({ weight: 5, arbitrary: block }, value) }),
  },
  { weight: 6, arbitrary: fc.record({ type: fc.constant('content_block_delta'), index, delta: fc.oneof({ weight: 5, arbitrary: deltas }, value) }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('content_block_stop'), index }) },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('message_delta'),
      delta: fc.oneof(value, fc.record({ stop_reason: value, stop_details: fc.oneof(value, fc.constant({ explanation: 'no' })) })),
      usage,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constantFrom('message_stop', 'ping', 'message', 'odd'),
      content: fc.oneof(value, fc.array(block, { maxLength: 2 })),
      error: fc.constantFrom<unknown>(undefined, undefined, null, {}, { message: 'x' }),
    }),
  },
)

describe('any frames', () => {
  const anyData = fc.oneof(
    { weight: 8, arbitrary: frame.map((object) => JSON.stringify(object)) },
    { weight: 1, arbitrary: fc.json() },
    { weight: 1, arbitrary: fc.constantFrom('[DONE]', '', '{"broken', 'null', '[]') },
  )
  const named = fc.tuple(anyData, fc.constantFrom(undefined, undefined, undefined, 'ping', 'error', 'message_stop'))

  it('give a balanced answer or a GatewayError, and nothing else', () => {
    fc.assert(
      fc.property(fc.array(named, { maxLength: 14 }), settings, request, (frames, overrides, body) => {
        const outcome = run(new MessagesDecoder(body, messagesTarget(overrides)), frames)
        if (outcome.error === undefined) checkEventBalance(outcome.events)
      }),
      { numRuns: 2500 },
    )
  })

  it('so does any body', () => {
    const content = fc.array(block, { maxLength: 4 })
    const whole = fc.record({ type: fc.constant('message'), id: value, content, stop_reason: value, usage })
    const body = fc.oneof(
      { weight: 1, arbitrary: fc.string() },
      { weight: 1, arbitrary: fc.json() },
      { weight: 6, arbitrary: whole.map((object) => JSON.stringify(object)) },
    )
    fc.assert(
      fc.property(body, settings, request, (text, overrides, given) => {
        const events: ModelEvent[] = []
        try {
          anthropicMessages.decoder(given, messagesTarget(overrides)).body(text, events)
        } catch (error) {
          expect(isGatewayError(error)).toBe(true)
          return
        }
        checkEventBalance(events)
      }),
      { numRuns: 1200 },
    )
  })

  it('so do frames of an event stream, which say the same as their contents', () => {
    fc.assert(
      fc.property(fc.array(anyData, { maxLength: 10 }), settings, (frames, overrides) => {
        const wrapped = frames.map((data): Frame => [JSON.stringify({ bytes: Buffer.from(data).toString('base64'), p: 'abc' }), 'chunk'])
        const inner = run(
          new MessagesDecoder({ input: [] }, messagesTarget(overrides)),
          frames.map((data): Frame => [Buffer.from(data).toString()]),
        )
        expect(run(invokeModel.decoder({ input: [] }, messagesTarget(overrides)), wrapped)).toEqual(inner)
      }),
      { numRuns: 500 },
    )
  })
})

describe('the fast path', () => {
  /** Deltas as one server writes them: the same structure around changing text, with or without padding. */
  const template = fc.constantFrom<(at: number, field: 'text' | 'thinking', words: string) => string>(
    (at, field, words) => JSON.stringify(delta(at, { type: `${field}_delta`, [field]: words })),
    (at, field, words) => `${JSON.stringify(delta(at, { type: `${field}_delta`, [field]: words })).slice(0, -1)}${' '.repeat(words.length % 5)}}`,
    (at, field, words) =>
      `{"delta": {"${field}": ${JSON.stringify(words)}, "type": "${field}_delta"}, "index": ${at}, "type": "content_block_delta"}`,
    (at, field, words) =>
      `{"type":"content_block_delta","index":${at},"delta":{"type":"${field}_delta","${field}":"first","${field}":${JSON.stringify(words)}}}`,
    (at, field, words) => JSON.stringify({ ...delta(at, { type: `${field}_delta`, [field]: words }), [field]: words }),
    (at, field, words) =>
      JSON.stringify({
        type: 'content_block_delta',
        index: at,
        delta: { type: `${field}_delta`, text: words, thinking: words, citation: { url: words } },
      }),
  )
  const words = fc.oneof({ weight: 4, arbitrary: fc.constantFrom('Hello', ' world', 'a', 'é', '漢字', '…') }, { weight: 1, arbitrary: nasty })
  const stretch = fc
    .tuple(template, fc.constantFrom('text' as const, 'thinking' as const), fc.nat(2), fc.array(words, { minLength: 1, maxLength: 7 }), fc.boolean())
    .map(([write, field, at, texts, closed]) => [
      JSON.stringify(open(at, field === 'text' ? { type: 'text', text: '' } : { type: 'thinking', thinking: '' })),
      ...texts.map((each) => write(at, field, each)),
      ...(closed ? [JSON.stringify(stop(at))] : []),
    ])
  const mixed = fc
    .array(fc.oneof({ weight: 4, arbitrary: stretch }, { weight: 1, arbitrary: frame.map((object) => [JSON.stringify(object)]) }), { maxLength: 6 })
    .map((parts) => parts.flat())
  const both = (frames: readonly string[], overrides: TargetOverrides, given: (typeof REQUESTS)[number]): readonly [Outcome, Outcome] => {
    const all = frames.map((data): Frame => [data])
    return [run(new MessagesDecoder(given, messagesTarget(overrides)), all), run(new MessagesDecoder(given, messagesTarget(overrides), false), all)]
  }

  it('gives exactly what parsing every frame gives', () => {
    fc.assert(
      fc.property(mixed, settings, request, (frames, overrides, given) => {
        const [fast, slow] = both([JSON.stringify(start()), ...frames, ...finish('end_turn').map((each) => JSON.stringify(each))], overrides, given)
        expect(fast).toEqual(slow)
      }),
      { numRuns: 3000 },
    )
  })

  it('gives the same when frames are damaged', () => {
    const damage = fc.array(fc.tuple(fc.nat(), fc.nat(), fc.constantFrom('"', '\\', '{', '}', ' ', '\u0001', 'x', '')), { maxLength: 4 })
    fc.assert(
      fc.property(mixed, damage, request, (frames, blows, given) => {
        const all = [...frames]
        for (const [which, where, what] of blows) {
          if (all.length === 0) break
          const target = which % all.length
          const data = all[target]!
          const at = where % (data.length + 1)
          all[target] = data.slice(0, at) + what + data.slice(at + 1)
        }
        const [fast, slow] = both(all, {}, given)
        expect(fast).toEqual(slow)
      }),
      { numRuns: 2000 },
    )
  })

  it('is taken: padded deltas of one block are parsed once', () => {
    const decoder = new MessagesDecoder({ input: [] }, messagesTarget())
    const events: ModelEvent[] = []
    const push = (frame: object, pad = 0): void => decoder.push(`${JSON.stringify(frame).slice(0, -1)}${' '.repeat(pad)}}`, undefined, events)
    push(start())
    push(open(0, { type: 'text', text: '' }))
    push(textDelta(0, 'one'))
    const parse = JSON.parse
    let parsed = 0
    JSON.parse = (...args) => {
      parsed++
      return parse(...args) as unknown
    }
    try {
      for (let n = 0; n < 50; n++) push(textDelta(0, ` word${n}`), n % 7)
    } finally {
      JSON.parse = parse
    }
    expect(parsed).toBe(0)
    expect(foldEvents(events).text).toBe(`one${Array.from({ length: 50 }, (_, n) => ` word${n}`).join('')}`)
  })
})
