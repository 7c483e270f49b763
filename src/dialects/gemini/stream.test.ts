import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../core/error.ts'
import type { ModelEvent } from '../../core/event.ts'
import { openReasoning } from '../../core/reasoning-envelope.ts'
import type { ModelRequest } from '../../core/request.ts'
import { threadTime } from '../../testing/thread-time.ts'
import { checkEventBalance, foldEvents } from '../../testing/event-balance.ts'
import { checkWire } from '../../testing/check-wire.ts'
import { wireOf } from '../../testing/wire-of.ts'
import { geminiTarget } from './__fixtures__/target.ts'
import type { TargetOverrides } from './__fixtures__/target.ts'
import { gemini } from './index.ts'

interface Settings extends TargetOverrides {
  readonly request?: Partial<ModelRequest>
}
const TOOLS: ModelRequest['tools'] = [
  { type: 'function', name: 'f' },
  { type: 'custom', name: 'patch' },
]

/** Decodes frames; objects become frames, and strings are sent unchanged. */
function decode(frames: readonly unknown[], settings: Settings = {}): ModelEvent[] {
  const decoder = gemini.decoder({ input: [], tools: TOOLS, ...settings.request }, geminiTarget(settings))
  const out: ModelEvent[] = []
  for (const frame of frames) decoder.push(typeof frame === 'string' ? frame : JSON.stringify(frame), undefined, out)
  decoder.end(out)
  expect(decoder.finished).toBe(true)
  checkEventBalance(out)
  return out
}
function decodeBody(text: string, settings: Settings = {}): ModelEvent[] {
  const out: ModelEvent[] = []
  gemini.decoder({ input: [], tools: TOOLS, ...settings.request }, geminiTarget(settings)).body(text, out)
  checkEventBalance(out)
  return out
}
const frame = (parts: readonly unknown[] | undefined, finishReason?: string, fields: object = {}): object => ({
  candidates: [
    {
      ...(parts === undefined ? {} : { content: { role: 'model', parts } }),
      ...(finishReason === undefined ? {} : { finishReason }),
      index: 0,
      ...fields,
    },
  ],
  responseId: 'r1',
  modelVersion: 'gemini-3-flash-preview',
})
const text = (value: string, thoughtSignature?: string): object => ({ text: value, ...(thoughtSignature === undefined ? {} : { thoughtSignature }) })
const thought = (value: string): object => ({ text: value, thought: true })
const call = (name: string | undefined, args?: unknown, fields: object = {}, thoughtSignature?: string): object => ({
  functionCall: { ...(name === undefined ? {} : { name }), ...(args === undefined ? {} : { args }), ...fields },
  ...(thoughtSignature === undefined ? {} : { thoughtSignature }),
})
/** The answer in a notation that fits in a line: `message:Hello reasoning:thoughts/signature f({})`. */
function sketch(events: readonly ModelEvent[]): string {
  const items = new Map<string, { type: string; text: string; signature: string }>()
  for (const event of events) {
    if (event.type === 'item-start')
      items.set(event.key, { type: 'name' in event.item ? String(event.item['name']) : event.item.type, text: '', signature: '' })
    const item = 'key' in event ? items.get(event.key) : undefined
    if (item === undefined) continue
    if ('delta' in event) item.text += event.delta
    if (event.type === 'item-end' && typeof event.item?.['signature'] === 'string') item.signature = `/${event.item['signature']}`
    if (event.type === 'item-end' && typeof event.item?.['arguments'] === 'string') item.text = event.item['arguments']
  }
  return [...items.values()].map((item) => `${item.type}:${item.text}${item.signature}`).join(' ')
}
const calls = (events: readonly ModelEvent[]): string[] => foldEvents(events).calls.map((each) => `${each.callId}:${each.name}(${each.text})`)
const last = (events: readonly ModelEvent[]): Extract<ModelEvent, { type: 'response-end' }> =>
  events.at(-1) as Extract<ModelEvent, { type: 'response-end' }>
