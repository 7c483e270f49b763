import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../core/error.ts'
import { isContentEvent } from '../../core/event.ts'
import type { ModelEvent } from '../../core/event.ts'
import { openReasoning } from '../../core/reasoning-envelope.ts'
import type { ModelRequest } from '../../core/request.ts'
import { checkEventBalance, foldEvents } from '../../testing/event-balance.ts'
import {
  call,
  delta,
  finish,
  inputDelta,
  open,
  signatureDelta,
  start,
  stop,
  text,
  textDelta,
  thinking,
  thinkingDelta,
} from './__fixtures__/frames.ts'
import { messagesTarget } from './__fixtures__/target.ts'
import type { TargetOverrides } from './__fixtures__/target.ts'
import { anthropicMessages } from './index.ts'
import { MessagesDecoder } from './stream.ts'

interface Setting extends TargetOverrides {
  readonly request?: Partial<ModelRequest>
}

function decode(frames: readonly object[], { request, ...overrides }: Setting = {}): ModelEvent[] {
  const out: ModelEvent[] = []
  const decoder = anthropicMessages.decoder({ input: [], ...request }, messagesTarget(overrides))
  for (const frame of frames) decoder.push(JSON.stringify(frame), (frame as { type?: string }).type, out)
  decoder.end(out)
  checkEventBalance(out)
  return out
}

function bodyOf(content: readonly object[], more: object = {}, setting: Setting = {}): ModelEvent[] {
  const { request, ...overrides } = setting
  const out: ModelEvent[] = []
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'small-1',
    content,
    stop_reason: 'end_turn',
    usage: { input_tokens: 1, output_tokens: 2 },
    ...more,
  }
  anthropicMessages.decoder({ input: [], ...request }, messagesTarget({ stream: false, ...overrides })).body(JSON.stringify(message), out)
  checkEventBalance(out)
  return out
}

