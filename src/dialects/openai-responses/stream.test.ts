import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../core/error.ts'
import { openReasoning } from '../../core/reasoning-envelope.ts'
import { threadTime } from '../../testing/thread-time.ts'
import { decode, decodeBody, decodeSse, failure, fold } from './__fixtures__/harness.ts'

const created = { type: 'response.created', response: { id: 'resp_1', model: 'small-1', service_tier: 'auto' } }
const usage = { input_tokens: 10, output_tokens: 4, total_tokens: 14 }
const completed = (output: readonly object[] = [], more: object = {}): object => ({
  type: 'response.completed',
  response: { id: 'resp_1', model: 'small-1', status: 'completed', output, usage, service_tier: 'default', ...more },
})
const added = (output_index: number, item: object): object => ({ type: 'response.output_item.added', output_index, item })
const done = (output_index: number, item: object): object => ({ type: 'response.output_item.done', output_index, item })
const text = (delta: string, output_index = 0, content_index = 0): object => ({
  type: 'response.output_text.delta',
  output_index,
  content_index,
  delta,
})
const message = (value: string, more: object = {}): object => ({
  type: 'message',
  id: 'msg_up',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: value, annotations: [] }],
  ...more,
})
const call = (more: object = {}): object => ({ type: 'function_call', id: 'fc_up', call_id: 'call_1', name: 'f', arguments: '', ...more })

describe('messages', () => {
  it('passes text on with the part it belongs to, and says who answered', () => {
    const { events, decoder } = decode([
      created,
      added(0, message('')),
      text('Hel'),
      text('lo'),
      done(0, message('Hello')),
      completed([message('Hello')]),
    ])
    expect(events).toEqual([
      { type: 'response-start', upstreamId: 'resp_1', model: 'small-1', serviceTier: 'auto' },
      { type: 'item-start', key: '0', item: { type: 'message', role: 'assistant', content: [], status: 'in_progress' } },
      { type: 'text-delta', key: '0', delta: 'Hel', part: 0, plain: true },
      { type: 'text-delta', key: '0', delta: 'lo', part: 0, plain: true },
      { type: 'item-end', key: '0', item: { status: 'completed' } },
      {
        type: 'response-end',
        reason: 'stop',
        nativeReason: 'completed',
        usage: expect.objectContaining({ inputTokens: 10, outputTokens: 4 }),
        serviceTier: 'default',
      },
    ])
    expect(decoder.finished).toBe(true)
  })

  it('marks a delta as plain only when it needs no escaping', () => {
    const { events } = decode([text('plain'), text('not "plain"\n'), completed()])
    expect(events.filter((event) => event.type === 'text-delta').map((event) => event.plain)).toEqual([true, undefined])
  })

  it('adds text that came only when it was done', () => {
    const whole = { type: 'response.output_text.done', output_index: 0, content_index: 0, text: 'Hello' }
    expect(fold(decode([added(0, message('')), whole, completed()]).events).items[0]?.text).toBe('Hello')
    expect(fold(decode([added(0, message('')), text('He'), whole, done(0, message('Hello')), completed()]).events).items[0]?.text).toBe('Hello')
    expect(fold(decode([done(0, message('Hello')), completed()]).events).items[0]?.text).toBe('Hello')
    expect(fold(decode([created, completed([message('Hello')])]).events).items[0]?.text).toBe('Hello')
  })

  it('keeps what was streamed when the finished text says something else', () => {
    expect(fold(decode([text('Hello'), done(0, message('Good bye, all')), completed()]).events).items[0]?.text).toBe('Hello')
  })

  it('numbers parts densely, whatever the upstream counts from', () => {
    const { events } = decode([
      text('a', 1, 1),
      text('b', 1, 4),
      done(
        1,
        message('', {
          content: [
            { type: 'output_text', text: 'a' },
            { type: 'output_text', text: 'bc' },
          ],
        }),
      ),
      completed(),
    ])
    expect(events.filter((event) => event.type === 'text-delta').map(({ delta, part }) => [delta, part])).toEqual([
      ['a', 0],
      ['b', 1],
      ['c', 1],
    ])
  })

  it('keeps refusals apart from text, and their reason', () => {
    const refusal = { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'I cannot.' }] }
    const { events } = decode([
      added(0, message('')),
      { type: 'response.refusal.delta', output_index: 0, content_index: 0, delta: 'I can' },
      done(0, refusal),
      completed(),
    ])
    const folded = fold(events)
    expect(folded.items[0]?.refusal).toBe('I cannot.')
    expect(folded.end.reason).toBe('refusal')
  })

  it('keeps the phase of a message', () => {
    const { events } = decode([added(0, { ...message(''), phase: 'commentary' }), text('…'), completed()])
    expect(fold(events).items[0]?.start['phase']).toBe('commentary')
  })

  it('passes log probabilities on, with the fields the contract wants', () => {
    const logprobs = [{ token: 'Hi', logprob: -0.5, top_logprobs: [{ token: 'Hey', logprob: -1, bytes: [72, 1.5, null] }] }]
    const wanted = [{ token: 'Hi', logprob: -0.5, bytes: [], top_logprobs: [{ token: 'Hey', logprob: -1, bytes: [72] }] }]
    expect(fold(decode([{ ...text('Hi'), logprobs }, completed()]).events).items[0]?.logprobs).toEqual(wanted)
    expect(
      fold(decodeBody({ output: [message('', { content: [{ type: 'output_text', text: 'Hi', logprobs }] })] }).events).items[0]?.logprobs,
    ).toEqual(wanted)
  })

  it('passes only annotations of known kinds, once', () => {
    const cited = { type: 'url_citation', url: 'https://a.test', title: 'A', start_index: 0, end_index: 2, extra: 1 }
    const unknown = { type: 'container_file_citation', file_id: 'f', filename: 'x', container_id: 'c' }
    const bare = { type: 'url_citation', url: 'https://b.test' }
    const file = { type: 'file_citation', file_id: 'f', filename: 'x.txt', index: 3 }
    const event = (annotation: object): object => ({ type: 'response.output_text.annotation.added', output_index: 0, content_index: 0, annotation })
    const final = message('Hi', { content: [{ type: 'output_text', text: 'Hi', annotations: [cited, unknown, bare, file] }] })
    const wanted = [
      { type: 'url_citation', url: 'https://a.test', title: 'A', start_index: 0, end_index: 2 },
      { type: 'url_citation', url: 'https://b.test', title: 'https://b.test', start_index: 0, end_index: 0 },
      file,
    ]
    expect(
      fold(decode([added(0, message('')), text('Hi'), event(cited), event(unknown), done(0, final), completed([final])]).events).items[0]
        ?.annotations,
    ).toEqual(wanted)
  })
})

