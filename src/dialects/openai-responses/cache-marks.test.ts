import { expect, it } from 'vitest'
import type { CacheLifetime, CacheMarked, InputItem, JsonObject } from '../../core/item.ts'
import { target, type TargetParts } from './__fixtures__/harness.ts'
import { openAiResponses } from './index.ts'

const mark = { prompt_cache_breakpoint: { mode: 'explicit', ttl: '1h' } } as const
const shown = [
  { type: 'input_text', text: 'a', ...mark },
  { type: 'input_image', image_url: 'data:image/png;base64,AA', ...mark },
  { type: 'input_file', file_data: 'data:application/pdf;base64,AA', filename: 'a.pdf', ...mark },
  { type: 'input_file', file_url: 'https://a.example/b.pdf', ...mark },
] as const
const input: readonly InputItem[] = [
  { type: 'message', role: 'user', content: shown },
  { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
  { type: 'function_call_output', call_id: 'c', output: shown },
]
const encode = (parts: TargetParts = {}): string => openAiResponses.encodeRequest({ input }, target(parts)).body

it('cache breakpoints have the lifetimes of this format, and none of the lifetimes of others', () => {
  const lifetimes: readonly (CacheLifetime | undefined)[] = [undefined, '5m', '30m', '1h', '12h']
  const content = lifetimes.map((ttl) => ({ type: 'input_text' as const, text: 'a', prompt_cache_breakpoint: { mode: 'explicit' as const, ttl } }))
  const { body } = openAiResponses.encodeRequest({ input: [{ type: 'message', role: 'user', content }] }, target())
  const [sent] = (JSON.parse(body) as { readonly input: readonly { readonly content: readonly CacheMarked[] }[] }).input
  expect(sent!.content.map(({ prompt_cache_breakpoint: sentMark }) => sentMark?.ttl)).toEqual([undefined, undefined, '30m', undefined, '12h'])
})

it('cache breakpoints are on text and on media', () => {
  const { input: sent } = JSON.parse(encode()) as { readonly input: readonly JsonObject[] }
  const marked = shown.map((part) => ({ ...part, prompt_cache_breakpoint: { mode: 'explicit' } }))
  expect(sent.map(({ content, output }) => content ?? output)).toEqual([marked, undefined, marked])
})

it('cache breakpoints are sent only to servers that support them', () => {
  expect(encode({ options: { prompt_cache_options: false } })).not.toContain('breakpoint')
})

it('cache breakpoints and options are sent only to models that are declared to support them', () => {
  const options = { cache_option_models: '^new-' }
  const asked = (upstreamModel: string) =>
    openAiResponses.encodeRequest({ input, prompt_cache_options: { mode: 'explicit' } }, target({ options, upstreamModel }))
  expect(asked('old-1').body).not.toMatch(/breakpoint|prompt_cache_options/)
  expect(asked('old-1').dropped).toEqual(['prompt_cache_options'])
  expect(asked('new-1').body).toMatch(/breakpoint.*prompt_cache_options|prompt_cache_options.*breakpoint/)
})

it('cache breakpoints of tools, and of text and calls of the model, are never sent', () => {
  const said: readonly InputItem[] = [
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'a', ...mark }] },
    { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}', ...mark },
    { type: 'function_call_output', call_id: 'c', output: 'r' },
  ]
  const tools = [
    { type: 'function', name: 'f', ...mark },
    { type: 'custom', name: 'g', ...mark },
  ] as const
  for (const custom_tools of [true, false])
    expect(openAiResponses.encodeRequest({ input: said, tools }, target({ options: { custom_tools } })).body).not.toContain('breakpoint')
})