function failure(run: () => unknown): GatewayError {
  try {
    run()
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

const ended = (events: readonly ModelEvent[]): Extract<ModelEvent, { type: 'response-end' }> => {
  const last = events.at(-1)
  if (last?.type !== 'response-end') throw new Error('no end')
  return last
}
const itemEnds = (events: readonly ModelEvent[]): ({ readonly [field: string]: unknown } | undefined)[] =>
  events.flatMap((event) => (event.type === 'item-end' ? [event.item] : []))
const annotations = (events: readonly ModelEvent[]): unknown[] => events.flatMap((event) => (event.type === 'annotation' ? [event.annotation] : []))

describe('the worked example: thoughts, text, a call', () => {
  const events = decode([
    start({ input_tokens: 12, output_tokens: 1 }),
    { type: 'ping' },
    ...thinking(0, 'Let me', 'S'),
    ...text(1, 'Hi'),
    ...call(2, 'toolu_1', 'f', '{"a":', '1}'),
    ...finish('tool_use', { output_tokens: 40 }),
  ])
  it('becomes three items and an end', () => {
    expect(events).toMatchObject([
      { type: 'response-start', upstreamId: 'msg_1', model: 'small-1' },
      { type: 'item-start', item: { type: 'reasoning' } },
      { type: 'reasoning-delta', kind: 'text', delta: 'Let me' },
      { type: 'item-end', item: { signature: 'S', format: 'anthropic-claude-v1' } },
      { type: 'item-start', item: { type: 'message' } },
      { type: 'text-delta', delta: 'Hi' },
      { type: 'item-end' },
      { type: 'item-start', item: { type: 'function_call', call_id: 'toolu_1', name: 'f' } },
      { type: 'arguments-delta', delta: '{"a":' },
      { type: 'arguments-delta', delta: '1}' },
      { type: 'item-end' },
      { type: 'response-end', reason: 'tool_calls', nativeReason: 'tool_use', usage: { inputTokens: 12, outputTokens: 40, totalTokens: 52 } },
    ])
  })
  it('seals signature and exact text in the envelope', () => {
    expect(openReasoning(itemEnds(events)[0]?.['encrypted_content'] as string)).toEqual({
      format: 'anthropic-claude-v1',
      scope: 'acme',
      signature: 'S',
      text: 'Let me',
    })
  })
})

describe('thoughts', () => {
  it('that are not shown are an item with a signature', () => {
    const events = decode([start(), ...thinking(0, '', 'S'), ...text(1, 'x'), ...finish('end_turn')])
    expect(events[1]).toMatchObject({ type: 'item-start', item: { type: 'reasoning' } })
    expect(itemEnds(events)[0]).toMatchObject({ signature: 'S' })
  })
  it('in a row are items of their own', () => {
    const events = decode([start(), ...thinking(0, 'a', 'A'), ...thinking(1, 'b', 'B'), ...text(2, 'x'), ...finish('end_turn')])
    expect(itemEnds(events).map((item) => item?.['signature'])).toEqual(['A', 'B', undefined])
  })
  it('sign once, in pieces or repeated', () => {
    const frames = [open(0, { type: 'thinking', thinking: '' }), thinkingDelta(0, 'a'), signatureDelta(0, 'S'), signatureDelta(0, 'S'), stop(0)]
    expect(itemEnds(decode([start(), ...frames, ...text(1, 'x'), ...finish('end_turn')]))[0]).toMatchObject({ signature: 'S' })
    const pieces = [open(0, { type: 'thinking', thinking: '' }), thinkingDelta(0, 'a'), signatureDelta(0, 'S1'), signatureDelta(0, 'S2'), stop(0)]
    expect(itemEnds(decode([start(), ...pieces, ...text(1, 'x'), ...finish('end_turn')]))[0]).toMatchObject({ signature: 'S1S2' })
  })
  it('that are redacted come as a blob in the envelope', () => {
    const events = decode([start(), open(0, { type: 'redacted_thinking', data: 'BLOB' }), stop(0), ...text(1, 'x'), ...finish('end_turn')])
    expect(openReasoning(itemEnds(events)[0]?.['encrypted_content'] as string)).toMatchObject({ data: 'BLOB', scope: 'acme' })
  })
  it('without a signature are no good for a replay, unless the server takes them', () => {
    const frames = [start(), open(0, { type: 'thinking', thinking: '' }), thinkingDelta(0, 'a'), stop(0), ...text(1, 'x'), ...finish('end_turn')]
    expect(itemEnds(decode(frames))[0]).toEqual({ format: 'anthropic-claude-v1' })
    expect(itemEnds(decode(frames, { options: { unsigned_thinking: true } }))[0]).toHaveProperty('encrypted_content')
  })
  it('cut by the limit are incomplete', () => {
    const events = decode([start(), open(0, { type: 'thinking', thinking: '' }), thinkingDelta(0, 'a'), ...finish('max_tokens')])
    expect(itemEnds(events)[0]).toMatchObject({ status: 'incomplete' })
    expect(ended(events).reason).toBe('length')
  })
  it('interleave with text and calls, each an item in its place', () => {
    const events = decode([
      start(),
      ...thinking(0, 'a', 'A'),
      ...text(1, 'x'),
      ...thinking(2, 'b', 'B'),
      ...call(3, 'c', 'f', '{}'),
      ...finish('tool_use'),
    ])
    expect(events.flatMap((event) => (event.type === 'item-start' ? [event.item.type] : []))).toEqual([
      'reasoning',
      'message',
      'reasoning',
      'function_call',
    ])
  })
})

describe('calls', () => {
  it('in parallel keep id, name and arguments apart', () => {
    const events = decode([
      start(),
      ...call(0, 'a', 'f', '{"x":1}'),
      ...call(1, 'b', 'f', '{"x":', '2}'),
      ...call(2, 'c', 'g'),
      ...finish('tool_use'),
    ])
    expect(foldEvents(events).calls).toEqual([
      { type: 'function_call', callId: 'a', name: 'f', text: '{"x":1}' },
      { type: 'function_call', callId: 'b', name: 'f', text: '{"x":2}' },
      { type: 'function_call', callId: 'c', name: 'g', text: '{}' },
    ])
  })
  it('take input that came with the start when no deltas follow', () => {
    const whole = [open(0, { type: 'tool_use', id: 'a', name: 'f', input: { x: 1 } }), stop(0)]
    expect(foldEvents(decode([start(), ...whole, ...finish('tool_use')])).calls[0]?.text).toBe('{"x":1}')
  })
  it('take it also from servers that do not close the block', () => {
    const unclosed = [
      open(0, { type: 'tool_use', id: 'a', name: 'f', input: { x: 1 } }),
      open(1, { type: 'tool_use', id: 'b', name: 'f', input: {} }),
    ]
    expect(foldEvents(decode([start(), ...unclosed, ...finish('tool_use')])).calls).toMatchObject([{ text: '{"x":1}' }, { text: '{}' }])
    expect(itemEnds(decode([start(), unclosed[1]!, ...finish('max_tokens')]))).toEqual([{ status: 'incomplete' }])
  })
  it('cut by the limit are incomplete and not repaired, also before their first argument', () => {
    const cut = decode([start(), ...call(0, 'a', 'f', '{"x":"lo'), ...finish('max_tokens')])
    expect(itemEnds(cut)).toEqual([{ status: 'incomplete' }])
    expect(itemEnds(decode([start(), ...call(0, 'a', 'f'), ...finish('max_tokens')]))).toEqual([{ status: 'incomplete' }])
  })
  it('of free-form tools stream their one string as it stands', () => {
    const events = decode([start(), ...call(0, 'a', 'patch', '{"inp', 'ut": "line 1\\n', 'line 2"}'), ...finish('tool_use')], {
      request: { tools: [{ type: 'custom', name: 'patch' }] },
    })
    expect(foldEvents(events).calls).toEqual([{ type: 'custom_tool_call', callId: 'a', name: 'patch', text: 'line 1\nline 2' }])
  })
  it('go back under the name the caller knows', () => {
    const tools = [{ type: 'namespace', name: 'git', tools: [{ type: 'function', name: 'log' }] }]
    const events = decode([start(), ...call(0, 'a', 'git__log', '{}'), ...finish('tool_use')], { request: { tools } })
    expect(events[1]).toMatchObject({ item: { name: 'log', namespace: 'git' } })
  })
  it('without a name are no answer', () => {
    expect(failure(() => decode([start(), open(0, { type: 'tool_use', id: 'a', input: {} })])).errorType).toBe('provider_unavailable')
  })
  it('keep long numbers of input that came with the start', () => {
    const out: ModelEvent[] = []
    const decoder = anthropicMessages.decoder({ input: [] }, messagesTarget())
    const given = '{"id":90071992547409931,"x":1.0}'
    const opening = `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"f","input":${given}}}`
    for (const frame of [start(), opening, stop(0), ...finish('tool_use')])
      decoder.push(typeof frame === 'string' ? frame : JSON.stringify(frame), undefined, out)
    expect(foldEvents(out).calls[0]?.text).toBe(given)
  })
  it('keep long numbers of a whole body', () => {
    const out: ModelEvent[] = []
    const raw =
      '{"type":"message","id":"m","content":[{"type":"tool_use","id":"a","name":"f","input":{"id":12345678901234567890,"x":1.0}}],"stop_reason":"tool_use"}'
    anthropicMessages.decoder({ input: [] }, messagesTarget()).body(raw, out)
    expect(foldEvents(out).calls[0]?.text).toBe('{"id":12345678901234567890,"x":1.0}')
  })
})

describe('a hidden answer tool', () => {
  const request: Partial<ModelRequest> = {
    text: { format: { type: 'json_schema', name: 'n', schema: { type: 'object' } } },
    tools: [{ type: 'function', name: 'f' }],
  }
  it('turns input into text that came with the start of a block, closed or not', () => {
    const whole = open(0, { type: 'tool_use', id: 'a', name: 'structured_answer', input: { x: 1 } })
    for (const end of [[stop(0)], []]) expect(foldEvents(decode([start(), whole, ...end, ...finish('tool_use')], { request })).text).toBe('{"x":1}')
  })
  it('turns its input into text', () => {
    const events = decode([start(), ...call(0, 'a', 'structured_answer', '{"x":', '1}'), ...finish('tool_use')], { request })
    expect(foldEvents(events)).toMatchObject({ text: '{"x":1}', calls: [] })
    expect(ended(events).reason).toBe('stop')
  })
  it('silences text beside it, but not text instead of it or before another call', () => {
    expect(
      foldEvents(decode([start(), ...text(0, 'Here:'), ...call(1, 'a', 'structured_answer', '{}'), ...finish('tool_use')], { request })).text,
    ).toBe('{}')
    expect(foldEvents(decode([start(), ...text(0, '{"x":2}'), ...finish('end_turn')], { request })).text).toBe('{"x":2}')
    expect(foldEvents(decode([start(), ...text(0, 'Let me look'), ...call(1, 'a', 'f', '{}'), ...finish('tool_use')], { request }))).toMatchObject({
      text: 'Let me look',
      calls: [{ name: 'f' }],
    })
  })
  it('does so in a whole body', () => {
    expect(foldEvents(bodyOf([{ type: 'tool_use', id: 'a', name: 'structured_answer', input: { x: 1 } }], {}, { request })).text).toBe('{"x":1}')
  })
})

describe('citations', () => {
  const page = { type: 'web_search_result_location', url: 'https://x.test/', title: 'X', cited_text: 'c' }
  it('come before the text they cite and follow it as annotations', () => {
    const cited = [
      open(1, { type: 'text', text: '', citations: [] }),
      delta(1, { type: 'citations_delta', citation: page }),
      textDelta(1, 'cited'),
      stop(1),
    ]
    expect(annotations(decode([start(), ...text(0, 'Plain, '), ...cited, ...text(2, ' end'), ...finish('end_turn')]))).toEqual([
      { type: 'url_citation', url: 'https://x.test/', title: 'X', start_index: 7, end_index: 12, content: 'c' },
    ])
  })
  it('count from the text of their block after whitespace that waited', () => {
    const cited = [open(1, { type: 'text', text: '' }), delta(1, { type: 'citations_delta', citation: page }), textDelta(1, 'cited'), stop(1)]
    expect(annotations(decode([start(), ...text(0, '\n\n'), ...cited, ...finish('end_turn')]))).toMatchObject([{ start_index: 2, end_index: 7 }])
  })
  it('name documents of the request by title', () => {
    const citation = {
      type: 'char_location',
      cited_text: 'c',
      document_index: 0,
      document_title: 'facts.txt',
      start_char_index: 0,
      end_char_index: 9,
    }
    expect(annotations(bodyOf([{ type: 'text', text: 'abc', citations: [citation, null, { type: 'odd' }] }]))).toEqual([
      { type: 'file_citation', file_id: 'facts.txt', filename: 'facts.txt', index: 3 },
    ])
  })
})

describe('tools the upstream runs', () => {
  const use = [open(0, { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} }), inputDelta(0, '{"query":"q"}'), stop(0)]
  const found = [
    open(1, {
      type: 'web_search_tool_result',
      tool_use_id: 's1',
      content: [{ type: 'web_search_result', url: 'https://x.test/', title: 'X', encrypted_content: 'E' }],
    }),
    stop(1),
  ]
  it('search the web as an item that carries its blocks', () => {
    const events = decode([
      start(),
      ...use,
      ...found,
      ...text(2, 'x'),
      ...finish('end_turn', { output_tokens: 1, server_tool_use: { web_search_requests: 1 } }),
    ])
    expect(events.slice(1, 6)).toMatchObject([
      { type: 'item-start', item: { type: 'web_search_call', status: 'in_progress' } },
      { type: 'item-event', name: 'web_search_call.in_progress' },
      { type: 'item-event', name: 'web_search_call.searching' },
      { type: 'item-event', name: 'web_search_call.completed' },
      { type: 'item-end', item: { status: 'completed', action: { type: 'search', query: 'q', sources: [{ type: 'url', url: 'https://x.test/' }] } } },
    ])
    const blocks = JSON.parse(openReasoning(itemEnds(events)[0]?.['encrypted_content'] as string)?.data ?? '') as unknown
    expect(blocks).toMatchObject([
      { type: 'server_tool_use', input: { query: 'q' } },
      { type: 'web_search_tool_result', content: [{ encrypted_content: 'E' }] },
    ])
    expect(ended(events).usage?.serverToolUse).toEqual({ web_search: 1 })
  })
  it('fail as an item when the search does', () => {
    const failed = [
      open(1, {
        type: 'web_search_tool_result',
        tool_use_id: 's1',
        content: { type: 'web_search_tool_result_error', error_code: 'max_uses_exceeded' },
      }),
      stop(1),
    ]
    expect(itemEnds(decode([start(), ...use, ...failed, ...text(2, 'x'), ...finish('end_turn')]))[0]).toMatchObject({ status: 'failed' })
    expect(itemEnds(decode([start(), ...use, ...text(2, 'x'), ...finish('end_turn')]))).toContainEqual(expect.objectContaining({ status: 'failed' }))
  })
  it.each([
    ['the caller’s own have to be run first', call(1, 'c1', 'f', '{}'), 'tool_use'],
    ['they have run for long', [], 'pause_turn'],
  ])('are run later where %s: their calls are sent back for that', (_name, frames, native) => {
    const [search] = itemEnds(decode([start(), ...use, ...frames, ...finish(native)]))
    expect(search).toMatchObject({ status: 'completed', action: { query: 'q', sources: [] } })
    expect(JSON.parse(openReasoning(search?.['encrypted_content'] as string)?.data ?? '')).toEqual([
      { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'q' } },
    ])
  })
  it('call servers as an item', () => {
    const frames = [
      open(0, { type: 'mcp_tool_use', id: 'm1', name: 'echo', server_name: 'srv', input: {} }),
      stop(0),
      open(1, { type: 'mcp_tool_result', tool_use_id: 'm1', is_error: false, content: [] }),
      stop(1),
    ]
    const events = decode([start(), ...frames, ...text(2, 'x'), ...finish('end_turn')])
    expect(events[1]).toMatchObject({ item: { type: 'gateway:mcp', serverLabel: 'srv', toolName: 'echo' } })
    expect(itemEnds(events)[0]).toMatchObject({ status: 'completed' })
  })
  it('of other kinds, and unknown blocks, are kept for the next request', () => {
    const frames = [
      open(0, { type: 'compaction', content: null, encrypted_content: null }),
      delta(0, { type: 'compaction_delta', content: 'sum', encrypted_content: 'meta' }),
      delta(0, { type: 'signature_delta', signature: 'sig' }),
      stop(0),
      open(1, { type: 'novelty', x: 1 }),
      stop(1),
    ]
    const events = decode([start(), ...frames, ...text(2, 'x'), ...finish('end_turn')])
    const envelope = openReasoning(itemEnds(events)[0]?.['encrypted_content'] as string)
    expect(JSON.parse(envelope?.data ?? '')).toEqual([
      { type: 'compaction', content: 'sum', encrypted_content: 'meta', signature: 'sig' },
      { type: 'novelty', x: 1 },
    ])
    expect(foldEvents(events).text).toBe('x')
  })
})

