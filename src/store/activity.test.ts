import { mkdtemp, rm } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { CompiledQuery } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Generation } from '../core/generation.ts'
import type { ActivityFilter, ActivityRow, Store } from '../core/store.ts'
import { findTestPostgres } from '../testing/postgres.ts'
import { sampleGeneration } from '../testing/sample-records.ts'
import { createActivityReport } from './activity.ts'
import { createStore } from './index.ts'
import { openDatabase, type DatabaseOptions } from './open-database.ts'

const DAY = 86_400_000
const TODAY = 20_000 * DAY

const some = <T>(...values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values)
const drawnGenerations = fc.array(
  fc.record({
    endedAt: some(0, 0, DAY, 2 * DAY + 5).map((ms) => TODAY + ms),
    workspaceId: some('w1', 'w2', 'w3'),
    keyHash: some('k1', 'k2', 'k3'),
    model: some('acme/small', 'acme/large'),
    endpointId: some('e1', 'e2'),
    providerName: some('Acme', 'Acme Inc.'),
  }),
  { maxLength: 40 },
)
const drawnFilter = fc.record(
  { workspaceId: some('w1', 'w2', 'w4'), keyHashes: fc.subarray(['k1', 'k2', 'k4']), acrossWorkspaces: fc.boolean() },
  { requiredKeys: [] },
)

/** The report, added up without a database. Half a dollar a call: sums of it are exact. */
function expected(all: readonly Generation[], filter: ActivityFilter): readonly unknown[] {
  const sums = new Map<string, number>()
  for (const { endedAt, workspaceId, keyHash, model, endpointId } of all) {
    if (endedAt < filter.from || endedAt >= filter.to || (filter.workspaceId ?? workspaceId) !== workspaceId) continue
    if (filter.keyHashes?.includes(keyHash) === false) continue
    const day = Math.floor(endedAt / DAY) * DAY
    const key = JSON.stringify([day, filter.acrossWorkspaces ? null : workspaceId, model, endpointId])
    sums.set(key, (sums.get(key) ?? 0) + 1)
  }
  return [...sums].map(([key, requests]) => [...(JSON.parse(key) as unknown[]), requests]).sort()
}

const shown = ({ day, workspaceId, model, endpointId, requests }: ActivityRow): unknown => [day, workspaceId ?? null, model, endpointId, requests]

const postgres = await findTestPostgres('the report of activity over PostgreSQL')

