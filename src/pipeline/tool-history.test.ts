import { expect, it } from 'vitest'
import type { InputItem } from '../core/item.ts'
import { testCatalog } from '../testing/endpoints.ts'
import { createImageGeneration } from '../tools/image-generation.ts'
import type { Offer } from './offered-tool.ts'
import { replayHistory } from './tool-history.ts'
import type { ToolRegistry } from './tool-registry.ts'

it('what filters take for a reference or for bytes is no part of a result that a model reads', () => {
  const offer = { tools: [], byFunction: new Map(), byItem: new Map(), renamed: new Map() } as unknown as Offer
  const registry = { find: () => ({ name: 'datetime' }) } as unknown as ToolRegistry
  const time = { datetime: '12:00', timezone: 'UTC', within: [{ text: 'a', signature: 'secret' }] }
  const item = { type: 'gateway:datetime', id: 'd', ...time, data: 'secret', file_id: 'secret', headers: { a: 'secret' } } as unknown as InputItem
  const [, result] = replayHistory([item], offer, registry)
  expect(result).toMatchObject({ output: '{"datetime":"12:00","timezone":"UTC","within":[{"text":"a"}]}' })
})

it.each(['failed', 'incomplete', 'in_progress', 'searching', 'generating'])(
  'a call that is %s has failed, even if its tool has words for what it gave',
  (status) => {
    const tool = { name: 'ask', replay: () => ({ arguments: '{}', output: '{"status":"ok"}' }) }
    const offer = { tools: [], byFunction: new Map(), byItem: new Map(), renamed: new Map() } as unknown as Offer
    const registry = { find: () => tool } as unknown as ToolRegistry
    const told = (item: InputItem): unknown => (replayHistory([item], offer, registry)[1] as { readonly output?: unknown }).output
    expect(told({ type: 'gateway:ask', id: 'a', status, prompt: 'why?' })).toBe('{"status":"error"}')
    expect(told({ type: 'gateway:ask', id: 'a', status: 'completed' })).toBe('{"status":"ok"}')
    expect(told({ type: 'gateway:ask', id: 'a' })).toBe('{"status":"ok"}')
  },
)

it('a picture that is there was made, whatever the status that its vendor left it at', () => {
  const tool = createImageGeneration({ catalog: () => testCatalog([]), model: undefined })
  const offer = { tools: [], byFunction: new Map(), byItem: new Map(), renamed: new Map() } as unknown as Offer
  const registry = { find: () => tool } as unknown as ToolRegistry
  const told = (fields: object): unknown => replayHistory([{ type: 'gateway:image_generation', id: 'i', ...fields }], offer, registry)[1]
  for (const status of ['completed', 'generating', 'in_progress', undefined]) {
    expect(told({ status, result: 'iVBORw0KGgo=' })).toMatchObject({ output: '{"status":"ok"}' })
  }
  for (const status of ['failed', 'generating', 'in_progress', undefined]) {
    expect(told({ status, result: '' })).toMatchObject({ output: '{"status":"error"}' })
  }
})

it('a name for a tool that is not offered any more is looked for once, however long the history and the list of tools are', () => {
  const many = 100
  let looks = 0
  const taken = ['datetime', 'gateway_datetime', ...Array.from({ length: many }, (_, n) => `gateway_datetime_${n + 2}`)]
  const tools = taken.map((name) => new Proxy({ type: 'function', name }, { get: (tool, field) => (looks++, Reflect.get(tool, field)) }))
  const offer = { tools, byFunction: new Map(), byItem: new Map(), renamed: new Map() } as unknown as Offer
  const registry = { find: () => ({ name: 'datetime' }) } as unknown as ToolRegistry
  const items = Array.from({ length: many }, (_, n): InputItem => ({ type: n % 2 === 0 ? 'gateway:datetime' : 'openrouter:datetime', id: `d${n}` }))
  const names = replayHistory(items, offer, registry).flatMap((item) => (item.type === 'function_call' ? [item['name']] : []))
  expect(new Set(names)).toEqual(new Set([`gateway_datetime_${many + 2}`]))
  expect(names).toHaveLength(many)
  expect(looks).toBeLessThan(many * 20)
})
