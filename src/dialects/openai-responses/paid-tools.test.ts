import { expect, it } from 'vitest'
import type { Tool } from '../../core/item.ts'
import { target } from './__fixtures__/harness.ts'
import { openAiResponses } from './index.ts'

const paid_tools = ['code_interpreter', 'container_auto', 'container_reference']
const buys = (tool: Tool, builtin_tools: boolean | string[] = true): boolean =>
  openAiResponses.buys!(tool, target({ options: { paid_tools, builtin_tools } }))

it.each<[boolean, Tool]>([
  [true, { type: 'code_interpreter', container: { type: 'auto' } }],
  [true, { type: 'shell', environment: { type: 'container_auto' } }],
  [true, { type: 'shell', environment: { type: 'container_reference', container_id: 'c' } }],
  [false, { type: 'shell', environment: { type: 'local' } }],
  [false, { type: 'shell', environment: null }],
  [false, { type: 'shell' }],
  [false, { type: 'web_search' }],
  [false, { type: 'function', name: 'code_interpreter' }],
])('is charged apart: %j for %j', (charged, tool) => {
  expect(buys(tool)).toBe(charged)
  expect(buys(tool, ['web_search'])).toBe(false)
})
