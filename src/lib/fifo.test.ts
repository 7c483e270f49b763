import { expect, it } from 'vitest'
import { listSteps } from '../testing/list-steps.ts'
import { Fifo } from './fifo.ts'

it('gives back what was pushed, in order, also when both take turns', () => {
  const queue = new Fifo<number>()
  const taken: (number | undefined)[] = [queue.shift()]
  for (let n = 0; n < 20; n++) {
    queue.push(n)
    if (n % 3 === 0) taken.push(queue.shift())
  }
  for (let n = 0; n < 14; n++) taken.push(queue.shift())
  expect(taken).toEqual([undefined, ...Array.from({ length: 20 }, (_, n) => n), undefined])
})

it('moves each item once on average, however long the queue is', () => {
  const steps = listSteps(() => {
    const queue = new Fifo<number>()
    for (let n = 0; n < 1000; n++) queue.push(n)
    for (let n = 0; n < 1000; n++) queue.shift()
  })
  expect(steps).toBeLessThan(3000)
})
