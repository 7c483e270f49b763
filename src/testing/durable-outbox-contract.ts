import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Encryption } from '../core/account.ts'
import type { DurableOutbox, StoredDestination } from '../core/outbox.ts'
import { DEFAULT_WORKSPACE_ID, type Store } from '../core/store.ts'
import { manualClock } from './deterministic.ts'
import { sampleContent, sampleDestination, sampleEntry, sampleGeneration } from './sample-records.ts'
import { describeStoredDestinations } from './stored-destinations-contract.ts'

type Clock = ReturnType<typeof manualClock>

const OWNER = 'worker-1'
const DAY_MS = 24 * 3_600_000

export interface DurableOutboxUnderTest {
  readonly store: Store
  readonly openAnother?: () => Promise<Store>
  readonly encryption: Encryption
  readonly dispose: () => Promise<void>
}

/** What an outbox and destinations in a database must do. */
export function describeDurableOutboxContract(name: string, open: (clock: Clock) => Promise<DurableOutboxUnderTest>): void {
  describe(`durable outbox contract: ${name}`, () => {
    let clock: Clock
    let under: DurableOutboxUnderTest
    let store: Store
    let outbox: DurableOutbox
    beforeEach(async () => {
      clock = manualClock()
      under = await open(clock)
      store = under.store
      outbox = store.outbox(under.encryption)
      await store.migrate()
      await store.workspaces.default()
    })
    afterEach(() => under.dispose())
    const lease = (destinationId = 'd1', from = outbox, owner = OWNER, records = 1_000) =>
      from.lease(destinationId, { owner, records, bytes: 100_000_000, leaseMs: 60_000, now: clock.now() })
    const add = (id: string, overrides: Partial<StoredDestination> = {}) => store.destinations.insert(sampleDestination(id, overrides), 5)

    describeStoredDestinations(() => ({ store, outbox, clock, lease, add }))

    it('records generations as the generation store does, with the content a workspace keeps', async () => {
      await outbox.record([{ ...sampleEntry('gen-1', []), keptContent: sampleContent }, sampleEntry('gen-2', [], { withContent: false })])
      expect(await store.generations.get('gen-1')).toEqual(sampleGeneration('gen-1'))
      expect(await store.generations.content('gen-1')).toEqual(sampleContent)
      expect(await store.generations.content('gen-2')).toBeUndefined()
    })

    it('enters nothing again that was delivered, nor for a destination that is gone', async () => {
      await add('d1')
      await outbox.record([sampleEntry('gen-1', ['d1', 'no-such-destination'])])
      expect((await outbox.due(clock.now(), 5)).work.map(({ destinationId }) => destinationId)).toEqual(['d1'])
      const [leased] = await lease()
      await outbox.settle(OWNER, [{ id: leased!.id, state: 'delivered' }])
      await outbox.record([sampleEntry('gen-1', ['d1'])])
      expect(await lease()).toEqual([])
    })

    it('tells how much waits in each queue, what is leased included and dead letters not', async () => {
      for (const id of ['d1', 'd2', 'd3']) await add(id)
      const entered = clock.now()
      await outbox.record([sampleEntry('gen-1', ['d1', 'd2']), sampleEntry('gen-2', ['d1'])])
      await lease()
      const [dead] = await lease('d2')
      await outbox.settle(OWNER, [{ id: dead!.id, state: 'dead', reason: 'rejected', status: 400, error: 'no' }])
      expect(await outbox.queues()).toEqual([
        { destinationId: 'd1', queued: 2, oldestAt: entered },
        { destinationId: 'd2', queued: 0, oldestAt: undefined },
      ])
    })

    it('strips content in the transaction that turns privacy on, and lets none in afterwards', async () => {
      await add('d1')
      await outbox.record([sampleEntry('gen-1', ['d1'])])
      await store.destinations.update('d1', DEFAULT_WORKSPACE_ID, { privacyMode: true }, 1)
      // A process that has not noticed the change yet still says `withContent`.
      await outbox.record([sampleEntry('gen-2', ['d1'])])
      expect((await lease()).map(({ content }) => content)).toEqual([undefined, undefined])
    })

    it('keeps content unreadable in the database, compressed and apart per generation', async () => {
      await add('d1')
      const canary = 'canary-'.repeat(200)
      await outbox.record([sampleEntry('gen-1', ['d1'], { content: JSON.stringify({ ...sampleContent, instructions: canary }) })])
      expect((await lease())[0]?.content?.instructions).toBe(canary)
    })

    it('prunes no generation that still waits, and all once they are settled', async () => {
      await add('d1')
      await outbox.record([sampleEntry('gen-1', ['d1']), sampleEntry('gen-2', [])])
      expect((await store.retention.expire('generations', Number.MAX_SAFE_INTEGER, 10)).deleted).toBe(1)
      const [leased] = await lease()
      await outbox.settle(OWNER, [{ id: leased!.id, state: 'delivered' }])
      expect((await store.retention.expire('generations', Number.MAX_SAFE_INTEGER, 10)).deleted).toBe(1)
    })

    it('forgets dead letters after a month, with their content', async () => {
      await add('d1')
      await outbox.record([sampleEntry('gen-1', ['d1'])])
      const [leased] = await lease()
      await outbox.settle(OWNER, [{ id: leased!.id, state: 'dead', reason: 'rejected', status: 400, error: 'x\0y' }])
      expect(await outbox.sweep(100)).toBe(0)
      clock.advance(31 * 24 * 3_600_000)
      // The dead letter, and the data key that is no longer needed.
      expect(await outbox.sweep(100)).toBe(2)
      expect(await outbox.status('d1')).toMatchObject({ dead: 0 })
    })

    it('the sweep gives up deliveries that waited for longer than any destination accepts, even if nothing sends', async () => {
      await add('d1', { enabled: false })
      await outbox.record(['gen-1', 'gen-2', 'gen-3'].map((id) => sampleEntry(id, ['d1'])))
      clock.advance(6 * DAY_MS)
      await outbox.record([sampleEntry('gen-4', ['d1'])])
      const told: unknown[] = []
      expect(await outbox.sweep(2, undefined, (expired) => told.push(expired))).toBe(0)
      expect(told).toEqual([])
      expect(await outbox.status('d1')).toMatchObject({ queued: 4, dead: 0 })
      clock.advance(1.5 * DAY_MS)
      // In flight: its sender decides about it.
      const [held] = await lease('d1', outbox, OWNER, 1)
      // Each of its steps handles one.
      expect(await outbox.sweep(1, undefined, (expired) => told.push(expired))).toBe(0)
      expect(told).toEqual([{ destinationId: 'd1', type: 'webhook', deliveries: 2 }])
      expect(await outbox.status('d1')).toMatchObject({ queued: 2, dead: 2 })
      const { letters } = await outbox.deadLetters('d1', { offset: 0, limit: 10 })
      expect(letters.map(({ generationId, reason, error, attempts }) => [generationId, reason, error, attempts])).toEqual([
        ['gen-2', 'expired', 'older than 168 hours', 0],
        ['gen-3', 'expired', 'older than 168 hours', 0],
      ])
      await outbox.settle(OWNER, [{ id: held!.id, state: 'delivered' }])
      clock.advance(31 * DAY_MS)
      while ((await outbox.sweep(100)) > 0);
      expect((await store.retention.expire('generations', clock.now(), 10)).deleted).toBe(3)
    })

    it('replays what died before the clock was set back, or in a process whose clock runs ahead', async () => {
      await add('d1')
      await outbox.record(['gen-1', 'gen-2'].map((id) => sampleEntry(id, ['d1'])))
      for (const { id } of await lease()) await outbox.settle(OWNER, [{ id, state: 'dead', reason: 'rejected', status: 400, error: 'no' }])
      clock.advance(-DAY_MS)
      const [letter] = (await outbox.deadLetters('d1', { offset: 0, limit: 1 })).letters
      expect(await outbox.replay('d1', clock.now(), [letter!.id])).toBe(1)
      expect(await outbox.replay('d1', clock.now())).toBe(1)
      expect((await lease()).map(({ generation }) => generation.id)).toEqual(['gen-1', 'gen-2'])
    })

    it('replays in the order of death, and what died in a process whose clock runs ahead at once', async () => {
      await add('d1')
      await outbox.record(['gen-1', 'gen-2', 'gen-3'].map((id) => sampleEntry(id, ['d1'])))
      const dies = async (id: string): Promise<void> => {
        clock.advance(1)
        await outbox.settle(OWNER, [{ id, state: 'dead', reason: 'rejected', status: 400, error: 'no' }])
      }
      for (const { id } of (await lease()).toReversed()) await dies(id)
      clock.advance(-1)
      expect(await outbox.replay('d1', clock.now())).toBe(3)
      const order: string[] = []
      for (let n = 0; n < 3; n++) order.push(...(await lease('d1', outbox, OWNER, 1)).map(({ generation }) => generation.id))
      expect(order).toEqual(['gen-3', 'gen-1', 'gen-2'])
    })

    it('the sweep makes due what a clock that was set back put far ahead, and nothing that only waits', async () => {
      await add('d1')
      await add('d2')
      await outbox.record(['gen-1', 'gen-2', 'gen-3'].map((id) => sampleEntry(id, ['d1'])))
      await outbox.record([sampleEntry('gen-4', ['d2'])])
      const [, tried] = await lease()
      const [waits] = await lease('d2')
      const outcome = { state: 'retry', at: clock.now() + 600_000, status: 503, error: 'busy' } as const
      await outbox.settle(OWNER, [{ ...outcome, id: tried!.id }])
      await outbox.releaseAll(OWNER)
      clock.advance(-DAY_MS)
      await outbox.settle(OWNER, [{ ...outcome, id: waits!.id, at: clock.now() + 600_000 }])
      expect((await outbox.due(clock.now(), 10)).work).toEqual([])
      // Each of its steps handles two.
      expect(await outbox.sweep(2)).toBe(0)
      expect((await outbox.due(clock.now(), 10)).work).toMatchObject([
        { destinationId: 'd1', records: 3 },
        { destinationId: 'd2', records: 1 },
      ])
      // With the correct clock: it was told to wait, and does.
      await outbox.record([sampleEntry('gen-5', ['d1'])])
      const leased = await lease()
      await outbox.settle(
        OWNER,
        leased.map(({ id }) => ({ ...outcome, id, at: clock.now() + 600_000 })),
      )
      const [held] = await lease('d2')
      expect(await outbox.sweep(2)).toBe(0)
      expect((await outbox.due(clock.now(), 10)).work).toEqual([])
      expect(await outbox.extend(OWNER, [held!.id], clock.now() + 1)).toEqual([held!.id])
    })

    it('ends the lease of a process that died while its clock ran ahead, and of none that lives', async () => {
      await add('d1')
      await outbox.record(['gen-1', 'gen-2', 'gen-3'].map((id) => sampleEntry(id, ['d1'])))
      clock.advance(DAY_MS)
      const [living] = await lease('d1', outbox, 'living', 1)
      await lease('d1', outbox, 'dead', 2)
      clock.advance(-DAY_MS)
      // Each of its steps handles one.
      expect(await outbox.sweep(1)).toBe(0)
      expect((await outbox.due(clock.now(), 10)).work).toEqual([])
      clock.advance(60_000)
      expect(await outbox.extend('living', [living!.id], clock.now() + DAY_MS + 60_000)).toEqual([living!.id])
      clock.advance(60_000)
      expect(await outbox.sweep(1)).toBe(0)
      expect((await outbox.due(clock.now(), 10)).work).toMatchObject([{ destinationId: 'd1', records: 2 }])
      expect((await lease()).map(({ generation }) => generation.id)).toEqual(['gen-2', 'gen-3'])
      // With a correct clock nothing needs to be repaired: this lease stays as it is.
      const [held] = await outbox.lease('d1', { owner: OWNER, records: 1, bytes: 1, now: clock.now(), leaseMs: 60_000 })
      expect(held).toBeUndefined()
      expect((await outbox.due(clock.now(), 10)).nextAt).toBe(clock.now() + 60_000)
    })

    it('reads content that was encrypted on an earlier day or by another process', async () => {
      await add('d1')
      await outbox.record([sampleEntry('gen-1', ['d1'])])
      clock.advance(26 * 3_600_000)
      const fresh = store.outbox(under.encryption)
      await fresh.record([sampleEntry('gen-2', ['d1'])])
      expect((await lease('d1', fresh)).map(({ content }) => content)).toEqual([sampleContent, sampleContent])
    })

    it('shares a queue between processes: each delivery to exactly one of them', async (test) => {
      if (under.openAnother === undefined) return test.skip()
      await add('d1')
      for (let i = 0; i < 10; i++) await outbox.record(Array.from({ length: 20 }, (_, j) => sampleEntry(`gen-${i}-${j}`, ['d1'])))
      const others = await Promise.all([under.openAnother(), under.openAnother()])
      const taken: string[] = []
      const drain = async (from: DurableOutbox, owner: string): Promise<void> => {
        for (;;) {
          const leased = await lease('d1', from, owner, 7)
          if (leased.length === 0) return
          taken.push(...leased.map(({ generation }) => generation.id))
          await from.settle(
            owner,
            leased.map(({ id }) => ({ id, state: 'delivered' })),
          )
        }
      }
      await Promise.all([drain(outbox, OWNER), ...others.map((other, i) => drain(other.outbox(under.encryption), `other-${i}`))])
      for (const other of others) await other.close()
      expect(taken).toHaveLength(200)
      expect(new Set(taken).size).toBe(200)
    })
  })
}
