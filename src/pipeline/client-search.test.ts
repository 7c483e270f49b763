import { describe, expect, it } from 'vitest'
import type { Target } from '../core/dialect.ts'
import type { ModelEvent } from '../core/event.ts'
import type { InputItem, Tool } from '../core/item.ts'
import type { ModelRequest } from '../core/request.ts'
import { answerDialects, dialects } from '../dialects/index.ts'
import { anyTarget } from '../testing/any-target.ts'
import { ClientSearch } from './client-search.ts'

const parameters = { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] }
const search = { type: 'tool_search', execution: 'client', description: 'Finds tools of servers', parameters }
const hello: InputItem = { type: 'message', role: 'user', content: 'q' }
const plain = (name: string): Tool => ({ type: 'function', name, description: `does ${name}`, parameters })
const deferred = (name: string): Tool => ({ ...plain(name), defer_loading: true })
const docs = { type: 'namespace', name: 'mcp__docs', description: 'd', tools: [deferred('find'), plain('list')] }
const asked = { type: 'tool_search_call', call_id: 'c1', execution: 'client', arguments: { query: 'docs' }, status: 'completed' }
const found = (tools: readonly object[], fields: object = {}): InputItem => ({
  type: 'tool_search_output',
  call_id: 'c1',
  execution: 'client',
  tools,
  status: 'completed',
  ...fields,
})

const target = (name: string, options?: object): Target => anyTarget(dialects.get(name)!, options)

const read = (request: ModelRequest): ClientSearch => ClientSearch.of(request, dialects.get('openai-chat')!, target('openai-chat'))!
const offered = (request: ModelRequest): unknown[] =>
  (read(request).request.tools ?? []).flatMap((tool) =>
    tool.type === 'namespace'
      ? (tool['tools'] as { name: string }[]).map(({ name }) => `${String(tool['name'])}/${name}`)
      : [tool['name'] ?? tool.type],
  )

describe('which formats are offered the search as a function', () => {
  const request: ModelRequest = { input: [hello, asked, found([deferred('later')])], tools: [plain('now'), search, deferred('hidden')] }
  const native = answerDialects.filter((dialect) => dialect.knowsClientSearch?.(target(dialect.name)) === true).map(({ name }) => name)
  it('all but the one that knows it', () => expect(native).toEqual(['openai-responses']))
  it.each(answerDialects.map(({ name }) => name).filter((name) => !native.includes(name)))('%s', (name) => {
    const dialect = dialects.get(name)!
    const { body, dropped } = dialect.encodeRequest(ClientSearch.of(request, dialect, target(name))!.request, target(name))
    for (const word of ['"tool_search"', 'Finds tools of servers', '"now"', '"later"', 'can be called']) expect(body).toContain(word)
    expect(body).not.toContain('hidden')
    expect(dropped).toEqual([])
  })
  it('the one that knows it, where its endpoint has no such tools', () => {
    const dialect = dialects.get('openai-responses')!
    expect(ClientSearch.of(request, dialect, target(dialect.name))).toBeUndefined()
    const bare = target(dialect.name, { builtin_tools: false, namespace_tools: false })
    const sent = JSON.parse(dialect.encodeRequest(ClientSearch.of(request, dialect, bare)!.request, bare).body)
    expect(sent.tools.map(({ type, name }: { type: string; name: string }) => [type, name])).toEqual([
      ['function', 'now'],
      ['function', 'tool_search'],
      ['function', 'later'],
    ])
    expect(sent.input.slice(1)).toMatchObject([{ type: 'function_call' }, { type: 'function_call_output' }])
  })
  it('none when the caller has none, or the provider runs it', () => {
    const server = { execution: 'server', call_id: null }
    for (const request of [
      { input: [hello], tools: [deferred('f')] },
      { input: [hello], tools: [{ type: 'tool_search' }, deferred('f')] },
      { input: [hello, { ...asked, ...server }, found([deferred('f')], server)] },
    ])
      expect(read(request)).toBeUndefined()
  })
})

describe('the offered tools', () => {
  it('include the search as the caller describes it, in its place', () => {
    expect(read({ input: [hello], tools: [search, plain('now')] }).request.tools).toEqual([
      { type: 'function', name: 'tool_search', description: 'Finds tools of servers', parameters },
      plain('now'),
    ])
  })
  it('have a default description and arguments for the search where the caller gives none', () => {
    const [tool] = read({ input: [hello], tools: [{ type: 'tool_search', execution: 'client' }] }).request.tools!
    expect(tool).toMatchObject({ description: expect.stringContaining('tools'), parameters: { type: 'object' } })
  })
  it('leave out deferred tools, in namespaces, too', () => {
    const hidden = { type: 'namespace', name: 'mcp__mail', tools: [deferred('send')] }
    const custom = { type: 'custom', name: 'c', defer_loading: true }
    expect(offered({ input: [hello], tools: [deferred('f'), search, docs, hidden, custom] })).toEqual(['tool_search', 'mcp__docs/list'])
  })
  it('include found tools from then on, after the others, once, and no longer deferred', () => {
    const input = [hello, asked, found([{ ...docs, tools: [deferred('find')] }, deferred('f')]), found([deferred('f'), plain('now'), deferred('g')])]
    const request = { input, tools: [deferred('f'), docs, search, plain('now')] }
    expect(offered(request)).toEqual(['mcp__docs/list', 'tool_search', 'now', 'mcp__docs/find', 'f', 'g'])
    expect(JSON.stringify(read(request).request.tools)).not.toContain('defer_loading')
  })
  it('include found tools also when the search is no longer offered', () => {
    expect(offered({ input: [hello, asked, found([deferred('f')])], tools: [plain('now')] })).toEqual(['now', 'f'])
  })
  it('include a tool found by its name alone as the request describes it', () => {
    const request = { input: [hello, asked, found([{ type: 'function', name: 'f' }])], tools: [search, deferred('f')] }
    expect(read(request).request.tools!.at(-1)).toEqual(plain('f'))
  })
  it('rename the search if a function of the caller has its name', () => {
    const request = { input: [hello, asked], tools: [search, plain('tool_search')] }
    expect(offered(request)).toEqual(['gateway_tool_search', 'tool_search'])
    expect(read(request).request.input[1]).toMatchObject({ name: 'gateway_tool_search' })
  })
  it('rename the search if a found function has its name, too', () => {
    const request = { input: [hello, asked, found([deferred('tool_search')])], tools: [search] }
    expect(offered(request)).toEqual(['gateway_tool_search', 'tool_search'])
  })
  it('allow the search to be forced, or to be one of several allowed tools', () => {
    const choice = (tool_choice: ModelRequest['tool_choice']) =>
      read({ input: [hello], tools: [search, plain('f')], tool_choice: tool_choice! }).request.tool_choice
    const call = { type: 'function', name: 'tool_search' }
    expect(choice({ type: 'tool_search' })).toEqual(call)
    expect(choice('required')).toBe('required')
    const f = { type: 'function', name: 'f' }
    expect(choice({ type: 'allowed_tools', mode: 'auto', tools: [f, { type: 'tool_search' }] })).toMatchObject({ mode: 'auto', tools: [f, call] })
  })
})

