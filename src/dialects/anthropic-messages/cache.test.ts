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

/** A tool loop whose results are these. */
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