describe.each(['sqlite', 'postgres'] as const)('the report of activity: %s', (engine) => {
  let store: Store
  let database: ReturnType<typeof openDatabase>
  let path = ''
  let remove: () => Promise<unknown>
  beforeEach(async (context) => {
    let options: DatabaseOptions
    if (engine === 'sqlite') {
      const folder = await mkdtemp(join(tmpdir(), 'signalbox-activity-'))
      path = join(folder, 'signalbox.db')
      options = { path }
      remove = () => rm(folder, { recursive: true })
    } else {
      if (!postgres.available) return context.skip(postgres.why)
      const schema = await postgres.createSchema()
      options = { url: schema.url, maxConnections: 2 }
      remove = () => schema.drop()
    }
    store = await createStore(options)
    await store.migrate()
    database = openDatabase(options)
  })
  afterEach(async () => {
    await database?.db.destroy()
    await store?.close()
    await remove?.()
  })
  let made = 0
  const insert = async (drawn: readonly Partial<Generation>[]): Promise<readonly Generation[]> => {
    const all = drawn.map((fields) => {
      const cost = { total: 0.5, input: 0.5, output: 0, cacheDiscount: 0, source: 'catalog' } as const
      return { ...sampleGeneration(`gen-${++made}`), cost, ...fields } satisfies Generation
    })
    await store.generations.insertMany(all.map((generation) => ({ generation })))
    return all
  }

  it('is the same in steps of any size, under any filter', async () => {
    const days = fc.record({ from: some(-1, 0, DAY), to: some(1, DAY, 3 * DAY) })
    await fc.assert(
      fc.asyncProperty(drawnGenerations, drawnFilter, days, fc.integer({ min: 1, max: 9 }), async (drawn, wanted, { from, to }, stepRows) => {
        await database.db.deleteFrom('activity').execute()
        const all = await insert(drawn)
        const filter = { ...wanted, from: TODAY + from, to: TODAY + to } as ActivityFilter
        const report = await createActivityReport(database.db, engine, { stepRows })(filter)
        expect(report.map(shown).sort()).toEqual(expected(all, filter))
        for (const { requests, usd, inputTokens } of report) expect([usd, inputTokens]).toEqual([requests / 2, requests * 100])
        expect(report).toEqual(await createActivityReport(database.db, engine, { stepRows: 1_000 })(filter))
      }),
      { numRuns: engine === 'sqlite' ? 150 : 40 },
    )
  })

  it('has the newest day first, then the most expensive, whatever step they were found in', async () => {
    const cost = (total: number) => ({ total, input: total, output: 0, cacheDiscount: 0, source: 'catalog' }) as const
    await insert([
      { endedAt: TODAY, keyHash: 'k1', model: 'cheap', cost: cost(0.5) },
      { endedAt: TODAY, keyHash: 'k2', model: 'dear', cost: cost(1) },
      { endedAt: TODAY, keyHash: 'k3', model: 'cheap', cost: cost(1) },
      { endedAt: TODAY + DAY, keyHash: 'k1', model: 'cheap', cost: cost(0.25) },
    ])
    const report = await createActivityReport(database.db, engine, { stepRows: 1 })({ from: TODAY, to: TODAY + 2 * DAY })
    expect(report.map(({ day, model, usd }) => [day - TODAY, model, usd])).toEqual([
      [DAY, 'cheap', 0.25],
      [0, 'cheap', 1.5],
      [0, 'dear', 1],
    ])
  })

  it.each([7, 50_000])('adds up many keys without rounding errors, in steps of %i rows', async (stepRows) => {
    const cost = { total: 33.247784745, input: 33.247784745, output: 0, cacheDiscount: 0, source: 'catalog', byok: 11.123456789 } as const
    await insert(Array.from({ length: 1_000 }, (_, n) => ({ endedAt: TODAY, keyHash: `k${n}`, cost })))
    const [row] = await createActivityReport(database.db, engine, { stepRows })({ from: TODAY, to: TODAY + DAY })
    expect([row?.requests, row?.byokUsd, row?.usd.toPrecision(15)]).toEqual([1_000, 11_123.456789, '22124.3279560000'])
  })

  it('ends within the day that has more rows than it may have', async () => {
    await insert(Array.from({ length: 20 }, (_, n) => ({ endedAt: TODAY, workspaceId: `w${n}` })))
    let statements = 0
    const counted = database.db.withPlugin({
      transformQuery: ({ node }) => (statements++, node),
      transformResult: ({ result }) => Promise.resolve(result),
    })
    const report = createActivityReport(counted, engine, { reportRows: 3, stepRows: 1 })({ from: TODAY, to: TODAY + DAY })
    await expect(report).rejects.toMatchObject({ errorType: 'invalid_request' })
    // The day, and four steps of two statements.
    expect(statements).toBe(9)
  })

  /** Rows that PostgreSQL sorts for each statement of a report that asks for an order. */
  async function sorted(stepRows: number): Promise<readonly number[]> {
    const { db } = database
    const asked: CompiledQuery[] = []
    const watched = db.withPlugin({
      transformQuery: ({ node, queryId }) => (asked.push(db.getExecutor().compileQuery(node, queryId)), node),
      transformResult: ({ result }) => Promise.resolve(result),
    })
    await createActivityReport(watched, engine, { stepRows })({ from: TODAY, to: TODAY + DAY })
    const rows: number[] = []
    for (const each of asked.filter(({ sql }) => sql.includes('order by'))) {
      const explained = await db.executeQuery(CompiledQuery.raw(`explain (analyze) ${each.sql}`, [...each.parameters]))
      const plan = explained.rows.map((row) => Object.values(row as object)[0] as string)
      rows.push(Number(plan.find((line) => line.includes('Sort  ('))?.match(/actual time.* rows=(\d+)/)?.[1] ?? 0))
    }
    return rows
  }

  if (engine === 'postgres') {
    it('does not sort a day only to learn that it has no further step', async () => {
      await insert(Array.from({ length: 7 }, (_, n) => ({ endedAt: TODAY, keyHash: `k${n}` })))
      expect(await sorted(8)).toEqual([0])
      expect((await sorted(7))[0]).toBeGreaterThan(0)
    })
    return
  }

  /** How SQLite goes about every statement of a report. */
  async function plansOf(filter: Partial<ActivityFilter>): Promise<readonly string[]> {
    const { db } = database
    const plans: string[] = []
    const file = new DatabaseSync(path)
    const watched = db.withPlugin({
      transformQuery: ({ node, queryId }) => {
        const { sql, parameters } = db.getExecutor().compileQuery(node, queryId)
        const steps = file.prepare(`explain query plan ${sql}`).all(...(parameters as readonly string[]))
        plans.push(steps.map(({ detail }) => String(detail)).join('; '))
        return node
      },
      transformResult: ({ result }) => Promise.resolve(result),
    })
    await createActivityReport(watched, 'sqlite', { stepRows: 2 })({ ...filter, from: TODAY, to: TODAY + DAY })
    file.close()
    return plans
  }

  it.each<[Partial<ActivityFilter>, step: RegExp]>([
    [{}, /\(day=\? AND \(workspace_id,key_hash,model,endpoint_id\)[<>]\(\?,\?,\?,\?\)/],
    [{ workspaceId: 'w1' }, /\(day=\? AND workspace_id=\? AND \(key_hash,model,endpoint_id\)[<>]\(\?,\?,\?\)/],
    [{ workspaceId: 'w1', keyHashes: ['k1', 'k2'] }, /\(day=\? AND workspace_id=\?/],
    [{ keyHashes: ['k1'], acrossWorkspaces: true }, /\(day=\? AND \(workspace_id,key_hash,model,endpoint_id\)[<>]/],
  ])('reads with %o no rows but those of its step', async (filter, step) => {
    await insert(Array.from({ length: 7 }, (_, n) => ({ endedAt: TODAY, workspaceId: 'w1', keyHash: `k${n}` })))
    const plans = await plansOf(filter)
    // Twice the day, and four steps of two statements.
    expect(plans).toHaveLength(10)
    for (const plan of plans) expect(plan).toMatch(/^SEARCH activity USING (?:COVERING )?INDEX \S+ \(day/)
    expect(plans.filter((plan) => step.test(plan)).length).toBeGreaterThanOrEqual(6)
  })

  it('lets others in between its steps', async () => {
    await insert(Array.from({ length: 5_000 }, (_, n) => ({ endedAt: TODAY + (n % 2) * DAY, keyHash: `k${n}` })))
    let turns = 0
    let isDone = false
    const count = (): void => {
      turns++
      if (!isDone) setImmediate(count)
    }
    setImmediate(count)
    expect(await createActivityReport(database.db, 'sqlite')({ from: TODAY, to: TODAY + 2 * DAY })).toMatchObject([
      { requests: 2_500 },
      { requests: 2_500 },
    ])
    isDone = true
    expect(turns).toBeGreaterThanOrEqual(6)
  })
})