describe('calls', () => {
  it('announces a call and streams its arguments', () => {
    const { events } = decode([
      added(0, call()),
      { type: 'response.function_call_arguments.delta', output_index: 0, delta: '{"a":1}' },
      done(0, call({ arguments: '{"a":1}' })),
      completed(),
    ])
    expect(events.slice(1, -1)).toEqual([
      { type: 'item-start', key: '0', item: { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '', status: 'in_progress' } },
      { type: 'arguments-delta', key: '0', delta: '{"a":1}' },
      { type: 'item-end', key: '0', item: { status: 'completed' } },
    ])
    expect(fold(events).end.reason).toBe('tool_calls')
  })

  it.each([
    [
      'only in the done event',
      [added(0, call()), { type: 'response.function_call_arguments.done', output_index: 0, arguments: '{"a":1}' }, done(0, call())],
    ],
    ['only in the finished item', [added(0, call()), done(0, call({ arguments: '{"a":1}' }))]],
    ['only in the announced item', [added(0, call({ arguments: '{"a":1}' }))]],
    [
      'partly as deltas',
      [added(0, call()), { type: 'response.function_call_arguments.delta', output_index: 0, delta: '{"a"' }, done(0, call({ arguments: '{"a":1}' }))],
    ],
    [
      'announced and streamed',
      [
        added(0, call({ arguments: '{"a":1}' })),
        { type: 'response.function_call_arguments.delta', output_index: 0, delta: '{"a":1}' },
        done(0, call({ arguments: '{"a":1}' })),
      ],
    ],
    [
      'before the call is announced',
      [
        { type: 'response.function_call_arguments.delta', output_index: 0, delta: '{"a":1}' },
        added(0, call()),
        done(0, call({ arguments: '{"a":1}' })),
      ],
    ],
    ['parsed', [done(0, call({ arguments: { a: 1 } }))]],
  ])('takes arguments that come %s', (_, frames) => {
    expect(fold(decode([created, ...frames, completed()]).events).items[0]?.arguments).toBe('{"a":1}')
  })

  it.each([
    [
      'streamed',
      [added(0, call()), { type: 'response.function_call_arguments.delta', output_index: 0, delta: 'null' }, done(0, call({ arguments: 'null' }))],
    ],
    ['only in the finished item', [done(0, call({ arguments: 'null' }))]],
  ])('treats the text null as no arguments: %s', (_, frames) => {
    const { events } = decode([created, ...frames, completed()])
    expect(events.filter(({ type }) => type === 'arguments-delta')).toEqual([])
    expect(fold(events).items[0]?.arguments ?? '').toBe('')
  })

  it('marks a function call whose arguments break off, whatever the upstream says, and no call of free text', () => {
    const broken = call({ arguments: '{"a":', status: 'completed' })
    expect(fold(decode([created, done(0, broken), completed([broken])]).events).items[0]?.end).toEqual({ status: 'incomplete' })
    const free = { type: 'custom_tool_call', call_id: 'call_1', name: 'f', input: '{"a":', status: 'completed' }
    expect(fold(decode([created, done(0, free), completed([free])]).events).items[0]?.end).toEqual({ status: 'completed' })
  })

  it('waits for the name of a call', () => {
    const { events } = decode([
      { type: 'response.function_call_arguments.delta', output_index: 3, delta: '{}' },
      done(3, call({ arguments: '{}' })),
      completed(),
    ])
    expect(events[1]).toMatchObject({ type: 'item-start', item: { name: 'f', call_id: 'call_1' } })
  })

  it('refuses a call that never gets a name', () => {
    const error = failure(() => decode([{ type: 'response.function_call_arguments.delta', output_index: 0, delta: '{}' }, completed()]))
    expect(error).toMatchObject({ errorType: 'provider_unavailable' })
  })

  it('gives calls an id where the upstream sends none, twice the same, or one too long', () => {
    const ids = (frames: readonly object[]): unknown[] =>
      fold(decode([created, ...frames, completed()]).events).items.map((item) => item.start['call_id'])
    const [none, again] = [ids([done(0, call({ call_id: '' }))]), ids([done(0, call({ call_id: '' }))])]
    expect(none[0]).toMatch(/^call_[0-9A-Za-z]{24}$/)
    expect(none).toEqual(again)
    const twice = ids([done(0, call()), done(1, call())])
    expect(twice[0]).toBe('call_1')
    expect(twice[1]).not.toBe('call_1')
    expect(String(ids([done(0, call({ call_id: 'x'.repeat(65) }))])[0]).length).toBeLessThanOrEqual(64)
  })

  it('keeps interleaved calls apart', () => {
    const args = (output_index: number, delta: string): object => ({ type: 'response.function_call_arguments.delta', output_index, delta })
    const folded = fold(
      decode([
        added(0, call()),
        added(1, call({ call_id: 'call_2', name: 'g' })),
        args(0, '{"a"'),
        args(1, '{"b"'),
        args(0, ':1}'),
        args(1, ':2}'),
        completed(),
      ]).events,
    )
    expect(folded.items.map((item) => item.arguments)).toEqual(['{"a":1}', '{"b":2}'])
  })

  it('streams free-form input', () => {
    const custom = { type: 'custom_tool_call', id: 'ctc', call_id: 'call_1', name: 'sql', input: '' }
    const folded = fold(
      decode([
        added(0, custom),
        { type: 'response.custom_tool_call_input.delta', output_index: 0, delta: 'SELECT' },
        done(0, { ...custom, input: 'SELECT 1' }),
        completed(),
      ]).events,
    )
    expect(folded.items[0]).toMatchObject({ type: 'custom_tool_call', arguments: 'SELECT 1', start: { name: 'sql', input: '' } })
  })

  const customTool = { input: [], tools: [{ type: 'custom', name: 'patch', description: 'applies a patch' }] } as const

  it.each([
    ['{"input":"line 1\\nline \\"2\\""}', 'line 1\nline "2"'],
    ['not json at all', 'not json at all'],
  ])('turns a call of a function that stands for a free-form tool back: %s', (args, input) => {
    const { events } = decode(
      [
        added(0, call({ name: 'patch' })),
        ...[...args].map((delta) => ({ type: 'response.function_call_arguments.delta', output_index: 0, delta })),
        done(0, call({ name: 'patch', arguments: args })),
        completed(),
      ],
      { options: { custom_tools: false }, request: customTool },
    )
    expect(fold(events).items[0]).toMatchObject({ type: 'custom_tool_call', arguments: input, start: { type: 'custom_tool_call', name: 'patch' } })
  })

  it('turns flattened names back into name and namespace', () => {
    const request = {
      input: [],
      tools: [{ type: 'namespace', name: 'mail', description: '', tools: [{ type: 'function', name: 'send', parameters: {} }] }],
    }
    const { events } = decode([done(0, call({ name: 'mail__send' })), completed()], { options: { namespace_tools: false }, request })
    expect(fold(events).items[0]?.start).toMatchObject({ name: 'send', namespace: 'mail' })
  })
})

