import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { NOTHING_SPENT } from '../core/counter.ts'
import type { Generation } from '../core/generation.ts'
import { DEFAULT_WORKSPACE_ID, type Store, type StoredOwnKey } from '../core/store.ts'
import type { StoreUnderTest } from './store-contract.ts'
import { dice, MoneyLedger } from './money-ledger.ts'
import { sampleGeneration, sampleWorkspace } from './sample-records.ts'

/** Wednesday, 31 January 2024, 23:00 UTC. */
const NOW = Date.UTC(2024, 0, 31, 23)
const HOUR = 3_600_000
const DAY = 24 * HOUR
const KEY = `key:${'a'.repeat(64)}`

const costing = (id: string, total: number, more: Partial<Generation> = {}): Generation =>
  sampleGeneration(id, {
    endedAt: NOW,
    startedAt: NOW - 1_000,
    cost: { total, input: total, output: 0, cacheDiscount: 0, source: 'catalog' },
    ...more,
  })

/** What every store must do with spending and with callers' own keys. */
export function describeSpendContract(name: string, open: () => Promise<StoreUnderTest>): void {
  describe(`spend contract: ${name}`, () => {
    let under: StoreUnderTest
    let store: Store
    beforeEach(async () => {
      under = await open()
      store = under.store
      await store.migrate()
      await store.workspaces.default()
    })
    afterEach(() => under.dispose())
    const insert = (...generations: Generation[]) => store.generations.insertMany(generations.map((generation) => ({ generation })))

    it('sums what keys, workspaces and the installation spent in each current period', async () => {
      await insert(costing('g1', 0.5), costing('g2', 0.25, { keyHash: 'b' }), costing('g3', 1, { workspaceId: 'w2', keyHash: 'c' }))
      const all = (amount: number) => ({ lifetime: amount, monthly: amount, weekly: amount, daily: amount })
      expect((await store.spend.of(KEY, NOW)).usd).toEqual(all(0.5))
      expect((await store.spend.of(`workspace:${DEFAULT_WORKSPACE_ID}`, NOW)).usd).toEqual(all(0.75))
      expect((await store.spend.of('installation', NOW)).usd).toEqual(all(1.75))
      expect((await store.spend.of('key:nobody', NOW)).usd).toEqual(NOTHING_SPENT)
      expect([...(await store.spend.ofMany([KEY, 'key:b', 'key:nobody'], NOW)).keys()].sort()).toEqual([KEY, 'key:b'])
    })

    it('starts each period at its UTC boundary', async () => {
      await insert(costing('g1', 0.5))
      const { usd } = await store.spend.of(KEY, NOW + HOUR)
      // February has begun, but the week goes on.
      expect(usd).toEqual({ lifetime: 0.5, monthly: 0, weekly: 0.5, daily: 0 })
      await insert(costing('g2', 0.25, { endedAt: NOW + HOUR }))
      expect((await store.spend.of(KEY, NOW + HOUR)).usd).toEqual({ lifetime: 0.75, monthly: 0.25, weekly: 0.75, daily: 0.25 })
    })

    it('counts a generation once, however often its batch is repeated', async () => {
      await insert(costing('g1', 0.5))
      await insert(costing('g1', 0.5), costing('g2', 0.25), costing('g2', 0.25))
      expect((await store.spend.of(KEY, NOW)).usd.lifetime).toBe(0.75)
    })

    it('agrees with a ledger on every day of every period, and so does the activity', async () => {
      const { below, pick } = dice(7)
      const [paid, own] = [new MoneyLedger(), new MoneyLedger()]
      const owners = [['a', 'w1'], ['b', 'w1'], ['c', 'w2']] as const // prettier-ignore
      // Ends of weeks, months and years, and a leap day.
      const endings = [Date.UTC(2023, 11, 31), Date.UTC(2024, 0, 31), Date.UTC(2024, 1, 28), Date.UTC(2024, 1, 29), Date.UTC(2024, 2, 3)]
      const times = (): number => pick(endings) + below(48) * HOUR - pick([0, 0, 1])
      const generations = Array.from({ length: 400 }, (_, n) => {
        const [keyHash, workspaceId] = pick(owners)
        const [total, endedAt] = [pick([0, 1e-12, 0.1, 0.2, 1_000]), times()]
        const byok = pick([0, total, total / 2])
        for (const subject of [`key:${keyHash}`, `workspace:${workspaceId}`, 'installation']) {
          paid.pay(subject, endedAt, total - byok)
          own.pay(subject, endedAt, byok)
        }
        const cost = { total, input: total, output: 0, cacheDiscount: 0, source: 'catalog', ...(byok === 0 ? {} : { byok }) } as const
        return costing(`g${n}`, total, { keyHash, workspaceId, endedAt, startedAt: endedAt - HOUR, cost })
      })
      for (let n = 0; n < generations.length; n += 50) await insert(...generations.slice(n, n + 50))
      // Sums of binary fractions differ in their last digits, depending on the order of addition.
      const rounded = (figures: object): unknown => Object.values(figures).map((usd: number) => Number(usd.toFixed(9)))
      for (const now of Array.from({ length: 40 }, times)) {
        for (const subject of ['key:a', 'key:b', 'key:c', 'workspace:w1', 'workspace:w2', 'installation']) {
          const { usd, byokUsd } = await store.spend.of(subject, now)
          expect([subject, now, rounded(usd), rounded(byokUsd)]).toEqual([
            subject,
            now,
            rounded(paid.all(subject, now, true)),
            rounded(own.all(subject, now, true)),
          ])
        }
        const from = Math.floor(now / DAY) * DAY
        const rows = await store.spend.activity({ from, to: from + DAY })
        expect(rows.reduce((sum, { usd }) => sum + usd, 0)).toBeCloseTo(paid.spent('installation', 'daily', now, true), 9)
      }
    })

    it('adds without an error that grows with the number of calls', async () => {
      const cost = { total: 0.000003702, input: 0.000003702, output: 0, cacheDiscount: 0, source: 'catalog', byok: 0.000001234 } as const
      const dear = costing('g', 6_000)
      await insert({ ...dear, cost: { ...dear.cost, byok: 3_000 } })
      for (let n = 0; n < 60; n++) await insert(costing(`g${n}`, cost.total, { cost }))
      const { usd, byokUsd } = await store.spend.of(KEY, NOW)
      expect([usd.lifetime, byokUsd.lifetime]).toEqual([3_000.00014808, 3_000.00007404])
      const [row] = await store.spend.activity({ from: NOW - DAY, to: NOW + DAY })
      expect([row?.usd, row?.byokUsd]).toEqual([3_000.00014808, 3_000.00007404])
    })

    it('keeps the cost of own keys separate', async () => {
      const onOwnKey = costing('g1', 0.5, { isByok: true })
      const partly = costing('g3', 1)
      await insert({ ...onOwnKey, cost: { ...onOwnKey.cost, byok: 0.5 } }, costing('g2', 0.25), { ...partly, cost: { ...partly.cost, byok: 0.75 } })
      expect(await store.spend.of(KEY, NOW)).toMatchObject({ usd: { daily: 0.5 }, byokUsd: { daily: 1.25 } })
    })

    it('loses nothing when several processes write at the same time, nor when generations are pruned', async () => {
      const other = await under.openAnother()
      try {
        const batches = Array.from({ length: 20 }, (_, i) =>
          (i % 2 === 0 ? store : other).generations.insertMany(
            Array.from({ length: 10 }, (_unused, j) => ({ generation: costing(`g${i}-${j}`, 0.5, { keyHash: j % 2 === 0 ? 'a'.repeat(64) : 'b' }) })),
          ),
        )
        await Promise.all(batches)
        expect((await other.spend.of('installation', NOW)).usd.daily).toBe(100)
        await store.retention.expire('generations', NOW + HOUR, 1_000)
        expect((await store.spend.of(KEY, NOW)).usd.lifetime).toBe(50)
      } finally {
        await other.close()
      }
    })

    it('reports activity by day, model and endpoint', async () => {
      await insert(
        costing('g1', 0.5),
        costing('g2', 0.25),
        costing('g3', 1, { keyHash: 'b', endedAt: NOW + HOUR }),
        costing('g4', 0, { endpointId: undefined as never }),
      )
      const from = NOW - 30 * 24 * HOUR
      const rows = await store.spend.activity({ from, to: NOW + 24 * HOUR })
      expect(rows.map(({ day, requests, usd }) => [new Date(day).toISOString().slice(0, 10), requests, usd])).toEqual([
        ['2024-02-01', 1, 1],
        ['2024-01-31', 2, 0.75],
      ])
      expect(rows[1]).toMatchObject({
        model: 'acme/small',
        providerName: 'Acme',
        inputTokens: 200,
        outputTokens: 100,
        reasoningTokens: 20,
        byokUsd: 0,
        workspaceId: DEFAULT_WORKSPACE_ID,
      })
      expect(await store.spend.activity({ from, to: NOW + 24 * HOUR, keyHashes: ['b'] })).toHaveLength(1)
      expect(await store.spend.activity({ from, to: NOW + 24 * HOUR, keyHashes: [] })).toEqual([])
      // More than a statement can have as single parameters: if keys are created daily, one user has many of them after years.
      const many = [...Array.from({ length: 70_000 }, (_, n) => `k${n}`), 'b']
      expect(await store.spend.activity({ from, to: NOW + 24 * HOUR, keyHashes: many })).toHaveLength(1)
      expect(await store.spend.activity({ from, to: NOW + 24 * HOUR, workspaceId: 'nobody' })).toEqual([])
    })

    it('reports what was bought for calls that reached no endpoint, as keys and budgets count it', async () => {
      const noEndpoint = { endpointId: undefined, providerName: undefined, model: undefined } as never
      await insert(costing('g1', 0.5), costing('g2', 0.25, noEndpoint), costing('g3', 0, noEndpoint))
      const rows = await store.spend.activity({ from: NOW - HOUR * 24, to: NOW + HOUR * 24 })
      expect(rows.map(({ endpointId, providerName, requests, usd }) => [endpointId === '', providerName === '', requests, usd])).toEqual([
        [false, false, 1, 0.5],
        [true, true, 1, 0.25],
      ])
      expect((await store.spend.of(KEY, NOW)).usd.lifetime).toBe(0.75)
    })

    it('reports activity of all workspaces together where that is wanted', async () => {
      await insert(
        costing('g1', 0.5),
        costing('g2', 0.25, { workspaceId: 'w2', keyHash: 'b', providerName: 'Acme, as it was called before' }),
        costing('g3', 1, { workspaceId: 'w2', keyHash: 'b', endedAt: NOW + HOUR }),
      )
      const days = { from: NOW - 30 * 24 * HOUR, to: NOW + 24 * HOUR }
      const together = await store.spend.activity({ ...days, acrossWorkspaces: true })
      expect(together.map(({ requests, usd, workspaceId }) => [requests, usd, workspaceId])).toEqual([
        [1, 1, undefined],
        [2, 0.75, undefined],
      ])
      expect((await store.spend.activity(days)).map(({ usd, workspaceId }) => [usd, workspaceId])).toEqual([
        [1, 'w2'],
        [0.5, DEFAULT_WORKSPACE_ID],
        [0.25, 'w2'],
      ])
      expect((await store.spend.activity({ ...days, workspaceId: 'w2', acrossWorkspaces: true })).map(({ usd }) => usd)).toEqual([1, 0.25])
    })

    it('keeps own keys in their order, tells of every change, and drops them with their workspace', async () => {
      await store.workspaces.insert(sampleWorkspace('w1'))
      const own = (id: string): Omit<StoredOwnKey, 'sortOrder'> => ({
        id,
        workspaceId: 'w1',
        provider: 'acme',
        name: null,
        label: 'sk-a...z',
        sealed: `sealed ${id}`,
        disabled: false,
        isFallback: false,
        allowedModels: ['acme/small'],
        allowedKeyHashes: null,
        allowedUserIds: [],
        createdAt: NOW,
        updatedAt: NOW,
      })
      const before = await store.version()
      const first = await store.ownKeys.insert(own('o1'))
      const second = await store.ownKeys.insert(own('o2'))
      expect([first.sortOrder, second.sortOrder]).toEqual([0, 1])
      expect(await store.ownKeys.list({ workspaceId: 'w1', provider: 'acme' })).toEqual([first, second])
      expect(await store.ownKeys.update('o1', { disabled: true, allowedModels: null })).toEqual({ ...first, disabled: true, allowedModels: null })
      expect(await store.ownKeys.update('o3', { disabled: true })).toBeUndefined()
      expect(await store.ownKeys.remove('o2')).toBe(true)
      expect(await store.ownKeys.remove('o2')).toBe(false)
      expect(await store.version()).toBe(before + 4)
      await expect(store.ownKeys.insert({ ...own('o4'), workspaceId: 'nowhere' })).rejects.toMatchObject({ errorType: 'not_found' })
      await store.workspaces.remove('w1')
      expect(await store.ownKeys.get('o1')).toBeUndefined()
    })

    it('changes settings of a workspace without undoing a change of others', async () => {
      await store.workspaces.insert(sampleWorkspace('w1'))
      const other = await under.openAnother()
      try {
        await Promise.all(
          Array.from({ length: 10 }, (_, i) =>
            (i % 2 === 0 ? store : other).workspaces.modify('w1', ({ settings }) => ({ settings: { ...settings, [`s${i}`]: i } })),
          ),
        )
        expect(Object.keys((await store.workspaces.get('w1'))!.settings)).toHaveLength(10)
      } finally {
        await other.close()
      }
      expect(await store.workspaces.modify('w2', () => ({ name: 'x' }))).toBeUndefined()
    })
  })
}
