import { describe, expect, it } from 'vitest'
import { fold, type RunEvent } from './fold.ts'
import { startRun, timingOf, type Item, type Run } from './run.ts'

const event = (type: string, members: object = {}): RunEvent => ({ type: 'event', event: { type, ...members } })
/** The run after all events, ten milliseconds apart, the first at 10. */
const after = (...happenings: readonly RunEvent[]): Run => happenings.reduce((run, happening, n) => fold(run, happening, (n + 1) * 10), startRun(0))

const created = event('response.created', { response: { id: 'gen-1', model: 'demo/echo', status: 'in_progress', output: [] } })
const added = (index: number, item: Item): RunEvent => event('response.output_item.added', { output_index: index, item })
const doneItem = (index: number, item: Item): RunEvent => event('response.output_item.done', { output_index: index, item })
const openMessage: Item = { type: 'message', id: 'msg_1', role: 'assistant', status: 'in_progress', content: [] }
const openPart = event('response.content_part.added', { output_index: 0, content_index: 0, part: { type: 'output_text', text: '', annotations: [] } })
const text = (delta: string): RunEvent => event('response.output_text.delta', { output_index: 0, content_index: 0, delta })
const message = (words: string, status = 'completed'): Item => ({
  ...openMessage,
  status,
  content: [{ type: 'output_text', text: words, annotations: [] }],
})
const usage = { input_tokens: 3, output_tokens: 2, total_tokens: 5, cost: 0.5 }
const metadata = { requested: 'demo/echo', attempts: [{ provider: 'Demo', model: 'demo/echo', status: 200 }] }
const ended: RunEvent = { type: 'ended' }

describe('an answer that arrives', () => {
  const words = [created, event('response.in_progress', { response: {} }), added(0, openMessage), openPart, text('Hel'), text('lo')]

  it('is shown while it grows, and knows when its first word came', () => {
    expect(after(...words)).toMatchObject({
      phase: 'streaming',
      id: 'gen-1',
      model: 'demo/echo',
      items: [message('Hello', 'in_progress')],
      firstAt: 50,
    })
  })

  it('ends with its items, its usage and how it was routed', () => {
    const response = { id: 'gen-1', status: 'completed', output: [message('Hello')], usage, gateway_metadata: metadata }
    const run = after(...words, doneItem(0, message('Hello')), event('response.completed', { response }), ended)
    expect(run).toMatchObject({ phase: 'completed', items: [message('Hello')], usage, metadata, startedAt: 0, firstAt: 50, endedAt: 80, unknown: {} })
    expect(run.failure).toBeUndefined()
  })

  it('shows reasoning as text and as summary, refusals and citations', () => {
    const run = after(
      created,
      added(0, { type: 'reasoning', id: 'rs_1', summary: [] }),
      event('response.reasoning_summary_part.added', { output_index: 0, summary_index: 0, part: { type: 'summary_text', text: '' } }),
      event('response.reasoning_summary_text.delta', { output_index: 0, summary_index: 0, delta: 'Short' }),
      event('response.reasoning_text.delta', { output_index: 0, content_index: 0, delta: 'Long' }),
      event('response.reasoning_text.done', { output_index: 0, content_index: 0, text: 'Longer' }),
      added(1, openMessage),
      event('response.output_text.delta', { output_index: 1, content_index: 0, delta: 'See' }),
      event('response.output_text.annotation.added', {
        output_index: 1,
        content_index: 0,
        annotation: { type: 'url_citation', url: 'https://a.example' },
      }),
      event('response.refusal.delta', { output_index: 1, content_index: 1, delta: 'No.' }),
    )
    expect(run.items).toEqual([
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 'Short' }],
        content: [{ type: 'reasoning_text', text: 'Longer' }],
      },
      {
        ...openMessage,
        content: [
          { type: 'output_text', text: 'See', annotations: [{ type: 'url_citation', url: 'https://a.example' }] },
          { type: 'refusal', refusal: 'No.' },
        ],
      },
    ])
    expect(run.unknown).toEqual({})
  })

  it('shows calls with their arguments, and the progress of gateway tools', () => {
    const run = after(
      created,
      added(0, { type: 'function_call', call_id: 'c', name: 'f', arguments: '', status: 'in_progress' }),
      event('response.function_call_arguments.delta', { output_index: 0, delta: '{"a"' }),
      event('response.function_call_arguments.delta', { output_index: 0, delta: ':1}' }),
      added(1, { type: 'custom_tool_call', call_id: 'd', name: 'g', input: '', status: 'in_progress' }),
      event('response.custom_tool_call_input.delta', { output_index: 1, delta: 'go' }),
      added(2, { type: 'web_search_call', id: 'ws', status: 'in_progress' }),
      event('response.web_search_call.searching', { output_index: 2, item_id: 'ws' }),
      event('response.web_search_call.partial_image', { output_index: 2, item_id: 'ws' }),
    )
    expect(run.items).toMatchObject([{ arguments: '{"a":1}' }, { input: 'go' }, { status: 'searching' }])
    expect(run.unknown).toEqual({ 'response.web_search_call.partial_image': 1 })
  })

  it('as one JSON object is the same answer, without a time of the first word', () => {
    const run = after(
      { type: 'head', id: 'gen-2' },
      { type: 'whole', response: { id: 'gen-2', status: 'completed', output: [message('Hi')], usage } },
    )
    expect(run).toMatchObject({ phase: 'completed', id: 'gen-2', items: [message('Hi')], usage, endedAt: 20 })
    expect(timingOf(run)).toEqual({ firstMs: undefined, totalMs: 20, rate: undefined })
  })

  it('that was cut off by a limit says which', () => {
    const response = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, output: [message('Hel', 'incomplete')] }
    expect(after(created, event('response.incomplete', { response }), ended)).toMatchObject({ phase: 'incomplete', reason: 'max_output_tokens' })
  })
})

