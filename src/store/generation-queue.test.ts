import { expect, it } from 'vitest'
import { heldMemory } from '../testing/held-memory.ts'
import { sampleContent, sampleGeneration } from '../testing/sample-records.ts'
import { createGenerationQueue, UNPACKED } from './generation-queue.ts'

it('a settled record is released, however many wait behind it', async () => {
  const queue = createGenerationQueue(UNPACKED)
  for (let n = 0; n < 3; n++) queue.push({ generation: sampleGeneration(`gen-${n}`), content: { ...sampleContent } }, 0)
  const write = (): WeakRef<object> => {
    const taken = queue.take({ records: 1, bytes: Infinity })
    queue.settle(taken)
    return new WeakRef(taken[0]!.packed)
  }
  const written = write()
  await heldMemory()
  expect(written.deref()).toBeUndefined()
  expect([queue.waiting, queue.unsettled, queue.oldest?.id]).toEqual([2, 2, 'gen-1'])
})
