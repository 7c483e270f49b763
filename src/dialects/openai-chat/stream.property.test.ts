import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { isGatewayError } from '../../core/error.ts'
import type { ModelEvent } from '../../core/event.ts'
import type { Decoder } from '../../core/dialect.ts'
import { checkEventBalance, foldEvents } from '../../testing/event-balance.ts'
import { expectEqual } from '../../testing/expect-equal.ts'
import { chatTarget } from './__fixtures__/target.ts'
import type { TargetOverrides } from './__fixtures__/target.ts'
import { openAiChat } from './index.ts'
import { ChatDecoder } from './stream.ts'

// The same cases in every run, so that a failure does not depend on chance.
fc.configureGlobal({ seed: 20260301 })

const REQUEST = { input: [], tools: [{ type: 'custom', name: 'patch' }] }

type Outcome = { readonly events: readonly ModelEvent[]; readonly error?: string }

/** The outcome of an answer: its events, and the error that ended it. Any error except GatewayError fails the test. */
function run(decoder: Decoder, frames: readonly string[], close = true): Outcome {
  const events: ModelEvent[] = []
  try {
    for (const frame of frames) decoder.push(frame, undefined, events)
    if (close) decoder.end(events)
    return { events }
  } catch (error) {
    if (!isGatewayError(error)) throw error
    return { events, error: `${error.errorType}: ${error.message}` }
  }
}

const settings = fc.constantFrom<TargetOverrides>(
  {},
  { options: { think_tags: 'none' } },
  { options: { think_tags: 'open-omitted', reasoning_replay: 'reasoning_content' } },
  { options: { reasoning_replay: 'reasoning_details', close_ends_answer: true, tool_signature_path: ['extra', 'sig'] } },
)

/** Text with everything that could break the scanner: quotes, escapes, control characters, half surrogate pairs, tags, field names. */
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
    '<think>',
    '</think>',
    '"content":"',
    '","content":"x',
    'content',
    '(another text)',
    '{"input":"',
  ),
)

const value = fc.oneof(nasty, fc.constantFrom<unknown>(null, undefined, 0, 1, true, [], {}, 'stop', 'length', 'tool_calls', ''))
const callPiece = fc.record(
  {
    index: fc.constantFrom<unknown>(0, 1, 2, undefined, null, '0'),
    id: fc.constantFrom<unknown>('a', 'b', '', undefined, null, 7),
    extra: fc.constantFrom<unknown>({ sig: 's' }, undefined),
    function: fc.oneof(
      fc.constant(null),
      fc.record({
        name: fc.constantFrom<unknown>('f', 'patch', '', undefined),
        arguments: fc.oneof(nasty, fc.constantFrom<unknown>('{', '}', '{}', '{"input":"x"}', null, { a: 1 })),
      }),
    ),
  },
  { requiredKeys: [] },
)
const annotation = fc.constantFrom<unknown>({ type: 'url_citation', url_citation: { url: 'u' } }, { type: 'file', file: {} }, null, {
  type: 'url_citation',
})
const detail = fc.record(
  {
    type: fc.constantFrom('reasoning.text', 'reasoning.encrypted', 'reasoning.summary'),
    index: fc.constantFrom<unknown>(0, 1, undefined),
    text: value,
    data: value,
    summary: value,
    signature: value,
  },
  { requiredKeys: ['type'] },
)
const deltaFields = fc.record(
  {
    role: fc.constantFrom<unknown>('assistant', null),
    content: fc.oneof(
      nasty,
      value,
      fc.array(
        fc.oneof(
          fc.record({ type: fc.constant('text'), text: nasty }),
          fc.record({ type: fc.constant('thinking'), thinking: fc.oneof(nasty, fc.constant([{ text: 'x' }])) }),
          value,
        ),
        { maxLength: 2 },
      ),
    ),
    reasoning_content: value,
    reasoning: value,
    refusal: value,
    reasoning_details: fc.oneof(value, fc.array(detail, { maxLength: 2 })),
    annotations: fc.oneof(value, fc.array(annotation, { maxLength: 2 })),
    tool_calls: fc.oneof(value, fc.array(callPiece, { maxLength: 2 })),
    images: value,
    function_call: fc.oneof(value, fc.constant({ name: 'f', arguments: '{}' })),
  },
  { requiredKeys: [] },
)
const choice = fc.record(
  {
    index: fc.constantFrom<unknown>(0, 1, undefined),
    delta: fc.oneof(deltaFields, value),
    finish_reason: fc.constantFrom<unknown>(null, undefined, '', 'stop', 'length', 'error', 'tool_calls'),
    logprobs: value,
    usage: value,
  },
  { requiredKeys: [] },
)
const frame = fc.record(
  {
    id: value,
    model: value,
    error: fc.constantFrom<unknown>(undefined, undefined, undefined, null, {}, { message: 'x', code: 429 }),
    choices: fc.oneof(fc.array(choice, { maxLength: 2 }), value),
    usage: fc.oneof(value, fc.record({ prompt_tokens: value, completion_tokens: fc.integer(), total_tokens: value, prompt_tokens_details: value })),
    service_tier: value,
    citations: value,
  },
  { requiredKeys: ['choices'] },
)

