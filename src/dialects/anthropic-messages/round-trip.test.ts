import { describe, expect, it } from 'vitest'
import type { ModelEvent } from '../../core/event.ts'
import type { InputItem } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { call, finish, inputDelta, open, start, stop, text, thinking } from './__fixtures__/frames.ts'
import { messagesTarget } from './__fixtures__/target.ts'
import { anthropicMessages } from './index.ts'

type Fields = { [field: string]: unknown }

/** The items of an answer as its caller receives them. */
function itemsOf(events: readonly ModelEvent[]): Fields[] {
  const items = new Map<string, Fields>()
  for (const event of events) {
    if (event.type === 'item-start') items.set(event.key, { ...event.item })
    else if ('key' in event) {
      const item = items.get(event.key)!
      if (event.type === 'text-delta')
        item['content'] = [{ type: 'output_text', text: `${(item['content'] as { text: string }[])[0]?.text ?? ''}${event.delta}` }]
      else if (event.type === 'reasoning-delta')
        item['content'] = [{ type: 'reasoning_text', text: `${(item['content'] as { text: string }[] | undefined)?.[0]?.text ?? ''}${event.delta}` }]
      else if (event.type === 'arguments-delta') {
        const field = item['type'] === 'custom_tool_call' ? 'input' : 'arguments'
        item[field] = String(item[field]) + event.delta
      } else if (event.type === 'item-end') Object.assign(item, event.item)
    }
  }
  return [...items.values()]
}

function answer(frames: readonly object[], request: ModelRequest): Fields[] {
  const out: ModelEvent[] = []
  const decoder = anthropicMessages.decoder(request, messagesTarget())
  for (const frame of frames) decoder.push(JSON.stringify(frame), undefined, out)
  decoder.end(out)
  return itemsOf(out)
}

const PNG = 'data:image/png;base64,iVBORw0KGgo='
const request: ModelRequest = {
  input: [{ type: 'message', role: 'user', content: 'Weather in Oslo and Rome?' }],
  tools: [{ type: 'function', name: 'get_weather' }, { type: 'custom', name: 'note' }, { type: 'web_search' }],
  reasoning: { effort: 'high' },
}
const results = [{ type: 'web_search_result', url: 'https://x.test/', title: 'X', encrypted_content: 'E' }]
const frames = [
  start(),
  ...thinking(0, ' Two places:\n "calls" \u{1f326} ', 'SIG'),
  open(1, { type: 'redacted_thinking', data: 'BLOB' }),
  stop(1),
  open(2, { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} }),
  inputDelta(2, '{"query":"oslo"}'),
  stop(2),
  open(3, { type: 'web_search_tool_result', tool_use_id: 's1', content: results }),
  stop(3),
  ...text(4, 'I will ', 'look.'),
  ...call(5, 'toolu_1', 'get_weather', '{"place":', '"Oslo"}'),
  ...call(6, 'toolu_2', 'get_weather', '{"place":"Rome"}'),
  ...call(7, 'toolu_3', 'note', '{"input":"look\\nup"}'),
  ...finish('tool_use'),
]
const written = [
  { type: 'thinking', thinking: ' Two places:\n "calls" \u{1f326} ', signature: 'SIG' },
  { type: 'redacted_thinking', data: 'BLOB' },
  { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'oslo' } },
  { type: 'web_search_tool_result', tool_use_id: 's1', content: results },
  { type: 'text', text: 'I will look.' },
  { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { place: 'Oslo' } },
  { type: 'tool_use', id: 'toolu_2', name: 'get_weather', input: { place: 'Rome' } },
  { type: 'tool_use', id: 'toolu_3', name: 'note', input: { input: 'look\nup' } },
]

/** The changes that clients make to the items that they send back. */
const CLIENTS: { readonly [name: string]: (item: Fields) => Fields } = {
  'as they are': (item) => item,
  'reasoning by id, blob and summary only': (item) =>
    item['type'] === 'reasoning' ? { type: 'reasoning', id: 'rs_1', encrypted_content: item['encrypted_content'], summary: item['summary'] } : item,
}

function secondTurn(
  change: (item: Fields) => Fields,
  scope = 'acme',
  options: { readonly signature_scope?: 'format' } = {},
): { messages: { role: string; content: object[] }[]; thinking?: object } {
  const history = answer(frames, request).map(change) as unknown as InputItem[]
  const outputs: InputItem[] = [
    {
      type: 'function_call_output',
      call_id: 'toolu_2',
      output: [
        { type: 'input_text', text: 'sun' },
        { type: 'input_image', image_url: PNG },
      ],
    },
    { type: 'function_call_output', call_id: 'toolu_1', output: 'snow' },
    { type: 'custom_tool_call_output', call_id: 'toolu_3', output: 'ok' },
  ]
  const encoded = anthropicMessages.encodeRequest(
    { ...request, input: [...request.input, ...history, ...outputs] },
    messagesTarget({ scope, options: { web_search_tool: 'web_search_20250305', ...options } }),
  )
  return JSON.parse(encoded.body) as ReturnType<typeof secondTurn>
}

