import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../core/error.ts'
import type { ModelEvent } from '../../core/event.ts'
import { openReasoning, sealReasoning } from '../../core/reasoning-envelope.ts'
import { createUsage } from '../../core/usage.ts'
import { manualClock, sequentialIds } from '../../testing/deterministic.ts'
import { Assembler } from '../responses/assemble.ts'
import type { AssemblerOptions } from '../responses/assembler-options.ts'
import { ContentWriter } from './content-writer.ts'
import type { GenerateContentPreferences } from './to-responses.ts'

type Json = { readonly [field: string]: unknown }

function assembler(
  stream: boolean,
  thoughts = true,
  options: Partial<AssemblerOptions> = {},
  preferences: Partial<GenerateContentPreferences> = {},
): Assembler {
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
  return new Assembler(all, new ContentWriter(all, { thoughts, ...preferences }))
}

const parse = (wire: string): readonly Json[] =>
  wire
    .split('\n\n')
    .slice(0, -1)
    .map((event) => JSON.parse(event.replace(/^data: /, '')) as Json)

function stream(events: readonly ModelEvent[], thoughts?: boolean): readonly Json[] {
  const subject = assembler(true, thoughts)
  subject.push(events)
  subject.finish()
  return parse(subject.takeWire())
}
function whole(events: readonly ModelEvent[], thoughts?: boolean): Json {
  const subject = assembler(false, thoughts)
  subject.push(events)
  subject.finish()
  return JSON.parse(subject.answer()) as Json
}
const candidateOf = (answer: Json): Json => (answer['candidates'] as readonly Json[])[0]!
const partsOf = (answer: Json): readonly Json[] => (candidateOf(answer)['content'] as { readonly parts: readonly Json[] }).parts

const usage = createUsage({ inputTokens: 9, outputTokens: 3, cachedTokens: 2, reasoningTokens: 1 })
type End = Extract<ModelEvent, { type: 'response-end' }>
const end = (reason: End['reason'] = 'stop', nativeReason = 'END'): ModelEvent => ({ type: 'response-end', reason, nativeReason, usage })
const message = (key: string): ModelEvent => ({ type: 'item-start', key, item: { type: 'message', role: 'assistant', content: [] } })
const text = (key: string, delta: string): ModelEvent => ({ type: 'text-delta', key, delta })
const thinks = (key: string): ModelEvent => ({ type: 'item-start', key, item: { type: 'reasoning', summary: [] } })
const thought = (key: string, delta: string, part?: number): ModelEvent => ({
  type: 'reasoning-delta',
  key,
  kind: 'summary',
  delta,
  ...(part === undefined ? {} : { part }),
})
const call = (key: string, args: string): readonly ModelEvent[] => [
  { type: 'item-start', key, item: { type: 'function_call', call_id: `call_${key}`, name: 'look', arguments: '' } },
  { type: 'arguments-delta', key, delta: args },
]
const close = (key: string, item?: Json): ModelEvent => (item ? { type: 'item-end', key, item } : { type: 'item-end', key })
const sealed = sealReasoning({ format: 'acme-v1', scope: 's', data: 'secret' })
const sealIn = (part: Json | undefined) => openReasoning(Buffer.from(part!['thoughtSignature'] as string, 'base64').toString())
const hello = [message('m'), text('m', 'Hel'), text('m', 'lo'), close('m')]

describe('a stream', () => {
  it('has each piece in a part of its own, and finish reason and usage at its end', () => {
    const about = { modelVersion: 'acme/small', responseId: 'gen-1' }
    const part = (said: string, more: Json = {}): Json => ({ content: { parts: [{ text: said }], role: 'model' }, index: 0, ...more })
    const counted = {
      promptTokenCount: 9,
      candidatesTokenCount: 2,
      totalTokenCount: 12,
      thoughtsTokenCount: 1,
      cachedContentTokenCount: 2,
      cost: null,
      is_byok: false,
    }
    expect(stream([...hello, end()])).toEqual([
      { candidates: [part('Hel')], usageMetadata: {}, ...about },
      { candidates: [part('lo')], usageMetadata: {}, ...about },
      { candidates: [part('', { finishReason: 'STOP' })], usageMetadata: counted, ...about },
    ])
  })

  it('that breaks ends with an error in the format’s envelope', () => {
    const subject = assembler(true)
    subject.push(hello)
    subject.fail(new GatewayError('provider_unavailable', 'Gone'))
    const last = parse(subject.takeWire()).at(-1)!
    expect(last['candidates']).toBeUndefined()
    expect(last['error']).toMatchObject({
      code: 502,
      status: 'UNAVAILABLE',
      message: 'Gone',
      details: [{ reason: 'PROVIDER_UNAVAILABLE', domain: 'gateway' }],
    })
    expect(JSON.parse(subject.takeWire())).toEqual(last)
    expect(subject.takeWire()).toBe('')
  })
})

