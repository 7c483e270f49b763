import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../core/error.ts'
import type { JsonObject } from '../../core/item.ts'
import { messagesToResponses } from './to-responses.ts'

const user = { role: 'user', content: 'Hi' }
const tool = (name: string, more: object = {}): object => ({ name, input_schema: { type: 'object' }, ...more })
const named = (name: string): object => ({ type: 'tool_reference', name })
const adds = (added: object): object => ({ type: 'tool_addition', tool: added })
const removes = (removed: object): object => ({ type: 'tool_removal', tool: removed })
const brings = (name: string, more: object = {}): object => adds({ type: 'tool_definition', definition: tool(name, more) })
const system = (...content: readonly object[]): object => ({ role: 'system', content })

const read = (messages: readonly object[], sent: object = {}): ReturnType<typeof messagesToResponses> =>
  messagesToResponses({ tools: [tool('f'), tool('g')], ...sent, messages: [user, ...messages] })
const offered = (messages: readonly object[], sent?: object): readonly unknown[] =>
  ((read(messages, sent).body['tools'] ?? []) as readonly JsonObject[]).map(({ name, type }) => name ?? type)

describe('tools that are added and removed during a conversation', () => {
  it.each<readonly [string, readonly object[], readonly string[]]>([
    ['are those of the request where nothing changes', [], ['f', 'g']],
    ['are offered as soon as a message brings them', [system(brings('h'), brings('i'))], ['f', 'g', 'h', 'i']],
    ['are offered no more once they are taken away', [system(removes(named('f')))], ['g']],
    ['may be brought and taken away', [system(brings('h')), user, system(removes(named('h')))], ['f', 'g']],
    ['may come back', [system(removes(named('f'))), user, system(adds(named('f')))], ['f', 'g']],
    ['may be none at all', [system(removes(named('f')), removes(named('g')))], []],
    [
      'of servers and unknown names are passed over',
      [system(adds({ type: 'mcp_toolset_reference', server_name: 's' }), adds(named('x')))],
      ['f', 'g'],
    ],
  ])('%s', (_name, messages, names) => {
    expect(offered(messages)).toEqual(names)
  })

  it('replace a tool of the same name', () => {
    const { tools } = read([system(brings('f', { description: 'The second.' }))]).body
    expect(tools).toMatchObject([{ type: 'function', name: 'f', description: 'The second.' }, { name: 'g' }])
  })

  it('do not replace tools of the same type without names', () => {
    const advisor = (model: string): object => ({ type: 'gateway:advisor', parameters: { model } })
    expect(offered([system(brings('h'))], { tools: [advisor('a/a'), advisor('b/b')] })).toEqual(['gateway:advisor', 'gateway:advisor', 'h'])
  })

  it('may be the only ones', () => {
    expect(offered([system(brings('h'))], { tools: undefined })).toEqual(['h'])
  })

  it('are not deferred once they were loaded by name', () => {
    const tools = [tool('f', { defer_loading: true }), tool('g', { defer_loading: true }), { type: 'gateway:tool_search' }]
    const translated = read([system(adds(named('f')))], { tools }).body['tools'] as readonly JsonObject[]
    expect(translated.map(({ defer_loading: deferred }) => deferred === true)).toEqual([false, true, false])
  })

  it('are not content by themselves', () => {
    expect(read([system(brings('h'))]).body['input']).toEqual([{ type: 'message', role: 'user', content: 'Hi' }])
  })

  it('are refused like those of the request, with their path', () => {
    const refused = (messages: readonly object[]): unknown => {
      try {
        read(messages)
      } catch (error) {
        if (error instanceof GatewayError) return error.details.path
        throw error
      }
      return undefined
    }
    expect(refused([system(adds({ type: 'tool_definition', definition: { name: 'h' } }))])).toBe(
      'messages[1].content[0].tool.definition.input_schema',
    )
    expect(refused([system(adds({ type: 'tool_definition', definition: { type: 'computer_20251124', name: 'computer' } }))])).toBe(
      'messages[1].content[0].tool.definition.type',
    )
    expect(read([system(removes(named('f')), brings('h'))]).pathOf('tools[1].name')).toBe('messages[1].content[1].tool.definition.name')
  })
})

describe('tools that are deferred until a search of the caller finds them', () => {
  const found = (...names: readonly string[]): readonly object[] => [
    { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'search', input: { query: 'x' } }] },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: names.map((tool_name) => ({ type: 'tool_reference', tool_name })) }],
    },
  ]
  const later = (name: string): object => tool(name, { defer_loading: true })
  const tools = [later('a'), tool('search'), later('b'), tool('g')]

  it.each<readonly [string, readonly object[], readonly string[]]>([
    ['are not offered before', [], ['search', 'g']],
    ['are offered once a result refers to them, behind the others', found('b'), ['search', 'g', 'b']],
    ['stand in the order in which they were found', [...found('b'), user, ...found('b', 'a')], ['search', 'g', 'b', 'a']],
    ['are offered when a message brings them by name', [system(adds(named('a')))], ['search', 'g', 'a']],
    ['are offered no more once they are taken away', [...found('b', 'a'), user, system(removes(named('b')))], ['search', 'g', 'a']],
    ['that nobody has are passed over', found('x', 'a'), ['search', 'g', 'a']],
  ])('%s', (_name, messages, names) => {
    expect(offered(messages, { tools })).toEqual(names)
  })

  it('are no longer marked as deferred in the translated request', () => {
    expect(read(found('b'), { tools }).body['tools']).toEqual(
      ['search', 'g', 'b'].map((name) => ({ type: 'function', name, parameters: { type: 'object' }, strict: false })),
    )
  })

  it('are offered where they are forced', () => {
    expect(offered([], { tools, tool_choice: { type: 'tool', name: 'b' } })).toEqual(['search', 'g', 'b'])
  })

  it('are offered where there is no search tool', () => {
    expect(offered([], { tools: [later('a'), later('b')] })).toEqual(['a', 'b'])
    expect(offered([], { tools: [later('a'), { type: 'web_search_20250305', name: 'web_search' }] })).toEqual(['a', 'gateway:web_search'])
  })

  it('are refused with their path', () => {
    const { pathOf } = read(found('b'), { tools })
    expect(['tools[0].name', 'tools[1].name', 'tools[2].name'].map(pathOf)).toEqual(['tools[1].name', 'tools[3].name', 'tools[2].name'])
  })
})
