import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../core/error.ts'
import type { ModelEvent } from '../../core/event.ts'
import type { ModelRequest } from '../../core/request.ts'
import { createUsage } from '../../core/usage.ts'
import { checkWire, parseWire } from '../../testing/check-wire.ts'
import { drawnAnswer } from '../../testing/drawn-events.ts'
import { listSteps } from '../../testing/list-steps.ts'
import { Assembler } from './assemble.ts'
import type { AssemblerOptions } from './assembler-options.ts'
import { verifies } from '../../../e2e/requirements.ts'
import { manualClock, sequentialIds } from '../../testing/deterministic.ts'

const request: ModelRequest = { model: 'acme/small', input: [], metadata: { team: 'blue' } }

function assembler(stream: boolean, options: Partial<AssemblerOptions> = {}): Assembler {
  const clock = manualClock()
  const facts = () => ({ model: 'acme/small' })
  return new Assembler({ id: 'gen-1700000000-x', request, receivedAt: clock.now(), stream, clock, newId: sequentialIds(), facts, ...options })
}

const end: ModelEvent = { type: 'response-end', reason: 'stop', usage: createUsage({ inputTokens: 5, outputTokens: 3 }) }
const message = (key: string): ModelEvent => ({ type: 'item-start', key, item: { type: 'message', role: 'assistant', content: [] } })
const call = (key: string, callId = `call_${key}`): ModelEvent => ({
  type: 'item-start',
  key,
  item: { type: 'function_call', call_id: callId, name: 'look', arguments: '' },
})
const text = (key: string, delta: string): ModelEvent => ({ type: 'text-delta', key, delta })
const args = (key: string, delta: string): ModelEvent => ({ type: 'arguments-delta', key, delta })
const close = (key: string, item?: { [field: string]: unknown }): ModelEvent => (item ? { type: 'item-end', key, item } : { type: 'item-end', key })

function stream(events: readonly ModelEvent[], options?: Partial<AssemblerOptions>): string {
  const subject = assembler(true, options)
  subject.push(events)
  subject.finish()
  return subject.takeWire()
}
const json = (events: readonly ModelEvent[]): { output: { [f: string]: unknown }[]; [f: string]: unknown } => {
  const subject = assembler(false)
  subject.push(events)
  subject.finish()
  return JSON.parse(subject.answer())
}