describe('a stream whose model is silent', () => {
  it('gets an empty part, because clients take an answer without one for broken, and then the model', () => {
    let model = 'acme/asked'
    const subject = assembler(true, true, { facts: () => ({ model }) })
    const [sign] = parse(subject.keepAlive())
    model = 'acme/served'
    subject.push([...hello, end()])
    subject.finish()
    expect([partsOf(sign!), candidateOf(sign!)['finishReason'], sign!['modelVersion']]).toEqual([[{ text: '' }], undefined, 'acme/asked'])
    expect(new Set(parse(subject.takeWire()).map((answer) => answer['modelVersion']))).toEqual(new Set(['acme/served']))
  })
})

describe('a stream that is a list', () => {
  const listed = (): Assembler => assembler(true, true, {}, { listed: true })
  const answers = (wire: string): readonly Json[] => JSON.parse(wire) as readonly Json[]

  it('contains the same as an event stream, each answer as it comes', () => {
    const subject = listed()
    const pieces = [...hello, end()].map((event) => {
      subject.push([event])
      return subject.takeWire()
    })
    subject.finish()
    const told = pieces.join('') + subject.takeWire()
    expect(answers(told)).toEqual(stream([...hello, end()]))
    expect(pieces.filter((piece) => piece !== '').map((piece) => piece.slice(0, 3))).toEqual(['[{"', ',\r\n'])
  })
  it('that breaks ends with the error, and is still a valid list', () => {
    const broken = listed()
    broken.push(hello)
    broken.fail(new GatewayError('provider_unavailable', 'Gone'))
    expect(answers(broken.takeWire()).at(-1)).toMatchObject({ error: { code: 502, message: 'Gone' } })
    expect(broken.takeWire()).toBe('')
    const atOnce = listed()
    atOnce.fail(new GatewayError('provider_unavailable', 'Gone'))
    expect(answers(atOnce.takeWire())).toMatchObject([{ error: { code: 502 } }])
  })
  it('may begin with keep-alives', () => {
    const subject = listed()
    const sign = subject.keepAlive()
    subject.push([...hello, end()])
    subject.finish()
    expect(answers(sign + subject.takeWire())).toHaveLength(4)
  })
})