describe('reasoning', () => {
  const reasoning = (more: object = {}): object => ({ type: 'reasoning', id: 'rs_up', summary: [], ...more })

  it('keeps summary and raw text apart', () => {
    const { events } = decode([
      added(0, reasoning()),
      { type: 'response.reasoning_summary_part.added', output_index: 0, summary_index: 0, part: { type: 'summary_text', text: '' } },
      { type: 'response.reasoning_summary_text.delta', output_index: 0, summary_index: 0, delta: 'S' },
      { type: 'response.reasoning_summary_text.delta', output_index: 0, summary_index: 1, delta: 'T' },
      { type: 'response.reasoning_text.delta', output_index: 0, content_index: 0, delta: 'raw' },
      done(
        0,
        reasoning({
          summary: [
            { type: 'summary_text', text: 'S!' },
            { type: 'summary_text', text: 'T' },
          ],
          content: [{ type: 'reasoning_text', text: 'raw' }],
        }),
      ),
      completed(),
    ])
    expect(events.filter((event) => event.type === 'reasoning-delta').map(({ kind, delta, part }) => [kind, delta, part])).toEqual([
      ['summary', 'S', 0],
      ['summary', 'T', 1],
      ['text', 'raw', 0],
      ['summary', '!', 0],
    ])
  })

  it('takes the part events of other servers', () => {
    const part = { type: 'reasoning_text', text: 'thought' }
    const at = { output_index: 0, content_index: 0 }
    const { events, decoder } = decode([
      added(0, reasoning()),
      { type: 'response.reasoning_part.added', ...at, part: { ...part, text: '' } },
      { type: 'response.reasoning_part.done', ...at, part },
      completed(),
    ])
    expect(fold(events).items[0]?.reasoning).toBe('thought')
    expect(decoder.ignored.size).toBe(0)
  })

  it('seals encrypted content with format and scope, and takes it only from the finished item', () => {
    const { events } = decode([added(0, reasoning({ encrypted_content: 'early' })), done(0, reasoning({ encrypted_content: 'blob' })), completed()], {
      options: { reasoning_format: 'xai-responses-v1' },
    })
    const { end, start } = fold(events).items[0]!
    expect(openReasoning(String(end?.['encrypted_content']))).toEqual({ format: 'xai-responses-v1', scope: 'acme/main', data: 'blob' })
    expect(end?.['format']).toBe('xai-responses-v1')
    expect(start['encrypted_content']).toBeUndefined()
  })

  it('seals text nobody signed where the server wants it back, and for callers who ask', () => {
    const raw = [done(0, reasoning({ content: [{ type: 'reasoning_text', text: 'because' }] })), done(1, message('x')), completed()]
    const sealed = (parts: Parameters<typeof decode>[1]): unknown => fold(decode(raw, parts).events).items[0]?.end?.['encrypted_content']
    const payload = { format: 'unknown', scope: 'acme/main', text: 'because' }
    expect(openReasoning(String(sealed({ options: { reasoning_text: true } })))).toEqual(payload)
    expect(openReasoning(String(sealed({ request: { input: [], include: ['reasoning.encrypted_content'] } })))).toEqual(payload)
    expect(sealed({})).toBeUndefined()
  })

  it('does not pass on the encrypted blob of reasoning that was never finished', () => {
    const { events } = decode([added(0, reasoning({ encrypted_content: 'early' })), text('Hi', 1), completed()])
    expect(fold(events).items[0]?.end).toEqual({ status: 'completed' })
  })

  it('keeps the format and signature a router reports, with the text the signature covers', () => {
    const { events } = decodeBody({
      output: [reasoning({ content: [{ type: 'reasoning_text', text: 'because' }], signature: 'sig', format: 'anthropic-claude-v1' }), message('x')],
    })
    const end = fold(events).items[0]?.end
    expect(end).toMatchObject({ signature: 'sig', format: 'anthropic-claude-v1' })
    expect(openReasoning(String(end?.['encrypted_content']))).toEqual({
      format: 'anthropic-claude-v1',
      scope: 'acme/main',
      signature: 'sig',
      text: 'because',
    })
  })
})

