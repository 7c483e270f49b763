import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { LeasedDelivery, Outbox, Settlement } from '../core/outbox.ts'
import { manualClock } from './deterministic.ts'
import { describeHealthReports } from './health-reports-contract.ts'
import { sampleContent, sampleEntry, sampleGeneration } from './sample-records.ts'

type Clock = ReturnType<typeof manualClock>

export interface OutboxUnderTest {
  readonly outbox: Outbox
  readonly addDestination: (id: string) => Promise<void>
  readonly dispose: () => Promise<void>
}

const OWNER = 'worker-1'

/** What every outbox must do, including the one in memory. */
export function describeOutboxContract(name: string, open: (clock: Clock) => Promise<OutboxUnderTest>): void {
  describe(`outbox contract: ${name}`, () => {
    let clock: Clock
    let under: OutboxUnderTest
    let outbox: Outbox
    beforeEach(async () => {
      clock = manualClock()
      under = await open(clock)
      outbox = under.outbox
      for (const id of ['d1', 'd2']) await under.addDestination(id)
    })
    afterEach(() => under.dispose())

    const lease = (destinationId = 'd1', overrides: { owner?: string; records?: number; bytes?: number; leaseMs?: number } = {}) =>
      outbox.lease(destinationId, { owner: OWNER, records: 100, bytes: 1_000_000, leaseMs: 60_000, now: clock.now(), ...overrides })
    const record = async (count: number, destinations = ['d1'], prefix = 'gen') => {
      for (let i = 0; i < count; i++) {
        await outbox.record([sampleEntry(`${prefix}-${i}`, destinations)])
        clock.advance(1)
      }
    }
    const idsOf = (leased: readonly LeasedDelivery[]) => leased.map(({ generation }) => generation.id)
    const settleAll = (leased: readonly LeasedDelivery[], state: Omit<Settlement, 'id'>) =>
      outbox.settle(
        OWNER,
        leased.map(({ id }) => ({ id, ...state }) as Settlement),
      )

    it('leases what was recorded, whole, oldest first', async () => {
      await record(3)
      const leased = await lease()
      expect(idsOf(leased)).toEqual(['gen-0', 'gen-1', 'gen-2'])
      expect(leased[0]).toMatchObject({
        destinationId: 'd1',
        generation: sampleGeneration('gen-0'),
        content: sampleContent,
        attempts: 0,
        bytes: 1_000,
      })
      expect(await outbox.lease('d2', { owner: OWNER, records: 1, bytes: 1, now: clock.now(), leaseMs: 1 })).toEqual([])
    })

    it('enters nothing twice, not even what was delivered meanwhile', async () => {
      await outbox.record([sampleEntry('gen-1', ['d1']), sampleEntry('gen-1', ['d1'])])
      await outbox.record([sampleEntry('gen-1', ['d1'])])
      expect(await lease()).toHaveLength(1)
    })

    it('says what is due, up to the cap, and when the next thing will be', async () => {
      expect(await outbox.due(clock.now(), 10)).toEqual({ work: [], nextAt: undefined })
      const started = clock.now()
      await record(3)
      await record(1, ['d2'], 'other')
      const { work } = await outbox.due(clock.now(), 2)
      expect([...work].sort((a, b) => a.destinationId.localeCompare(b.destinationId))).toEqual([
        { destinationId: 'd1', records: 2, bytes: 2_000, oldestAt: started, retried: false },
        { destinationId: 'd2', records: 1, bytes: 1_000, oldestAt: started + 3, retried: false },
      ])
      const idle = (await outbox.due(clock.now(), 3, (id) => id === 'd2')).work
      expect([...idle].sort((a, b) => a.destinationId.localeCompare(b.destinationId))).toMatchObject([{ records: 1, bytes: 1_000 }, { records: 1 }])
      const until = clock.now() + 60_000
      await lease('d1')
      await lease('d2')
      expect(await outbox.due(clock.now(), 2)).toEqual({ work: [], nextAt: until })
    })

    it('leases within limits of records and bytes, at least one', async () => {
      await record(5)
      expect(idsOf(await lease('d1', { records: 2 }))).toEqual(['gen-0', 'gen-1'])
      expect(idsOf(await lease('d1', { bytes: 1 }))).toEqual(['gen-2'])
      expect(idsOf(await lease('d1', { bytes: 2_500 }))).toEqual(['gen-3', 'gen-4'])
      expect(await lease()).toEqual([])
    })

    it('gives a lease that ended to the next process, and ignores the first owner’s result', async () => {
      await record(1)
      const first = await lease()
      expect(await lease('d1', { owner: 'worker-2' })).toEqual([])
      clock.advance(60_001)
      const second = await lease('d1', { owner: 'worker-2' })
      expect(idsOf(second)).toEqual(['gen-0'])
      expect(await settleAll(first, { state: 'delivered' })).toBe(0)
      expect(await outbox.extend(OWNER, [first[0]!.id], clock.now() + 1)).toEqual([])
      expect(await outbox.settle('worker-2', [{ id: second[0]!.id, state: 'delivered' }])).toBe(1)
      expect((await outbox.status('d1')).queued).toBe(0)
    })

    it('holds a lease longer when asked, and ends all at once at a shutdown', async () => {
      await record(2)
      const leased = await lease()
      const ids = leased.map(({ id }) => id)
      expect([...(await outbox.extend(OWNER, ids, clock.now() + 100_000))].sort()).toEqual([...ids].sort())
      clock.advance(60_001)
      expect(await lease('d1', { owner: 'worker-2' })).toEqual([])
      await outbox.releaseAll(OWNER)
      clock.advance(60_001)
      expect(await lease('d1', { owner: 'worker-2' })).toHaveLength(2)
    })

    it('forgets what is delivered and counts it', async () => {
      await record(3)
      const leased = await lease()
      expect(
        await outbox.settle(
          OWNER,
          leased.map(({ id }) => ({ id, state: 'delivered' })),
          { delivered: 2, rejected: 1 },
        ),
      ).toBe(3)
      expect(await outbox.status('d1')).toMatchObject({
        queued: 0,
        queuedBytes: 0,
        oldestAt: undefined,
        delivered: 2,
        rejected: 1,
        dead: 0,
        dropped: 0,
      })
    })

    it('counts a delivery once, whoever else made it while its lease had ended', async () => {
      await record(3)
      const first = await lease()
      clock.advance(60_001)
      const second = await lease('d1', { owner: 'worker-2', records: 2 })
      const delivered = (ids: readonly LeasedDelivery[]): readonly Settlement[] => ids.map(({ id }) => ({ id, state: 'delivered' }))
      expect(await outbox.settle('worker-2', delivered(second), { delivered: 1, rejected: 1 })).toBe(2)
      expect(await outbox.settle(OWNER, delivered(first), { delivered: 3 })).toBe(1)
      expect(await outbox.status('d1')).toMatchObject({ queued: 0, delivered: 2, rejected: 1 })
    })

    it('keeps what another destination still waits for', async () => {
      await record(1, ['d1', 'd2'])
      await settleAll(await lease('d1'), { state: 'delivered' })
      expect((await lease('d2'))[0]?.content).toEqual(sampleContent)
    })

    it('tries again at the time given, and not before', async () => {
      await record(1)
      await settleAll(await lease(), { state: 'retry', at: clock.now() + 5_000, status: 503, error: 'busy' } as Omit<Settlement, 'id'>)
      expect(await lease()).toEqual([])
      expect(await outbox.due(clock.now(), 10)).toEqual({ work: [], nextAt: clock.now() + 5_000 })
      clock.advance(5_000)
      expect((await outbox.due(clock.now(), 10)).work[0]).toMatchObject({ records: 1, retried: true })
      expect((await lease())[0]).toMatchObject({ attempts: 1 })
    })

    it('makes what waits to be tried again due at once when asked, and touches nothing else', async () => {
      await record(4)
      await record(1, ['d2'], 'other')
      const later = { at: clock.now() + 3_600_000 }
      const [first, second, third] = (await lease()) as [LeasedDelivery, LeasedDelivery, LeasedDelivery, LeasedDelivery]
      await outbox.settle(OWNER, [
        { id: first.id, state: 'retry', ...later, status: 503, error: 'busy' },
        { id: second.id, state: 'released', ...later },
        { id: third.id, state: 'dead', reason: 'rejected', status: 400, error: 'x' },
      ])
      await settleAll(await lease('d2'), { state: 'released', ...later })
      expect((await outbox.due(clock.now(), 10)).work).toEqual([])
      expect(await outbox.retryNow('d1', clock.now())).toBe(2)
      expect((await outbox.due(clock.now(), 10)).work).toMatchObject([{ destinationId: 'd1', records: 2, retried: true }])
      const again = await lease()
      expect(again.map(({ generation, attempts }) => [generation.id, attempts])).toEqual([
        ['gen-0', 1],
        ['gen-1', 0],
      ])
      expect(await outbox.retryNow('d1', clock.now())).toBe(0)
      expect(await outbox.status('d1')).toMatchObject({ queued: 3, dead: 1 })
    })

    it('makes due when asked what was entered by a clock that has been set back since', async () => {
      await record(2)
      const before = clock.now() - 3_600_000
      expect((await outbox.due(before, 10)).work).toEqual([])
      expect(await outbox.retryNow('d1', before)).toBe(2)
      // At that earlier time, too, the batch does not wait to be full.
      expect((await outbox.due(before, 10)).work).toMatchObject([{ destinationId: 'd1', records: 2, oldestAt: before }])
    })

    it('gives back untried, without counting a try', async () => {
      await record(1)
      await settleAll(await lease(), { state: 'released' })
      clock.advance(60_000)
      expect((await lease())[0]).toMatchObject({ attempts: 0 })
    })

    it('keeps dead letters to look at, replay and purge', async () => {
      await record(3)
      await settleAll(await lease(), { state: 'dead', reason: 'rejected', status: 400, error: 'bad field' } as Omit<Settlement, 'id'>)
      const page = await outbox.deadLetters('d1', { offset: 1, limit: 1 })
      expect(page.total).toBe(3)
      expect(page.letters).toEqual([
        expect.objectContaining({ generationId: 'gen-1', reason: 'rejected', status: 400, error: 'bad field', attempts: 1 }),
      ])
      expect(await outbox.status('d1')).toMatchObject({ queued: 0, dead: 3 })
      expect(await outbox.replay('d1', clock.now(), [page.letters[0]!.id, 'no-such-id'])).toBe(1)
      const [again] = await lease()
      expect(again).toMatchObject({ attempts: 0, content: sampleContent })
      expect(again?.generation.id).toBe('gen-1')
      const [other] = (await outbox.deadLetters('d1', { offset: 0, limit: 10 })).letters
      expect(await outbox.purge('d2')).toBe(0)
      expect(await outbox.purge('d1', [other!.id])).toBe(1)
      expect(await outbox.purge('d1')).toBe(1)
      expect(await outbox.status('d1')).toMatchObject({ dead: 0, queued: 1 })
    })

    it('cancels everything of one destination', async () => {
      await record(3, ['d1', 'd2'])
      await settleAll((await lease()).slice(0, 1), { state: 'dead', reason: 'rejected', status: 400, error: 'x' } as Omit<Settlement, 'id'>)
      expect(await outbox.cancel('d1')).toBe(3)
      expect(await outbox.status('d1')).toMatchObject({ queued: 0, dead: 0 })
      expect(await lease('d2')).toHaveLength(3)
    })

    it('strips content from the queue of one destination', async () => {
      await record(2, ['d1', 'd2'])
      await outbox.stripContent('d1')
      expect((await lease('d1')).map(({ content }) => content)).toEqual([undefined, undefined])
      expect((await lease('d2')).map(({ content }) => content)).toEqual([sampleContent, sampleContent])
    })

    it('drops the oldest bodies first, then the oldest deliveries, visibly', async () => {
      await record(10)
      const before = await outbox.status('d1')
      expect(await outbox.trim('d1', { records: 10, bytes: before.queuedBytes })).toEqual({ bodies: 0, deliveries: 0 })
      const { bodies } = await outbox.trim('d1', { records: 10, bytes: before.queuedBytes - 1 })
      expect(bodies).toBe(1)
      expect(await outbox.trim('d1', { records: 7, bytes: 1_000_000 })).toEqual({ bodies: 0, deliveries: 3 })
      expect(await outbox.status('d1')).toMatchObject({ queued: 7, dropped: 3, dead: 3 })
      const leased = await lease()
      expect(idsOf(leased)).toEqual(['gen-3', 'gen-4', 'gen-5', 'gen-6', 'gen-7', 'gen-8', 'gen-9'])
      expect((await outbox.deadLetters('d1', { offset: 0, limit: 1 })).letters[0]).toMatchObject({ generationId: 'gen-0', reason: 'overflow' })
    })

    describeHealthReports(() => ({ outbox, clock }))
  })
}
