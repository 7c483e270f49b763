import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Destination, OutgoingRequest } from '../core/destination.ts'
import type { DestinationRecord, Outbox } from '../core/outbox.ts'
import { sleep } from '../lib/sleep.ts'
import { createMemoryOutbox, type MemoryOutbox } from '../testing/memory-outbox.ts'
import { minimalGeneration } from '../testing/sample-generations.ts'
import { sampleDestination } from '../testing/sample-records.ts'
import { verifies } from '../../e2e/requirements.ts'
import { createDeliveryWorker, type DeliveryWorker } from './worker.ts'

/** Says where it sends, and what. */
const plain: Destination<{ readonly url: string }> = {
  type: 'plain',
  name: 'Plain',
  settings: z.strictObject({ url: z.string() }),
  secrets: [],
  limits: { records: 10, bytes: 20_000, lingerMs: 0 },
  encode: (batch, { url }) => [{ method: 'POST', url, headers: {}, body: JSON.stringify(batch.map(({ content }) => content?.instructions ?? '')) }],
  probe: () => [],
}

const BEFORE: DestinationRecord = sampleDestination('a', { type: 'plain', config: { url: 'https://old.example/' } })

let worker: DeliveryWorker | undefined
afterEach(() => worker?.stop(50))

interface Stage {
  readonly records?: number
  readonly type?: Partial<Destination<{ readonly url: string }>>
  /** Happens after the first rows were read and before the worker has them; returns what becomes of the destination. */
  readonly whileLeased?: () => DestinationRecord | undefined
  readonly store?: (outbox: MemoryOutbox) => Partial<Outbox>
  readonly answersAfterMs?: number
  readonly leaseMs?: number
  readonly now?: () => number
}

/** Deliveries wait, of which each names its generation and holds a text. */
async function stage({ records = 1, type = {}, whileLeased, store, answersAfterMs = 0, leaseMs = 30_000, now = Date.now }: Stage) {
  const outbox = createMemoryOutbox(now)
  await outbox.record(
    Array.from({ length: records }, (_, i) => ({
      generation: { ...minimalGeneration().generation, id: `gen-${i}`, endedAt: Date.now() },
      content: JSON.stringify({ instructions: 'words', input: [], output: [] }),
      deliveries: [{ destinationId: 'a', withContent: true }],
      bytes: 500,
    })),
  )
  let record: DestinationRecord | undefined = BEFORE
  let leases = 0
  const sent: OutgoingRequest[] = []
  worker = createDeliveryWorker({
    outbox: {
      ...outbox,
      lease: async (...args) => {
        const leased = await outbox.lease(...args)
        if (leases++ === 0 && whileLeased !== undefined) record = whileLeased()
        return leased
      },
      ...store?.(outbox),
    },
    types: new Map([[plain.type, { ...plain, ...type } as Destination]]),
    destination: () => record,
    transport: async (request, _limitMs, signal) => {
      sent.push(request)
      await sleep(answersAfterMs, signal)
      return { status: 200, headers: {}, body: Buffer.alloc(0) }
    },
    clock: { now, monotonic: () => performance.now() },
    random: () => 0.5,
    owner: 'test',
    service: { name: 's', version: '1' },
    tuning: { pollMs: 20, leaseMs },
  })
  worker.start()
  return { sent, change: (next: DestinationRecord) => (record = next), queued: async () => (await outbox.status('a')).queued }
}

describe('a delivery that was read from the queue while its destination changed', () => {
  it('is sent without content where the destination has become private', async () => {
    const { sent, queued } = await stage({ whileLeased: () => ({ ...BEFORE, privacyMode: true, revision: 2 }) })
    await expect.poll(queued).toBe(0)
    expect(sent.map(({ body }) => String(body))).toEqual(['[""]'])
  })

  it('is sent to the new address only', async () => {
    const { sent, queued } = await stage({ whileLeased: () => ({ ...BEFORE, config: { url: 'https://new.example/' }, revision: 2 }) })
    await expect.poll(queued).toBe(0)
    expect(sent.map(({ url }) => url)).toEqual(['https://new.example/'])
  })

  it.each<[string, Partial<DestinationRecord>]>([
    ['is switched off', { enabled: false, revision: 2 }],
    // Its revision is its own.
    ['is one of a workspace that keeps everything in', { enabled: false }],
    ['is paused', { paused: true, revision: 2 }],
  ])('waits where it %s', async (_what, change) => {
    const { sent, queued, change: set } = await stage({ whileLeased: () => ({ ...BEFORE, ...change }) })
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(sent).toEqual([])
    set({ ...BEFORE, revision: 3 })
    await expect.poll(queued).toBe(0)
    expect(sent).toHaveLength(1)
  })

  it('is not sent once the destination is deleted', async () => {
    const { sent } = await stage({ whileLeased: () => undefined })
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(sent).toEqual([])
  })
})