describe('the end', () => {
  it.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['a_word_to_come', 'stop'],
  ])('%s is %s', (native, reason) => {
    expect(ended(decode([start(), ...text(0, 'x'), ...finish(native)]))).toMatchObject({ reason, nativeReason: native })
  })
  it('is preceded by the prompt tokens if the server reports them at the start', () => {
    const usage = { input_tokens: 3, cache_read_input_tokens: 2, cache_creation_input_tokens: 4, output_tokens: 1 }
    const prompt = { inputTokens: 9, cachedTokens: 2, cacheWriteTokens: 4 }
    const started = (counts: object): ModelEvent | undefined => decode([start(counts), ...text(0, 'x'), ...finish('end_turn')])[0]
    expect(started(usage)).toMatchObject({ type: 'response-start', prompt })
    expect(started({ input_tokens: 0, output_tokens: 0 })).not.toHaveProperty('prompt')
  })
  it('at a sequence of the caller names it', () => {
    const told = { stop_sequence: 'END' }
    expect(ended(decode([start(), ...text(0, 'x'), ...finish('stop_sequence', {}, told)])).stopped).toEqual({ sequence: 'END' })
    expect(ended(bodyOf([{ type: 'text', text: 'x' }], { stop_reason: 'stop_sequence', ...told })).stopped).toEqual({ sequence: 'END' })
    expect(ended(decode([start(), ...text(0, 'x'), ...finish('end_turn', {}, { stop_sequence: null })])).stopped).toBeUndefined()
  })
  it('of a refusal has its text', () => {
    const events = decode([start(), ...finish('refusal', {}, { stop_details: { type: 'refusal', explanation: 'No.' } })])
    expect(foldEvents(events).refusal).toBe('No.')
    expect(ended(events).reason).toBe('refusal')
  })
  it('of a refusal has its reason, in machine-readable form, too', () => {
    const told = { stop_details: { type: 'refusal', category: 'cyber', explanation: 'No.' } }
    const stopped = { refusal: { category: 'cyber', explanation: 'No.' } }
    expect(ended(decode([start(), ...finish('refusal', {}, told)])).stopped).toEqual(stopped)
    expect(ended(bodyOf([{ type: 'text', text: 'x' }], { stop_reason: 'refusal', ...told })).stopped).toEqual(stopped)
    const mute = { stop_details: { type: 'refusal', category: null, explanation: null } }
    expect(ended(decode([start(), ...text(0, 'x'), ...finish('refusal', {}, mute)])).stopped).toEqual({
      refusal: { category: null, explanation: null },
    })
    expect(ended(decode([start(), ...text(0, 'x'), ...finish('end_turn', {}, told)])).stopped).toBeUndefined()
  })
  it('of a refusal without text is a content filter, before and after the first text', () => {
    expect(ended(decode([start(), ...finish('refusal')])).reason).toBe('content_filter')
    expect(ended(decode([start(), ...text(0, 'x'), ...finish('refusal')]))).toMatchObject({ reason: 'content_filter', nativeReason: 'refusal' })
  })
  it('of a refusal without text leaves the message incomplete', () => {
    expect(itemEnds(decode([start(), ...text(0, 'x'), ...finish('refusal')]))).toEqual([{ status: 'incomplete' }])
    const told = { stop_details: { type: 'refusal', explanation: 'No.' } }
    expect(itemEnds(decode([start(), ...text(0, 'x'), ...finish('refusal', {}, told)]))).toEqual([undefined])
  })
  it('of a refusal in a call leaves it incomplete', () => {
    expect(itemEnds(decode([start(), ...call(0, 'a', 'f', '{"x'), ...finish('refusal')]))).toEqual([{ status: 'incomplete' }])
  })
  it('of a paused turn says that another request would finish it, and counts as incomplete otherwise', () => {
    const events = decode([start(), ...text(0, 'x'), ...finish('pause_turn')])
    expect(ended(events)).toMatchObject({ reason: 'length', nativeReason: 'pause_turn', paused: true })
    expect(itemEnds(events)).toEqual([undefined])
    expect(ended(decode([start(), ...text(0, 'x'), ...finish('max_tokens')]))).not.toHaveProperty('paused')
  })
  it('of a turn that paused before any content is a failure: there is nothing to continue from', () => {
    expect(failure(() => decode([start(), ...finish('pause_turn')]))).toMatchObject({
      errorType: 'provider_unavailable',
      details: { providerCode: 'pause_turn' },
    })
  })
  it('without content is not an answer, unless the server may send none', () => {
    expect(failure(() => decode([start(), ...finish('end_turn')])).message).toBe('Acme sent an empty answer')
    expect(ended(decode([start(), ...finish('end_turn')], { options: { allow_empty_answer: true } })).reason).toBe('stop')
  })
  it('needs a stop reason, not the end mark', () => {
    const [stopped] = finish('end_turn')
    expect(ended(decode([start(), ...text(0, 'x'), stopped!])).reason).toBe('stop')
    expect(failure(() => decode([start(), ...text(0, 'x')])).message).toBe('Acme sent an answer that broke off before its end')
    expect(failure(() => decode([])).message).toBe('Acme sent no answer: the connection closed without one')
  })
  it('is final', () => {
    const decoder = anthropicMessages.decoder({ input: [] }, messagesTarget())
    const out: ModelEvent[] = []
    for (const frame of [start(), ...text(0, 'x'), ...finish('end_turn')]) decoder.push(JSON.stringify(frame), undefined, out)
    const { length } = out
    expect(decoder.finished).toBe(true)
    decoder.push(JSON.stringify({ type: 'error', error: { type: 'overloaded_error' } }), 'error', out)
    decoder.end(out)
    expect(out.length).toBe(length)
  })
})

