import { expect, it } from 'vitest'
import type { ModelEvent } from '../core/event.ts'
import type { OtherItem, Tool } from '../core/item.ts'
import { ToolCallCheck } from './tool-call-check.ts'

const LOOK: Tool = { type: 'function', name: 'look', parameters: {} }

const callOf = (name: string, ...deltas: readonly string[]): readonly ModelEvent[] => [
  { type: 'item-start', key: name, item: { type: 'function_call', call_id: name, name, arguments: '' } },
  ...deltas.map((delta) => ({ type: 'arguments-delta', key: name, delta }) as const),
  { type: 'item-end', key: name },
]
const end = (reason: 'tool_calls' | 'length' = 'tool_calls'): ModelEvent => ({ type: 'response-end', reason })

function verdict(events: readonly ModelEvent[], tools: readonly Tool[] = [LOOK], input: readonly OtherItem[] = []): boolean | undefined {
  const check = new ToolCallCheck({ tools, input })
  for (const event of events) check.take([event])
  return check.bad
}

it.each<[string, boolean | undefined, readonly ModelEvent[]]>([
  ['an answer without calls', undefined, [end()]],
  ['a call of an offered function with JSON', false, [...callOf('look', '{"at":', '1}'), end()]],
  ['a call without arguments', false, [...callOf('look'), end()]],
  ['a call with arguments that are not JSON', true, [...callOf('look', '{"at":1'), end()]],
  ['a call of a function that was not offered', true, [...callOf('listen', '{}'), end()]],
  ['a bad call before a good one', true, [...callOf('listen', '{}'), ...callOf('look', '{}'), end()]],
  ['a call that was cut off', undefined, [...callOf('look', '{"at":1'), end('length')]],
  ['arguments too long to read', false, [...callOf('look', '{'.repeat(70_000)), end()]],
])('%s: %s', (_what, expected, events) => expect(verdict(events)).toBe(expected))

it.each<[string, readonly Tool[], readonly OtherItem[]]>([
  ['in a namespace', [{ type: 'namespace', name: 'crm', tools: [LOOK] }], []],
  ['found by the vendor', [LOOK, { type: 'tool_search' }], []],
  ['that comes with the input', [LOOK], [{ type: 'additional_tools', tools: [LOOK] }]],
])('does not blame the model for a function %s', (_where, tools, input) => {
  expect(verdict([...callOf('listen', '{}'), end()], tools, input)).toBe(false)
})

it('goes through the tools once, however many there are and however often they are called', () => {
  const many = 100
  let looks = 0
  const tools = Array.from(
    { length: many },
    (_, n): Tool => new Proxy({ ...LOOK, name: `f${n}` }, { get: (tool, field) => (looks++, Reflect.get(tool, field)) }),
  )
  expect(verdict([...Array.from({ length: many }, (_, n) => callOf(`f${n}`, '{}')).flat(), end()], tools)).toBe(false)
  expect(looks).toBeLessThan(many * 10)
})
