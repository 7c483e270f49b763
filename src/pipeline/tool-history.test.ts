import { expect, it } from 'vitest'
import type { InputItem } from '../core/item.ts'
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
