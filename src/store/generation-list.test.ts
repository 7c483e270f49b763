import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Generation, GenerationStatus } from '../core/generation.ts'
import type { GenerationFilter, GenerationPage, GenerationStore, Store } from '../core/store.ts'
import { describeOnBothEngines, openInFile, type OpenedStore } from '../testing/both-engines.ts'
import { NOW, sampleGeneration } from '../testing/sample-records.ts'
import { createGenerationList } from './generation-list.ts'
import { createStore } from './index.ts'
import { openDatabase } from './open-database.ts'

/** More pages than any test has. */
const MAX_PAGES = 2_000

/** All pages of a list, one after the other; `between` happens before each but the first. */
async function walk(
  list: GenerationStore['list'],
  filter: GenerationFilter,
  limit: number,
  between?: () => Promise<void>,
): Promise<GenerationPage[]> {
  const pages: GenerationPage[] = []
  let cursor: string | undefined
  for (;;) {
    if (pages.length > 0) await between?.()
    const page = await list(filter, { limit, ...(cursor === undefined ? {} : { cursor }) })
    pages.push(page)
    if (page.nextCursor === null) return pages
    if (pages.length > MAX_PAGES) throw new Error('the list does not end')
    cursor = page.nextCursor
  }
}
const idsOf = (pages: readonly GenerationPage[]): readonly string[] => pages.flatMap(({ generations }) => generations.map(({ id }) => id))

/** What the list is to hold, told without a database. */
function expected(all: readonly Generation[], filter: GenerationFilter): readonly string[] {
  const is = (wanted: string | undefined, ...values: readonly (string | undefined)[]): boolean => wanted === undefined || values.includes(wanted)
  return all
    .filter((one) => one.startedAt >= (filter.from ?? -Infinity) && one.startedAt < (filter.to ?? Infinity))
    .filter((one) => is(filter.workspaceId, one.workspaceId) && is(filter.keyHash, one.keyHash) && is(filter.sessionId, one.sessionId))
    .filter((one) => is(filter.model, one.model, one.requestedModel) && is(filter.provider, one.provider))
    .filter((one) => is(filter.status, one.status) && is(filter.errorType, one.errorType))
    .toSorted((a, b) => b.startedAt - a.startedAt || (a.id < b.id ? 1 : -1))
    .map(({ id }) => id)
}

const STATUSES: readonly GenerationStatus[] = ['completed', 'incomplete', 'failed', 'cancelled']
const some = <T>(...values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values)
const drawnGenerations = fc
  .array(
    fc.record({
      startedAt: some(0, 0, 1, 2, 3).map((ms) => NOW + ms),
      workspaceId: some('w1', 'w2'),
      keyHash: some('k1', 'k2'),
      sessionId: some('s1', undefined),
      requestedModel: some('acme/small', 'acme/large', 'latest'),
      model: some('acme/small', 'acme/large', undefined),
      provider: some('acme', 'other', undefined),
      status: some(...STATUSES),
      errorType: some('rate_limit', undefined),
    }),
    { maxLength: 60 },
  )
  .map((drawn) =>
    drawn.map((fields, n) => JSON.parse(JSON.stringify({ ...sampleGeneration(`gen-${String(n).padStart(3, '0')}`), ...fields })) as Generation),
  )
const FIELDS: { readonly [K in keyof Required<GenerationFilter>]: fc.Arbitrary<GenerationFilter[K]> } = {
  workspaceId: some('w1', 'w2', 'w3'),
  from: some(NOW - 1, NOW, NOW + 1, NOW + 9),
  to: some(NOW, NOW + 1, NOW + 3, NOW + 9),
  model: some('acme/small', 'latest', 'nobody'),
  provider: some('acme', 'nobody'),
  status: some(...STATUSES),
  errorType: some('rate_limit', 'server'),
  keyHash: some('k1', 'k3'),
  sessionId: some('s1', 's2'),
}
/** Of few fields: what is narrowed by many matches nothing, and shows nothing. */
const drawnFilter: fc.Arbitrary<GenerationFilter> = fc
  .tuple(fc.record(FIELDS), fc.subarray(Object.keys(FIELDS), { maxLength: 3 }))
  .map(([all, wanted]) => Object.fromEntries(Object.entries(all).filter(([field]) => wanted.includes(field))))