describe('a turn that comes back', () => {
  it.each(Object.entries(CLIENTS))('%s, is what the model wrote', (_name, change) => {
    const { messages, thinking: sent } = secondTurn(change)
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
    expect(messages[1]?.content).toEqual(written)
    expect(messages[2]?.content).toEqual([
      { type: 'tool_result', tool_use_id: 'toolu_1', content: 'snow' },
      {
        type: 'tool_result',
        tool_use_id: 'toolu_2',
        content: [
          { type: 'text', text: 'sun' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
        ],
      },
      { type: 'tool_result', tool_use_id: 'toolu_3', content: 'ok' },
    ])
    expect(sent).toMatchObject({ type: 'enabled' })
  })
  it('to another host of the format loses its thoughts, or keeps them where signatures are shared: never what only the first could read', () => {
    const kept = secondTurn((item) => item, 'another host').messages[1]?.content.map((block) => (block as { type: string }).type)
    expect(kept).toEqual(['text', 'tool_use', 'tool_use', 'tool_use'])
    const kinds = secondTurn((item) => item, 'another host', { signature_scope: 'format' }).messages[1]?.content.map(
      (block) => (block as { type: string }).type,
    )
    expect(kinds).toEqual(['thinking', 'redacted_thinking', 'text', 'tool_use', 'tool_use', 'tool_use'])
  })
  it('without its reasoning switches thinking off', () => {
    const history = answer(frames, request).filter((item) => item['type'] !== 'reasoning') as unknown as InputItem[]
    const encoded = anthropicMessages.encodeRequest({ ...request, input: [...request.input, ...history] }, messagesTarget())
    expect(JSON.parse(encoded.body)).not.toHaveProperty('thinking')
  })
})

describe('calls the upstream has yet to run', () => {
  const asked: ModelRequest = { input: request.input, tools: [{ type: 'function', name: 'f' }, { type: 'web_search' }] }
  const use = { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'oslo' } }
  const found = { type: 'web_search_tool_result', tool_use_id: 's1', content: results }
  const searches = [open(0, { ...use, input: {} }), inputDelta(0, '{"query":"oslo"}'), stop(0)]
  const history = (frames: readonly object[]) => answer([start(), ...frames], asked) as unknown as InputItem[]
  const output = { type: 'function_call_output', call_id: 'c1', output: 'r' } as const
  const sent = (input: readonly InputItem[], tools = asked.tools!): readonly { readonly role: string; readonly content: readonly object[] }[] =>
    (
      JSON.parse(
        anthropicMessages.encodeRequest(
          { ...asked, tools, input: [...asked.input, ...input] },
          messagesTarget({ options: { web_search_tool: 'web_search_20250305', prefill: false } }),
        ).body,
      ) as { messages: ReturnType<typeof sent> }
    ).messages
  const mixed = history([...searches, ...call(1, 'c1', 'f', '{}'), ...finish('tool_use')])
  const called = { type: 'tool_use', id: 'c1', name: 'f', input: {} }
  const answered = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'r' }] }
  const asker = { role: 'user', content: [{ type: 'text', text: 'Weather in Oslo and Rome?' }] }

  it('stand beside those of the caller, where they were written, and their results in the turn after', () => {
    expect(sent([...mixed, output])).toEqual([asker, { role: 'assistant', content: [use, called] }, answered])
    const later = history([open(0, found), stop(0), ...text(1, 'Snow.'), ...finish('end_turn')])
    const said = [
      asker,
      { role: 'assistant', content: [use, called] },
      answered,
      { role: 'assistant', content: [found, { type: 'text', text: 'Snow.' }] },
    ]
    expect(sent([...mixed, output, ...later, asked.input[0]!])).toEqual([...said, asker])
  })
  it('end a conversation that goes on from there, as it was written', () => {
    const paused = history([...thinking(0, 'Search.', 'SIG'), ...searches.map((frame) => ({ ...frame, index: 1 })), ...finish('pause_turn')])
    const content = [{ type: 'thinking', thinking: 'Search.', signature: 'SIG' }, use]
    expect(sent(paused)).toEqual([asker, { role: 'assistant', content }])
  })
  it('are left out where they will never run: they have no result, or the tool is gone', () => {
    const [searched] = mixed
    expect(sent([searched!, asked.input[0]!])).toEqual([{ role: 'user', content: [...asker.content, ...asker.content] }])
    expect(sent([...mixed, output], [{ type: 'function', name: 'f' }])).toEqual([asker, { role: 'assistant', content: [called] }, answered])
    const again = [...mixed, output, { type: 'message', role: 'assistant', content: 'Well.' } as const, asked.input[0]!]
    expect(sent(again)[1]).toEqual({ role: 'assistant', content: [called] })
  })
})

describe('numbers of calls the upstream runs itself', () => {
  it.each(['mcp_tool_use', 'server_tool_use'])('come back as the model wrote them: %s', (type) => {
    const tools = [{ type: 'web_search' }, { type: 'code_execution_20250825', name: 'code_execution' }] as const
    const asked: ModelRequest = { input: request.input, tools }
    const history = answer(
      [
        start(),
        open(0, { type, id: 's1', name: 'code_execution', server_name: 'srv', input: {} }),
        inputDelta(0, '{"id":9007199254740993,"rate":1.10}'),
        stop(0),
        open(1, { type: type.replace('_use', '_result'), tool_use_id: 's1', content: [] }),
        stop(1),
        ...text(2, 'done'),
        ...finish('end_turn'),
      ],
      asked,
    ) as unknown as InputItem[]
    const { body } = anthropicMessages.encodeRequest(
      { ...asked, input: [...asked.input, ...history] },
      messagesTarget({ options: { native_tools: ['^code_execution_'] } }),
    )
    expect(body).toContain('"input":{"id":9007199254740993,"rate":1.10}')
  })
})