describe('built-in tools and unknown items', () => {
  it('carries items without the upstream id, and completes them', () => {
    const { events } = decode([
      added(0, { type: 'mcp_call', id: 'mcp_up', status: 'in_progress', name: 'x' }),
      done(0, { type: 'mcp_call', id: 'mcp_up', status: 'completed', name: 'x', output: '1' }),
      completed(),
    ])
    expect(events.slice(1, -1)).toEqual([
      { type: 'item-start', key: '0', item: { type: 'mcp_call', status: 'in_progress', name: 'x' } },
      { type: 'item-end', key: '0', item: { type: 'mcp_call', status: 'completed', name: 'x', output: '1' } },
    ])
  })

  it.each([
    [
      { type: 'search', queries: ['ruby', 'ruby 4'] },
      { type: 'search', queries: ['ruby', 'ruby 4'], query: 'ruby' },
    ],
    [{ type: 'search' }, { type: 'search', query: '' }],
    [
      { type: 'search', query: 'ruby' },
      { type: 'search', query: 'ruby' },
    ],
    [
      { type: 'open_page', url: 'http://a.example' },
      { type: 'open_page', url: 'http://a.example' },
    ],
  ])('gives the search %j its query: strict clients drop the whole item for want of it', (action, expected) => {
    const search = { type: 'web_search_call', status: 'completed', action }
    const { events } = decode([added(0, search), done(0, search), completed()])
    expect(events[1]).toMatchObject({ type: 'item-start', item: { action: expected } })
    expect(events[2]).toEqual({ type: 'item-end', key: '0', item: { ...search, action: expected } })
  })

  it('leaves out progress that makes a widespread client throw: the finished item says the same', () => {
    const patch = { type: 'apply_patch_call', call_id: 'c', status: 'completed', operation: { type: 'update_file', path: 'a', diff: '@@' } }
    const progress = { type: 'response.apply_patch_call_operation_diff.delta', output_index: 0, item_id: 'up', delta: '@@' }
    const { events } = decode([added(0, { ...patch, status: 'in_progress' }), progress, done(0, patch), completed()])
    expect(events.map(({ type }) => type)).toEqual(['response-start', 'item-start', 'item-end', 'response-end'])
  })

  it('passes progress the contract knows and counts the rest', () => {
    const progress = (type: string, more: object = {}): object => ({ type, output_index: 0, item_id: 'up', sequence_number: 3, ...more })
    const { events, decoder } = decode([
      added(0, { type: 'code_interpreter_call', status: 'in_progress' }),
      progress('response.code_interpreter_call.in_progress'),
      progress('response.code_interpreter_call_code.delta', { delta: 'print', obfuscation: 'x' }),
      progress('response.code_interpreter_call.thinking'),
      progress('response.code_interpreter_call.thinking'),
      { type: 'keepalive' },
      completed(),
    ])
    expect(events.filter((event) => event.type === 'item-event')).toEqual([
      { type: 'item-event', key: '0', name: 'code_interpreter_call.in_progress' },
      { type: 'item-event', key: '0', name: 'code_interpreter_call_code.delta', fields: { delta: 'print' } },
    ])
    expect([...decoder.ignored]).toEqual([
      ['response.code_interpreter_call.thinking', 2],
      ['keepalive', 1],
    ])
  })

  it('keeps the one id a caller has to send back', () => {
    const { events } = decodeBody({ output: [{ type: 'mcp_approval_request', id: 'mcpr_1', name: 'x' }] })
    expect(fold(events).items[0]?.start).toEqual({ type: 'mcp_approval_request', id: 'mcpr_1', name: 'x' })
  })

  it('seals what other items carry encrypted', () => {
    const { events } = decodeBody({ output: [{ type: 'compaction', id: 'cmp', encrypted_content: 'blob' }] })
    expect(openReasoning(String(fold(events).items[0]?.start['encrypted_content']))).toMatchObject({ data: 'blob', scope: 'acme/main' })
  })

  it('counts web searches where the upstream does not', () => {
    const search = (action: object): object => ({ type: 'web_search_call', status: 'completed', action })
    const { events } = decodeBody({ output: [search({ type: 'search', query: 'a' }), search({ type: 'open_page' }), message('x')], usage })
    expect(fold(events).end.usage?.serverToolUse).toEqual({ web_search: 1 })
  })
})