await describeOnBothEngines('the list of generations', createStore, (name, open) => {
  describe(`the list of generations: ${name}`, () => {
    let under: OpenedStore
    let store: Store
    beforeEach(async () => {
      under = await open()
      store = under.store
      await store.migrate()
    })
    afterEach(() => under.dispose())
    const insert = (generations: readonly Generation[]) => store.generations.insertMany(generations.map((generation) => ({ generation })))

    it('contains every match once and in order, with any filter and page size', async () => {
      await fc.assert(
        fc.asyncProperty(drawnGenerations, drawnFilter, fc.integer({ min: 1, max: 12 }), async (all, filter, limit) => {
          while ((await store.retention.expire('generations', NOW + 1_000, 500)).more) continue
          await insert(all)
          const pages = await walk(store.generations.list, filter, limit)
          expect(idsOf(pages)).toEqual(expected(all, filter))
          for (const { generations } of pages) expect(generations.length).toBeLessThanOrEqual(limit)
          const byId = new Map(all.map((one) => [one.id, one]))
          for (const one of pages.flatMap(({ generations }) => generations)) expect(one).toEqual(byId.get(one.id))
        }),
        { numRuns: name === 'sqlite' ? 150 : 40 },
      )
    })

    it('continues at the same place, whatever is written and deleted between two pages', async () => {
      const all = Array.from({ length: 40 }, (_, n) => sampleGeneration(`gen-${100 + n}`, { startedAt: NOW + Math.floor(n / 10) }))
      await insert(all)
      let written = 0
      const pages = await walk(store.generations.list, {}, 7, async () => {
        await insert([sampleGeneration(`gen-${200 + ++written}`, { startedAt: NOW + 50 })])
        // The ten oldest, before the walk has come to them.
        await store.retention.expire('generations', NOW + 1, 500)
      })
      expect(idsOf(pages)).toEqual(
        all
          .slice(10)
          .toReversed()
          .map(({ id }) => id),
      )
    })

    it('continues after a record that was deleted', async () => {
      await insert([0, 1, 2].map((n) => sampleGeneration(`gen-${n}`, { startedAt: NOW + 2 - n })))
      const { generations, nextCursor } = await store.generations.list({ to: NOW + 2 }, { limit: 1 })
      expect(generations.map(({ id }) => id)).toEqual(['gen-1'])
      await store.retention.expire('generations', NOW + 2, 500)
      await insert([sampleGeneration('gen-3', { startedAt: NOW })])
      expect(idsOf([await store.generations.list({}, { limit: 1, cursor: nextCursor! })])).toEqual(['gen-3'])
    })

    it('knows at the last record that it is the last', async () => {
      await insert([1, 2, 3].map((n) => sampleGeneration(`gen-${n}`)))
      for (const filter of [{}, { status: 'completed' as const }]) {
        expect(await store.generations.list(filter, { limit: 3 })).toMatchObject({ nextCursor: null, generations: [{ id: 'gen-3' }, {}, {}] })
        expect((await store.generations.list(filter, { limit: 2 })).nextCursor).not.toBeNull()
      }
    })

    it('reads a bounded number of rows for one page, and returns a cursor with an empty one', async () => {
      await insert(Array.from({ length: 4_500 }, (_, n) => sampleGeneration(`gen-${10_000 + n}`, { startedAt: NOW + n })))
      await insert([sampleGeneration('gen-1', { startedAt: NOW - 1, status: 'failed' })])
      const pages = await walk(store.generations.list, { status: 'failed' }, 100)
      expect(pages.map(({ generations }) => generations.length)).toEqual([0, 0, 1])
    })

    it('reads a bounded number of bytes for one page, and at least one record', async () => {
      const blob = '漢'.repeat(80_000)
      const all = Array.from({ length: 20 }, (_, n) => sampleGeneration(`gen-${10 + n}`, { trace: { blob } }))
      await insert(all)
      const pages = await walk(store.generations.list, {}, 100)
      expect(idsOf(pages)).toEqual(expected(all, {}))
      // Some 240 KB each.
      expect(pages.map(({ generations }) => generations.length)).toEqual([8, 8, 4])
    })

    const inBase64 = (text: string): string => Buffer.from(text).toString('base64url')
    it.each([
      ['a word', 'page-2'],
      ['nothing', ''],
      ['a number', inBase64('1')],
      ['null', inBase64('null')],
      ['half of one', inBase64('[1]')],
      ['more than one', inBase64('[1,"a",2]')],
      ['a time that is none', inBase64('[1e300,"a"]')],
      ['an id that is none', inBase64('[1,2]')],
      ['a character no database takes', inBase64('[1,"a\\u0000"]')],
    ])('refuses a cursor that is %s, and names it', async (_what, cursor) => {
      await expect(store.generations.list({}, { limit: 1, cursor })).rejects.toMatchObject({
        errorType: 'invalid_request',
        message: 'cursor: the next_cursor of the page before is expected',
        details: { path: 'cursor' },
      })
    })
  })
})

