import { expect, it } from 'vitest'
import { Turns } from './turns.ts'

const small = (): Turns => new Turns({ atOnce: 4, ofOne: 2, waiting: 3 })
/** Who has begun, in their order. */
function begin(turns: Turns, log: string[], ...names: readonly string[]): void {
  for (const name of names) {
    const wait = turns.enter(name[0]!)
    if (wait === undefined) log.push(name)
    else void wait.then(() => log.push(name))
  }
}
const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

it('begins at once where there is room', () => {
  const log: string[] = []
  begin(small(), log, 'a1', 'b1', 'a2', 'b2')
  expect(log).toEqual(['a1', 'b1', 'a2', 'b2'])
})

it('lets nobody have more than a share, however much of it is wanted', async () => {
  const turns = small()
  const log: string[] = []
  begin(turns, log, 'a1', 'a2', 'a3', 'a4')
  await soon()
  expect(log).toEqual(['a1', 'a2'])
  begin(turns, log, 'b1')
  expect(log).toEqual(['a1', 'a2', 'b1'])
  turns.leave('a')
  await soon()
  expect(log).toEqual(['a1', 'a2', 'b1', 'a3'])
})

it('goes round among those who wait', async () => {
  const turns = small()
  const log: string[] = []
  begin(turns, log, 'a1', 'a2', 'b1', 'b2', 'a3', 'a4', 'b3', 'c1', 'd1')
  await soon()
  expect(log).toEqual(['a1', 'a2', 'b1', 'b2'])
  for (const name of ['a', 'b', 'a', 'b']) turns.leave(name)
  await soon()
  expect(log.slice(4).toSorted()).toEqual(['a3', 'b3', 'c1', 'd1'])
  turns.leave('c')
  await soon()
  expect(log.at(-1)).toBe('a4')
})

it('refuses whoever has too many waiting, and nobody else', () => {
  const turns = small()
  begin(turns, [], 'a1', 'a2', 'a3', 'a4', 'a5')
  expect(() => turns.enter('a')).toThrow('3 requests of this workspace wait')
  expect(turns.enter('b')).toBeUndefined()
})

it('keeps nothing of those who have left', async () => {
  const turns = small()
  begin(turns, [], 'a1', 'a2', 'a3', 'b1')
  for (const name of ['a', 'a', 'a', 'b']) {
    turns.leave(name)
    await soon()
  }
  expect(turns.size).toBe(0)
})