describe('indexes and ids', () => {
  it('never passes an upstream item id on', () => {
    const items = [
      message('a'),
      call(),
      { type: 'reasoning', id: 'rs_up', summary: [] },
      { type: 'web_search_call', id: 'ws_up', status: 'completed' },
    ]
    const { events } = decode([created, ...items.flatMap((item, index) => [added(index, item), done(index, item)]), completed(items)])
    expect(JSON.stringify(events)).not.toMatch(/_up/)
    expect(fold(events).items).toHaveLength(4)
  })

  it('finds items by id where indexes are missing', () => {
    const frames = [
      { type: 'response.output_item.added', item: { ...message(''), id: 'm1' } },
      { type: 'response.output_item.added', item: call({ id: 'f1' }) },
      { type: 'response.output_text.delta', item_id: 'm1', delta: 'Hi' },
      { type: 'response.function_call_arguments.delta', item_id: 'f1', delta: '{}' },
      { type: 'response.output_item.done', item: { ...message('Hi'), id: 'm1' } },
      completed(),
    ]
    expect(fold(decode(frames).events).items.map((item) => item.text + item.arguments)).toEqual(['Hi', '{}'])
  })

  it('keeps items apart that all claim the same index', () => {
    const frames = [
      added(0, { type: 'reasoning', summary: [] }),
      { type: 'response.reasoning_text.delta', output_index: 0, delta: 'hm' },
      added(0, message('')),
      text('Hi'),
      added(0, call()),
      { type: 'response.function_call_arguments.delta', output_index: 0, delta: '{}' },
      completed([{ type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'hm' }] }, message('Hi'), call({ arguments: '{}' })]),
    ]
    expect(fold(decode(frames).events).items.map(({ type, text: said, reasoning, arguments: args }) => [type, said + reasoning + args])).toEqual([
      ['reasoning', 'hm'],
      ['message', 'Hi'],
      ['function_call', '{}'],
    ])
  })

  it('adds items that stand only in the closing list', () => {
    const { events } = decode([added(0, message('')), text('Hi'), done(0, message('Hi')), completed([message('Hi'), call({ arguments: '{}' })])])
    expect(fold(events).items.map(({ type }) => type)).toEqual(['message', 'function_call'])
  })

  it('matches the closing list by kind where its positions are not the indexes', () => {
    const { events } = decode([added(4, call()), done(4, call({ arguments: '{}' })), completed([message('Hi'), call({ arguments: '{}' })])])
    expect(fold(events).items.map(({ type, text: said }) => [type, said])).toEqual([
      ['function_call', ''],
      ['message', 'Hi'],
    ])
  })

  it('takes nothing back when the closing list is empty', () => {
    expect(fold(decode([text('Hi'), completed([])]).events).items[0]?.text).toBe('Hi')
  })
})

