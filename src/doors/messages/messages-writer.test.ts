import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../core/error.ts'
import type { ModelEvent } from '../../core/event.ts'
import type { Annotation } from '../../core/item.ts'
import { keepNative } from '../../core/native-citation.ts'
import { sealReasoning } from '../../core/reasoning-envelope.ts'
import type { ModelRequest } from '../../core/request.ts'
import { createUsage } from '../../core/usage.ts'
import { manualClock, sequentialIds } from '../../testing/deterministic.ts'
import { Assembler } from '../responses/assemble.ts'
import type { AssemblerOptions } from '../responses/assembler-options.ts'
import { UNSEALED } from './late-seal.ts'
import { MessagesWriter } from './messages-writer.ts'

type Json = { readonly [field: string]: unknown }
interface StreamEvent extends Json {
  readonly type: string
  readonly delta?: Json
  readonly content_block?: Json
}
interface Message extends Json {
  readonly content: readonly Json[]
  readonly usage: Json
}

function assembler(stream: boolean, options: Partial<AssemblerOptions> = {}, thinking = true): Assembler {
  const clock = manualClock()
  const facts = () => ({ model: 'acme/small' })
  const request: ModelRequest = { input: [] }
  const all: AssemblerOptions = { id: 'gen-1', request, receivedAt: clock.now(), stream, clock, newId: sequentialIds(), facts, ...options }
  return new Assembler(all, new MessagesWriter(all, { thinking }))
}

const parse = (wire: string): readonly StreamEvent[] =>
  wire
    .split('\n\n')
    .slice(0, -1)
    .map((event) => {
      const [, name, data] = /^event: (\w+)\ndata: (.*)$/.exec(event)!
      const value = JSON.parse(data!) as StreamEvent
      expect(value.type).toBe(name)
      return value
    })

function stream(events: readonly ModelEvent[], options?: Partial<AssemblerOptions>, thinking?: boolean): readonly StreamEvent[] {
  const subject = assembler(true, options, thinking)
  subject.push(events)
  subject.finish()
  return parse(subject.takeWire())
}

function whole(events: readonly ModelEvent[], options?: Partial<AssemblerOptions>, thinking?: boolean): Message {
  const subject = assembler(false, options, thinking)
  subject.push(events)
  subject.finish()
  return JSON.parse(subject.answer())
}

const usage = createUsage({ inputTokens: 9, outputTokens: 3, cachedTokens: 2, cacheWriteTokens: 4, cacheWrite1hTokens: 1, reasoningTokens: 1 })
type End = Extract<ModelEvent, { type: 'response-end' }>
const end = (reason: End['reason'] = 'stop', nativeReason = 'END'): ModelEvent => ({ type: 'response-end', reason, nativeReason, usage })
const message = (key: string): ModelEvent => ({ type: 'item-start', key, item: { type: 'message', role: 'assistant', content: [] } })
const call = (key: string): ModelEvent => ({
  type: 'item-start',
  key,
  item: { type: 'function_call', call_id: `call_${key}`, name: 'look', arguments: '' },
})
const thinks = (key: string): ModelEvent => ({ type: 'item-start', key, item: { type: 'reasoning', summary: [] } })
const text = (key: string, delta: string, part?: number): ModelEvent => ({ type: 'text-delta', key, delta, ...(part === undefined ? {} : { part }) })
const thought = (key: string, delta: string, part?: number): ModelEvent => ({
  type: 'reasoning-delta',
  key,
  kind: 'text',
  delta,
  ...(part === undefined ? {} : { part }),
})
const args = (key: string, delta: string): ModelEvent => ({ type: 'arguments-delta', key, delta })
const close = (key: string, item?: Json): ModelEvent => (item ? { type: 'item-end', key, item } : { type: 'item-end', key })
const hello = [message('m'), text('m', 'Hel'), text('m', 'lo'), close('m')]
const counted = {
  input_tokens: 3,
  cache_read_input_tokens: 2,
  cache_creation_input_tokens: 4,
  cache_creation: { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 1 },
  output_tokens: 3,
  output_tokens_details: { thinking_tokens: 1 },
  server_tool_use: { web_search_requests: 0, web_fetch_requests: 0 },
  service_tier: 'standard',
  inference_geo: null,
  cost: null,
  is_byok: false,
}
const nothing = { stop_sequence: null, stop_details: null, container: null }
const caller = { type: 'direct' }