describe('Assembler', () => {
  it('writes errors and metadata with whole characters only', () => {
    const subject = assembler(true, { extra: () => ({ gateway_metadata: { summary: 'b\ud83d' } }) })
    subject.push([message('m'), text('m', 'hi')])
    subject.fail(new GatewayError('provider_unavailable', 'a\ud83d'))
    const wire = subject.takeWire()
    expect(wire).not.toMatch(/\\ud[89a-f]/i)
    expect(wire).toContain('"message":"a\ufffd"')
    expect(wire).toContain('"summary":"b\\ufffd"')
  })

  it('marks calls that a program made, and keeps the id of the program', () => {
    const caller = { type: 'program', caller_id: 'call_prog' }
    const program = { type: 'program', id: 'prog_1', call_id: 'call_prog', code: 'text(1)', fingerprint: 'sealed' }
    const made: ModelEvent = { type: 'item-start', key: 'c', item: { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '', caller } }
    const events = [{ type: 'item-start', key: 'p', item: program } as const, close('p'), made, args('c', '{}'), close('c'), end]
    expect(json(events).output).toMatchObject([program, { call_id: 'call_1', caller }])
    expect(parseWire(stream(events)).flatMap((event) => event['item'] ?? [])).toMatchObject([
      program,
      program,
      { call_id: 'call_1', caller },
      { call_id: 'call_1', caller },
    ])
  })

  it('tells what the vendor found in prompt and answer, at the end', () => {
    const moderation = { input: { flagged: false }, output: { flagged: true, note: 'a\ud83d' } }
    const events: ModelEvent[] = [message('m'), text('m', 'Hi'), close('m'), { type: 'response-end', reason: 'stop', stopped: { moderation } }]
    const told = { moderation: { ...moderation, output: { flagged: true, note: 'a\ufffd' } } }
    expect(json(events)).toMatchObject(told)
    const wire = parseWire(stream(events))
    expect(wire.at(-1)!['response']).toMatchObject(told)
    expect(wire[0]!['response']).not.toHaveProperty('moderation')
    expect(json([message('m'), text('m', 'Hi'), close('m'), end])).not.toHaveProperty('moderation')
  })

  it('marks calls whose results may come later', () => {
    const call: ModelEvent = { type: 'item-start', key: 'c', item: { type: 'function_call', call_id: 'c', name: 'f', arguments: '', async: true } }
    const note: ModelEvent = { type: 'item-start', key: 'n', item: { type: 'custom_tool_call', call_id: 'n', name: 'g', input: '', async: true } }
    const events = [call, args('c', '{}'), close('c'), note, close('n'), end]
    expect(json(events).output).toMatchObject([{ async: true }, { async: true }])
    expect(parseWire(stream(events)).flatMap((event) => event['item'] ?? [])).toMatchObject(Array.from({ length: 4 }, () => ({ async: true })))
  })

  it('writes no half of a surrogate pair, wherever the upstream cuts its texts, also in the JSON answer', () => {
    const [first, second] = ['a\ud83d', '\ude00b\ud83d'] as const
    const thoughts = (delta: string): ModelEvent => ({ type: 'reasoning-delta', key: 'r', kind: 'text', delta })
    const turns: readonly ModelEvent[][] = [
      [{ type: 'item-start', key: 'r', item: { type: 'reasoning', summary: [] } }, thoughts(first), thoughts(second), close('r')],
      [message('m'), text('m', first), text('m', second), close('m')],
      [call('c'), args('c', `{"x":"${first}`), args('c', `${second}"}`), close('c')],
      [message('n'), text('n', 'cut\ud83d'), end],
    ]
    const events = turns.flat()
    const body = stream(events)
    expect(body.isWellFormed()).toBe(true)
    expect(body).not.toMatch(/\\ud[89a-f]/i)
    expect(checkWire(body).text).toContain('a😀b\ufffd')
    const { output } = json(events)
    expect(JSON.stringify(output)).not.toMatch(/\\ud[89a-f]/i)
    expect(output.map((item) => item['arguments'] ?? item['content'])).toMatchObject([
      [{ text: 'a😀b\ufffd' }],
      [{ text: 'a😀b\ufffd' }],
      '{"x":"a😀b\ufffd"}',
      [{ text: 'cut\ufffd' }],
    ])
  })

  it('writes no half of a surrogate pair in citations, passed-on items and their progress', () => {
    const half = 'cut\ud83d'
    const events: readonly ModelEvent[] = [
      message('m'),
      text('m', 'a'),
      { type: 'annotation', key: 'm', annotation: { type: 'url_citation', url: 'http://u', title: half, start_index: 0, end_index: 1 } },
      close('m'),
      { type: 'item-start', key: 'w', item: { type: 'web_search_call', status: 'in_progress', action: { type: 'search', query: half } } },
      { type: 'item-event', key: 'w', name: 'web_search_call.searching', fields: { note: [half] } },
      close('w', { action: { type: 'search', query: half, queries: ['ok', half] } }),
      end,
    ]
    const body = stream(events)
    expect(body).not.toMatch(/\\ud[89a-f]/i)
    expect(checkWire(body).output).toMatchObject([
      { content: [{ annotations: [{ title: 'cut\ufffd' }] }] },
      { action: { query: 'cut\ufffd', queries: ['ok', 'cut\ufffd'] } },
    ])
    expect(JSON.stringify(json(events).output)).not.toMatch(/\\ud[89a-f]/i)
  })

  it('writes a text answer in the canonical order', () => {
    const body = stream([message('m'), text('m', 'Hel'), { type: 'text-delta', key: 'm', delta: 'lo', plain: true }, close('m'), end])
    const { events, text: whole } = checkWire(body)
    expect(events.map((event) => event.type.slice('response.'.length))).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'completed',
    ])
    expect(whole).toBe('Hello')
  })

  it('gives the usage in both vocabularies', () => {
    expect(json([message('m'), text('m', 'x'), close('m'), end])['usage']).toMatchObject({
      input_tokens: 5,
      output_tokens: 3,
      total_tokens: 8,
      prompt_tokens: 5,
      completion_tokens: 3,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 0 },
    })
  })

  it('holds a second parallel call back until the first has ended', () => {
    const events = [call('a'), call('b'), args('a', '{"x":'), args('b', '{"y":2}'), args('a', '1}'), close('b'), close('a'), end]
    const { output } = checkWire(stream(events))
    expect(output.map((item) => item['arguments'])).toEqual(['{"x":1}', '{"y":2}'])
  })

  it('drops a citation of a part that has ended, and adds no empty part for it', () => {
    const note = (part?: number): ModelEvent => ({
      type: 'annotation',
      key: 'm',
      annotation: { type: 'url_citation', url: 'http://u', title: 't', start_index: 0, end_index: 1 },
      ...(part === undefined ? {} : { part }),
    })
    const part = (delta: string, number: number): ModelEvent => ({ type: 'text-delta', key: 'm', delta, part: number })
    const content = (events: readonly ModelEvent[]): unknown => checkWire(stream([message('m'), ...events, close('m'), end])).output[0]!['content']
    expect(content([part('a', 0), part('b', 1), note(0), note(1)])).toMatchObject([
      { text: 'a', annotations: [] },
      { text: 'b', annotations: [{}] },
    ])
    const refusal: ModelEvent = { type: 'refusal-delta', key: 'm', delta: 'no', part: 1 }
    expect(content([part('a', 0), refusal, note(0)])).toMatchObject([{ text: 'a', annotations: [] }, { refusal: 'no' }])
    expect(content([text('m', 'a'), { type: 'refusal-delta', key: 'm', delta: 'no' }, note()])).toMatchObject([{ text: 'a' }, { refusal: 'no' }])
    expect(content([note(0), part('a', 0)])).toMatchObject([{ text: 'a', annotations: [{}] }])
  })

  it('turns missing arguments into an empty object and completes what the deltas left out', () => {
    const { output } = checkWire(stream([call('a'), close('a'), call('b'), args('b', '{"q"'), close('b', { arguments: '{"q":1}' }), end]))
    expect(output.map((item) => item['arguments'])).toEqual(['{}', '{"q":1}'])
  })

  it('mints a call id that is missing, repeated or too long', () => {
    const { output } = checkWire(
      stream([call('a', 'c'), close('a'), call('b', 'c'), close('b'), call('d', ''), close('d'), call('e', 'x'.repeat(65)), close('e'), end]),
    )
    const ids = output.map((item) => item['call_id'] as string)
    expect(ids[0]).toBe('c')
    expect(new Set(ids).size).toBe(4)
    expect(ids.every((id) => id !== '' && id.length <= 64)).toBe(true)
  })

  it('replaces a call id that the conversation already has; one that ends in a number counts up', () => {
    const earlier = ['call_0', 'call_1', 'same', 'functions.look:0'].map((call_id) => ({
      type: 'function_call' as const,
      call_id,
      name: 'look',
      arguments: '{}',
    }))
    const history: ModelRequest = { ...request, input: earlier }
    const events = ['call_0', 'same', 'call_7', 'functions.look:0', 'call_1'].flatMap((id, n) => [call(`${n}`, id), close(`${n}`)])
    const ids = checkWire(stream([...events, end], { request: history })).output.map((item) => item['call_id'] as string)
    expect(ids).toEqual(['call_2', expect.stringMatching(/^call_\w{24}$/), 'call_7', 'functions.look:1', 'call_3'])
  })

  it('mints the call id of a built-in tool that works where the caller is, where the upstream sends none or repeats one', () => {
    const shell = (key: string, call_id: unknown): ModelEvent[] => [
      { type: 'item-start', key, item: { type: 'local_shell_call', status: 'in_progress', call_id, action: {} } },
      close(key, { status: 'completed', call_id }),
    ]
    const { output } = checkWire(stream([...[undefined, 'c', 'c', 'x'.repeat(65)].flatMap((id, n) => shell(`${n}`, id)), end]))
    const ids = output.map((item) => item['call_id'] as string)
    expect(ids[1]).toBe('c')
    expect(new Set(ids).size).toBe(4)
    expect(ids.every((id) => typeof id === 'string' && id.length <= 64)).toBe(true)
  })

  it('creates the call id of a search for the caller to run, and not of one that the provider ran', () => {
    const search = (key: string, fields: object): ModelEvent[] => [
      { type: 'item-start', key, item: { type: 'tool_search_call', status: 'in_progress', arguments: {}, ...fields } },
      close(key, { ...fields, status: 'completed', arguments: { query: 'q' } }),
    ]
    const client = { execution: 'client' }
    const searches = [
      client,
      { ...client, call_id: null },
      { ...client, call_id: 'c' },
      { ...client, call_id: 'c' },
      { execution: 'server', call_id: null },
    ]
    const { output, events } = checkWire(stream([...searches.flatMap((fields, n) => search(`${n}`, fields)), end]))
    const ids = output.map((item) => item['call_id'])
    expect(ids).toEqual([expect.stringMatching(/^call_./), expect.stringMatching(/^call_./), 'c', expect.stringMatching(/^call_./), null])
    expect(new Set(ids).size).toBe(5)
    const announced = events
      .filter(({ type }) => type === 'response.output_item.added')
      .map((event) => (event['item'] as { call_id: unknown }).call_id)
    expect(announced).toEqual(ids)
  })

  it('carries reasoning with its signature, and mirrors raw text as a summary when asked', () => {
    const events: ModelEvent[] = [
      { type: 'item-start', key: 'r', item: { type: 'reasoning', summary: [] } },
      { type: 'reasoning-delta', key: 'r', kind: 'text', delta: 'think' },
      close('r', { signature: 'sig', format: 'anthropic-claude-v1', encrypted_content: 'sb1.x.' }),
      end,
    ]
    expect(checkWire(stream(events)).output[0]).toMatchObject({
      summary: [],
      content: [{ type: 'reasoning_text', text: 'think' }],
      signature: 'sig',
      format: 'anthropic-claude-v1',
      encrypted_content: 'sb1.x.',
    })
    expect(checkWire(stream(events, { mirrorReasoning: true })).output[0]).toMatchObject({
      summary: [{ text: 'think' }],
      content: [{ text: 'think' }],
    })
  })

  describe('reasoning that ends only after the text following it', () => {
    const thoughts: readonly ModelEvent[] = [
      { type: 'item-start', key: 'r', item: { type: 'reasoning', summary: [] } },
      { type: 'reasoning-delta', key: 'r', kind: 'text', delta: 'think' },
    ]
    const types = (body: string): string[] => checkWire(body).events.map((event) => event.type.slice('response.'.length))

    it('does not delay the text, and keeps its place and its final fields', () => {
      const subject = assembler(true)
      subject.push([...thoughts, message('m'), text('m', 'Hel')])
      const early = subject.takeWire()
      expect(early).toContain('"delta":"Hel"')
      subject.push([text('m', 'lo'), close('m'), close('r', { encrypted_content: 'sealed' }), end])
      subject.finish()
      const whole = early + subject.takeWire()
      expect(types(whole).slice(2).join(' ')).toBe(
        'output_item.added content_part.added reasoning_text.delta reasoning_text.done content_part.done ' +
          'output_item.added content_part.added output_text.delta output_text.delta ' +
          'output_text.done content_part.done output_item.done output_item.done completed',
      )
      expect(checkWire(whole).output).toMatchObject([
        { type: 'reasoning', content: [{ text: 'think' }], encrypted_content: 'sealed', status: 'completed' },
        { type: 'message', content: [{ text: 'Hello' }] },
      ])
    })

    it('ends before the text where its end comes first', () => {
      const body = stream([...thoughts, message('m'), close('r'), text('m', 'x'), close('m'), end])
      const told = types(body).filter((type) => type.startsWith('output_'))
      expect(told.join(' ')).toBe('output_item.added output_item.done output_item.added output_text.delta output_text.done output_item.done')
    })

    it('continues between items, with a part of its own for late text', () => {
      const more: ModelEvent = { type: 'reasoning-delta', key: 'r', kind: 'text', delta: 'more' }
      const events = [...thoughts, call('a'), message('m'), text('m', 'x'), more, close('r'), close('a'), text('m', 'y'), close('m'), end]
      expect(checkWire(stream(events)).output).toMatchObject([
        { type: 'reasoning', content: [{ text: 'think' }, { text: 'more' }], status: 'completed' },
        { type: 'function_call' },
        { type: 'message', content: [{ text: 'xy' }] },
      ])
    })

    it('does not delay text that came while another item was open before it', () => {
      const subject = assembler(true)
      const [start, thought] = thoughts as [ModelEvent, ModelEvent]
      const late: ModelEvent[] = [{ type: 'item-start', key: 's', item: { type: 'reasoning', summary: [] } }]
      subject.push([call('a'), start, thought, message('m'), text('m', 'Hel'), message('n'), text('n', 'lo'), close('n'), ...late, close('a')])
      const early = subject.takeWire()
      expect(early).toContain('"delta":"Hel"')
      subject.push([close('m')])
      const then = subject.takeWire()
      expect(then).toContain('"delta":"lo"')
      // Nothing waits behind these items, so they stream.
      subject.push([{ type: 'reasoning-delta', key: 's', kind: 'text', delta: 'again' }])
      const last = subject.takeWire()
      expect(last).toContain('"delta":"again"')
      subject.push([close('s'), close('r'), end])
      subject.finish()
      const { output } = checkWire(early + then + last + subject.takeWire())
      expect(output.map(({ type }) => type)).toEqual(['function_call', 'reasoning', 'message', 'message', 'reasoning'])
    })

    it('is incomplete when the answer breaks before its end', () => {
      const subject = assembler(true)
      subject.push([...thoughts, message('m'), text('m', 'x')])
      expect(subject.output()).toMatchObject([
        { type: 'reasoning', status: 'incomplete', content: [{ text: 'think' }] },
        { type: 'message', status: 'incomplete' },
      ])
      subject.fail(new GatewayError('provider_unavailable', 'gone'))
      expect(checkWire(subject.takeWire()).output.map((item) => [item.type, item['status']])).toEqual([
        ['reasoning', 'incomplete'],
        ['message', 'incomplete'],
      ])
    })
  })

  it('writes the rest of overtaken reasoning when an item ends, not when other reasoning is overtaken', () => {
    const thoughts = (key: string): ModelEvent => ({ type: 'item-start', key, item: { type: 'reasoning' } })
    const late: ModelEvent = { type: 'reasoning-delta', key: 'first', kind: 'text', delta: 'late' }
    const before = [thoughts('first'), message('m'), thoughts('second'), text('m', 'x'), late, close('m'), close('first')]
    const events = [...before, message('n'), text('n', 'y'), close('n'), end]
    const { output, terminal } = checkWire(stream(events))
    expect(output.map(({ type }) => type)).toEqual(['reasoning', 'message', 'reasoning', 'message'])
    expect(output[0]).toMatchObject({ content: [{ text: 'late' }] })
    expect((terminal['response'] as { output: unknown }).output).toEqual(json(events).output)
  })

  it('writes log probabilities, the phase and the tier of an answer', () => {
    const logprobs = [{ token: 'x', logprob: -0.5, bytes: [120], top_logprobs: [] }]
    const { events, output, terminal } = checkWire(
      stream([
        { type: 'response-start', serviceTier: 'flex' },
        { type: 'item-start', key: 'm', item: { type: 'message', role: 'assistant', content: [], phase: 'commentary' } },
        { type: 'text-delta', key: 'm', delta: 'x', logprobs },
        close('m'),
        end,
      ]),
    )
    expect(events[0]!['response']).toMatchObject({ service_tier: 'flex' })
    expect(terminal['response']).toMatchObject({ service_tier: 'flex' })
    expect(events.find(({ type }) => type === 'response.output_text.delta')!['logprobs']).toEqual(logprobs)
    expect(output[0]).toMatchObject({ phase: 'commentary', content: [{ logprobs }] })
  })

  it('ends a cut search as failed, a cut patch as in progress and another cut item as incomplete, and keeps the id of an approval request', () => {
    const subject = assembler(true, { receivedAt: 1_700_000_000_900 })
    subject.push([
      { type: 'item-start', key: 'a', item: { type: 'mcp_approval_request', id: 'mcpr_given', server_label: 's', name: 'n', arguments: '{}' } },
      close('a'),
      { type: 'item-start', key: 'w', item: { type: 'web_search_call', status: 'in_progress' } },
      { type: 'item-start', key: 'p', item: { type: 'apply_patch_call', call_id: 'c', status: 'in_progress', operation: {} } },
      { type: 'item-start', key: 'n', item: { type: 'brand_new_item', status: 'in_progress' } },
    ])
    subject.fail(new GatewayError('provider_unavailable', 'gone'))
    const { output, terminal } = checkWire(subject.takeWire())
    expect(output[0]!.id).toBe('mcpr_given')
    expect(output.slice(1).map((item) => item['status'])).toEqual(['failed', 'in_progress', 'incomplete'])
    expect(terminal['response']).toMatchObject({ created_at: 1_700_000_000 })
  })

  it('ends an item with the status its producer gives, also in a completed answer', () => {
    const item = (type: string): ModelEvent[] => [
      { type: 'item-start', key: type, item: { type, status: 'in_progress' } },
      close(type, { status: 'incomplete' }),
    ]
    const { output } = json([...['local_shell_call', 'apply_patch_call', 'image_generation_call'].flatMap(item), { ...end, reason: 'length' }])
    expect(output.map(({ status }) => status)).toEqual(['incomplete', 'in_progress', 'failed'])
  })

  it('carries built-in items and unknown item types with their progress events', () => {
    const events: ModelEvent[] = [
      { type: 'item-start', key: 'w', item: { type: 'web_search_call', id: 'ws_upstream', status: 'in_progress' } },
      { type: 'item-event', key: 'w', name: 'web_search_call.searching' },
      close('w', { status: 'completed', action: { type: 'search', query: 'x' } }),
      { type: 'item-start', key: 'n', item: { type: 'brand_new_item', payload: { deep: [1] } } },
      close('n'),
      end,
    ]
    const { output } = checkWire(stream(events))
    expect(output[0]).toMatchObject({ type: 'web_search_call', status: 'completed', action: { query: 'x' } })
    expect(output[0]!.id).not.toBe('ws_upstream')
    expect(output[1]).toMatchObject({ type: 'brand_new_item', payload: { deep: [1] } })
  })

  it.each([
    ['length', 'incomplete', { reason: 'max_output_tokens' }],
    ['content_filter', 'incomplete', { reason: 'content_filter' }],
    ['tool_calls', 'completed', null],
    ['refusal', 'completed', null],
  ] as const)('maps the finish reason %s to %s', (reason, status, details) => {
    const answer = json([message('m'), text('m', 'x'), close('m'), { type: 'response-end', reason }])
    expect(answer).toMatchObject({ status, incomplete_details: details })
  })

  it('calls a refusal without any content a content filter', () => {
    expect(json([{ type: 'response-end', reason: 'refusal' }])).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'content_filter' },
    })
    const thought: ModelEvent[] = [{ type: 'item-start', key: 'r', item: { type: 'reasoning', summary: [] } }, close('r')]
    expect(json([...thought, { type: 'response-end', reason: 'refusal' }])).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'content_filter' },
    })
  })

  it('ends a broken answer with response.failed that carries the partial output', () => {
    const subject = assembler(true)
    subject.push([message('m'), text('m', 'half'), call('a'), args('a', '{"x'), call('b'), close('b')])
    subject.fail(new GatewayError('provider_overloaded', 'The provider is overloaded'))
    const { terminal, output } = checkWire(subject.takeWire())
    expect(terminal.type).toBe('response.failed')
    expect(terminal['response']).toMatchObject({ error: { code: 'server_error' }, error_type: 'provider_overloaded', completed_at: null })
    expect(output.map((item) => [item.type, item['status']])).toEqual([
      ['message', 'incomplete'],
      ['function_call', 'incomplete'],
      ['function_call', 'completed'],
    ])
    expect(output[1]!['arguments']).toBe('{"x')
  })

  it(verifies('C25', 'refuses to finish an answer that has no end, and bounds its length'), () => {
    const subject = assembler(true, { maxChars: 4 })
    subject.push([message('m'), text('m', 'x')])
    expect(() => subject.finish()).toThrow(GatewayError)
    expect(() => subject.push([text('m', 'yyyy')])).toThrow(/longer than/)
  })
})

