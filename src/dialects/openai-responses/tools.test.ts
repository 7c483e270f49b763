import { expect, it } from 'vitest'
import { verifies } from '../../../e2e/requirements.ts'
import { threadTime } from '../../testing/thread-time.ts'
import { responsesOptions } from './options.ts'
import { encodeTools } from './tools.ts'

it.each([true, false])(verifies('B1', 'a choice among many functions costs linear time (allowed_tools as such: %s)'), (known) => {
  const functions = (count: number) => Array.from({ length: count }, (_, n) => ({ type: 'function' as const, name: `f ${n}` }))
  const options = responsesOptions.parse({ allowed_tools: known })
  const choice = { type: 'allowed_tools' as const, mode: 'auto' as const, tools: functions(10_000) }
  const started = threadTime()
  const { tools } = encodeTools({ input: [], tools: functions(10_000), tool_choice: choice }, options, new Set(['tools', 'tool_choice']), new Set())
  expect(tools).toHaveLength(10_000)
  expect(threadTime() - started).toBeLessThan(1_000)
})