describe('a stream', () => {
  it('begins with an empty message, contains each block, and ends with stop reason and usage', () => {
    const uncounted = { input_tokens: 0, output_tokens: 0, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 }
    expect(stream([...hello, end()])).toEqual([
      {
        type: 'message_start',
        message: {
          id: 'gen-1',
          type: 'message',
          role: 'assistant',
          model: 'acme/small',
          content: [],
          stop_reason: null,
          ...nothing,
          usage: expect.objectContaining(uncounted),
        },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '', citations: [] } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hel' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'lo' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn', ...nothing }, usage: counted },
      { type: 'message_stop' },
    ])
  })

  const startOf = (events: readonly ModelEvent[], options?: Partial<AssemblerOptions>): unknown =>
    (stream([...events, ...hello, end()], options)[0]!['message'] as Json)['usage']

  it('reports the input tokens at its start, if the upstream has counted them', () => {
    const prompt = { inputTokens: 9, cachedTokens: 2, cacheWriteTokens: 4, cacheWrite1hTokens: 1 }
    expect(startOf([{ type: 'response-start', prompt }], { promptTokens: () => 700 })).toMatchObject({
      input_tokens: 3,
      cache_read_input_tokens: 2,
      cache_creation_input_tokens: 4,
      cache_creation: { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 1 },
      output_tokens: 0,
    })
  })

  it('reports an estimate of the input tokens at its start, if they were not counted', () => {
    const guess = { promptTokens: () => 700 }
    const estimated = { input_tokens: 700, cache_read_input_tokens: 0, cache_creation_input_tokens: 0, output_tokens: 0 }
    expect(startOf([], guess)).toMatchObject(estimated)
    expect(startOf([{ type: 'response-start', model: 'm' }], guess)).toMatchObject(estimated)
  })

  it('that breaks says why, last', () => {
    const subject = assembler(true)
    subject.push([message('m'), text('m', 'Hel')])
    subject.fail(new GatewayError('rate_limit_exceeded', 'Slow "down"'))
    expect(parse(subject.takeWire()).slice(-2)).toEqual([
      { type: 'content_block_stop', index: 0 },
      { type: 'error', error: { type: 'rate_limit_error', message: 'Slow "down"', error_type: 'rate_limit_exceeded' } },
    ])
  })

  it('ends with the routing metadata if requested', () => {
    const extra = () => ({ gateway_metadata: { attempt: 1 } })
    expect(stream([...hello, end()], { extra }).slice(-2)).toMatchObject([
      { type: 'message_delta' },
      { type: 'message_stop', gateway_metadata: { attempt: 1 } },
    ])
    expect(whole([...hello, end()], { extra })).toMatchObject({ gateway_metadata: { attempt: 1 } })
  })

  it('carries keep-alives, once it has begun', () => {
    expect(parse(assembler(true).keepAlive()).map(({ type }) => type)).toEqual(['message_start', 'ping'])
  })

  it('contains the upstream bodies if requested', () => {
    const events = stream([...hello, end()], { echoes: () => ['{"a":1}'] })
    expect(events.filter(({ type }) => type === 'ping')).toEqual([{ type: 'ping', debug: { echo_upstream_body: { a: 1 } } }])
  })
})