describe('ends', () => {
  it.each([
    ['max_output_tokens', 'length'],
    ['content_filter', 'content_filter'],
  ])('ends an incomplete answer (%s) and marks its open item', (reason, wanted) => {
    const { events } = decode([
      text('Hel'),
      { type: 'response.incomplete', response: { status: 'incomplete', incomplete_details: { reason }, output: [], usage } },
    ])
    expect(fold(events)).toMatchObject({ end: { reason: wanted, nativeReason: reason }, items: [{ text: 'Hel', end: { status: 'incomplete' } }] })
  })

  it('trusts the status rather than the event', () => {
    const { events } = decode([text('Hel'), completed([], { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } })])
    expect(fold(events).end.reason).toBe('length')
  })

  it('accepts an incomplete answer without content: the limit was spent on thinking', () => {
    expect(fold(decodeBody({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, output: [], usage }).events).end.reason).toBe(
      'length',
    )
  })

  it.each([
    ['without a terminal event', [created, text('Hel')]],
    ['after [DONE] alone', [created, text('Hel'), '[DONE]']],
    ['without any frame', []],
  ])('refuses a stream that ends %s', (_, frames) => {
    expect(failure(() => decode(frames))).toMatchObject({ errorType: 'provider_unavailable', details: { source: 'provider', providerName: 'Acme' } })
  })

  it.each([
    ['nothing', []],
    ['an empty message', [added(0, message('')), done(0, message(''))]],
    ['reasoning without any text', [added(0, { type: 'reasoning', summary: [] })]],
  ])('refuses a successful answer with %s', (_, frames) => {
    expect(failure(() => decode([created, ...frames, completed()]))).toMatchObject({ errorType: 'provider_unavailable', failover: 'retry' })
  })

  it('ignores everything after the end', () => {
    const { events } = decode([text('Hi'), completed(), text('more'), { type: 'error', error: { message: 'late' } }, '[DONE]'])
    expect(events.at(-1)?.type).toBe('response-end')
    expect(fold(events).items[0]?.text).toBe('Hi')
  })
})

