import { sql, type RawBuilder, type Transaction } from 'kysely'
import { INTERVALS, NOTHING_SPENT, periodStart, type Interval } from '../core/counter.ts'
import type { Generation } from '../core/generation.ts'
import type { SpendFigures, SpendStore } from '../core/store.ts'
import { ExactSum } from '../lib/exact-sum.ts'
import { createActivityReport, type ActivityBounds } from './activity.ts'
import { text, integer } from './column-value.ts'
import type { Db, Engine, MoneyColumns, Tables } from './database.ts'
import { guarded } from './store-error.ts'

/** A row while a batch is added up. */
type Summed<T> = Omit<T, keyof MoneyColumns> & { readonly money: Money }
type SpendRow = Summed<Tables['spend']>
type ActivityTableRow = Summed<Tables['activity']>

/** Rows of one statement, well below the limits on bound values. */
const MAX_ROWS = 256
const MAX_SUBJECTS = 200

/** Sums up a batch of new generations, within the transaction that inserts them. */
export async function addSpend(trx: Transaction<Tables>, generations: readonly Generation[]): Promise<void> {
  const sums = new Map<string, DaySum>()
  const activity = new Map<string, ActivityTableRow>()
  for (const generation of generations) {
    const total = Number.isFinite(generation.cost.total) ? Math.max(0, generation.cost.total) : 0
    const byok_usd = Math.min(total, generation.cost.byok ?? 0)
    const money = { usd: new ExactSum(total - byok_usd), byok: new ExactSum(byok_usd) }
    if (total > 0) addToDay(sums, generation, money)
    // Calls that reached no endpoint are no activity, but what plugins bought for them is: days add up to what keys and budgets count.
    if (generation.endpointId !== undefined || total > 0) addActivity(activity, generation, money)
  }
  const spend = new Map<string, SpendRow>()
  for (const { keyHash, workspaceId, day, money } of sums.values()) {
    for (const subject of [`key:${keyHash}`, `workspace:${workspaceId}`, 'installation']) addPeriods(spend, subject, day, money)
  }
  // In the same order everywhere, so that processes which write the same rows do not deadlock.
  for (const rows of chunks([...spend.entries()].sort(byKey).map(([, row]) => withColumns(row)))) {
    await trx
      .insertInto('spend')
      .values(rows)
      .onConflict((conflict) =>
        conflict.columns(['subject', 'interval', 'period_start']).doUpdateSet({ ...sumOf('spend', 'usd'), ...sumOf('spend', 'byok_usd') }),
      )
      .execute()
  }
  for (const rows of chunks([...activity.entries()].sort(byKey).map(([, row]) => withColumns(row)))) {
    await trx
      .insertInto('activity')
      .values(rows)
      .onConflict((conflict) =>
        conflict.columns(['day', 'workspace_id', 'key_hash', 'model', 'endpoint_id']).doUpdateSet((eb) => ({
          requests: eb(eb.ref('activity.requests'), '+', eb.ref('excluded.requests')),
          input_tokens: eb(eb.ref('activity.input_tokens'), '+', eb.ref('excluded.input_tokens')),
          output_tokens: eb(eb.ref('activity.output_tokens'), '+', eb.ref('excluded.output_tokens')),
          reasoning_tokens: eb(eb.ref('activity.reasoning_tokens'), '+', eb.ref('excluded.reasoning_tokens')),
          ...sumOf('activity', 'usd'),
          ...sumOf('activity', 'byok_usd'),
        })),
      )
      .execute()
  }
}

const byKey = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : a > b ? 1 : 0)

function* chunks<T>(rows: readonly T[], size = MAX_ROWS): Generator<T[]> {
  for (let i = 0; i < rows.length; i += size) yield rows.slice(i, i + size)
}

interface Money {
  readonly usd: ExactSum
  readonly byok: ExactSum
}

const copyOf = ({ usd, byok }: Money): Money => ({ usd: new ExactSum(usd.sum, usd.rest), byok: new ExactSum(byok.sum, byok.rest) })

function addMoney(sum: Money, { usd, byok }: Money): void {
  sum.usd.add(usd.sum).add(usd.rest)
  sum.byok.add(byok.sum).add(byok.rest)
}

const withColumns = <T extends { readonly money: Money }>({ money: { usd, byok }, ...row }: T): Omit<T, 'money'> & MoneyColumns => ({
  ...row,
  usd: usd.sum,
  usd_rest: usd.rest,
  byok_usd: byok.sum,
  byok_usd_rest: byok.rest,
})