describe('a message', () => {
  it('is the same in one object', () => {
    expect(whole([...hello, end()])).toEqual({
      id: 'gen-1',
      type: 'message',
      role: 'assistant',
      model: 'acme/small',
      content: [{ type: 'text', text: 'Hello', citations: [] }],
      stop_reason: 'end_turn',
      ...nothing,
      usage: counted,
    })
  })

  it('without content is empty', () => {
    expect(whole([end()])).toMatchObject({ content: [], stop_reason: 'end_turn' })
  })

  const asks = [call('c'), args('c', '{}'), close('c')]
  it.each<readonly [string, readonly ModelEvent[], Json]>([
    ['its length', [...hello, end('length')], { stop_reason: 'max_tokens' }],
    ['its length, calls or not', [...asks, end('length')], { stop_reason: 'max_tokens' }],
    ['a filter', [...hello, end('content_filter')], { stop_reason: 'refusal' }],
    ['its own refusal', [...hello, end('refusal', 'refusal')], { stop_reason: 'refusal' }],
    ['calls', [...hello, ...asks, end('tool_calls')], { stop_reason: 'tool_use' }],
    ['the end of its window', [...hello, end('length', 'model_context_window_exceeded')], { stop_reason: 'model_context_window_exceeded' }],
    ['words of refusal', [message('m'), { type: 'refusal-delta', key: 'm', delta: 'No.' }, close('m'), end()], { stop_reason: 'refusal' }],
    [
      'a call that broke off',
      [call('c'), args('c', '{"x":'), close('c', { status: 'incomplete' }), end('tool_calls')],
      { stop_reason: 'max_tokens' },
    ],
    ['a stop sequence, in the word of another vendor', [...hello, end('stop', 'STOP_SEQUENCE')], { stop_reason: 'stop_sequence' }],
    ['a stop sequence', [...hello, end('stop', 'stop_sequence')], { stop_reason: 'stop_sequence', stop_sequence: null }],
  ])('that ended for %s says so', (_name, events, said) => {
    expect(whole(events)).toMatchObject(said)
    expect(stream(events).at(-2)!.delta).toMatchObject(said)
  })

  it('names the stop sequence if there is only one', () => {
    const said = (...stop: readonly string[]) => whole([...hello, end('stop', 'stop_sequence')], { request: { input: [], stop } })['stop_sequence']
    expect([said('a'), said('a', 'b')]).toEqual(['a', null])
    expect(whole([...hello, end()], { request: { input: [], stop: ['a'] } })).toMatchObject({ stop_reason: 'end_turn', stop_sequence: null })
  })

  it('has the location where it was generated, if the vendor reports it', () => {
    const made = (raw: unknown): unknown =>
      (whole([...hello, { type: 'response-end', reason: 'stop', usage: createUsage({ inputTokens: 1, raw }) }]) as { usage: Json }).usage[
        'inference_geo'
      ]
    expect([made({ inference_geo: 'us' }), made({ inference_geo: null }), made('us'), made(undefined)]).toEqual(['us', null, null, null])
  })

  it('has the reason of a refusal, if the vendor reports it', () => {
    const refusal = { category: 'cyber', explanation: 'No.' }
    const refused = (reason: End['reason']): ModelEvent[] => [
      ...hello,
      { type: 'response-end', reason, nativeReason: 'refusal', stopped: { refusal }, usage },
    ]
    for (const reason of ['refusal', 'content_filter'] as const) {
      const said = { stop_reason: 'refusal', stop_details: { type: 'refusal', ...refusal } }
      expect(whole(refused(reason))).toMatchObject(said)
      expect(stream(refused(reason)).at(-2)!.delta).toMatchObject(said)
    }
  })

  it('has the stop sequence that the vendor reports, whatever the finish reason', () => {
    const events: ModelEvent[] = [...hello, { type: 'response-end', reason: 'stop', nativeReason: 'stop', stopped: { sequence: 'b' }, usage }]
    const asked: Partial<AssemblerOptions> = { request: { input: [], stop: ['a', 'b'] } }
    const said = { stop_reason: 'stop_sequence', stop_sequence: 'b' }
    expect(whole(events, asked)).toMatchObject(said)
    expect(stream(events, asked).at(-2)!.delta).toMatchObject(said)
  })
})

