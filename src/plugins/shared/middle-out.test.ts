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