describe('errors in the stream', () => {
  const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' }, request_id: 'req_1' }
  it('before any content leave failover open', () => {
    const out: ModelEvent[] = []
    const decoder = anthropicMessages.decoder({ input: [] }, messagesTarget())
    const error = failure(() => {
      for (const frame of [start(), { type: 'ping' }, open(0, { type: 'text', text: '' }), overloaded])
        decoder.push(JSON.stringify(frame), (frame as { type: string }).type, out)
    })
    expect(error).toMatchObject({
      errorType: 'provider_overloaded',
      failover: 'retry',
      details: { source: 'provider', providerCode: 'overloaded_error' },
    })
    expect(out.some(isContentEvent)).toBe(false)
  })
  it('after content are thrown with their kind', () => {
    expect(failure(() => decode([start(), ...text(0, 'x'), overloaded])).errorType).toBe('provider_overloaded')
    const api = { type: 'error', error: { type: 'api_error', message: 'Internal server error' } }
    expect(failure(() => decode([start(), ...text(0, 'x'), api])).errorType).toBe('provider_unavailable')
    const rate = { type: 'error', error: { type: 'rate_limit_error', message: 'slow down' } }
    expect(failure(() => decode([start(), rate])).errorType).toBe('rate_limit_exceeded')
  })
  it('are seen by name even when their data are no JSON', () => {
    const decoder = anthropicMessages.decoder({ input: [] }, messagesTarget())
    expect(failure(() => decoder.push('overloaded', 'error', [])).errorType).toBe('provider_overloaded')
  })
  it('are seen in a whole body', () => {
    const decoder = anthropicMessages.decoder({ input: [] }, messagesTarget())
    expect(failure(() => decoder.body(JSON.stringify(overloaded), [])).errorType).toBe('provider_overloaded')
  })
})

