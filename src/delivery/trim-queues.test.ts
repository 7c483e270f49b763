import { expect, it } from 'vitest'
import { createMemoryOutbox } from '../testing/memory-outbox.ts'
import { sampleEntry } from '../testing/sample-records.ts'
import { trimQueues } from './trim-queues.ts'
import type { DeliveryEvent } from './worker.ts'

it('drops what exceeds the bounds of each queue, reports it, and skips a queue that fails', async () => {
  const outbox = createMemoryOutbox()
  for (let i = 0; i < 5; i++) await outbox.record([sampleEntry(`gen-${i}`, ['a', 'c'])])
  const events: DeliveryEvent[] = []
  const named = (id: string) => ({ id, type: 'webhook' })
  const failing: typeof outbox.trim = (id, bounds) => (id === 'b' ? Promise.reject(new Error('busy')) : outbox.trim(id, bounds))
  await trimQueues({ trim: failing }, ['a', 'b', 'c'].map(named), (event) => events.push(event), { records: 2, bytes: 1_000_000 })
  expect(await outbox.status('a')).toMatchObject({ queued: 2 })
  expect(await outbox.status('c')).toMatchObject({ queued: 2 })
  expect(events).toEqual([
    { kind: 'trimmed', destinationId: 'a', type: 'webhook', bodies: 0, deliveries: 3 },
    { kind: 'problem', destinationId: 'b', message: 'busy' },
    { kind: 'trimmed', destinationId: 'c', type: 'webhook', bodies: 0, deliveries: 3 },
  ])
  await trimQueues(outbox, ['a'].map(named), (event) => events.push(event), { records: 2, bytes: 1_000_000 })
  expect(events).toHaveLength(3)
})