describe('an answer that fails', () => {
  it('with an HTTP error has the message, the field it is about, and the attempts', () => {
    const attempts = [{ provider: 'Acme', model: 'a/b', status: 429, error_type: 'rate_limit_exceeded' }]
    const endpoints = { total: 1, available: [] }
    const body = {
      gateway_metadata: { endpoints },
      error: { code: 429, message: 'Slow down', metadata: { error_type: 'rate_limit_exceeded', provider_name: 'Acme', attempts } },
    }
    const run = after({ type: 'head', id: 'gen-3' }, { type: 'refused', status: 429, text: JSON.stringify(body) })
    expect(run).toMatchObject({ phase: 'refused', id: 'gen-3', endedAt: 20, metadata: { attempts, endpoints } })
    expect(run.failure).toEqual({
      message: 'Slow down',
      code: '429',
      errorType: 'rate_limit_exceeded',
      path: undefined,
      details: { provider_name: 'Acme' },
    })
  })

  it('with the error page of a proxy does not show that page', () => {
    expect(after({ type: 'refused', status: 502, text: '<html>' }).failure?.message).toBe('The gateway answered with status 502.')
    expect(after({ type: 'refused', status: 502, text: 'null' }).failure?.message).toBe('The gateway answered with status 502.')
  })

  it('in the middle keeps what had arrived', () => {
    const response = { status: 'failed', error: { code: 'server_error', message: 'It died' }, error_type: 'provider_unavailable', output: [], usage }
    const run = after(created, added(0, openMessage), openPart, text('Hel'), event('response.failed', { response }), ended)
    expect(run).toMatchObject({
      phase: 'failed',
      items: [message('Hel', 'in_progress')],
      failure: { message: 'It died', errorType: 'provider_unavailable' },
      usage,
    })
  })

  it('with an error event is failed, whatever events follow', () => {
    const run = after(created, event('error', { code: 'server_error', message: 'Gone', error: { type: 'provider_unavailable' } }), ended)
    expect(run).toMatchObject({ phase: 'failed', failure: { message: 'Gone', code: 'server_error', errorType: 'provider_unavailable' }, endedAt: 30 })
  })

  it('without a terminal event counts as broken', () => {
    const run = after(created, added(0, openMessage), text('Hel'), ended)
    expect(run).toMatchObject({ phase: 'broken', failure: { message: 'The connection ended before the answer did.' }, endedAt: 40 })
  })

  it('because its connection broke is told apart from one the user stopped', () => {
    expect(after(created, { type: 'broken', message: 'reset' })).toMatchObject({ phase: 'broken', failure: { message: 'reset' } })
    const stopped = after(created, { type: 'stopped' })
    expect([stopped.phase, stopped.failure]).toEqual(['stopped', undefined])
  })

  it('keeps its phase whatever happens after its end', () => {
    const whole = event('response.completed', { response: { status: 'completed', output: [message('Hi')] } })
    for (const late of [ended, { type: 'stopped' }, { type: 'broken', message: 'reset' }] as const)
      expect(after(created, whole, late)).toMatchObject({ phase: 'completed', endedAt: 20 })
  })
})

describe('events this page does not know', () => {
  it('are counted, and change nothing', () => {
    const run = after(created, event('response.new_thing', { output_index: 0 }), event('response.new_thing'), event('keepalive'), event(''))
    expect([run.unknown, run.items]).toEqual([{ 'response.new_thing': 2, '': 1 }, []])
  })

  it('and malformed ones with indexes that do not exist or parts that are not objects are ignored', () => {
    const strange = [
      text('before any item'),
      added(7, openMessage),
      event('response.output_item.added', { output_index: 0, item: 'text' }),
      added(0, openMessage),
      event('response.output_text.delta', { output_index: 0, content_index: 3, delta: 'x' }),
      event('response.output_text.delta', { output_index: 0, content_index: 0, delta: 3 }),
      event('response.content_part.added', { output_index: 0, content_index: 0, part: null }),
      event('response.completed'),
    ]
    expect(after(...strange)).toMatchObject({ phase: 'completed', items: [openMessage] })
  })

  it('the request body that providers were sent is kept where the user asked for it', () => {
    expect(after(event('response.debug', { debug: { echo_upstream_body: { model: 'x' } } })).debug).toEqual([{ echo_upstream_body: { model: 'x' } }])
  })
})

it('tokens per second are measured after the first token, if that time is long enough', () => {
  const run: Run = { ...startRun(1_000), firstAt: 1_200, endedAt: 2_200, usage: { output_tokens: 50 } }
  expect(timingOf(run)).toEqual({ firstMs: 200, totalMs: 1_200, rate: 50 })
  expect(timingOf({ ...run, endedAt: 1_250 }).rate).toBeUndefined()
})