describe('an answer', () => {
  it('in JSON is one text', () => {
    expect(partsOf(whole([...hello, end()]))).toEqual([{ text: 'Hello' }])
  })
  it('without content has an empty part', () => {
    expect(partsOf(whole([end('length')]))).toEqual([{ text: '' }])
  })
  it('of several messages keeps them apart', () => {
    expect(partsOf(whole([...hello, message('n'), text('n', 'again'), close('n'), end()]))).toEqual([{ text: 'Hello\n\nagain' }])
  })

  it.each<readonly [End['reason'], string, string]>([
    ['stop', 'END', 'STOP'],
    ['tool_calls', 'tool_calls', 'STOP'],
    ['length', 'max_tokens', 'MAX_TOKENS'],
    ['content_filter', 'content_filter', 'SAFETY'],
    ['content_filter', 'RECITATION', 'RECITATION'],
  ])('ended by %s (%s) says %s', (reason, native, expected) => {
    expect(candidateOf(whole([...hello, end(reason, native)]))['finishReason']).toBe(expected)
  })

  it('that is a refusal says so, and in its own words why', () => {
    const refusal = [message('m'), { type: 'refusal-delta', key: 'm', delta: 'No.' } as const, close('m')]
    for (const answer of [whole([...refusal, end()]), stream([...refusal, end()]).at(-1)!])
      expect(candidateOf(answer)).toMatchObject({ finishReason: 'SAFETY', finishMessage: 'No.' })
    expect(partsOf(whole([...refusal, end()]))).toEqual([{ text: 'No.' }])
    const explained: ModelEvent = {
      type: 'response-end',
      reason: 'refusal',
      nativeReason: 'refusal',
      stopped: { refusal: { category: 'cyber', explanation: 'Not this.' } },
    }
    expect(candidateOf(whole([...hello, explained]))).toMatchObject({ finishReason: 'SAFETY', finishMessage: 'Not this.' })
    expect(candidateOf(whole([...refusal, ...call('a', '{}'), close('a'), end('tool_calls')]))['finishReason']).toBe('STOP')
  })

  it.each([
    ['"Perc', 'ussion"', 'Percussion'],
    ['Perc', 'ussion', 'Percussion'],
    ['{"a":', '"Percussion"}', '{"a":"Percussion"}'],
  ])('restricted to an enum is that value: %s%s', (first, second, expected) => {
    for (const streams of [true, false]) {
      const subject = assembler(streams, false, {}, { bareWord: true })
      subject.push([message('m'), text('m', first), text('m', second), close('m'), end()])
      subject.finish()
      const told = streams ? parse(subject.takeWire()) : [JSON.parse(subject.answer()) as Json]
      expect(told.flatMap(partsOf).map((part) => part['text'])).toEqual(streams ? [expected, ''] : [expected])
    }
  })

  it('has calls with an object, whose numbers keep their digits', () => {
    const wire = assembler(true)
    wire.push([...call('a', '{"id":12345678901234567890}'), close('a'), end('tool_calls')])
    wire.finish()
    expect(wire.takeWire()).toContain('{"functionCall":{"id":"call_a","name":"look","args":{"id":12345678901234567890}}}')
  })
  it.each([
    ['', {}],
    ['"x"', { input: '"x"' }],
    ['{"a":', { input: '{"a":' }],
  ])('has calls with an object, whatever the model wrote: %s', (args, expected) => {
    expect(partsOf(whole([...call('a', args), close('a'), end('tool_calls')]))).toEqual([
      { functionCall: { id: 'call_a', name: 'look', args: expected } },
    ])
  })
  it('does not contain a call that broke off', () => {
    const answer = whole([...hello, ...call('a', '{"a":'), close('a', { status: 'incomplete' }), end('tool_calls')])
    expect([partsOf(answer), candidateOf(answer)['finishReason']]).toEqual([[{ text: 'Hello' }], 'MALFORMED_FUNCTION_CALL'])
  })

  it('shows a picture, and code with what came of it', () => {
    const items: readonly ModelEvent[] = [
      { type: 'item-start', key: 'p', item: { type: 'image_generation_call', status: 'completed', result: 'QQ==', output_format: 'webp' } },
      close('p'),
      {
        type: 'item-start',
        key: 'c',
        item: { type: 'code_interpreter_call', status: 'completed', code: 'print(1)', outputs: [{ type: 'logs', logs: '1' }] },
      },
      close('c'),
    ]
    expect(partsOf(whole([...items, end()]))).toEqual([
      { inlineData: { mimeType: 'image/webp', data: 'QQ==' } },
      { executableCode: { language: 'PYTHON', code: 'print(1)' } },
      { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
    ])
  })
})

describe('thoughts', () => {
  const events = [thinks('t'), thought('t', 'Hm.', 0), thought('t', 'So.', 1), close('t', { encrypted_content: sealed }), ...hello, end()]
  it('are shown if requested, and their signature is on the part that follows', () => {
    const parts = partsOf(whole(events))
    expect(parts).toEqual([
      { thought: true, text: 'Hm.\n\nSo.' },
      { text: 'Hello', thoughtSignature: expect.any(String) as string },
    ])
    expect(sealIn(parts[1])).toMatchObject({ data: 'secret' })
  })
  it('keep the stream alive if not requested', () => {
    expect(partsOf(whole(events, false))).toEqual([{ text: 'Hello', thoughtSignature: expect.any(String) as string }])
  })
  it('without content after them have a part of their own', () => {
    const parts = partsOf(whole([...hello, thinks('t'), close('t', { encrypted_content: sealed }), end()]))
    expect(parts).toEqual([{ text: 'Hello' }, { text: '', thoughtSignature: expect.any(String) as string }])
    expect(sealIn(parts[1])!.at).toBeUndefined()
  })
  it('before text and a call have their signature on both, because some clients keep only that of calls', () => {
    const led = [
      thinks('t'),
      close('t', { encrypted_content: sealed }),
      ...hello,
      ...call('a', '{}'),
      close('a'),
      ...call('b', '{}'),
      close('b'),
      end(),
    ]
    for (const parts of [partsOf(whole(led)), stream(led).flatMap(partsOf)]) {
      const words = parts.filter((part) => part['text'] !== undefined)
      const calls = parts.filter((part) => part['functionCall'] !== undefined)
      expect(sealIn(words[0])).toMatchObject({ data: 'secret' })
      expect(sealIn(calls[0])).toMatchObject({ at: [0, 0, 0], data: 'secret' })
      expect(calls[1]).not.toHaveProperty('thoughtSignature')
    }
  })
  it('that ended after the text following them record their place', () => {
    const late = [thinks('t'), thought('t', 'Hm.'), message('m'), text('m', 'Hello'), close('m'), close('t', { encrypted_content: sealed }), end()]
    const parts = partsOf(stream(late).at(-2)!)
    expect(sealIn(parts[0])).toMatchObject({ at: [0, 0, 0], data: 'secret' })
  })
})

describe('sources', () => {
  const cites = (url: string, start: number, stop: number): ModelEvent => ({
    type: 'annotation',
    key: 'm',
    annotation: { type: 'url_citation', url, title: url.slice(8), start_index: start, end_index: stop },
  })
  it('are listed at the end, with positions in bytes', () => {
    const searched: ModelEvent = {
      type: 'item-start',
      key: 's',
      item: { type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'grass' } },
    }
    const fetched: ModelEvent = {
      type: 'item-start',
      key: 'f',
      item: { type: 'gateway:web_fetch', status: 'completed', url: 'https://c.test', content: 'x' },
    }
    const said = [
      searched,
      close('s'),
      fetched,
      close('f'),
      message('m'),
      text('m', 'Grün ist Gras.'),
      cites('https://a.test', 0, 4),
      cites('https://b.test', 5, 8),
      cites('https://a.test', 9, 13),
      close('m'),
    ]
    const candidate = candidateOf(whole([...said, end()]))
    expect(candidate['groundingMetadata']).toEqual({
      webSearchQueries: ['grass'],
      groundingChunks: [{ web: { uri: 'https://a.test', title: 'a.test' } }, { web: { uri: 'https://b.test', title: 'b.test' } }],
      groundingSupports: [
        { segment: { endIndex: 5, text: 'Grün' }, groundingChunkIndices: [0] },
        { segment: { startIndex: 6, endIndex: 9, text: 'ist' }, groundingChunkIndices: [1] },
        { segment: { startIndex: 10, endIndex: 14, text: 'Gras' }, groundingChunkIndices: [0] },
      ],
    })
    expect(candidate['urlContextMetadata']).toEqual({
      urlMetadata: [{ retrievedUrl: 'https://c.test', urlRetrievalStatus: 'URL_RETRIEVAL_STATUS_SUCCESS' }],
    })
  })
  it('have positions alone once the texts that they cover have been repeated too often', () => {
    const story = 'x'.repeat(400_000)
    const sources = Array.from({ length: 20 }, (_, n) => cites(`https://${n}.test`, 0, story.length))
    const { groundingSupports: supports } = candidateOf(whole([message('m'), text('m', story), ...sources, close('m'), end()]))[
      'groundingMetadata'
    ] as { readonly groundingSupports: readonly { readonly segment: { readonly endIndex: number; readonly text?: string } }[] }
    expect(supports.map(({ segment }) => segment.endIndex)).toEqual(Array(20).fill(story.length))
    expect(supports.map(({ segment }) => segment.text?.length)).toEqual([story.length, story.length, ...Array(18).fill(undefined)])
  })
  it('are not mentioned where there are none', () => {
    expect(Object.keys(candidateOf(whole([...hello, end()])))).toEqual(['content', 'index', 'finishReason'])
  })
})

it('log probabilities are included if requested', () => {
  const likely: ModelEvent = {
    type: 'text-delta',
    key: 'm',
    delta: 'Hi',
    logprobs: [{ token: 'Hi', logprob: -0.5, bytes: [72, 105], top_logprobs: [{ token: 'Ho', logprob: -2, bytes: [] }] }],
  }
  const told = candidateOf(whole([message('m'), likely, close('m'), end()]))
  expect(told).toMatchObject({
    avgLogprobs: -0.5,
    logprobsResult: {
      chosenCandidates: [{ token: 'Hi', logProbability: -0.5 }],
      topCandidates: [{ candidates: [{ token: 'Ho', logProbability: -2 }] }],
    },
  })
})
