import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Destination } from '../core/destination.ts'
import { createMemoryOutbox } from '../testing/memory-outbox.ts'
import { minimalGeneration } from '../testing/sample-generations.ts'
import { sampleDestination } from '../testing/sample-records.ts'
import { createDeliveryWorker, type DeliveryWorker } from './worker.ts'

const type: Destination<object> = {
  type: 'webhook',
  name: 'Webhook',
  settings: z.looseObject({}),
  secrets: [],
  limits: { records: 2, bytes: 20_000, lingerMs: 0, timeoutMs: 300, concurrency: 1 },
  encode: (batch) => [{ method: 'POST', url: 'http://127.0.0.1/', headers: {}, body: String(batch.length) }],
  probe: () => [],
}

describe('a look at the queues', () => {
  let worker: DeliveryWorker | undefined
  afterEach(() => worker?.stop(50))

  it('counts only the queues that something may be sent from: the longest are of paused and broken destinations', async () => {
    const outbox = createMemoryOutbox()
    const { generation } = minimalGeneration()
    const enter = (destinationId: string) =>
      outbox.record(
        Array.from({ length: 8 }, (_, n) => ({
          generation: { ...generation, id: `${destinationId}-${n}` },
          deliveries: [{ destinationId, withContent: false }],
          bytes: 100,
        })),
      )
    await enter('paused')
    await enter('broken')
    const looks: { readonly [id: string]: number }[] = []
    let tried = 0
    worker = createDeliveryWorker({
      outbox: {
        ...outbox,
        due: async (...question) => {
          const found = await outbox.due(...question)
          looks.push(Object.fromEntries(found.work.map(({ destinationId, records }) => [destinationId, records])))
          return found
        },
      },
      types: new Map([[type.type, type as Destination]]),
      destination: (id) => ({ ...sampleDestination(id), paused: id === 'paused' }),
      transport: async () => {
        tried++
        throw new Error('connection refused')
      },
      clock: { now: () => Date.now(), monotonic: () => performance.now() },
      random: () => 0.5,
      owner: 'test',
      service: { name: 'signalbox', version: '1' },
      backoff: { baseMs: 1, maxMs: 1 },
      breaker: { threshold: 1, openMs: 60_000, maxOpenMs: 60_000, unauthorizedMs: 60_000 },
      tuning: { pollMs: 5 },
    })
    worker.start()
    await expect.poll(() => looks.length).toBeGreaterThan(3)
    expect(tried).toBe(1)
    expect(looks[0]).toEqual({ paused: 1, broken: 8 })
    expect(looks.at(-1)).toEqual({ paused: 1, broken: 1 })
  })

  it('trims two queues at a time, however many there are, and none any more once it stops', async () => {
    const outbox = createMemoryOutbox()
    const { generation } = minimalGeneration()
    const deliveries = Array.from({ length: 30 }, (_, n) => ({ destinationId: `d${n}`, withContent: false }))
    await outbox.record([{ generation, deliveries, bytes: 100 }])
    const trimmed: string[] = []
    let [now, most] = [0, 0]
    const { promise: stopped, resolve: stops } = Promise.withResolvers<void>()
    worker = createDeliveryWorker({
      outbox: {
        ...outbox,
        trim: async (id) => {
          most = Math.max(most, ++now)
          trimmed.push(id)
          // The third round waits for the stop, at which most of its queues have not had their turn.
          await (trimmed.length > 60 ? stopped : new Promise((resolve) => setTimeout(resolve, 1)))
          now--
          return { bodies: 0, deliveries: 0 }
        },
      },
      types: new Map([[type.type, type as Destination]]),
      destination: (id) => ({ ...sampleDestination(id), paused: true }),
      transport: () => Promise.reject(new Error('connection refused')),
      clock: { now: () => Date.now(), monotonic: () => performance.now() },
      random: () => 0.5,
      owner: 'test',
      service: { name: 'signalbox', version: '1' },
      tuning: { pollMs: 5, trimEveryMs: 100 },
    })
    worker.start()
    await expect.poll(() => trimmed.length).toBe(62)
    expect([most, new Set(trimmed.slice(0, 30)).size]).toEqual([2, 30])
    const stopping = worker.stop(50)
    stops()
    await stopping
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(trimmed).toHaveLength(62)
  })
})