const items = (events: readonly ModelEvent[]): object[] => events.flatMap((event) => (event.type === 'item-start' ? [event.item] : []))
const notes = (events: readonly ModelEvent[]): object[] => events.flatMap((event) => (event.type === 'annotation' ? [event.annotation] : []))
function failure(run: () => unknown): GatewayError {
  try {
    run()
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

describe('text', () => {
  it('streams into one message that the close ends', () => {
    expect(decode([frame([text('Hel')]), frame([text('lo')]), frame([text('')], 'STOP')])).toEqual([
      { type: 'response-start', upstreamId: 'r1', model: 'gemini-3-flash-preview' },
      { type: 'item-start', key: 'm0', item: { type: 'message', role: 'assistant', content: [] } },
      { type: 'text-delta', key: 'm0', delta: 'Hel', plain: true },
      { type: 'text-delta', key: 'm0', delta: 'lo', plain: true },
      { type: 'item-end', key: 'm0' },
      { type: 'response-end', reason: 'stop', nativeReason: 'STOP' },
    ])
  })
  it('joins several parts of a frame', () => {
    expect(sketch(decode([frame([text('a'), text('b')], 'STOP')]))).toBe('message:ab')
  })
  it('continues after a STOP on every chunk', () => {
    expect(last(decode([frame([text('a')], 'STOP'), frame([text('b')], 'MAX_TOKENS')])).reason).toBe('length')
  })
  it('ignores other candidates, blank frames and an end mark', () => {
    const other = {
      candidates: [
        { index: 1, content: { parts: [text('no')] } },
        { index: 0, content: { parts: [text('yes')] }, finishReason: 'STOP' },
      ],
    }
    expect(sketch(decode(['', other, '[DONE]']))).toBe('message:yes')
  })
  it('carries log probabilities with the text they belong to', () => {
    const logprobsResult = {
      chosenCandidates: [{ token: 'é', tokenId: 1, logProbability: -0.5 }],
      topCandidates: [
        {
          candidates: [
            { token: 'é', logProbability: -0.5 },
            { token: 'e', logProbability: -1 },
          ],
        },
      ],
    }
    const delta = decode([frame([text('é')], 'STOP', { logprobsResult })]).find((event) => event.type === 'text-delta')
    expect(delta).toMatchObject({
      logprobs: [{ token: 'é', logprob: -0.5, bytes: [195, 169], top_logprobs: [{ token: 'é' }, { token: 'e', logprob: -1, bytes: [101] }] }],
    })
  })
})

describe('thoughts and signatures', () => {
  it('are a summary, or text where the options say so', () => {
    const frames = [frame([thought('Let me')]), frame([text('Hi')], 'STOP')]
    expect(decode(frames)).toContainEqual(expect.objectContaining({ type: 'reasoning-delta', kind: 'summary', delta: 'Let me' }))
    expect(decode(frames, { options: { thoughts: 'text' } })).toContainEqual(expect.objectContaining({ kind: 'text' }))
  })
  it.each<[string, object[], string]>([
    ['on a call, into the thoughts before it', [frame([thought('t')]), frame([call('f', {}, {}, 's1')], 'STOP')], 'reasoning:t/s1 f:{}'],
    ['on a call without thoughts, as an item of its own', [frame([call('f', {}, {}, 's1')], 'STOP')], 'reasoning:/s1 f:{}'],
    ['on the first of parallel calls only', [frame([call('f', {}, {}, 's1'), call('f', {})], 'STOP')], 'reasoning:/s1 f:{} f:{}'],
    ['on a whole text, before it', [frame([text('Hi', 's1')], 'STOP')], 'reasoning:/s1 message:Hi'],
    ['behind a text, after it', [frame([text('Hi')]), frame([text('', 's1')], 'STOP')], 'message:Hi reasoning:/s1'],
    [
      'inside a text, after it and without cutting it',
      [frame([text('H')]), frame([text('i', 's1')]), frame([text('!')], 'STOP')],
      'message:Hi! reasoning:/s1',
    ],
    [
      'between text and call, each where it belongs',
      [frame([text('Hi')]), frame([text('', 's1'), call('f', {}, {}, 's2')], 'STOP')],
      'message:Hi reasoning:/s1 reasoning:/s2 f:{}',
    ],
    ['in a part of its own, behind it', [frame([text('Hi')]), frame([{ thoughtSignature: 's1' }], 'STOP')], 'message:Hi reasoning:/s1'],
    ['on a thought, with what follows', [frame([{ ...thought('t'), thoughtSignature: 's1' }, text('Hi')], 'STOP')], 'reasoning:t/s1 message:Hi'],
    [
      'on a call after which empty text is signed too',
      [frame([call('f', {}, {}, 's1')]), frame([text('', 's2')], 'STOP')],
      'reasoning:/s1 f:{} reasoning:/s2',
    ],
  ])('travel %s', (_name, frames, expected) => {
    expect(sketch(decode(frames))).toBe(expected)
  })
  it('are sealed with format and scope for clients that return nothing else', () => {
    const end = decode([frame([call('f', {}, {}, 's1')], 'STOP')]).find((event) => event.type === 'item-end')
    expect(end?.item).toMatchObject({ format: 'google-gemini-v1', signature: 's1' })
    expect(openReasoning(end?.item?.['encrypted_content'] as string)).toEqual({
      format: 'google-gemini-v1',
      scope: 'acme',
      signature: 's1',
      signs: 'call',
    })
  })
  it('images within reasoning are not part of the answer', () => {
    const picture = { inlineData: { mimeType: 'image/png', data: 'AAAA' }, thought: true }
    expect(sketch(decode([frame([picture, text('done')], 'STOP')]))).toBe('message:done')
  })
})

describe('calls', () => {
  it('keep the id, or get one that is the same every time and differs between calls', () => {
    const frames = [frame([call('f', { a: 1 }, { id: 'x1' })]), frame([call('f', { a: 1 }), call('f', { a: 1 })], 'STOP')]
    const seen = calls(decode(frames))
    expect(seen[0]).toBe('x1:f({"a":1})')
    expect(seen[1]).toMatch(/^call_\w{20}:f\(\{"a":1\}\)$/)
    expect(new Set(seen).size).toBe(3)
    expect(calls(decode(frames))).toEqual(seen)
    expect(last(decode(frames))).toMatchObject({ reason: 'tool_calls', nativeReason: 'STOP' })
  })
  it('without arguments have an empty object', () => {
    expect(foldEvents(decode([frame([call('f')], 'STOP')])).calls[0]?.text).toBe('{}')
  })
  it('with arguments written as text have these', () => {
    expect(calls(decode([frame([call('f', '{"x":1}'), call('g', '')], 'STOP')]))).toEqual([
      expect.stringContaining(':f({"x":1})'),
      expect.stringContaining(':g({})'),
    ])
  })
  it('keep numbers as they were written', () => {
    const data =
      '{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"id":12345678901234567890,"x":1.0,"e":1E3}}}]},"finishReason":"STOP"}]}'
    const expected = '{"id":12345678901234567890,"x":1.0,"e":1E3}'
    expect(foldEvents(decode([data])).calls[0]?.text).toBe(expected)
    expect(foldEvents(decodeBody(data)).calls[0]?.text).toBe(expected)
  })
  it('of free-form tools are unwrapped', () => {
    expect(foldEvents(decode([frame([call('patch', { input: '*** Begin\n' })], 'STOP')])).calls).toMatchObject([
      { type: 'custom_tool_call', text: '*** Begin\n' },
    ])
  })
  it('between texts and after them each have their place', () => {
    expect(sketch(decode([frame([text('a'), call('f', {}), text('b')], 'STOP')]))).toBe('message:a f:{} message:b')
  })
  it('of a tool that was not offered are dropped when the model is stopped for them', () => {
    const frames = [frame([text('Let me see')]), frame([call('ghost', {})], 'UNEXPECTED_TOOL_CALL', { finishMessage: 'No such tool: ghost' })]
    const decoder = gemini.decoder({ input: [], tools: TOOLS }, geminiTarget())
    const out: ModelEvent[] = []
    const error = failure(() => {
      for (const each of frames) decoder.push(JSON.stringify(each), undefined, out)
      decoder.end(out)
    })
    expect(error.errorType).toBe('provider_unavailable')
    expect(error.message).toContain('No such tool: ghost')
    expect(JSON.stringify(out)).not.toContain('ghost')
  })
  it('of a tool that was not offered are passed on when the answer continues or ends well', () => {
    expect(sketch(decode([frame([call('ghost', {}), text('x')], 'STOP')]))).toBe('ghost:{} message:x')
    expect(sketch(decode([frame([call('ghost', {})]), frame([text('')], 'STOP')]))).toBe('ghost:{}')
  })
})

describe('calls in pieces', () => {
  const piece = (jsonPath: string, fields: object, more = true): object =>
    call(undefined, undefined, { partialArgs: [{ jsonPath, ...fields }], ...(more ? { willContinue: true } : {}) })
  const open = call('f', undefined, { willContinue: true }, 's1')
  it('are put together by path', () => {
    const frames = [
      frame([open]),
      frame([piece('$.a.b[0]', { stringValue: 'He', willContinue: true })]),
      frame([piece('$.a.b[0]', { stringValue: 'y "you"' })]),
      frame([piece('$.a.b[1]', { numberValue: 2 }), piece("$['odd key']", { boolValue: true }), piece('$.n', { nullValue: 'NULL_VALUE' })]),
      frame([call(undefined)], 'STOP'),
    ]
    expect(JSON.parse(foldEvents(decode(frames)).calls[0]!.text)).toEqual({ a: { b: ['Hey "you"', 2] }, 'odd key': true, n: null })
    expect(sketch(decode(frames))).toMatch(/^reasoning:\/s1 f:/)
  })
  it('are whole without their last, empty piece', () => {
    expect(foldEvents(decode([frame([open, piece('$.a', { stringValue: 'x' })], 'STOP')])).calls[0]?.text).toBe('{"a":"x"}')
  })
  it('that break off inside a string are a broken answer', () => {
    expect(failure(() => decode([frame([open, piece('$.a', { stringValue: 'x', willContinue: true })], 'STOP')])).errorType).toBe(
      'provider_unavailable',
    )
  })
  it('cut by the limit are incomplete, not repaired', () => {
    const events = decode([frame([open, piece('$.a', { stringValue: 'x', willContinue: true })], 'MAX_TOKENS')])
    expect(foldEvents(events).calls[0]?.text).toBe('{"a":"x"')
    expect(events).toContainEqual(expect.objectContaining({ type: 'item-end', item: { status: 'incomplete' } }))
  })
  it.each(['$', 'a', '$.a[99999]', '$.a[9999999]', '$..a', '$[x]', `$${'.a'.repeat(100)}`])('at the path %s make no sense', (path) => {
    expect(failure(() => decode([frame([open, piece(path, { stringValue: 'x' })], 'STOP')])).errorType).toBe('provider_unavailable')
  })
  it('never touch the prototype of objects', () => {
    const events = decode([frame([open, piece('$.__proto__.polluted', { stringValue: 'x' })], 'STOP')])
    expect(foldEvents(events).calls[0]?.text).toBe('{"__proto__":{"polluted":"x"}}')
    expect(({} as { polluted?: string }).polluted).toBeUndefined()
  })
})

describe('other parts', () => {
  it('images are items with their bytes', () => {
    const events = decode([frame([text('Here:'), { inlineData: { mimeType: 'image/png', data: 'iVBO' }, thoughtSignature: 's1' }], 'STOP')])
    expect(sketch(events)).toBe('message:Here: reasoning:/s1 image_generation_call:')
    expect(items(events)).toContainEqual({ type: 'image_generation_call', status: 'completed', result: 'iVBO' })
  })
  it.each([
    ['image/jpeg', { output_format: 'jpeg' }],
    ['image/svg+xml', { output_format: 'svg+xml' }],
    ['image/png', {}],
  ])('images of the type %s say so where it is not the usual one', (mimeType, format) => {
    const events = decode([frame([{ inlineData: { mimeType, data: '/9j/' } }], 'STOP')])
    expect(items(events)).toEqual([{ type: 'image_generation_call', status: 'completed', result: '/9j/', ...format }])
  })
  it('code and its result are one item', () => {
    const parts = [
      { executableCode: { language: 'PYTHON', code: 'print(1)', id: 'e1' }, thoughtSignature: 's1' },
      { codeExecutionResult: { outcome: 'OUTCOME_FAILED', output: 'oops', id: 'e1' } },
      text('It failed.'),
    ]
    const events = decode(parts.map((part) => frame([part])).concat(frame([text('')], 'STOP')))
    expect(sketch(events)).toBe('reasoning:/s1 code_interpreter_call: message:It failed.')
    expect(items(events)).toContainEqual({
      type: 'code_interpreter_call',
      status: 'failed',
      code: 'print(1)',
      container_id: 'code_execution:e1',
      outputs: [{ type: 'logs', logs: 'oops' }],
    })
  })
  it('code whose result never comes is an item all the same', () => {
    const events = decode([frame([{ executableCode: { code: 'search()' } }]), frame([text('Found.')], 'STOP')])
    expect(items(events)[0]).toMatchObject({ type: 'code_interpreter_call', code: 'search()', outputs: null })
  })
  it('steps of native tools are carried for the next turn', () => {
    const part = { toolCall: { toolType: 'GOOGLE_SEARCH_WEB', id: 't1', args: { queries: ['q'] } }, thoughtSignature: 's1' }
    const events = decode([frame([part, text('Found.')], 'STOP')])
    const end = events.find((event) => event.type === 'item-end')
    expect(JSON.parse(openReasoning(end?.item?.['encrypted_content'] as string)!.data!)).toEqual(part)
  })
})

describe('grounding', () => {
  const grounding = {
    webSearchQueries: ['capital', 'population'],
    groundingChunks: [{ web: { uri: 'https://a.test', title: 'A' } }, { web: { uri: 'https://b.test' } }],
    groundingSupports: [{ segment: { startIndex: 7, endIndex: 12, text: 'Paris' }, groundingChunkIndices: [0, 1] }],
  }
  it('is counted also if nobody counts the tokens', () => {
    const end = (metadata: object, model = 'gemini-3-flash-preview') =>
      decode([frame([text('Paris')], 'STOP', { groundingMetadata: metadata })], { model }).at(-1)
    expect(end(grounding)).toMatchObject({ usage: { totalTokens: 0, serverToolUse: { web_search: 2 } } })
    expect(end(grounding, 'gemini-2.5-flash')).toMatchObject({ usage: { serverToolUse: { web_search: 1 } } })
    expect(end({})).not.toHaveProperty('usage')
  })
  it('counts bytes and is given in UTF-16, after the text, with the search behind it', () => {
    // é is two bytes, 😀 four: in "😀é Paris", Paris is at byte 7 and at UTF-16 offset 4.
    const events = decode([frame([text('😀é Par')]), frame([text('is')], 'STOP', { groundingMetadata: grounding })])
    expect(notes(events)).toEqual([
      { type: 'url_citation', url: 'https://a.test', title: 'A', start_index: 4, end_index: 9 },
      { type: 'url_citation', url: 'https://b.test', title: 'https://b.test', start_index: 4, end_index: 9 },
    ])
    expect(items(events).at(-1)).toEqual({
      type: 'web_search_call',
      status: 'completed',
      action: {
        type: 'search',
        query: 'capital',
        queries: ['capital', 'population'],
        sources: [
          { type: 'url', url: 'https://a.test' },
          { type: 'url', url: 'https://b.test' },
        ],
      },
    })
  })
  it('is found by its own words where offsets count from another part', () => {
    const metadata = {
      ...grounding,
      groundingSupports: [{ segment: { partIndex: 1, startIndex: 0, endIndex: 5, text: 'Paris' }, groundingChunkIndices: [0] }],
    }
    expect(notes(decode([frame([text('It is '), text('Paris')], 'STOP', { groundingMetadata: metadata })]))).toMatchObject([
      { start_index: 6, end_index: 11 },
    ])
  })
  it('is found in reasonable time however many segments stand somewhere else, or nowhere', () => {
    const count = 30_000
    const supports = (words: string, off: number): object[] =>
      Array.from({ length: count }, (_, n) => ({
        segment: { startIndex: n * 6 + off, endIndex: n * 6 + off + 5, text: words },
        groundingChunkIndices: [0],
      }))
    for (const [words, off] of [
      ['w\u00f6rx', 0],
      ['w\u00f6rd', 1],
    ] as const) {
      const metadata = { ...grounding, groundingSupports: supports(words, off) }
      const started = threadTime()
      expect(notes(decode([frame([text('w\u00f6rd '.repeat(count))], 'STOP', { groundingMetadata: metadata })]))).toHaveLength(count)
      expect(threadTime() - started).toBeLessThan(2_000)
    }
  })
  it('counts from the message it stands in', () => {
    const metadata = {
      groundingChunks: grounding.groundingChunks,
      groundingSupports: [{ segment: { startIndex: 3, endIndex: 8, text: 'Paris' }, groundingChunkIndices: [0] }],
    }
    expect(notes(decode([frame([text('one'), call('f', {}), text('Paris')], 'STOP', { groundingMetadata: metadata })]))).toMatchObject([
      { start_index: 0, end_index: 5 },
    ])
    const stored = { ...metadata, groundingChunks: [{ retrievedContext: { title: 'doc', fileSearchStore: 'stores/1' } }] }
    expect(notes(decode([frame([text('one'), call('f', {}), text('Paris')], 'STOP', { groundingMetadata: stored })]))).toMatchObject([{ index: 5 }])
  })
  it('of a search for pictures is the page the picture stands on', () => {
    const found = { groundingChunks: [{ image: { sourceUri: 'https://p.test/page', imageUri: 'https://p.test/a.png', title: 'P' } }] }
    expect(notes(decode([frame([text('Hi')], 'STOP', { groundingMetadata: found })]))).toEqual([
      { type: 'url_citation', url: 'https://p.test/page', title: 'P', start_index: 2, end_index: 2 },
    ])
  })
  it('cites files of a store, and sources without a text position', () => {
    const stored = {
      groundingChunks: [{ retrievedContext: { title: 'doc', fileSearchStore: 'stores/1' } }],
      groundingSupports: [{ segment: { endIndex: 2 }, groundingChunkIndices: [0, 7] }],
    }
    expect(notes(decode([frame([text('Hi')], 'STOP', { groundingMetadata: stored })]))).toEqual([
      { type: 'file_citation', file_id: 'stores/1', filename: 'doc', index: 2 },
    ])
    const loose = { groundingChunks: [{ web: { uri: 'https://a.test' } }] }
    expect(notes(decode([frame([text('Hi')], 'STOP', { groundingMetadata: loose })]))).toMatchObject([{ start_index: 2, end_index: 2 }])
  })
  it('cites the text of a search although calls and signatures follow it', () => {
    const frames = [frame([text('It is Paris'), call('f', {}, {}, 'sig')]), frame([], 'STOP', { groundingMetadata: grounding })]
    const events = decode(frames, { request: { tools: [...TOOLS, { type: 'web_search' }] } })
    expect(notes(events)).toMatchObject([
      { start_index: 6, end_index: 11 },
      { start_index: 6, end_index: 11 },
    ])
    const { output } = checkWire(wireOf(events))
    expect(output.map(({ type }) => type)).toEqual(['message', 'reasoning', 'function_call', 'web_search_call'])
    expect(output[0]).toMatchObject({ content: [{ text: 'It is Paris', annotations: [{ title: 'A' }, {}] }] })
  })
  it('names sources the model recited', () => {
    const citationMetadata = { citationSources: [{ startIndex: 1, endIndex: 3, uri: 'https://c.test' }] }
    expect(notes(decode([frame([text('Hello')], 'STOP', { citationMetadata })]))).toMatchObject([
      { url: 'https://c.test', start_index: 1, end_index: 3 },
    ])
  })
  it.each([
    ['gemini-3-flash-preview', 2],
    ['gemini-2.5-flash', 1],
  ])('is charged by %s in units of its own', (model, searches) => {
    const events = decode([{ ...frame([text('Hi')], 'STOP', { groundingMetadata: grounding }), usageMetadata: { promptTokenCount: 1 } }], { model })
    expect(last(events).usage?.serverToolUse).toEqual({ web_search: searches })
  })
})

describe('usage', () => {
  it('is what was counted by then, while the answer goes on', () => {
    const decoder = gemini.decoder({ input: [] }, geminiTarget({}))
    const out: ModelEvent[] = []
    expect(decoder.counted).toBeUndefined()
    for (const candidatesTokenCount of [1, 2, 3]) {
      const usageMetadata = { promptTokenCount: 10, cachedContentTokenCount: 8, candidatesTokenCount, totalTokenCount: 10 + candidatesTokenCount }
      decoder.push(JSON.stringify({ ...frame([text('Hi')]), usageMetadata }), undefined, out)
      expect(decoder.counted).toMatchObject({ inputTokens: 10, cachedTokens: 8, outputTokens: candidatesTokenCount })
    }
  })
  const usageOf = (usageMetadata: object): unknown => last(decode([{ ...frame([text('Hi')], 'STOP'), usageMetadata }])).usage
  it.each<[string, object, object]>([
    [
      'thoughts beside the candidates',
      { promptTokenCount: 10, candidatesTokenCount: 5, thoughtsTokenCount: 7, totalTokenCount: 22 },
      { inputTokens: 10, outputTokens: 12, reasoningTokens: 7, totalTokens: 22 },
    ],
    [
      'thoughts among the candidates, by the total',
      { promptTokenCount: 10, candidatesTokenCount: 12, thoughtsTokenCount: 7, totalTokenCount: 22 },
      { inputTokens: 10, outputTokens: 12, reasoningTokens: 7, totalTokens: 22 },
    ],
    [
      'what tools put into the prompt',
      { promptTokenCount: 85, candidatesTokenCount: 122, toolUsePromptTokenCount: 149, thoughtsTokenCount: 87, totalTokenCount: 443 },
      { inputTokens: 234, outputTokens: 209, totalTokens: 443 },
    ],
    [
      'cache reads',
      { promptTokenCount: 100, cachedContentTokenCount: 80, candidatesTokenCount: 1, totalTokenCount: 101 },
      { inputTokens: 100, cachedTokens: 80 },
    ],
    ['no count of the visible part', { promptTokenCount: 10, thoughtsTokenCount: 2, totalTokenCount: 17 }, { outputTokens: 7, reasoningTokens: 2 }],
    ['a total that stands alone, most of which is the prompt', { totalTokenCount: 249 }, { inputTokens: 0, outputTokens: 0 }],
    ['a total without a prompt', { thoughtsTokenCount: 2, totalTokenCount: 249 }, { inputTokens: 0, outputTokens: 2 }],
    [
      'modalities',
      {
        promptTokenCount: 10,
        promptTokensDetails: [{ modality: 'AUDIO', tokenCount: 4 }],
        candidatesTokenCount: 9,
        candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 8 }],
      },
      { audioInputTokens: 4, imageOutputTokens: 8 },
    ],
    [
      'audio that was cached',
      {
        promptTokenCount: 10,
        promptTokensDetails: [{ modality: 'AUDIO', tokenCount: 4 }],
        cachedContentTokenCount: 3,
        cacheTokensDetails: [{ modality: 'AUDIO', tokenCount: 3 }],
      },
      { cachedTokens: 3, audioInputTokens: 4, cachedAudioTokens: 3 },
    ],
  ])('%s', (_name, raw, expected) => {
    expect(usageOf(raw)).toMatchObject({ ...expected, raw })
  })
  it('is none where a server that knows no count writes -1 without its sign', () => {
    expect(usageOf({ promptTokenCount: 10, candidatesTokenCount: 2 ** 32 - 1, totalTokenCount: 10 })).toBeUndefined()
    expect(usageOf({ promptTokenCount: 10, candidatesTokenCount: 1, thoughtsTokenCount: 2 ** 31 - 1 })).toBeUndefined()
  })
  it('is the last value of each count, also where only text came after it', () => {
    const counted = (value: string, candidatesTokenCount: number): object => ({
      ...frame([text(value)]),
      usageMetadata: { promptTokenCount: 9, candidatesTokenCount, totalTokenCount: 9 + candidatesTokenCount },
    })
    const events = decode([counted('a', 1), counted('b', 2), counted('c', 3), counted('d', 4), frame([text('')], 'STOP')])
    expect(last(events).usage).toMatchObject({ outputTokens: 4, totalTokens: 13 })
  })
  it('is absent when only the kind of traffic was told', () => {
    expect(usageOf({ trafficType: 'ON_DEMAND' })).toBeUndefined()
  })
  it('names the tier', () => {
    expect(last(decode([{ ...frame([text('Hi')], 'STOP'), usageMetadata: { serviceTier: 'standard' } }])).serviceTier).toBe('default')
    expect(last(decode([{ ...frame([text('Hi')], 'STOP'), usageMetadata: { serviceTier: 'FLEX' } }])).serviceTier).toBe('flex')
  })
  it('names the tier of the headers at the beginning, and at the end unless the body names another one', () => {
    const decoder = gemini.decoder({ input: [] }, geminiTarget({}))
    decoder.head?.({ 'x-gemini-service-tier': 'standard' })
    const events: ModelEvent[] = []
    decoder.push(JSON.stringify(frame([text('Hi')])), undefined, events)
    expect(events[0]).toMatchObject({ type: 'response-start', serviceTier: 'default' })
    decoder.push(JSON.stringify(frame([text('.')], 'STOP')), undefined, events)
    decoder.end(events)
    expect(last(events).serviceTier).toBe('default')
    const other = gemini.decoder({ input: [] }, geminiTarget({}))
    other.head?.({ 'x-gemini-service-tier': 'priority' })
    other.body(JSON.stringify({ ...frame([text('Hi')], 'STOP'), usageMetadata: { serviceTier: 'flex' } }), events)
    expect(last(events).serviceTier).toBe('flex')
  })
  it.each([
    ['ON_DEMAND', 'default'],
    ['ON_DEMAND_FLEX', 'flex'],
    ['ON_DEMAND_PRIORITY', 'priority'],
  ])('names the tier by the kind of traffic %s', (trafficType, tier) => {
    expect(last(decode([{ ...frame([text('Hi')], 'STOP'), usageMetadata: { trafficType } }])).serviceTier).toBe(tier)
  })
})