describe('Assembler properties', () => {
  it('gives balanced, dense, monotone events that add up to the JSON answer, for any events cut anywhere', () => {
    fc.assert(
      fc.property(drawnAnswer({ custom: true }), fc.boolean(), ({ events, breaksAfter }, mirrorReasoning) => {
        const kept = breaksAfter === undefined ? [...events, end] : events.slice(0, breaksAfter)
        const streamed = assembler(true, { mirrorReasoning })
        const collected = assembler(false, { mirrorReasoning })
        let wire = ''
        for (const event of kept) {
          streamed.push([event])
          wire += streamed.takeWire()
        }
        collected.push(kept)
        for (const subject of [streamed, collected]) {
          if (breaksAfter === undefined) subject.finish()
          else subject.fail(new GatewayError('provider_unavailable', 'gone'))
        }
        const { terminal } = checkWire(wire + streamed.takeWire())
        expect(terminal['response']).toEqual(JSON.parse(collected.answer()))
      }),
      { numRuns: 400 },
    )
  })

  it('never writes after the end', () => {
    const subject = assembler(true)
    subject.push([message('m'), text('m', 'x'), close('m'), end])
    subject.finish()
    subject.fail(new GatewayError('server', 'late'))
    expect(parseWire(subject.takeWire()).filter((event) => event.type === 'response.completed')).toHaveLength(1)
    expect(subject.takeWire()).toBe('')
  })
})

it('items that wait behind an open thought are not gone through at each end, nor moved when the first of them comes', () => {
  const count = 200
  const keys = Array.from({ length: count }, (_, n) => `c${n}`)
  const events: readonly ModelEvent[] = [
    { type: 'item-start', key: 'r', item: { type: 'reasoning', summary: [] } },
    { type: 'reasoning-delta', key: 'r', kind: 'text', delta: 'why' },
    ...keys.map((key) => call(key)),
    ...keys.flatMap((key) => [args(key, '{}'), close(key)]),
    close('r'),
    end,
  ]
  const subject = assembler(true)
  expect(listSteps(() => subject.push(events))).toBeLessThan(count * 20)
  subject.finish()
  expect(subject.output()).toHaveLength(count + 1)
})
