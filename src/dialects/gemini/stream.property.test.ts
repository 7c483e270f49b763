import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Decoder } from '../../core/dialect.ts'
import { isGatewayError } from '../../core/error.ts'
import type { ModelEvent } from '../../core/event.ts'
import { checkEventBalance, foldEvents } from '../../testing/event-balance.ts'
import { geminiTarget } from './__fixtures__/target.ts'
import { gemini } from './index.ts'
import { GeminiDecoder } from './stream.ts'
import { utf16Offsets } from './grounding.ts'

// The same cases in every run, so that a failure does not depend on chance.
fc.configureGlobal({ seed: 20260301 })

const REQUEST = {
  input: [],
  tools: [
    { type: 'custom', name: 'patch' },
    { type: 'function', name: 'f' },
  ],
}
const TARGET = geminiTarget()

type Outcome = { readonly events: readonly ModelEvent[]; readonly error?: string }

/** The outcome of an answer: its events, and the error that ended it. Any error except GatewayError fails the test. */
function run(decoder: Decoder, frames: readonly string[]): Outcome {
  const events: ModelEvent[] = []
  try {
    for (const frame of frames) decoder.push(frame, undefined, events)
    decoder.end(events)
    return { events }
  } catch (error) {
    if (!isGatewayError(error)) throw error
    return { events, error: `${error.errorType}: ${error.message}` }
  }
}

/** Text with everything that could break the scanner. */
const nasty = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.string({ unit: 'grapheme', maxLength: 5 }),
  fc.constantFrom('', ' ', '\n', '"', '\\', '\u0000', '\ud83d', '😀', '"text":"', '"text": "x', 'tokenCount": 7', '(another text)', '{"input":"'),
)
const value = fc.oneof(nasty, fc.constantFrom<unknown>(null, undefined, 0, -1, 1.5, true, [], {}, 'STOP'))
const args = fc.oneof(
  fc.constantFrom<unknown>({}, { a: 1 }, { input: 'x' }, [], null, 'text', 1.0),
  fc.dictionary(fc.string({ maxLength: 3 }), value, { maxKeys: 2 }),
)
const piece = fc.record(
  {
    jsonPath: fc.constantFrom<unknown>('$.a', '$.a.b', '$.l[0]', '$', 7, "$['x']", '$.__proto__.p'),
    stringValue: value,
    numberValue: value,
    willContinue: fc.boolean(),
  },
  { requiredKeys: ['jsonPath'] },
)
const call = fc.record(
  {
    id: fc.constantFrom<unknown>('a', 'b', '', 7),
    name: fc.constantFrom<unknown>('f', 'patch', 'ghost', '', 7),
    args,
    willContinue: fc.boolean(),
    partialArgs: fc.oneof(value, fc.array(piece, { maxLength: 2 })),
  },
  { requiredKeys: [] },
)
const part = fc.oneof(
  fc.record({ text: nasty }),
  fc.record(
    {
      text: value,
      thought: fc.constantFrom<unknown>(true, false, 'true'),
      thoughtSignature: fc.constantFrom<unknown>('s', '', 7),
      functionCall: fc.oneof(call, value),
      executableCode: fc.oneof(value, fc.record({ code: value, id: value })),
      codeExecutionResult: fc.oneof(value, fc.record({ outcome: value, output: value })),
      inlineData: fc.oneof(value, fc.record({ mimeType: fc.constantFrom('image/png', 'audio/wav', ''), data: value })),
      toolCall: value,
    },
    { requiredKeys: [] },
  ),
  value,
)
const segment = fc.record({ startIndex: value, endIndex: fc.oneof(fc.nat(20), value), text: value }, { requiredKeys: [] })
const grounding = fc.record(
  {
    webSearchQueries: fc.oneof(value, fc.constant(['q'])),
    groundingChunks: fc.oneof(value, fc.array(fc.oneof(value, fc.record({ web: fc.record({ uri: value, title: value }) })), { maxLength: 2 })),
    groundingSupports: fc.oneof(
      value,
      fc.array(fc.oneof(value, fc.record({ segment: fc.oneof(segment, value), groundingChunkIndices: fc.oneof(value, fc.constant([0, 1, -1])) })), {
        maxLength: 2,
      }),
    ),
  },
  { requiredKeys: [] },
)
const candidate = fc.record(
  {
    index: fc.constantFrom<unknown>(0, 1, undefined),
    content: fc.oneof(fc.record({ parts: fc.oneof(fc.array(part, { maxLength: 3 }), value) }), value),
    finishReason: fc.constantFrom<unknown>(undefined, '', 'STOP', 'MAX_TOKENS', 'SAFETY', 'OTHER', 'UNEXPECTED_TOOL_CALL', 7),
    groundingMetadata: fc.oneof(value, grounding),
    citationMetadata: fc.oneof(value, fc.record({ citations: fc.oneof(value, fc.array(segment, { maxLength: 2 })) })),
    logprobsResult: fc.oneof(
      value,
      fc.record({
        chosenCandidates: fc.oneof(value, fc.array(fc.record({ token: value, logProbability: value }), { maxLength: 2 })),
        topCandidates: value,
      }),
    ),
  },
  { requiredKeys: [] },
)
const usage = fc.record(
  {
    promptTokenCount: fc.oneof(value, fc.nat()),
    candidatesTokenCount: fc.oneof(value, fc.nat()),
    thoughtsTokenCount: value,
    totalTokenCount: value,
    promptTokensDetails: value,
    serviceTier: value,
  },
  { requiredKeys: [] },
)
const frame = fc.record(
  {
    candidates: fc.oneof({ weight: 5, arbitrary: fc.array(candidate, { maxLength: 2 }) }, value),
    usageMetadata: fc.oneof(value, usage),
    promptFeedback: fc.oneof({ weight: 8, arbitrary: fc.constant(undefined) }, fc.record({ blockReason: value })),
    error: fc.oneof({ weight: 8, arbitrary: fc.constant(undefined) }, value),
    responseId: value,
    modelVersion: value,
  },
  { requiredKeys: ['candidates'] },
)
const STOP = '{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"thoughtsTokenCount":3}}'