describe('unusual streams', () => {
  it('repeat the start: the first counts; that of another answer is a failure', () => {
    expect(foldEvents(decode([start(), start(), ...text(0, 'x'), start(), ...finish('end_turn')])).text).toBe('x')
    expect(failure(() => decode([start(), ...text(0, 'x'), start({}, 'msg_2')])).message).toBe('Acme sent two answers in one')
  })
  it('leave out starts of blocks', () => {
    const events = decode([start(), thinkingDelta(0, 'a'), stop(0), textDelta(1, 'x'), stop(1), inputDelta(2, '{}'), ...finish('end_turn')])
    expect(foldEvents(events)).toMatchObject({ reasoning: 'a', text: 'x', calls: [] })
  })
  it('have frames that are not JSON: some are ignored, many are a failure', () => {
    const decoder = anthropicMessages.decoder({ input: [] }, messagesTarget())
    const out: ModelEvent[] = []
    for (let n = 0; n < 16; n++) decoder.push('{"broken', undefined, out)
    expect(failure(() => decoder.push('{"broken', undefined, out)).errorType).toBe('provider_unavailable')
  })
  it('have events that are to come', () => {
    expect(foldEvents(decode([start(), { type: 'novelty' }, ...text(0, 'x'), ...finish('end_turn')])).text).toBe('x')
  })
  it('end like another format', () => {
    const decoder = new MessagesDecoder({ input: [] }, messagesTarget())
    const out: ModelEvent[] = []
    for (const frame of [start(), ...text(0, 'x'), finish('end_turn')[0]!]) decoder.push(JSON.stringify(frame), undefined, out)
    expect([decoder.settled, decoder.finished]).toEqual([true, false])
    decoder.push('[DONE]', undefined, out)
    expect(decoder.finished).toBe(true)
  })
})

