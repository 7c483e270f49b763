import { expect, it } from 'vitest'
import { closeInOrder } from './close-in-order.ts'

it('closes one after the other, and continues after a step that hangs or fails', async () => {
  const closed: string[] = []
  const problems: string[] = []
  const step = (name: string, close: () => Promise<unknown> = () => Promise.resolve()) => ({
    name,
    close: () => {
      closed.push(name)
      return close()
    },
    limitMs: 20,
  })
  await closeInOrder(
    [
      step('a'),
      step('hangs', () => new Promise(() => undefined)),
      step('fails', () => Promise.reject(new Error('no'))),
      step('throws', () => {
        throw new Error('at once')
      }),
      step('z'),
    ],
    (name, error) => problems.push(`${name}: ${(error as Error).message}`),
  )
  expect(closed).toEqual(['a', 'hangs', 'fails', 'throws', 'z'])
  expect(problems).toEqual(['hangs: not closed within 20 ms', 'fails: no', 'throws: at once'])
})