describe('errors inside a stream', () => {
  it.each([
    ['nested', { type: 'error', error: { type: 'insufficient_quota', code: 'insufficient_quota', message: 'quota' } }],
    ['flat', { type: 'error', code: 'insufficient_quota', message: 'quota', param: null }],
    ['in a failed answer', { type: 'response.failed', response: { status: 'failed', error: { code: 'insufficient_quota', message: 'quota' } } }],
    ['without a type', { error: { code: 'insufficient_quota', message: 'quota' } }],
    ['in a completed answer', completed([], { status: 'failed', error: { code: 'insufficient_quota', message: 'quota' } })],
  ])('throws an error that comes %s', (_, frame) => {
    expect(failure(() => decode([created, frame]))).toMatchObject({
      errorType: 'payment_required',
      details: { credentialDead: true, providerName: 'Acme' },
    })
  })

  it('lets the first error count', () => {
    const error = failure(() =>
      decode([
        { type: 'error', code: 'rate_limit_exceeded', message: 'slow down' },
        { type: 'response.failed', response: { error: { code: 'server_error', message: 'x' } } },
      ]),
    )
    expect(error).toMatchObject({ errorType: 'rate_limit_exceeded' })
  })

  it('does not quote the request in the error of a failed answer', () => {
    const error = failure(() =>
      decode([{ type: 'response.failed', response: { instructions: 'SECRET PROMPT', error: { code: 'server_error', message: 'boom' } } }]),
    )
    expect(error).toBeInstanceOf(GatewayError)
    expect(JSON.stringify((error as GatewayError).details)).not.toContain('SECRET')
  })

  it('asks for a retry without reasoning when it cannot be read', () => {
    const error = failure(() =>
      decode([
        {
          type: 'response.failed',
          response: { error: { code: 'invalid_encrypted_content', message: 'The encrypted content could not be verified.' } },
        },
      ]),
    )
    expect(error).toMatchObject({ failover: 'retry', details: { metadata: { strip_reasoning: true } } })
  })

  it('ignores malformed frames, up to a bound', () => {
    const garbage = ['{broken', '[]', '"x"', '{}', '{"type":"response.output_item.added","output_index":0}']
    expect(fold(decode([...garbage, text('Hi'), ...garbage, completed()]).events).items[0]?.text).toBe('Hi')
    expect(failure(() => decode(Array.from({ length: 17 }, () => '{broken')))).toMatchObject({ errorType: 'provider_unavailable' })
  })
})

describe('bodies', () => {
  it('says the same as the stream of the same answer', () => {
    const output = [
      { type: 'reasoning', id: 'rs', summary: [{ type: 'summary_text', text: 'S' }], encrypted_content: 'blob' },
      { ...message('Hello'), phase: 'final_answer' },
      call({ arguments: '{"a":1}', status: 'completed' }),
    ]
    const stream = decode([
      created,
      ...output.flatMap((item, index) => [added(index, { ...item, content: [], summary: [], arguments: '' }), done(index, item)]),
      completed(output),
    ])
    const { response } = completed(output) as { readonly response: object }
    const body = fold(decodeBody(response).events)
    const streamed = fold(stream.events)
    expect(body.items).toEqual(streamed.items)
    expect(body.end).toEqual(streamed.end)
  })

  it.each([
    ['a failed answer', { status: 'failed', error: { code: 'rate_limit_exceeded', message: 'slow' }, output: [] }, 'rate_limit_exceeded'],
    ['an error body', { error: { code: 'context_length_exceeded', message: 'too long' } }, 'context_length_exceeded'],
    ['an answer that is not done', { status: 'queued', output: [] }, 'provider_unavailable'],
    ['a cancelled answer', { status: 'cancelled' }, 'provider_unavailable'],
    ['another format', { choices: [] }, 'provider_unavailable'],
    ['an empty answer', { status: 'completed', output: [] }, 'provider_unavailable'],
    ['no JSON', '<html>', 'provider_unavailable'],
    ['nothing', '', 'provider_unavailable'],
  ])('refuses %s', (_, body, errorType) => {
    expect(failure(() => decodeBody(body))).toMatchObject({ errorType })
  })

  it('refuses a streamed body with an endless event', () => {
    expect(failure(() => decodeBody(`data: ${'x'.repeat(17 * 1024 * 1024)}`))).toMatchObject({ errorType: 'provider_unavailable' })
  })

  it('reads a stream that came instead of a body', () => {
    const sse = [created, text('Hi'), completed()]
      .map((frame) => `event: ${(frame as { type: string }).type}\ndata: ${JSON.stringify(frame)}\n\n`)
      .join('')
    expect(fold(decodeBody(sse).events).items[0]?.text).toBe('Hi')
  })
})