describe('a count of zero at the end', () => {
  it('does not erase what the start counted', () => {
    const frames = [
      { type: 'message_start', message: { id: 'm', model: 'x', usage: { input_tokens: 100, cache_read_input_tokens: 50, output_tokens: 1 } } },
      ...text(0, 'hi'),
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 7 } },
      { type: 'message_stop' },
    ]
    const done = decode(frames).at(-1)
    expect(done).toMatchObject({ usage: { inputTokens: 150, cachedTokens: 50, outputTokens: 7 } })
  })
})

describe('whole bodies', () => {
  it('say what the stream says', () => {
    const content = [
      { type: 'thinking', thinking: 'Let me', signature: 'S' },
      { type: 'text', text: 'Hi' },
      { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: 1 } },
    ]
    const streamed = decode([
      start({ input_tokens: 1, output_tokens: 2 }),
      ...thinking(0, 'Let me', 'S'),
      ...text(1, 'Hi'),
      ...call(2, 'toolu_1', 'f', '{"a":1}'),
      ...finish('tool_use', {}),
    ])
    expect(bodyOf(content, { stop_reason: 'tool_use' })).toEqual(streamed)
  })
  it.each(['', 'nonsense', '{"type":"message"}', '{}', '[]'])('%j is no answer', (body) => {
    const decoder = anthropicMessages.decoder({ input: [] }, messagesTarget())
    expect(failure(() => decoder.body(body, [])).errorType).toBe('provider_unavailable')
  })
})

