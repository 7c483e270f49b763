import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Destination, OutgoingRequest } from '../core/destination.ts'
import type { DestinationRecord, Outbox } from '../core/outbox.ts'
import { createMemoryOutbox, type MemoryOutbox } from '../testing/memory-outbox.ts'
import { minimalGeneration } from '../testing/sample-generations.ts'
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

const BEFORE: DestinationRecord = {
  id: 'a',
  workspaceId: 'w',
  type: 'plain',
  name: 'a',
  enabled: true,
  paused: false,
  config: { url: 'https://old.example/' },
  apiKeyHashes: null,
  filterRules: null,
  samplingRate: 1,
  privacyMode: false,
  broadcast: { cost: false, identity: false, requestContext: false },
  revision: 1,
  createdAt: 0,
  updatedAt: 0,
}

let worker: DeliveryWorker | undefined
afterEach(() => worker?.stop(50))

/** One delivery waits; `whileLeased` happens after its row was read and before the worker has it. */
async function stage(whileLeased: (outbox: MemoryOutbox) => DestinationRecord | undefined, changes: Partial<Outbox> = {}) {
  const outbox = createMemoryOutbox()
  await outbox.record([
    {
      generation: { ...minimalGeneration().generation, id: 'gen-1', endedAt: Date.now() },
      content: JSON.stringify({ instructions: 'words', input: [], output: [] }),
      deliveries: [{ destinationId: 'a', withContent: true }],
      bytes: 500,
    },
  ])
  let record: DestinationRecord | undefined = BEFORE
  let leases = 0
  const sent: OutgoingRequest[] = []
  worker = createDeliveryWorker({
    outbox: {
      ...outbox,
      lease: async (...args) => {
        const leased = await outbox.lease(...args)
        if (leases++ === 0) record = whileLeased(outbox)
        return leased
      },
      ...changes,
    },
    types: new Map([[plain.type, plain as Destination]]),
    destination: () => record,
    transport: async (request) => {
      sent.push(request)
      return { status: 200, headers: {}, body: Buffer.alloc(0) }
    },
    clock: { now: () => Date.now(), monotonic: () => performance.now() },
    random: () => 0.5,
    owner: 'test',
    service: { name: 's', version: '1' },
    tuning: { pollMs: 20 },
  })
  worker.start()
  return { sent, change: (next: DestinationRecord) => (record = next), queued: async () => (await outbox.status('a')).queued }
}

describe('what was read from the queue while its destination changed', () => {
  it('goes without words where it has become private', async () => {
    const { sent, queued } = await stage(() => ({ ...BEFORE, privacyMode: true, revision: 2 }))
    await expect.poll(queued).toBe(0)
    expect(sent.map(({ body }) => String(body))).toEqual(['[""]'])
  })

  it('goes to the new address alone', async () => {
    const { sent, queued } = await stage(() => ({ ...BEFORE, config: { url: 'https://new.example/' }, revision: 2 }))
    await expect.poll(queued).toBe(0)
    expect(sent.map(({ url }) => url)).toEqual(['https://new.example/'])
  })

  it.each<[string, Partial<DestinationRecord>]>([
    ['is switched off', { enabled: false, revision: 2 }],
    // Its revision is its own.
    ['is one of a workspace that keeps everything in', { enabled: false }],
    ['is paused', { paused: true, revision: 2 }],
  ])('waits where it %s', async (_what, change) => {
    const { sent, queued, change: set } = await stage(() => ({ ...BEFORE, ...change }))
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(sent).toEqual([])
    set({ ...BEFORE, revision: 3 })
    await expect.poll(queued).toBe(0)
    expect(sent).toHaveLength(1)
  })

  it('goes nowhere once it is deleted', async () => {
    const { sent } = await stage(() => undefined)
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(sent).toEqual([])
  })
})