/** A stored sum with what a batch adds to it: the addition of `ExactSum`, in SQL. */
function sumOf<C extends 'usd' | 'byok_usd'>(table: 'spend' | 'activity', column: C): { readonly [K in C | `${C}_rest`]: RawBuilder<number> } {
  const [before, more] = [sql.ref<number>(`${table}.${column}`), sql.ref<number>(`excluded.${column}`)]
  const sum = sql<number>`(${before} + ${more})`
  const added = sql<number>`(${sum} - ${before})`
  const lost = sql<number>`((${before} - (${sum} - ${added})) + (${more} - ${added}))`
  const rest = sql<number>`(${sql.ref(`${table}.${column}_rest`)} + ${sql.ref(`excluded.${column}_rest`)} + ${lost})`
  return { [column]: sum, [`${column}_rest`]: rest } as { readonly [K in C | `${C}_rest`]: RawBuilder<number> }
}

/** What one key spent on one day. Every period consists of days, so a batch is summed by day first: one look-up per record instead of twelve. */
interface DaySum {
  readonly keyHash: string
  readonly workspaceId: string
  readonly day: number
  readonly money: Money
}

function addToDay(sums: Map<string, DaySum>, { keyHash, workspaceId, endedAt }: Generation, money: Money): void {
  const day = periodStart('daily', endedAt)
  const key = `${day} ${workspaceId} ${keyHash}`
  const sum = sums.get(key)
  if (sum === undefined) sums.set(key, { keyHash, workspaceId, day, money: copyOf(money) })
  else addMoney(sum.money, money)
}

function addPeriods(spend: Map<string, SpendRow>, subject: string, at: number, money: Money): void {
  for (const interval of INTERVALS) {
    const period_start = periodStart(interval, at)
    const key = `${subject} ${interval} ${period_start}`
    const row = spend.get(key)
    if (row === undefined) spend.set(key, { subject, interval, period_start, money: copyOf(money) })
    else addMoney(row.money, money)
  }
}

function addActivity(activity: Map<string, ActivityTableRow>, generation: Generation, money: Money): void {
  const { usage } = generation
  const day = periodStart('daily', generation.endedAt)
  const model = text(generation.model ?? generation.requestedModel)
  const endpoint = text(generation.endpointId ?? '')
  const key = `${day} ${generation.workspaceId} ${generation.keyHash} ${model} ${endpoint}`
  const row = activity.get(key)
  if (row === undefined) {
    activity.set(key, {
      day,
      workspace_id: generation.workspaceId,
      key_hash: generation.keyHash,
      model,
      endpoint_id: endpoint,
      provider_name: text(generation.providerName ?? ''),
      requests: 1,
      input_tokens: integer(usage.inputTokens),
      output_tokens: integer(usage.outputTokens),
      reasoning_tokens: integer(usage.reasoningTokens),
      money: copyOf(money),
    })
    return
  }
  row.requests += 1
  row.input_tokens += integer(usage.inputTokens)
  row.output_tokens += integer(usage.outputTokens)
  row.reasoning_tokens += integer(usage.reasoningTokens)
  addMoney(row.money, money)
}

/**
 * What was spent, which is the sum alone where the database lacks the rest: a gateway serves before its migrations if they have to wait for a lock or for
 * room on the disk. No amount may be NaN: every comparison with it is false, so that no budget would ever be used up.
 */
const amountOf = (sum: number, rest: number | undefined): number => sum + (rest ?? 0)

const NO_SPENDING: SpendFigures = { usd: NOTHING_SPENT, byokUsd: NOTHING_SPENT }

export function createSpendStore(db: Db, engine: Engine, activity?: Partial<ActivityBounds>): SpendStore {
  const ofMany = (subjects: readonly string[], now: number): Promise<ReadonlyMap<string, SpendFigures>> =>
    guarded(async () => {
      const found = new Map<string, { usd: { [I in Interval]: number }; byokUsd: { [I in Interval]: number } }>()
      for (const some of chunks(subjects, MAX_SUBJECTS)) {
        const rows = await db
          .selectFrom('spend')
          .selectAll()
          .where('subject', 'in', some)
          .where((eb) =>
            eb.or(INTERVALS.map((interval) => eb.and([eb('interval', '=', interval), eb('period_start', '=', periodStart(interval, now))]))),
          )
          .execute()
        for (const row of rows) {
          let figures = found.get(row.subject)
          if (figures === undefined) found.set(row.subject, (figures = { usd: { ...NOTHING_SPENT }, byokUsd: { ...NOTHING_SPENT } }))
          figures.usd[row.interval as Interval] = amountOf(row.usd, row.usd_rest)
          figures.byokUsd[row.interval as Interval] = amountOf(row.byok_usd, row.byok_usd_rest)
        }
      }
      return found
    })

  return {
    of: async (subject, now) => (await ofMany([subject], now)).get(subject) ?? NO_SPENDING,
    ofMany,
    activity: createActivityReport(db, engine, activity),
  }
}
