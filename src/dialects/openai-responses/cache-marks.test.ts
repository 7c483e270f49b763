import { expect, it } from 'vitest'
import type { InputItem, JsonObject } from '../../core/item.ts'
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

it('marks of what is cached say nothing of how long it lives, on text and on media', () => {
  const { input: sent } = JSON.parse(encode()) as { readonly input: readonly JsonObject[] }
  const marked = shown.map((part) => ({ ...part, prompt_cache_breakpoint: { mode: 'explicit' } }))
  expect(sent.map(({ content, output }) => content ?? output)).toEqual([marked, undefined, marked])
})

it('marks go only to who knows them', () => {
  expect(encode({ options: { prompt_cache_options: false } })).not.toContain('breakpoint')
})

it('marks and options of caches go only to the models that are declared to take them', () => {
  const options = { cache_option_models: '^new-' }
  const asked = (upstreamModel: string) =>
    openAiResponses.encodeRequest({ input, prompt_cache_options: { mode: 'explicit' } }, target({ options, upstreamModel }))
  expect(asked('old-1').body).not.toMatch(/breakpoint|prompt_cache_options/)
  expect(asked('old-1').dropped).toEqual(['prompt_cache_options'])
  expect(asked('new-1').body).toMatch(/breakpoint.*prompt_cache_options|prompt_cache_options.*breakpoint/)
})

it('marks of tools, and of what the model said and called, go to nobody', () => {
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
