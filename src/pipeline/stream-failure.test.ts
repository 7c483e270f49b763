import { describe, expect, it } from 'vitest'
import type { AttemptRecord, Call } from '../core/call.ts'
import { NO_COST } from '../core/cost.ts'
import { GatewayError } from '../core/error.ts'
import type { ModelEvent } from '../core/event.ts'
import { keepNative, nativeCitation } from '../core/native-citation.ts'
import { testEndpoint } from '../testing/endpoints.ts'
import { AnswerBuffer, Continuation } from './stream-failure.ts'

const REQUEST = { input: [{ type: 'message', role: 'user', content: 'hi' }], max_output_tokens: 100 } as const
const start = (key: string, type: string): ModelEvent => ({
  type: 'item-start',
  key,
  item: type === 'message' ? { type, role: 'assistant', content: [] } : { type },
})
const text = (key: string, delta: string, part?: number): ModelEvent => ({ type: 'text-delta', key, delta, ...(part === undefined ? {} : { part }) })
const cite = (key: string, from: number, to: number, part?: number): ModelEvent => ({
  type: 'annotation',
  key,
  annotation: { type: 'url_citation', url: 'https://a.example', title: 'A', start_index: from, end_index: to },
  ...(part === undefined ? {} : { part }),
})
const broken = new GatewayError('provider_unavailable', 'gone')

const CALL = { trace: {} } as Call

const through = (continuation: Continuation, events: readonly ModelEvent[]): readonly ModelEvent[] =>
  events.flatMap((event) => continuation.take(CALL, [event]))
function afterBreak(events: readonly ModelEvent[]): Continuation {
  const continuation = new Continuation(() => ({ ...NO_COST, total: 0.5 }))
  expect(through(continuation, events)).toEqual(events)
  continuation.broke(broken, REQUEST, { endpoint: testEndpoint() })
  return continuation
}

describe('a continuation', () => {
  it('keeps the vendor’s own form of citations that it moves', () => {
    const continuation = afterBreak([start('m', 'message'), text('m', 'The sky ')])
    const cited = cite('m', 1, 3) as Extract<ModelEvent, { readonly type: 'annotation' }>
    keepNative(cited.annotation, 'messages', { type: 'char_location' })
    const [moved] = through(continuation, [start('m', 'message'), text('m', 'is'), cited]).slice(-1)
    expect(moved).toEqual(cite('m', 9, 11))
    expect(nativeCitation((moved as typeof cited).annotation, 'messages')).toEqual({ type: 'char_location' })
  })
  it('joins the first message to the open one, moves its citations and gives everything else a key of its own', () => {
    const continuation = afterBreak([start('m', 'message'), text('m', 'The sky ', 0)])
    const shown = through(continuation, [
      start('r', 'reasoning'),
      { type: 'reasoning-delta', key: 'r', kind: 'text', delta: 'hm' },
      { type: 'item-end', key: 'r' },
      start('m', 'message'),
      text('m', ' is', 0),
      text('m', ' blue', 0),
      cite('m', 1, 3, 0),
      text('m', 'more', 1),
      { type: 'item-end', key: 'm' },
      start('c', 'function_call'),
      { type: 'item-end', key: 'c' },
      { type: 'response-end', reason: 'stop' },
    ])
    expect(shown).toEqual([
      text('m', 'is', 0),
      text('m', ' blue', 0),
      cite('m', 8, 10, 0),
      text('m', 'more', 2),
      { type: 'item-end', key: 'm' },
      { ...start('c', 'function_call'), key: 'continued1.c' },
      { type: 'item-end', key: 'continued1.c' },
      { type: 'response-end', reason: 'stop' },
    ])
  })

  it('sends the answer so far without trailing white space, and reduces the output limit', () => {
    const continuation = afterBreak([start('m', 'message'), text('m', 'x'.repeat(80)), text('m', ' \n')])
    const request = continuation.request(REQUEST)
    expect(request.input.at(-1)).toMatchObject({ role: 'assistant', content: [{ type: 'output_text', text: 'x'.repeat(80) }] })
    expect(request.max_output_tokens).toBe(79)
    expect(continuation.spent?.total).toBe(0.5)
  })

  it('costs what each of its endpoints wrote, recorded per endpoint', () => {
    const continuation = new Continuation((_usage, { input: total = 0 }) => ({ ...NO_COST, total }))
    const [first, second] = [1, 0.25].map((input): AttemptRecord => ({ endpoint: testEndpoint({ pricing: { input } }), status: 200, startedAt: 0 }))
    const call = { request: REQUEST, trace: { served: second } } as unknown as Call
    continuation.take(call, [start('m', 'message'), text('m', 'The sky ')])
    continuation.broke(broken, REQUEST, first!)
    continuation.take(call, [start('m', 'message'), text('m', 'is blue'), { type: 'item-end', key: 'm' }, { type: 'response-end', reason: 'stop' }])
    expect([first?.costUsd, second?.costUsd, call.trace.answerCost?.total]).toEqual([1, 0.25, 1.25])
  })

  it.each<readonly [string, readonly ModelEvent[]]>([
    ['a tool call has begun', [start('m', 'message'), text('m', 'a'), start('c', 'function_call')]],
    ['a tool call is complete', [start('c', 'function_call'), { type: 'item-end', key: 'c' }, start('m', 'message'), text('m', 'a')]],
    ['the message is finished', [start('m', 'message'), text('m', 'a'), { type: 'item-end', key: 'm' }]],
    ['the model refuses', [start('m', 'message'), { type: 'refusal-delta', key: 'm', delta: 'No' }]],
    ['the answer is very long', [start('m', 'message'), text('m', 'x'.repeat(300_000))]],
  ])('is impossible when %s', (_when, events) => expect(afterBreak(events).canContinue(REQUEST)).toBe(false))
})

describe('an answer held back', () => {
  it('is sent when it is complete', () => {
    const buffer = new AnswerBuffer()
    expect(buffer.take([start('m', 'message'), text('m', 'a')])).toBe(false)
    expect(buffer.take([{ type: 'response-end', reason: 'stop' }])).toBe(true)
    expect(buffer.full).toBe(false)
  })
  it('is sent when it has too many events', () => {
    const buffer = new AnswerBuffer()
    const events = Array.from({ length: 1_024 }, () => text('m', 'a'))
    let reads = 1
    while (!buffer.take(events)) reads++
    expect(reads).toBe(65)
  })
})
