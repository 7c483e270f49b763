import { expect, it } from 'vitest'
import type { InputItem, JsonObject } from '../../core/item.ts'
import { bedrockTarget, NEW_CLAUDE } from './__fixtures__/target.ts'
import { bedrockConverse } from './index.ts'

const mark = (ttl?: '5m' | '1h') => ({ prompt_cache_breakpoint: { mode: 'explicit' as const, ...(ttl === undefined ? {} : { ttl }) } })
const text = (ttl?: '5m' | '1h') => ({ type: 'input_text' as const, text: 'q', ...mark(ttl) })
const image = { type: 'input_image' as const, image_url: 'data:image/png;base64,iVBORw0KGgo=' }
const file = { type: 'input_file' as const, file_data: 'data:application/pdf;base64,JVBERi0=', filename: 'a.pdf' }

function contents(input: readonly InputItem[], model = NEW_CLAUDE): readonly (readonly JsonObject[])[] {
  const { body } = bedrockConverse.encodeRequest({ input }, bedrockTarget({ model }))
  return (JSON.parse(body) as { readonly messages: readonly { readonly content: readonly JsonObject[] }[] }).messages.map(({ content }) => content)
}

const kinds = (content: readonly JsonObject[] | undefined): readonly string[] | undefined => content?.map((block) => Object.keys(block)[0]!)

it('cache points follow marked images and documents', () => {
  const content = [text(), { ...image, ...mark() }, image, { ...file, ...mark() }]
  expect(kinds(contents([{ type: 'message', role: 'user', content }])[0])).toEqual([
    'text',
    'cachePoint',
    'image',
    'cachePoint',
    'image',
    'document',
    'cachePoint',
  ])
})

it('cache points follow tool results for marks inside them', () => {
  const input: readonly InputItem[] = [
    { type: 'message', role: 'user', content: 'q' },
    { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c', output: [text(), { ...image, ...mark() }] },
  ]
  expect(kinds(contents(input).at(-1))).toEqual(['toolResult', 'cachePoint'])
  expect(kinds(contents([...input.slice(0, 2), { ...input[2]!, output: [image, { ...file, ...mark() }] }]).at(-1))).toEqual([
    'toolResult',
    'cachePoint',
  ])
})

const lives = (input: readonly InputItem[], model?: string): readonly unknown[] =>
  contents(input, model).flatMap((content) => content.flatMap((block) => (block['cachePoint'] === undefined ? [] : [block['cachePoint']])))
const long = { type: 'default', ttl: '1h' }

it('cache points live as long as their marks and later points, where a model supports lifetimes', () => {
  const asked: readonly InputItem[] = [{ type: 'message', role: 'user', content: [text(), text('1h'), text('5m'), text()] }]
  expect(lives(asked)).toEqual([long, long, { type: 'default', ttl: '5m' }, { type: 'default' }])
  expect(lives(asked, 'anthropic.claude-3-7-sonnet-20250219-v1:0')).toEqual(Array.from({ length: 4 }, () => ({ type: 'default' })))
})

it('cache points know two lifetimes, and give every longer one the longer of them', () => {
  const of = (ttl: string): readonly unknown[] => lives([{ type: 'message', role: 'user', content: [text(ttl as '5m')] }])
  expect(['30m', '12h'].flatMap(of)).toEqual([long, long])
  expect(of('forever')).toEqual([{ type: 'default' }])
})

it('a long mark behind another at the same place is not lost', () => {
  const content = [text(), { type: 'input_text' as const, text: ' ', ...mark('1h') }]
  const result: readonly InputItem[] = [
    { type: 'message', role: 'user', content: 'q' },
    { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c', output: [text(), text('1h')] },
  ]
  expect(lives([{ type: 'message', role: 'user', content }])).toEqual([{ type: 'default' }])
  expect(lives(result)).toEqual([long])
})

it('cache points follow marked tools, where the model supports that', () => {
  const tools = ['f', 'g'].map((name) => ({ type: 'function' as const, name, ...mark() }))
  const listFor = (model: string): readonly string[] | undefined => {
    const { body } = bedrockConverse.encodeRequest({ input: [{ type: 'message', role: 'user', content: 'q' }], tools }, bedrockTarget({ model }))
    return kinds((JSON.parse(body) as { readonly toolConfig: { readonly tools: readonly JsonObject[] } }).toolConfig.tools)
  }
  expect(listFor(NEW_CLAUDE)).toEqual(['toolSpec', 'cachePoint', 'toolSpec', 'cachePoint'])
  expect(listFor('amazon.nova-pro-v1:0')).toEqual(['toolSpec', 'toolSpec'])
})

it('cache points of tools count among the four, and live as long as later ones', () => {
  const tools = ['f', 'g'].map((name) => ({ type: 'function' as const, name, ...mark() }))
  const input: readonly InputItem[] = [{ type: 'message', role: 'user', content: [text(), text(), text('1h')] }]
  const { body } = bedrockConverse.encodeRequest({ input, tools }, bedrockTarget({ model: NEW_CLAUDE }))
  const { toolConfig } = JSON.parse(body) as { readonly toolConfig: { readonly tools: readonly JsonObject[] } }
  expect(toolConfig.tools.map((tool) => tool['cachePoint'])).toEqual([undefined, undefined, long])
})

it('cache points follow text and calls of the model', () => {
  const said: readonly InputItem[] = [
    { type: 'message', role: 'user', content: 'q' },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'a', ...mark() }] },
    { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}', ...mark() },
    { type: 'function_call_output', call_id: 'c', output: 'r' },
  ]
  expect(kinds(contents(said)[1])).toEqual(['text', 'cachePoint', 'toolUse', 'cachePoint'])
})

it('a prefilled answer ends without white space, marked or not', () => {
  const begun: readonly InputItem[] = [
    { type: 'message', role: 'user', content: 'q' },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'a ', ...mark() }] },
  ]
  expect(contents(begun, 'amazon.nova-pro-v1:0')[1]).toEqual([{ text: 'a' }, { cachePoint: { type: 'default' } }])
})

it('cache points beyond four are left out and reported, but not those at the same place', () => {
  const dropped = (parts: number, cache_control?: { readonly type: 'ephemeral' }) => {
    const input = [{ type: 'message' as const, role: 'user' as const, content: Array.from({ length: parts }, () => text()) }]
    return bedrockConverse.encodeRequest({ input, ...(cache_control === undefined ? {} : { cache_control }) }, bedrockTarget({ model: NEW_CLAUDE }))
      .dropped
  }
  expect(dropped(5)).toEqual(['prompt_cache_breakpoint: more than the endpoint takes'])
  expect(dropped(4)).toEqual([])
  expect(dropped(4, { type: 'ephemeral' })).toEqual([])
})