describe('any frames', () => {
  it('give a balanced answer or a GatewayError, and nothing else', () => {
    const anyData = fc.oneof(
      { weight: 6, arbitrary: frame.map((object) => JSON.stringify(object)) },
      { weight: 1, arbitrary: fc.json() },
      { weight: 1, arbitrary: fc.constantFrom('[DONE]', '', '{"broken', 'null', '[]', STOP) },
    )
    fc.assert(
      fc.property(fc.array(anyData, { maxLength: 10 }), fc.boolean(), (frames, ended) => {
        const outcome = run(new GeminiDecoder(REQUEST, TARGET), ended ? [...frames, STOP] : frames)
        if (outcome.error === undefined) checkEventBalance(outcome.events)
      }),
      { numRuns: 2000 },
    )
  })

  it('so does any body', () => {
    const body = fc.oneof(
      fc.string(),
      fc.json(),
      frame.map((object) => JSON.stringify(object)),
      fc.array(frame, { maxLength: 3 }).map((list) => JSON.stringify([...list, JSON.parse(STOP)])),
    )
    fc.assert(
      fc.property(body, (text) => {
        const events: ModelEvent[] = []
        try {
          gemini.decoder(REQUEST, TARGET).body(text, events)
        } catch (error) {
          expect(isGatewayError(error)).toBe(true)
          return
        }
        checkEventBalance(events)
      }),
      { numRuns: 1000 },
    )
  })

  it('give the same answer one by one and as one array', () => {
    fc.assert(
      fc.property(fc.array(frame, { minLength: 1, maxLength: 4 }), (frames) => {
        const texts = [...frames.map((each) => JSON.stringify(each)), STOP]
        const streamed = run(new GeminiDecoder(REQUEST, TARGET), texts)
        const events: ModelEvent[] = []
        try {
          gemini.decoder(REQUEST, TARGET).body(`[${texts.join(',')}]`, events)
        } catch {
          expect(streamed.error).toBeDefined()
          return
        }
        expect(events).toEqual(streamed.events)
      }),
      { numRuns: 500 },
    )
  })
})