describe('calls', () => {
  const events = [call('a'), args('a', '{"x":'), call('b'), args('b', '{}'), args('a', '1}'), close('a'), close('b'), call('c'), close('c'), end()]

  it('are blocks, one after the other, whose input comes in pieces', () => {
    expect(stream(events).slice(1, 6)).toEqual([
      { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 'call_a', name: 'look', input: {}, caller } },
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"x":' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '1}' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: { type: 'tool_use', id: 'call_b', name: 'look', input: {}, caller } },
    ])
  })

  it('have their input as an object in a message', () => {
    expect(whole(events).content.map(({ input }) => input)).toEqual([{ x: 1 }, {}, {}])
  })

  it('keep the digits of numbers in their input', () => {
    const subject = assembler(false)
    subject.push([call('c'), args('c', '{"id":9007199254740993,"rate":1.10}'), close('c'), end()])
    subject.finish()
    expect(subject.answer()).toContain('"input":{"id":9007199254740993,"rate":1.10}')
  })

  it.each(['0.50', '[1]', 'null', '{"x":', 'word'])('whose input is no object are not lost: %s', (input) => {
    expect(whole([call('c'), args('c', input), close('c'), end()]).content).toMatchObject([{ input: { input } }])
  })

  it('cut off before their first character have no input, as in the stream', () => {
    const cut = [call('c'), close('c', { arguments: '', status: 'incomplete' }), end('length')]
    expect(stream(cut).map(({ type }) => type)).not.toContain('content_block_delta')
    expect(whole(cut).content[0]!['input']).toEqual({})
  })

  it('that are open when the answer breaks have no end, at which readers would run them', () => {
    const subject = assembler(true)
    subject.push([call('c'), args('c', '{"path":"/tmp')])
    subject.fail(new GatewayError('provider_unavailable', 'The connection was lost'))
    expect(parse(subject.takeWire()).map(({ type }) => type)).toEqual(['message_start', 'content_block_start', 'content_block_delta', 'error'])
  })

  it('of which several are open when the answer breaks are told up to the first', () => {
    const subject = assembler(true)
    subject.push([call('c'), args('c', '{"a'), call('d'), args('d', '{"b')])
    subject.fail(new GatewayError('provider_unavailable', 'The connection was lost'))
    expect(parse(subject.takeWire()).map(({ type, index }) => [type, index])).toEqual([
      ['message_start', undefined],
      ['content_block_start', 0],
      ['content_block_delta', 0],
      ['error', undefined],
    ])
  })

  it('that wait for the caller in a way this format does not have are a failure, not an empty answer', () => {
    const patch: ModelEvent = { type: 'item-start', key: 'p', item: { type: 'apply_patch_call', call_id: 'p', status: 'completed' } }
    expect(() => assembler(true).push([patch])).toThrow(/apply_patch_call, which has no place in this format/)
  })

  it('that wait for reasoning to end when the answer breaks do not prevent its end', () => {
    const patch = (key: string): ModelEvent => ({ type: 'item-start', key, item: { type: 'apply_patch_call', call_id: key, status: 'completed' } })
    const subject = assembler(true)
    subject.push([thinks('r'), thought('r', 'Hm'), patch('p'), patch('q')])
    subject.fail(new GatewayError('provider_unavailable', 'The connection was lost'))
    expect(parse(subject.takeWire()).at(-1)).toMatchObject({ type: 'error', error: { message: 'The connection was lost' } })
    // The first of them fails the answer while the second is still waiting.
    const refused = assembler(true)
    refused.push([thinks('r'), thought('r', 'Hm'), patch('p'), patch('q')])
    expect(() => refused.push([close('r')])).toThrow(/apply_patch_call/)
    refused.fail(new GatewayError('unprocessable', 'no place'))
    expect(parse(refused.takeWire()).at(-1)).toMatchObject({ type: 'error', error: { message: 'no place' } })
  })
})

describe('thoughts', () => {
  const events = [
    thinks('r'),
    thought('r', 'Let me', 0),
    thought('r', ' see', 0),
    thought('r', 'Yes', 1),
    close('r', { encrypted_content: 'sb1.x', signature: 's' }),
    ...hello,
    end(),
  ]

  it('are text with parts separated by a line, and the signature', () => {
    expect(whole(events).content[0]).toEqual({ type: 'thinking', thinking: 'Let me see\n\nYes', signature: 'sb1.x' })
    expect(
      stream(events)
        .slice(1, 8)
        .map(({ delta, content_block: block }) => delta ?? block),
    ).toEqual([
      { type: 'thinking', thinking: '', signature: '' },
      { type: 'thinking_delta', thinking: 'Let me' },
      { type: 'thinking_delta', thinking: ' see' },
      { type: 'thinking_delta', thinking: '\n\n' },
      { type: 'thinking_delta', thinking: 'Yes' },
      { type: 'signature_delta', signature: 'sb1.x' },
      undefined,
    ])
  })

  it('that are not requested leave only their signature', () => {
    expect(whole(events, {}, false).content[0]).toEqual({ type: 'thinking', thinking: '', signature: 'sb1.x' })
    expect(JSON.stringify(stream(events, {}, false))).not.toMatch(/Let me|Yes/)
  })

  it('end when text begins: their block ends, and the signature follows in a block of its own', () => {
    const late = [thinks('r'), thought('r', 'Hm.'), message('m'), text('m', 'Hi'), close('m'), close('r', { encrypted_content: 'sb1.x' }), end()]
    expect(whole(late).content).toEqual([
      { type: 'thinking', thinking: 'Hm.', signature: UNSEALED },
      { type: 'text', text: 'Hi', citations: [] },
      { type: 'redacted_thinking', data: 'in.0.0.sb1.x' },
    ])
    expect(
      stream(late)
        .map(({ type, index }) => [type, index])
        .slice(4, 6),
    ).toEqual([
      ['content_block_stop', 0],
      ['content_block_start', 1],
    ])
  })

  it('without a signature get a placeholder, because clients turn reasoning with an empty signature into text or drop it', () => {
    const plain = [thinks('r'), thought('r', 'Hm.'), close('r'), ...hello, end()]
    expect(whole(plain).content[0]).toEqual({ type: 'thinking', thinking: 'Hm.', signature: UNSEALED })
    expect(stream(plain).map(({ delta }) => delta)).toContainEqual({ type: 'signature_delta', signature: UNSEALED })
  })

  it('that are redacted have a block type of their own; empty ones are left out', () => {
    expect(whole([thinks('r'), close('r', { encrypted_content: 'sb1.x' }), end()]).content).toEqual([{ type: 'redacted_thinking', data: 'sb1.x' }])
    expect(whole([thinks('r'), close('r'), ...hello, end()]).content).toHaveLength(1)
  })
})

