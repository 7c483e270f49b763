import { expect, it } from 'vitest'
import { listSteps } from '../../testing/list-steps.ts'
import { replayable } from './server-blocks.ts'

const run = (id: string, name: string) => [
  { type: 'server_tool_use', id, name },
  { type: 'x_tool_result', tool_use_id: id },
]
const idsOf = (blocks: readonly object[]): readonly unknown[] => blocks.flatMap((block) => ('id' in block ? [block.id] : []))

it('calls stay whose tool is offered, also those under longer names of the same tool', () => {
  const turn = [...run('a', 'web_search'), ...run('b', 'bash_code_execution'), ...run('c', 'code'), ...run('d', 'web_search_more')]
  expect(idsOf(replayable([turn], new Set(['web_search', 'code_execution', 'a_tool_with_a_much_longer_name']), undefined)[0]!)).toEqual(['a', 'b'])
})

it('a call is not compared with each of the tools', () => {
  const turn = Array.from({ length: 100 }, (_, n) => run(`s${n}`, 'nothing')).flat()
  const tools = new Set(Array.from({ length: 100 }, (_, n) => `f${n}`))
  expect(listSteps(() => replayable([turn], tools, undefined))).toBeLessThan(2_000)
})