describe('usage', () => {
  const usageOf = (first: object, last: object): unknown => {
    const { raw: _raw, ...usage } = ended(decode([start(first), ...text(0, 'x'), ...finish('end_turn', last)])).usage!
    return usage
  }
  it('adds what was read from and written to the cache to the input', () => {
    expect(
      usageOf(
        {
          input_tokens: 5,
          cache_read_input_tokens: 100,
          cache_creation_input_tokens: 30,
          cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
          output_tokens: 1,
        },
        { output_tokens: 7, output_tokens_details: { thinking_tokens: 3 } },
      ),
    ).toEqual({
      inputTokens: 135,
      cachedTokens: 100,
      cacheWriteTokens: 30,
      cacheWrite1hTokens: 20,
      outputTokens: 7,
      reasoningTokens: 3,
      totalTokens: 142,
    })
  })
  it('is cumulative: later numbers replace earlier ones, nulls do not', () => {
    expect(usageOf({ input_tokens: 0, output_tokens: 0 }, { input_tokens: 50, cache_read_input_tokens: null, output_tokens: 9 })).toMatchObject({
      inputTokens: 50,
      outputTokens: 9,
    })
  })
  it('includes compactions, which the totals leave out, and no advisors', () => {
    const iterations = [
      { type: 'compaction', input_tokens: 100, output_tokens: 8, cache_read_input_tokens: 900, cache_creation_input_tokens: 0 },
      { type: 'advisor_message', input_tokens: 7777, output_tokens: 7777 },
      { type: 'message', input_tokens: 20, output_tokens: 4 },
    ]
    expect(
      usageOf({ input_tokens: 100, cache_read_input_tokens: 900 }, { input_tokens: 20, cache_read_input_tokens: 0, output_tokens: 4, iterations }),
    ).toMatchObject({
      inputTokens: 1020,
      cachedTokens: 900,
      outputTokens: 12,
    })
  })
  it('says which tier served', () => {
    expect(ended(decode([start({ service_tier: 'standard' }), ...text(0, 'x'), ...finish('end_turn')])).serviceTier).toBe('default')
    expect(decode([start({ service_tier: 'priority' }), ...text(0, 'x'), ...finish('end_turn')])[0]).toMatchObject({ serviceTier: 'priority' })
  })
})

