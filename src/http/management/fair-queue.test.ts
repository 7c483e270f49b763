import { expect, it } from 'vitest'
import { FairQueue } from './fair-queue.ts'

const small = (): FairQueue => new FairQueue({ atOnce: 4, ofOne: 2, waiting: 3 })
/** Who has begun, in their order. */
function begin(queue: FairQueue, log: string[], ...names: readonly string[]): void {
  for (const name of names) {
    const wait = queue.enter(name[0]!)
    if (wait === undefined) log.push(name)
    else void wait.then(() => log.push(name))
  }
}
const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

it('a request starts at once where there is room', () => {
  const log: string[] = []
  begin(small(), log, 'a1', 'b1', 'a2', 'b2')
  expect(log).toEqual(['a1', 'b1', 'a2', 'b2'])
})

it('no workspace gets more than its share, however many requests it has', async () => {
  const queue = small()
  const log: string[] = []
  begin(queue, log, 'a1', 'a2', 'a3', 'a4')
  await soon()
  expect(log).toEqual(['a1', 'a2'])
  begin(queue, log, 'b1')
  expect(log).toEqual(['a1', 'a2', 'b1'])
  queue.leave('a')
  await soon()
  expect(log).toEqual(['a1', 'a2', 'b1', 'a3'])
})

it('waiting workspaces take turns', async () => {
  const queue = small()
  const log: string[] = []
  begin(queue, log, 'a1', 'a2', 'b1', 'b2', 'a3', 'a4', 'b3', 'c1', 'd1')
  await soon()
  expect(log).toEqual(['a1', 'a2', 'b1', 'b2'])
  for (const name of ['a', 'b', 'a', 'b']) queue.leave(name)
  await soon()
  expect(log.slice(4).toSorted()).toEqual(['a3', 'b3', 'c1', 'd1'])
  queue.leave('c')
  await soon()
  expect(log.at(-1)).toBe('a4')
})

it('a workspace with too many waiting requests is refused, and no other', () => {
  const queue = small()
  begin(queue, [], 'a1', 'a2', 'a3', 'a4', 'a5')
  expect(() => queue.enter('a')).toThrow('3 requests of this workspace wait')
  expect(queue.enter('b')).toBeUndefined()
})

it('callers who have left keep no place', async () => {
  const queue = small()
  begin(queue, [], 'a1', 'a2', 'a3', 'b1')
  for (const name of ['a', 'a', 'a', 'b']) {
    queue.leave(name)
    await soon()
  }
  expect(queue.size).toBe(0)
})
