import { expect, it } from 'vitest'
import type { InputItem } from '../../core/item.ts'
import { listSteps } from '../../testing/list-steps.ts'
import { middleOut } from './middle-out.ts'

const words = (count: number): readonly InputItem[] =>
  Array.from({ length: count }, (_, n): InputItem => ({ type: 'message', role: n % 2 === 0 ? 'user' : 'assistant', content: `${n}` }))

it('keeps both ends, and is linear in the length of the conversation', () => {
  const shorten = (count: number) => middleOut({ input: words(count) }, count / 2, ({ input }) => input.length)
  const kept = shorten(100)!.request.input.map((item) => Number('content' in item && item['content']))
  expect(kept).toEqual([...Array.from({ length: 24 }, (_, n) => n), ...Array.from({ length: 26 }, (_, n) => n + 74)])
  expect(listSteps(() => shorten(400))).toBeLessThan(5 * listSteps(() => shorten(100)))
})

it('leaves out what follows a call without a result, and keeps what stands between a call and its result', () => {
  const call: InputItem = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}', async: true }
  const output: InputItem = { type: 'function_call_output', call_id: 'c', output: 'r' }
  const keptOf = (...input: readonly InputItem[]) => middleOut({ input }, 40, (request) => request.input.length)?.request.input
  expect(keptOf(...words(4), call, ...words(60))).toHaveLength(40)
  const answered = keptOf(...words(17), call, ...words(4), output, ...words(30))!
  expect([answered.length, answered.includes(call), answered.includes(output)]).toEqual([37, false, false])
})