describe('surcharges', () => {
  const surcharges = [
    { match: 'small', field: 'speed', value: 'fast', factor: 6 },
    { field: 'speed', value: 'fast', factor: 2 },
    { field: 'inference_geo', value: 'us', factor: 1.5 },
  ]
  it.each([
    ['small-1', { speed: 'fast' }, 6],
    ['large-1', { speed: 'fast', inference_geo: 'us' }, 3],
    ['large-1', { speed: 'standard', inference_geo: 'global' }, undefined],
    ['large-1', {}, undefined],
  ])('of %s with %j cost so many times as much', (upstreamModel, said, factor) => {
    const out: ModelEvent[] = []
    const target = { ...messagesTarget({ options: { surcharges } }), upstreamModel }
    const decoder = anthropicMessages.decoder({ input: [] }, target)
    for (const frame of [start({ input_tokens: 10, ...said }), ...text(0, 'x'), ...finish('end_turn')])
      decoder.push(JSON.stringify(frame), undefined, out)
    expect(ended(out).usage?.priceFactor).toBe(factor)
  })

  it.each([
    ['small-1', { speed: 'fast' }, 6],
    ['large-1', { speed: 'fast', inference_geo: 'us' }, 2],
    ['large-1', { speed: 'standard' }, 1],
    ['large-1', {}, 1],
  ])('of %s are known before the call for %j, if that is passed through', (upstreamModel, fields, factor) => {
    const target = { ...messagesTarget({ options: { surcharges, pass_through: ['speed'] } }), upstreamModel }
    expect(anthropicMessages.priceFactor?.({ input: [], ...fields }, target)).toBe(factor)
  })
})