describe('the end', () => {
  it.each([
    ...['MAX_TOKENS', 'CONTINUATION'].map((word) => [word, 'length']),
    ...['SAFETY', 'RECITATION', 'LANGUAGE', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII', 'MODEL_ARMOR', 'ESCALATION', 'IMAGE_SAFETY'].map((word) => [
      word,
      'content_filter',
    ]),
  ])('%s is %s, with and without content', (native, reason) => {
    expect(last(decode([frame([text('Hi')], native)]))).toMatchObject({ reason, nativeReason: native })
    expect(last(decode([frame(undefined, native)])).reason).toBe(reason)
    expect(last(decode([{ candidates: [{ content: {}, finishReason: native }] }])).reason).toBe(reason)
  })
  it.each([
    'MALFORMED_FUNCTION_CALL',
    'MALFORMED_RESPONSE',
    'UNEXPECTED_TOOL_CALL',
    'TOO_MANY_TOOL_CALLS',
    'OTHER',
    'MISSING_THOUGHT_SIGNATURE',
    'PUP_LIMITED_DISABLED',
  ])('%s is a failure that another try may mend', (native) => {
    const error = failure(() => decode([frame(undefined, native)]))
    expect([error.errorType, error.failover, error.details.providerCode]).toEqual(['provider_unavailable', 'retry', native])
  })
  it('an unknown reason is a stop when there is an answer', () => {
    expect(last(decode([frame([text('Hi')], 'NEW_WORD')])).reason).toBe('stop')
    expect(failure(() => decode([frame(undefined, 'NEW_WORD')])).errorType).toBe('provider_unavailable')
  })
  it.each<[string, object[]]>([
    ['STOP without parts', [frame(undefined, 'STOP')]],
    ['STOP with an empty list', [frame([], 'STOP')]],
    ['STOP with empty text', [frame([text('')], 'STOP')]],
    ['STOP with nothing but a signature', [frame([text('', 's1')], 'STOP')]],
  ])('%s is no answer', (_name, frames) => {
    expect(failure(() => decode(frames)).message).toContain('an empty answer')
  })
  it('an answer without a finish reason is cut off', () => {
    expect(failure(() => decode([frame([text('Hel')])])).message).toContain('broke off')
    expect(failure(() => decode([frame([text('Hel')], 'FINISH_REASON_UNSPECIFIED')])).message).toContain('broke off')
    expect(failure(() => decode([])).message).toContain('closed without one')
  })
  it('is near once a reason was seen', () => {
    const decoder = gemini.decoder({ input: [] }, geminiTarget())
    decoder.push(JSON.stringify(frame([text('Hi')])), undefined, [])
    expect(decoder.settled).toBe(false)
    decoder.push(JSON.stringify(frame([text('')], 'STOP')), undefined, [])
    expect([decoder.settled, decoder.finished]).toEqual([true, false])
  })
  it('is not near when STOP stands beside a piece of the answer: old models write it on every chunk', () => {
    const decoder = gemini.decoder({ input: [], tools: TOOLS }, geminiTarget())
    const settledAfter = (one: object): boolean => {
      decoder.push(JSON.stringify(one), undefined, [])
      return decoder.settled === true
    }
    expect(settledAfter(frame([text('not ')], 'STOP'))).toBe(false)
    expect(settledAfter(frame([], 'STOP'))).toBe(true)
    expect(settledAfter(frame([text('yet')], 'STOP'))).toBe(false)
    expect(settledAfter(frame([call('f', {})], 'STOP'))).toBe(false)
    expect(settledAfter(frame([text('cut')], 'MAX_TOKENS'))).toBe(true)
    expect(settledAfter(frame([text(' short')]))).toBe(true)
  })
  it('accepts STOP on the last content chunk of models that did not send it from the first chunk on', () => {
    const decoder = gemini.decoder({ input: [] }, geminiTarget())
    for (const [one, settled] of [
      [frame([text('Hel')]), false],
      [frame([text('lo')], 'STOP'), true],
    ] as const) {
      decoder.push(JSON.stringify(one), undefined, [])
      expect(decoder.settled).toBe(settled)
    }
  })
  it('is not undone by a broken connection once the usage has arrived, too', () => {
    const decoder = gemini.decoder({ input: [] }, geminiTarget())
    const push = (one: object): void => decoder.push(JSON.stringify(one), undefined, [])
    push({ ...frame([text('Hi')], 'STOP'), usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 1 } })
    expect(decoder.entire).toBe(false)
    push(frame([], 'STOP'))
    expect(decoder.entire).toBe(true)
    const countless = gemini.decoder({ input: [] }, geminiTarget())
    countless.push(JSON.stringify(frame([text('Hi')])), undefined, [])
    countless.push(JSON.stringify(frame([], 'STOP')), undefined, [])
    expect([countless.settled, countless.entire]).toEqual([true, false])
  })
})