describe('any frames', () => {
  const anyData = fc.oneof(
    { weight: 6, arbitrary: frame.map((object) => JSON.stringify(object)) },
    { weight: 1, arbitrary: fc.json() },
    { weight: 1, arbitrary: fc.constantFrom('[DONE]', '', '{"broken', 'null', '[]') },
  )

  it('give a balanced answer or a GatewayError, and nothing else', () => {
    fc.assert(
      fc.property(fc.array(anyData, { maxLength: 12 }), settings, (frames, overrides) => {
        const outcome = run(new ChatDecoder(REQUEST, chatTarget(overrides)), frames)
        if (outcome.error === undefined) checkEventBalance(outcome.events)
      }),
      { numRuns: 1500 },
    )
  })

  it('so does any body', () => {
    const body = fc.oneof(
      fc.string(),
      fc.json(),
      frame.map((object) => JSON.stringify(object).replaceAll('"delta"', '"message"')),
    )
    fc.assert(
      fc.property(body, settings, (text, overrides) => {
        const events: ModelEvent[] = []
        try {
          openAiChat.decoder(REQUEST, chatTarget(overrides)).body(text, events)
        } catch (error) {
          expect(isGatewayError(error)).toBe(true)
          return
        }
        checkEventBalance(events)
      }),
      { numRuns: 800 },
    )
  })
})

