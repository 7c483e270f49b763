import { expect, it } from 'vitest'
import type { InputItem, JsonObject } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { messagesTarget } from './__fixtures__/target.ts'
import type { TargetOverrides } from './__fixtures__/target.ts'
import { anthropicMessages } from './index.ts'

interface Body {
  readonly messages: readonly { readonly role: string; readonly content: readonly JsonObject[] }[]
}

const text = (value: string, marked = true): object => ({
  type: 'input_text',
  text: value,
  ...(marked ? { prompt_cache_breakpoint: { mode: 'explicit' } } : {}),
})
const IMAGE = { type: 'input_image', image_url: 'data:image/png;base64,AA' }

/** A tool loop with these results. */
const loop = (...outputs: unknown[]): readonly InputItem[] => [
  { type: 'message', role: 'user', content: 'q' },
  ...outputs.flatMap((output, at): InputItem[] => [
    { type: 'function_call', call_id: `c${at}`, name: 'f', arguments: '{}' },
    { type: 'function_call_output', call_id: `c${at}`, output },
  ]),
]

function encode(input: readonly InputItem[], overrides: TargetOverrides = {}, more: Partial<ModelRequest> = {}) {
  const request = { input, tools: [{ type: 'function' as const, name: 'f' }], ...more }
  const encoded = anthropicMessages.encodeRequest(request, messagesTarget(overrides))
  const { messages } = JSON.parse(encoded.body) as Body
  const results = messages.flatMap(({ content }) => content.filter(({ type }) => type === 'tool_result'))
  return { marks: encoded.body.split('"cache_control"').length - 1, dropped: encoded.dropped, results }
}

it('carries the mark of a text in the result of a tool on the result, which reads the same with and without', () => {
  const short = { type: 'ephemeral' }
  const { results } = encode(loop([text('a')], [text('b'), text('c', false), IMAGE], [text(' ')], [text('d', false)]))
  expect(results.map((block) => block['cache_control'])).toEqual([short, short, undefined, undefined])
  const contents = (marked: boolean): unknown[] => encode(loop([text('a', marked)], [text('b', marked), IMAGE])).results.map(({ content }) => content)
  expect(contents(true)).toEqual(contents(false))
})

it('counts marks in results of tools among those the endpoint takes', () => {
  const six = loop(...[1, 2, 3, 4, 5, 6].map((n) => [text(`r${n}`)]))
  expect(encode(six)).toMatchObject({ marks: 4, dropped: ['prompt_cache_breakpoint: more than the endpoint takes'] })
  expect(encode(six, { options: { cache_control: 'none' } }).marks).toBe(0)
})

it('gives marks in results of tools the lifetime of a longer one behind them', () => {
  const long = { type: 'ephemeral', ttl: '1h' }
  const { results } = encode(loop([text('a')], 'b'), {}, { cache_control: { type: 'ephemeral', ttl: '1h' } })
  expect(results.map((block) => block['cache_control'])).toEqual([long, long])
})

const mark = { prompt_cache_breakpoint: { mode: 'explicit' } } as const
const bodyOf = (request: ModelRequest, overrides: TargetOverrides = {}): Body & { readonly tools: readonly JsonObject[] } =>
  JSON.parse(anthropicMessages.encodeRequest(request, messagesTarget(overrides)).body) as Body & { readonly tools: readonly JsonObject[] }

it('marks tools, which come before everything else', () => {
  const tools = ['f', 'g', 'h'].map((name) => ({ type: 'function' as const, name, ...mark }))
  const input: readonly InputItem[] = [{ type: 'message', role: 'user', content: [text('a'), text('b')] as never }]
  const { tools: sent } = bodyOf({ input, tools })
  expect(sent.map((tool) => tool['cache_control'])).toEqual([undefined, { type: 'ephemeral' }, { type: 'ephemeral' }])
  expect(JSON.stringify(bodyOf({ input, tools }, { options: { cache_control: 'none' } }))).not.toMatch(/cache/)
})

it('takes the marks of tools of its own format among those it counts, and changes nothing of what the caller sent', () => {
  const own = { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool', cache_control: { type: 'ephemeral' } }
  const parts = [1, 2, 3, 4].map((n) => text(`p${n}`))
  const { tools } = bodyOf(
    { input: [{ type: 'message', role: 'user', content: parts as never }], tools: [own] },
    { options: { native_tools: ['^text_editor'] } },
  )
  expect(tools).toEqual([{ type: own.type, name: own.name }])
  expect(own.cache_control).toEqual({ type: 'ephemeral' })
})

it('marks what the model said and called', () => {
  const input: readonly InputItem[] = [
    { type: 'message', role: 'user', content: 'q' },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'a', ...mark }] },
    { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}', ...mark },
    { type: 'function_call_output', call_id: 'c', output: 'r' },
  ]
  const { messages } = bodyOf({ input, tools: [{ type: 'function', name: 'f' }] })
  expect(messages[1]!.content.map(({ type, cache_control: at }) => [type, at])).toEqual([
    ['text', { type: 'ephemeral' }],
    ['tool_use', { type: 'ephemeral' }],
  ])
})

it('knows two lifetimes, and gives every longer one the longer of them', () => {
  const content = ['5m', '30m', '12h', '1h', 'forever', undefined].map((ttl) => ({
    type: 'input_text' as const,
    text: 'a',
    prompt_cache_breakpoint: { mode: 'explicit' as const, ...(ttl === undefined ? {} : { ttl: ttl as '5m' }) },
  }))
  const lives = (at: number): readonly unknown[] => {
    const { messages } = bodyOf({ input: [{ type: 'message', role: 'user', content: content.slice(at, at + 1) }] })
    return messages.flatMap(({ content: blocks }) => blocks.map((block) => (block['cache_control'] as { readonly ttl?: string }).ttl))
  }
  expect(content.flatMap((_, at) => lives(at))).toEqual(['5m', '1h', '1h', '1h', undefined, undefined])
})