describe('blocks and errors', () => {
  it('a blocked prompt is a content policy error', () => {
    const error = failure(() => decode([{ promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: { promptTokenCount: 3 } }]))
    expect([error.errorType, error.details.providerCode]).toEqual(['content_policy_violation', 'SAFETY'])
    expect(failure(() => decodeBody('{"promptFeedback":{"blockReason":"IMAGE_SAFETY","blockReasonMessage":"no"}}'))).toMatchObject({
      message: 'no',
      publicCode: 'image_content_policy_violation',
    })
  })
  it('harmless feedback has no effect', () => {
    expect(sketch(decode([{ ...frame([text('Hi')], 'STOP'), promptFeedback: { safetyRatings: [] } }]))).toBe('message:Hi')
  })
  it.each<[string, unknown, string]>([
    ['overload', { error: { code: 503, message: 'The model is overloaded. Please try again later.', status: 'UNAVAILABLE' } }, 'provider_overloaded'],
    ['a quota', [{ error: { code: 429, message: 'Quota exceeded', status: 'RESOURCE_EXHAUSTED' } }], 'rate_limit_exceeded'],
    ['a failure', { error: { code: 500, message: 'Internal error', status: 'INTERNAL' } }, 'provider_unavailable'],
    ['a deadline', { error: { code: 504, message: 'Deadline expired', status: 'DEADLINE_EXCEEDED' } }, 'timeout'],
  ])('%s in the stream or as a whole body', (_name, payload, errorType) => {
    expect(failure(() => decode([frame([text('Hel')]), payload])).errorType).toBe(errorType)
    expect(failure(() => decodeBody(JSON.stringify(payload).replace(/^\[|\]$/g, ''))).errorType).toBe(errorType)
  })
  it.each(['', 'nope', '"text"', '{}', '[]', '[1]'])('the body %j is no answer', (body) => {
    expect(failure(() => decodeBody(body)).errorType).toBe('provider_unavailable')
  })
  it('frames that are not JSON are passed over, a few', () => {
    expect(sketch(decode(['{"bro', frame([text('Hi')], 'STOP')]))).toBe('message:Hi')
    expect(failure(() => decode(Array.from({ length: 17 }, () => 'noise'))).message).toContain('not JSON')
  })
  const refusal = (status: number, error: object): GatewayError =>
    gemini.decodeError(status, {}, JSON.stringify([{ error: { code: status, ...error } }]), geminiTarget())
  it('a key that is refused with 400 counts as invalid', () => {
    const error = refusal(400, {
      message: 'API key not valid.',
      status: 'INVALID_ARGUMENT',
      details: [{ '@type': 'ErrorInfo', reason: 'API_KEY_INVALID' }],
    })
    expect([error.errorType, error.details.credentialDead]).toEqual(['authentication', true])
  })
  it('a retry hint is read from the details', () => {
    const error = refusal(429, {
      message: 'Quota',
      status: 'RESOURCE_EXHAUSTED',
      details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '37s' }],
    })
    expect([error.errorType, error.details.retryAfterMs]).toEqual(['rate_limit_exceeded', 37_000])
  })
  it('a prompt that is too long is recognised', () => {
    expect(refusal(400, { message: 'The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).' }).errorType).toBe(
      'context_length_exceeded',
    )
  })
  it('an unreadable signature leads to a try without it', () => {
    const error = refusal(400, { message: 'Corrupted thought signature.', status: 'INVALID_ARGUMENT' })
    expect([error.failover, error.details.metadata]).toEqual(['retry', { strip_reasoning: true }])
    expect(refusal(400, { message: 'Function call is missing a thought_signature in functionCall parts.' }).details.metadata).toBeUndefined()
  })
})

it.each([
  ['UNEXPECTED_TOOL_CALL', true],
  ['MALFORMED_FUNCTION_CALL', true],
  ['STOP', true],
  ['OTHER', false],
])('an answer without content that ended with %s was the model’s own doing: %s', (reason, isOwn) => {
  let failed: unknown
  try {
    decode([frame([], reason)])
  } catch (error) {
    failed = (error as GatewayError).details.fruitless ?? false
  }
  expect(failed).toBe(isOwn)
})

describe('an answer that should have been a picture', () => {
  it('is what was written instead', () => {
    expect(sketch(decode([frame([text('I cannot draw that.')], 'NO_IMAGE')]))).toBe('message:I cannot draw that.')
  })
  it('is a failure, where it is empty', () => {
    const failed = (reason: string): unknown => {
      try {
        return decode([frame([], reason)])
      } catch (error) {
        return (error as GatewayError).details.wordless ?? false
      }
    }
    expect([failed('STOP'), failed('NO_IMAGE')]).toEqual([true, false])
  })
})