describe('the list of generations in SQLite', () => {
  let path = ''
  let under: OpenedStore
  let database: ReturnType<typeof openDatabase>
  beforeEach(async () => {
    under = await openInFile((file) => createStore({ path: (path = file) }))
    await under.store.migrate()
    database = openDatabase({ path })
  })
  afterEach(async () => {
    await database.db.destroy()
    await under.dispose()
  })
  const insert = (generations: readonly Generation[]) => under.store.generations.insertMany(generations.map((generation) => ({ generation })))

  it('contains the same however few rows are read in one step and for one page', async () => {
    const bounds = fc.record({ scanRows: fc.integer({ min: 1, max: 12 }), stepRows: fc.integer({ min: 1, max: 5 }), pageBytes: some(1, 2_500, 1e6) })
    await fc.assert(
      fc.asyncProperty(drawnGenerations, drawnFilter, fc.integer({ min: 1, max: 12 }), bounds, async (all, filter, limit, drawn) => {
        while ((await under.store.retention.expire('generations', NOW + 1_000, 500)).more) continue
        await insert(all)
        expect(idsOf(await walk(createGenerationList(database.db, 'sqlite', drawn), filter, limit))).toEqual(expected(all, filter))
      }),
      { numRuns: 150 },
    )
  })

  /** How SQLite goes about every statement of one page. */
  async function plansOf(filter: GenerationFilter): Promise<readonly string[]> {
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
    const first = await createGenerationList(watched, 'sqlite')(filter, { limit: 1 })
    await createGenerationList(watched, 'sqlite')(filter, { limit: 1, cursor: first.nextCursor! })
    file.close()
    return plans
  }

  it.each<[GenerationFilter, index: RegExp]>([
    [{}, /^(?:SCAN|SEARCH) generations USING INDEX generations_age\b/],
    [{ from: NOW, to: NOW + 5 }, /^SEARCH generations USING INDEX generations_age \(created_at>\? AND created_at<\?\)/],
    [{ workspaceId: 'w1' }, /^SEARCH generations USING INDEX generations_workspace \(workspace_id=\?/],
    [
      { workspaceId: 'w1', from: NOW, model: 'acme/small', status: 'completed' },
      /^SEARCH generations USING INDEX generations_workspace \(workspace_id=\?/,
    ],
  ])('follows an index with %o, and sorts only what began in the same millisecond', async (filter, index) => {
    await insert([1, 2, 3].map((n) => sampleGeneration(`gen-${n}`, { workspaceId: 'w1', startedAt: NOW + n })))
    const plans = (await plansOf(filter)).filter((plan) => !plan.includes('json_each'))
    expect(plans.length).toBeGreaterThanOrEqual(2)
    for (const plan of plans) {
      expect(plan).toMatch(index)
      expect(plan.replace('USE TEMP B-TREE FOR LAST TERM OF ORDER BY', '')).not.toContain('B-TREE')
    }
  })

  /** Turns of the event loop while a page was made. */
  async function turnsOf(filter: GenerationFilter, limit: number): Promise<number> {
    let turns = 0
    let isDone = false
    const count = (): void => {
      turns++
      if (!isDone) setImmediate(count)
    }
    setImmediate(count)
    await under.store.generations.list(filter, { limit })
    isDone = true
    return turns
  }

  it('yields between the steps of a page, and needs no more steps than necessary', async () => {
    await insert(Array.from({ length: 2_500 }, (_, n) => sampleGeneration(`gen-${n}`, { startedAt: NOW + n })))
    await insert([sampleGeneration('gen-newest', { startedAt: NOW + 9_000, status: 'failed' })])
    // Eight steps.
    expect(await turnsOf({ status: 'failed' }, 2)).toBeGreaterThanOrEqual(7)
    expect(await turnsOf({ status: 'failed' }, 1)).toBeLessThan(3)
  })
})