describe('the fast path', () => {
  /** Frames as one server writes them: the same structure around changing text, occasionally with other frames in between. */
  const template = fc.constantFrom<(field: string, text: string) => string>(
    (field, text) => JSON.stringify({ id: 'x', model: 'm', choices: [{ index: 0, delta: { [field]: text }, finish_reason: null }], usage: null }),
    (field, text) => JSON.stringify({ choices: [{ delta: { role: 'assistant', content: '', [field]: text }, index: 0 }], id: 'x' }),
    (field, text) => `{"id": "x", "choices": [{"index": 0, "delta": {"${field}": ${JSON.stringify(text)}}, "logprobs": null}]}`,
    (field, text) => JSON.stringify({ choices: [{ index: 0, delta: { [field]: text } }], note: `"content":"${text}"`, [field]: text }),
    (field, text) =>
      JSON.stringify({
        content: 'x',
        choices: [{ index: 0, delta: { content: null, [field]: text, reasoning: '' } }],
        obfuscation: 'A'.repeat(text.length % 7),
      }),
    (field, text) =>
      JSON.stringify({
        choices: [{ index: 0, delta: { [field]: text }, finish_reason: null }],
        usage: { prompt_tokens: 3, completion_tokens: text.length },
      }),
    (field, text) => JSON.stringify({ choices: [{ index: 0, delta: { [field]: text, content: field === 'content' ? text : ' ' } }] }),
    (field, text) => `{"choices":[{"index":0,"delta":{"${field}":"first","${field}":${JSON.stringify(text)}}}]}`,
  )
  const field = fc.constantFrom('content', 'reasoning_content', 'reasoning')
  const words = fc.oneof({ weight: 4, arbitrary: fc.constantFrom('Hello', ' world', 'a', 'é', '漢字', '…') }, { weight: 1, arbitrary: nasty })
  const run1 = fc
    .tuple(template, field, fc.array(words, { minLength: 1, maxLength: 8 }))
    .map(([write, name, texts]) => texts.map((text) => write(name, text)))
  const mixed = fc
    .array(fc.oneof({ weight: 4, arbitrary: run1 }, { weight: 1, arbitrary: frame.map((object) => [JSON.stringify(object)]) }), { maxLength: 5 })
    .map((runs) => runs.flat())

  it('gives exactly what parsing every frame gives', () => {
    fc.assert(
      fc.property(mixed, settings, (frames, overrides) => {
        const all = [...frames, '{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}', '[DONE]']
        const fast = run(new ChatDecoder(REQUEST, chatTarget(overrides)), all)
        const slow = run(new ChatDecoder(REQUEST, chatTarget(overrides), false), all)
        expectEqual(fast, slow)
      }),
      { numRuns: 3000 },
    )
  })

  it('gives the same when frames are damaged', () => {
    fc.assert(
      fc.property(
        mixed,
        fc.array(fc.tuple(fc.nat(), fc.nat(), fc.constantFrom('"', '\\', '{', '\u0001', 'x', '')), { maxLength: 4 }),
        (frames, damage) => {
          const all = [...frames]
          for (const [which, where, what] of damage) {
            if (all.length === 0) break
            const index = which % all.length
            const data = all[index]!
            const at = where % (data.length + 1)
            all[index] = data.slice(0, at) + what + data.slice(at + 1)
          }
          expectEqual(run(new ChatDecoder(REQUEST, chatTarget()), all), run(new ChatDecoder(REQUEST, chatTarget(), false), all))
        },
      ),
      { numRuns: 2000 },
    )
  })

  // In two parts, because on a busy machine all of them together take long.
  it.each([1, 2])('gives the same for answers after the first, whatever was learned from that (lot %i)', () => {
    const begun = '{"id":"x","choices":[{"index":0,"delta":{"role":"assistant"},"service_tier":null}],"service_tier":"flex"}'
    const cited = '{"id":"x","choices":[{"index":0,"delta":{"annotations":[{"type":"url_citation","url_citation":{"url":"https://a.test"}}]}}]}'
    const answer = fc.tuple(
      mixed,
      fc.constantFrom([], [begun], [cited]),
      fc.constantFrom('x', 'chatcmpl-9', '', 'a b'),
      fc.constantFrom('7', '0', '1700000000', '-1', '007'),
    )
    const written = ([frames, first, id, created]: readonly [readonly string[], readonly string[], string, string]): readonly string[] =>
      [...first, ...frames].map((data) => data.replace(/"id": ?"x"/, `"id":"${id}","created":${created}`))
    fc.assert(
      fc.property(fc.array(answer, { minLength: 2, maxLength: 4 }), fc.nat(), settings, (answers, where, overrides) => {
        const target = chatTarget(overrides)
        for (const each of answers) {
          const frames = written(each)
          expectEqual(run(new ChatDecoder(REQUEST, target), frames), run(new ChatDecoder(REQUEST, target, false), frames))
        }
        // The last one again, damaged.
        const frames = [...written(answers.at(-1)!)]
        const index = frames.length === 0 ? 0 : where % frames.length
        frames.splice(index, 1, frames[index]?.slice(0, where % 60) ?? '', frames[index]?.slice(1 + (where % 60)) ?? '')
        expectEqual(run(new ChatDecoder(REQUEST, target), frames), run(new ChatDecoder(REQUEST, target, false), frames))
      }),
      { numRuns: 1500 },
    )
  })

  it('is taken at once in an answer after the first: only its beginning is parsed', () => {
    const target = chatTarget()
    const write = (id: string, created: number, delta: object): string =>
      JSON.stringify({ id, created, model: 'm', choices: [{ index: 0, delta, finish_reason: null }] })
    const decode = (id: string, created: number): { readonly parsed: number; readonly text: string } => {
      const decoder = new ChatDecoder(REQUEST, target)
      const events: ModelEvent[] = []
      const parse = vi.spyOn(JSON, 'parse')
      for (const delta of [{ role: 'assistant', content: '' }, { content: 'one' }, { content: ' two' }])
        decoder.push(write(id, created, delta), undefined, events)
      const parsed = parse.mock.calls.length
      parse.mockRestore()
      return { parsed, text: foldEvents(events).text }
    }
    // The first chunk, the text that opens the message, the one that is learned from, and the one that proves that its place was found.
    expect(decode('chatcmpl-1', 1_700_000_000)).toEqual({ parsed: 4, text: 'one two' })
    expect(decode('chatcmpl-22', 1_700_000_009)).toEqual({ parsed: 1, text: 'one two' })
  })

  it('is taken: text frames of one shape are not parsed', () => {
    const decoder = new ChatDecoder(REQUEST, chatTarget())
    const events: ModelEvent[] = []
    const write = (text: string): string =>
      JSON.stringify({ id: 'x', choices: [{ index: 0, delta: { content: text }, finish_reason: null }], obfuscation: 'ab'.repeat(text.length % 5) })
    decoder.push(write('one'), undefined, events)
    decoder.push(write('two'), undefined, events)
    const parse = JSON.parse
    let parsed = 0
    JSON.parse = (...args) => {
      parsed++
      return parse(...args) as unknown
    }
    try {
      for (let n = 0; n < 50; n++) decoder.push(write(` word${n}`), undefined, events)
    } finally {
      JSON.parse = parse
    }
    expect(parsed).toBe(0)
    expect(foldEvents(events).text).toBe(`onetwo${Array.from({ length: 50 }, (_, n) => ` word${n}`).join('')}`)
  })
})
