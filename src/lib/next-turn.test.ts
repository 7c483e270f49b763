import { expect, it } from 'vitest'
import { nextTurn } from './next-turn.ts'

it('one of all waiting callers continues per turn of the event loop, in order', async () => {
  const log: string[] = []
  const work = async (name: string): Promise<void> => {
    for (let i = 0; i < 2; i++) {
      await nextTurn()
      log.push(name)
    }
  }
  const all = Promise.all([work('a'), work('b'), work('c')])
  let rounds = 0
  let done = false
  const count = (): void => {
    rounds++
    if (!done) setImmediate(count)
  }
  setImmediate(count)
  await all
  done = true
  expect(log).toEqual(['a', 'b', 'c', 'a', 'b', 'c'])
  expect(rounds).toBeGreaterThanOrEqual(5)
})