describe('earlier searches', () => {
  const replayed = (...items: readonly InputItem[]) => read({ input: [hello, ...items], tools: [search] }).request.input.slice(1)
  it('are a call and its result, which names what was found', () => {
    const [call, output] = replayed(asked, found([docs, deferred('f')])) as [object, { output: string }]
    expect(call).toEqual({ type: 'function_call', call_id: 'c1', name: 'tool_search', arguments: '{"query":"docs"}' })
    expect(output).toMatchObject({ type: 'function_call_output', call_id: 'c1' })
    expect(JSON.parse(output.output)).toMatchObject({ tools: ['mcp__docs__find', 'mcp__docs__list', 'f'] })
  })
  it('say so when nothing was found', () => {
    expect(JSON.parse((replayed(asked, found([]))[1] as { output: string }).output)).toEqual({ tools: [], note: 'No tool matches.' })
  })
  it('are paired where they have no ids', () => {
    const bare = { call_id: null }
    const ids = replayed({ ...asked, ...bare }, { ...asked, ...bare }, found([], bare), found([], bare)).map(
      (item) => (item as { call_id: string }).call_id,
    )
    expect(ids.slice(0, 2)).toEqual(ids.slice(2))
    expect(new Set(ids).size).toBe(2)
  })
  it('keep arguments that are text, and have none if there were none', () => {
    const texts = replayed({ ...asked, arguments: '{"query":"x"}' }, { ...asked, arguments: undefined }).map(
      (item) => (item as { arguments: string }).arguments,
    )
    expect(texts).toEqual(['{"query":"x"}', '{}'])
  })
})

describe('the answer', () => {
  const call = (name: string, fields: object = {}): ModelEvent => ({
    type: 'item-start',
    key: 'k',
    item: { type: 'function_call', call_id: 'c', name, arguments: '', ...fields },
  })
  const delta = (text: string): ModelEvent => ({ type: 'arguments-delta', key: 'k', delta: text })
  const close = (item?: { readonly [field: string]: unknown }): ModelEvent => ({
    type: 'item-end',
    key: 'k',
    ...(item === undefined ? {} : { item }),
  })
  const take = (...events: readonly ModelEvent[]) => {
    const subject = read({ input: [hello], tools: [search] })
    return events.flatMap((event) => subject.take([event]))
  }
  it('has a search for the caller in place of the call', () => {
    expect(take(call('tool_search'), delta('{"query":'), delta('"docs"}'), close())).toEqual([
      {
        type: 'item-start',
        key: 'k',
        item: { type: 'tool_search_call', execution: 'client', call_id: 'c', arguments: {}, status: 'in_progress' },
      },
      { type: 'item-end', key: 'k', item: { arguments: { query: 'docs' } } },
    ])
  })
  it.each([
    ['only the end knows', [close({ arguments: '{"query":"docs"}' })], { arguments: { query: 'docs' } }],
    ['are none', [close()], { arguments: {} }],
    ['are no JSON', [delta('{"query":'), close()], { arguments: {} }],
    ['are no object', [delta('["a"]'), close()], { arguments: {} }],
    ['are nested deeper than anybody reads', [delta(`{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`), close()], { arguments: {} }],
    ['were cut', [delta('{"que'), close({ status: 'incomplete' })], { arguments: {}, status: 'incomplete' }],
  ] as const)('has arguments that %s', (_, events, item) => {
    expect(take(call('tool_search'), ...events).at(-1)).toEqual({ type: 'item-end', key: 'k', item })
  })
  it.each([
    ['of other functions', call('other')],
    ['of a function of that name in a namespace', call('tool_search', { namespace: 'mcp__docs' })],
  ])('has calls %s as they are', (_, start) => {
    const events = [start, delta('{}'), close({ status: 'completed' })]
    expect(take(...events)).toEqual(events)
  })
  it('has the function of the caller that has the name as it is', () => {
    const events = [call('tool_search'), delta('{}'), close()]
    expect(read({ input: [hello], tools: [search, plain('tool_search')] }).take(events)).toEqual(events)
  })
  it('has no search that was not offered', () => {
    const events = [call('tool_search'), delta('{}'), close()]
    expect(read({ input: [hello, asked, found([])], tools: [plain('f')] }).take(events)).toEqual(events)
  })
})