describe('any stream', () => {
  const piece = fc.string({ unit: fc.constantFrom('a', ' ', '"', '\\', '\n', '{', '}', 'é', '😀', '\u2028'), minLength: 1, maxLength: 6 })
  const answer = fc.array(
    fc.oneof(
      fc.record({ type: fc.constant('message' as const), pieces: fc.array(piece, { minLength: 1, maxLength: 5 }) }),
      fc.record({ type: fc.constant('function_call' as const), pieces: fc.array(piece, { minLength: 1, maxLength: 5 }) }),
      fc.record({ type: fc.constant('reasoning' as const), pieces: fc.array(piece, { minLength: 1, maxLength: 5 }) }),
    ),
    { minLength: 1, maxLength: 4 },
  )

  it('gives back what was said, however it is cut and whatever deltas are missing', () => {
    fc.assert(
      fc.property(answer, fc.integer({ min: 1, max: 64 }), fc.nat(3), fc.boolean(), (items, size, missing, sorted) => {
        const frames: object[] = [created]
        const finals = items.map(({ type, pieces }, index) => {
          const whole = pieces.join('')
          if (type === 'message') return message(whole)
          return type === 'reasoning'
            ? { type, summary: [], content: [{ type: 'reasoning_text', text: whole }] }
            : call({ call_id: `call_${index}`, arguments: whole })
        })
        for (const [index, { type, pieces }] of items.entries()) {
          frames.push(added(index, { ...finals[index], content: [], arguments: '' }))
          const name = { message: 'output_text', reasoning: 'reasoning_text', function_call: 'function_call_arguments' }[type]
          const streamed = pieces.slice(0, Math.max(0, pieces.length - missing))
          for (const delta of streamed)
            frames.push(
              sorted
                ? { content_index: 0, delta, output_index: index, type: `response.${name}.delta` }
                : { type: `response.${name}.delta`, output_index: index, content_index: 0, delta, logprobs: [] },
            )
          if (index % 2 === 0) frames.push(done(index, finals[index]!))
        }
        frames.push(completed(finals))
        const bytes = Buffer.from(frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join(''))
        const folded = fold(decodeSse(bytes, size).events)
        expect(folded.items.map(({ type, text: said, arguments: args, reasoning }) => ({ type, whole: said + args + reasoning }))).toEqual(
          items.map(({ type, pieces }) => ({ type, whole: pieces.join('') })),
        )
      }),
      { numRuns: 300 },
    )
  })

  it('ends in an answer or a GatewayError, never in anything else', () => {
    const field = fc.oneof(
      fc.constant(undefined),
      fc.string({ maxLength: 3 }),
      fc.nat(3),
      fc.constant(null),
      fc.constant([]),
      fc.constant({}),
      fc.constant([{ type: 'output_text', text: 'a' }, null, 'x']),
    )
    const type = fc.constantFrom(
      'response.created',
      'response.output_item.added',
      'response.output_item.done',
      'response.output_text.delta',
      'response.output_text.done',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'response.content_part.done',
      'response.output_text.annotation.added',
      'response.reasoning_text.delta',
      'response.refusal.done',
      'response.web_search_call.completed',
      'response.completed',
      'response.incomplete',
      'error',
      'what',
    )
    const item = fc.oneof(
      field,
      fc.record({
        type: fc.constantFrom('message', 'reasoning', 'function_call', 'custom_tool_call', 'web_search_call', 'new_thing'),
        call_id: field,
        name: field,
        arguments: field,
        content: field,
        summary: field,
        encrypted_content: field,
      }),
    )
    const frame = fc.record({
      type,
      output_index: field,
      content_index: field,
      item_id: field,
      delta: field,
      text: field,
      arguments: field,
      part: field,
      annotation: field,
      item,
      response: fc.oneof(field, fc.record({ output: fc.oneof(field, fc.array(item, { maxLength: 3 })), usage: field, status: field, error: field })),
    })
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 12 }), (frames) => {
        try {
          fold(decode([...frames, completed()]).events)
        } catch (error) {
          if (!(error instanceof GatewayError)) throw error
        }
      }),
      { numRuns: 2000 },
    )
  })
})

describe('a message of many parts', () => {
  const parts = Array.from({ length: 20_000 }, (_, n) => ({ type: 'output_text', text: `${n} `, annotations: [] }))
  const whole = { type: 'message', id: 'msg_up', role: 'assistant', content: parts }
  const said = parts.map((part) => part.text).join('')
  it.each([
    ['that came only when it was done', 0],
    ['that streamed', 1],
    ['that streamed, numbered from elsewhere', 50_000],
  ])('costs time in proportion to its size: %s', (_name, first) => {
    const deltas = first === 0 ? [] : parts.map((part, n) => text(part.text, 0, n + first - 1))
    const started = threadTime()
    const { events } = decode([created, added(0, message('')), ...deltas, done(0, whole), completed([whole])])
    expect(threadTime() - started).toBeLessThan(1_500)
    expect(fold(events).items[0]?.text).toBe(said)
  })
})

it('a search of tools keeps its arguments an object, whatever numbers stand beside it', () => {
  const search = {
    type: 'tool_search_call',
    id: 'tsc_1',
    call_id: 'c',
    execution: 'client',
    arguments: { query: 'v1.5', limit: 2.5 },
    status: 'completed',
  }
  const { events } = decode([created, added(0, search), done(0, search), completed([search], { temperature: 0.5 })])
  const item = Object.assign({}, ...events.flatMap((event) => ('item' in event ? [event.item] : []))) as { readonly arguments?: unknown }
  expect(item.arguments).toEqual({ query: 'v1.5', limit: 2.5 })
})