it('a lease runs from the moment it is taken, however long the read of the queue took', async () => {
  const leases: { readonly late: number; readonly leaseMs: number }[] = []
  const { queued } = await stage({
    store: (outbox) => ({
      due: async (...args) => {
        const found = await outbox.due(...args)
        await new Promise((resolve) => setTimeout(resolve, 100))
        return found
      },
      lease: (id, options) => {
        leases.push({ late: Date.now() - options.now, leaseMs: options.leaseMs })
        return outbox.lease(id, options)
      },
    }),
  })
  await expect.poll(queued).toBe(0)
  expect(leases).toMatchObject([{ leaseMs: 30_000 }])
  expect(leases[0]!.late).toBeLessThan(50)
})

describe('a lease that seems to be over', () => {
  const jump = async (stageOf: Pick<Stage, 'records' | 'type'>) => {
    let shift = 0
    const staged = await stage({ ...stageOf, answersAfterMs: 300, now: () => Date.now() + shift })
    await expect.poll(() => staged.sent.length).toBe(1)
    shift = 86_400_000
    return staged
  }

  it(verifies('I7', 'because the clock was set ahead, or the machine stood still, has its batch sent once'), async () => {
    const { sent, queued } = await jump({ records: 3 })
    await expect.poll(queued).toBe(0)
    expect(sent).toHaveLength(1)
  })

  it(verifies('I7', 'is not sent again either while what became of it is written down'), async () => {
    let shift = 0
    const { sent, queued } = await stage({
      records: 3,
      now: () => Date.now() + shift,
      store: (outbox) => ({
        settle: async (...args) => {
          shift = 86_400_000
          await new Promise((resolve) => setTimeout(resolve, 200))
          return outbox.settle(...args)
        },
      }),
    })
    await expect.poll(queued).toBe(0)
    expect(sent).toHaveLength(1)
  })

  it('does not keep what waits behind its batch', async () => {
    const { sent, queued } = await jump({ records: 3, type: { limits: { ...plain.limits, records: 1, concurrency: 1 } } })
    await expect.poll(queued, { timeout: 5_000 }).toBe(0)
    expect(sent).toHaveLength(3)
  })
})

describe('a lease that could not be renewed', () => {
  it('keeps its batch from being sent twice by the one who is still sending it', async () => {
    const failsUntil = Date.now() + 250
    const { sent, queued } = await stage({
      answersAfterMs: 500,
      leaseMs: 60,
      store: (outbox) => ({
        extend: async (...args) => (Date.now() < failsUntil ? Promise.reject(new Error('the database is away')) : outbox.extend(...args)),
      }),
    })
    await expect.poll(queued).toBe(0)
    expect(sent).toHaveLength(1)
  })

  it('stops the rest of a batch that another process has leased by now', async () => {
    const { sent, queued } = await stage({
      records: 10,
      answersAfterMs: 100,
      leaseMs: 90,
      type: {
        limits: { ...plain.limits, concurrency: 1 },
        encode: (batch, { url }) => batch.map((_record, index) => ({ method: 'POST', url, headers: {}, records: [index] })),
      },
      store: (outbox) => ({
        extend: async (owner, ids) => {
          await outbox.releaseAll(owner)
          await outbox.lease('a', { owner: 'another', records: ids.length, bytes: 1_000_000, now: Date.now(), leaseMs: 60_000 })
          return []
        },
      }),
    })
    await expect.poll(() => sent.length).toBe(8)
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(sent).toHaveLength(8)
    expect(await queued()).toBe(10)
  })
})