describe('the fast path', () => {
  /** Frames as servers write them: the same structure around changing text, with increasing counts. */
  const template = fc.constantFrom<(text: string, count: number) => string>(
    (text, count) =>
      JSON.stringify({
        candidates: [{ content: { parts: [{ text }], role: 'model' }, index: 0 }],
        usageMetadata: { promptTokenCount: 9, candidatesTokenCount: count, promptTokensDetails: [{ modality: 'TEXT', tokenCount: 9 }] },
        responseId: 'r',
      }),
    (text) => JSON.stringify({ candidates: [{ content: { role: 'model', parts: [{ text }] } }], usageMetadata: { trafficType: 'ON_DEMAND' } }),
    (text, count) =>
      `{"candidates": [{"content": {"parts": [{"text": ${JSON.stringify(text)}}],"role": "model"},"index": 0}],"usageMetadata": {"totalTokenCount": ${count}},"modelVersion": "m"}`,
    (text, count) => JSON.stringify({ candidates: [{ index: count % 2, content: { parts: [{ text }] } }] }),
    (text) => JSON.stringify({ candidates: [{ content: { parts: [{ text, thought: true }] } }] }),
    (text) => JSON.stringify({ candidates: [{ content: { parts: [{ text }, { text }] } }], note: `"text":"${text}"` }),
    (text) => `{"candidates":[{"content":{"parts":[{"text":"first","text":${JSON.stringify(text)}}]}}]}`,
  )
  const words = fc.oneof({ weight: 4, arbitrary: fc.constantFrom('Hello', ' world', 'a', 'é', '漢字', '…') }, { weight: 1, arbitrary: nasty })
  const series = fc
    .tuple(template, fc.array(fc.tuple(words, fc.nat(2000)), { minLength: 1, maxLength: 8 }))
    .map(([write, texts]) => texts.map(([text, count]) => write(text, count)))
  const mixed = fc
    .array(fc.oneof({ weight: 4, arbitrary: series }, { weight: 1, arbitrary: frame.map((object) => [JSON.stringify(object)]) }), { maxLength: 5 })
    .map((runs) => runs.flat())

  it('gives exactly what parsing every frame gives', () => {
    fc.assert(
      fc.property(mixed, (frames) => {
        const all = [...frames, STOP]
        expect(run(new GeminiDecoder(REQUEST, TARGET), all)).toEqual(run(new GeminiDecoder(REQUEST, TARGET, false), all))
      }),
      { numRuns: 3000 },
    )
  })

  it('gives the same when frames are damaged', () => {
    const damage = fc.array(fc.tuple(fc.nat(), fc.nat(), fc.constantFrom('"', '\\', '{', '\u0001', 'x', '0', '1', '-', '')), { maxLength: 4 })
    fc.assert(
      fc.property(mixed, damage, (frames, holes) => {
        const all = [...frames]
        for (const [which, where, what] of holes) {
          if (all.length === 0) break
          const index = which % all.length
          const data = all[index]!
          const at = where % (data.length + 1)
          all[index] = data.slice(0, at) + what + data.slice(at + 1)
        }
        all.push(STOP)
        expect(run(new GeminiDecoder(REQUEST, TARGET), all)).toEqual(run(new GeminiDecoder(REQUEST, TARGET, false), all))
      }),
      { numRuns: 2000 },
    )
  })

  it('is taken: text frames of one shape are not parsed, whatever they count', () => {
    const decoder = new GeminiDecoder(REQUEST, TARGET)
    const events: ModelEvent[] = []
    const write = (text: string, count: number): string =>
      JSON.stringify({
        candidates: [{ content: { parts: [{ text }], role: 'model' }, index: 0 }],
        usageMetadata: { promptTokenCount: 9, candidatesTokenCount: count, totalTokenCount: 9 + count },
        responseId: 'r',
      })
    for (const text of ['one', 'two']) decoder.push(write(text, 1), undefined, events)
    const parse = JSON.parse
    let parsed = 0
    JSON.parse = (...all) => {
      parsed++
      return parse(...all) as unknown
    }
    try {
      for (let n = 0; n < 50; n++) decoder.push(write(` word${n}`, n * 5), undefined, events)
    } finally {
      JSON.parse = parse
    }
    expect(parsed).toBe(0)
    decoder.push(STOP, undefined, events)
    decoder.end(events)
    expect(foldEvents(events).text).toBe(`onetwo${Array.from({ length: 50 }, (_, n) => ` word${n}`).join('')}`)
    expect(events.at(-1)).toMatchObject({ usage: { outputTokens: 245, reasoningTokens: 3 } })
  })
})

describe('offsets in bytes', () => {
  it('are those of the text before them', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme', maxLength: 4 })), (pieces) => {
        const text = pieces.join('')
        const ends = pieces.map((_, index) => pieces.slice(0, index + 1).join(''))
        const found = utf16Offsets(
          text,
          ends.map((before) => Buffer.byteLength(before)),
        )
        for (const before of ends) expect(found.get(Buffer.byteLength(before))).toBe(before.length)
      }),
    )
  })
  it('inside a character, or behind the end, move to where text can be cut', () => {
    expect([...utf16Offsets('a😀b', [0, 1, 3, 5, 6, 99])]).toEqual([
      [0, 0],
      [1, 1],
      [3, 1],
      [5, 3],
      [6, 4],
      [99, 4],
    ])
  })
})