describe('other parts of an answer', () => {
  it('parts and messages are blocks; refusals are words', () => {
    const events: readonly ModelEvent[] = [
      message('m'),
      text('m', 'a', 0),
      text('m', 'b', 1),
      { type: 'refusal-delta', key: 'm', delta: 'No.' },
      close('m'),
      ...hello.map((event) => ({ ...event, key: 'n' }) as ModelEvent),
      end(),
    ]
    expect(whole(events).content.map(({ text: words }) => words)).toEqual(['a', 'b', 'No.', 'Hello'])
  })

  it('citations stand in the block of their words', () => {
    const annotation = { type: 'url_citation', url: 'https://a.example', title: 'A', content: 'said', start_index: 0, end_index: 3 } as const
    const events: readonly ModelEvent[] = [
      message('m'),
      text('m', 'The', 0),
      { type: 'annotation', key: 'm', annotation, part: 0 },
      text('m', 'end', 1),
      close('m'),
      end(),
    ]
    const citation = { type: 'web_search_result_location', url: 'https://a.example', title: 'A', cited_text: 'said', encrypted_index: '' }
    expect(whole(events).content).toEqual([
      { type: 'text', text: 'The', citations: [citation] },
      { type: 'text', text: 'end', citations: [] },
    ])
    expect(stream(events).filter(({ delta }) => delta?.['type'] === 'citations_delta')).toEqual([
      { type: 'content_block_delta', index: 0, delta: { type: 'citations_delta', citation } },
    ])
  })

  it.each([
    ['char_location', {}, { file_id: null }],
    ['page_location', {}, { file_id: null }],
    ['content_block_location', {}, { file_id: null }],
    ['page_location', { file_id: 'file_1' }, { file_id: 'file_1' }],
    ['search_result_location', {}, {}],
  ])('a citation of the vendor (%s, %o) has every field that clients require', (type, given, told) => {
    const annotation: Annotation = { type: 'file_citation', file_id: 'Facts', filename: 'Facts', index: 3 }
    keepNative(annotation, 'messages', { type, cited_text: 'said', ...given })
    const events: readonly ModelEvent[] = [
      message('m'),
      text('m', 'The', 0),
      { type: 'annotation', key: 'm', annotation, part: 0 },
      close('m'),
      end(),
    ]
    const citation = { type, cited_text: 'said', ...told }
    expect(whole(events).content).toEqual([{ type: 'text', text: 'The', citations: [citation] }])
    expect(stream(events).flatMap(({ delta }) => (delta?.['type'] === 'citations_delta' ? [delta['citation']] : []))).toEqual([citation])
  })

  it.each(['failed', 'incomplete'])('a failed search (%s), as opposed to one without results', (status) => {
    const search: ModelEvent = {
      type: 'item-start',
      key: 's',
      item: { type: 'gateway:web_search', status: 'in_progress', action: { type: 'search', query: 'q' } },
    }
    const { content } = whole([search, close('s', { status }), end()])
    expect(content).toMatchObject([
      { type: 'server_tool_use', input: { query: 'q' } },
      { type: 'web_search_tool_result', content: { type: 'web_search_tool_result_error', error_code: 'unavailable' } },
    ])
  })

  describe('searches a vendor of the format ran', () => {
    const searched = (content: unknown, status = 'completed'): { readonly sealed: string; readonly told: unknown } => {
      const use = { type: 'server_tool_use', id: 'srvtoolu_9', name: 'web_search', input: { query: 'q' } }
      const data = JSON.stringify([use, { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_9', content }])
      const sealed = sealReasoning({ format: 'anthropic-claude-v1', scope: 's', data })
      const search: ModelEvent = {
        type: 'item-start',
        key: 's',
        item: { type: 'gateway:web_search', status: 'in_progress', action: { type: 'search', query: 'q' } },
      }
      return { sealed, told: whole([search, close('s', { status, encrypted_content: sealed }), end()]).content[1]!['content'] }
    }
    const page = (name: string, age: string | null): Json => ({
      type: 'web_search_result',
      url: `https://${name}.example`,
      title: `Of ${name}`,
      encrypted_content: `secret of ${name}`,
      page_age: age,
    })

    it('have its titles and dates, and the encrypted content to send back', () => {
      const { sealed, told } = searched([page('a', 'May 1'), page('b', null)])
      expect(told).toEqual([
        { ...page('a', 'May 1'), encrypted_content: sealed },
        { ...page('b', null), encrypted_content: '' },
      ])
    })

    it('keep a call that has yet to be run, without a result', () => {
      const action = { type: 'search', query: 'q', sources: [] }
      const use = { type: 'server_tool_use', id: 'srvtoolu_9', name: 'web_search', input: { query: 'q' } }
      const sealed = sealReasoning({ format: 'anthropic-claude-v1', scope: 's', data: JSON.stringify([use]) })
      const search: ModelEvent = { type: 'item-start', key: 's', item: { type: 'web_search_call', status: 'in_progress', action }, id: 'ws_1' }
      expect(whole([search, close('s', { status: 'completed', encrypted_content: sealed }), end()]).content).toEqual([
        { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'q' }, caller },
        { type: 'redacted_thinking', data: sealed },
      ])
    })

    it('have their error code', () => {
      const error = { type: 'web_search_tool_result_error', error_code: 'max_uses_exceeded' }
      expect(searched(error, 'failed').told).toEqual(error)
      expect(searched([]).told).toEqual([])
    })
  })

  it('pages the gateway fetched, and those it could not fetch', () => {
    const fetched = (item: Json): readonly unknown[] => {
      const page: ModelEvent = { type: 'item-start', key: 'f', item: { type: 'gateway:web_fetch', status: 'in_progress' }, id: 'wf_1' }
      return whole([page, close('f', { status: 'completed', url: 'https://a.example', ...item }), end()]).content
    }
    const use = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_fetch', input: { url: 'https://a.example' }, caller }
    const result = (content: object): object => ({ type: 'web_fetch_tool_result', tool_use_id: 'srvtoolu_1', content, caller })
    const source = { type: 'text', media_type: 'text/plain', data: 'All of it.' }
    expect(fetched({ title: 'A', content: 'All of it.' })).toEqual([
      use,
      result({ type: 'web_fetch_result', url: 'https://a.example', retrieved_at: null, content: { type: 'document', source, title: 'A' } }),
    ])
    expect(fetched({ error: 'Nobody there' })).toEqual([use, result({ type: 'web_fetch_tool_result_error', error_code: 'unavailable' })])
  })

  it('searches of the gateway and what they found, with how many there were', () => {
    const action = { type: 'search', query: 'q', sources: [{ type: 'url', url: 'https://a.example' }] }
    const search: ModelEvent = { type: 'item-start', key: 's', item: { type: 'web_search_call', status: 'completed', action }, id: 'ws_1' }
    const searched: ModelEvent = { type: 'response-end', reason: 'stop', usage: createUsage({ inputTokens: 1, serverToolUse: { web_search: 1 } }) }
    const { content, usage: told } = whole([search, close('s'), searched])
    expect(content).toEqual([
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'q' }, caller },
      {
        type: 'web_search_tool_result',
        tool_use_id: 'srvtoolu_1',
        content: [{ type: 'web_search_result', url: 'https://a.example', title: 'https://a.example', encrypted_content: '', page_age: null }],
        caller,
      },
    ])
    expect(told).toMatchObject({ server_tool_use: { web_search_requests: 1 } })
    expect(stream([search, close('s'), searched]).slice(1, 3)).toMatchObject([
      { content_block: { type: 'server_tool_use', input: {} } },
      { delta: { type: 'input_json_delta', partial_json: '{"query":"q"}' } },
    ])
  })

  it('pictures', () => {
    const image: ModelEvent = {
      type: 'item-start',
      key: 'i',
      item: { type: 'image_generation_call', status: 'completed', result: 'AA', output_format: 'webp' },
    }
    expect(whole([image, close('i'), end()]).content).toEqual([{ type: 'image', source: { type: 'base64', media_type: 'image/webp', data: 'AA' } }])
  })
})
