import type { Transaction } from 'kysely'
import { INTERVALS, NOTHING_SPENT, periodStart, type Interval } from '../core/counter.ts'
import type { Generation } from '../core/generation.ts'
import type { SpendFigures, SpendStore } from '../core/store.ts'
import { createActivityReport, type ActivityBounds } from './activity.ts'
import { text, integer } from './column-value.ts'
import type { Db, Engine, Tables } from './database.ts'
import { guarded } from './store-error.ts'

type SpendRow = Tables['spend']
type ActivityTableRow = Tables['activity']

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
    const money = { usd: total - byok_usd, byok_usd }
    if (total > 0) addToDay(sums, generation, money)
    if (generation.endpointId !== undefined) addActivity(activity, generation, money)
  }
  const spend = new Map<string, SpendRow>()
  for (const { keyHash, workspaceId, day, ...money } of sums.values()) {
    for (const subject of [`key:${keyHash}`, `workspace:${workspaceId}`, 'installation']) addPeriods(spend, subject, day, money)
  }
  // In the same order everywhere, so that processes which write the same rows do not deadlock.
  for (const rows of chunks([...spend.entries()].sort(byKey).map(([, row]) => row))) {
    await trx
      .insertInto('spend')
      .values(rows)
      .onConflict((conflict) =>
        conflict.columns(['subject', 'interval', 'period_start']).doUpdateSet((eb) => ({
          usd: eb(eb.ref('spend.usd'), '+', eb.ref('excluded.usd')),
          byok_usd: eb(eb.ref('spend.byok_usd'), '+', eb.ref('excluded.byok_usd')),
        })),
      )
      .execute()
  }
  for (const rows of chunks([...activity.entries()].sort(byKey).map(([, row]) => row))) {
    await trx
      .insertInto('activity')
      .values(rows)
      .onConflict((conflict) =>
        conflict.columns(['day', 'workspace_id', 'key_hash', 'model', 'endpoint_id']).doUpdateSet((eb) => ({
          requests: eb(eb.ref('activity.requests'), '+', eb.ref('excluded.requests')),
          input_tokens: eb(eb.ref('activity.input_tokens'), '+', eb.ref('excluded.input_tokens')),
          output_tokens: eb(eb.ref('activity.output_tokens'), '+', eb.ref('excluded.output_tokens')),
          reasoning_tokens: eb(eb.ref('activity.reasoning_tokens'), '+', eb.ref('excluded.reasoning_tokens')),
          usd: eb(eb.ref('activity.usd'), '+', eb.ref('excluded.usd')),
          byok_usd: eb(eb.ref('activity.byok_usd'), '+', eb.ref('excluded.byok_usd')),
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
  readonly usd: number
  readonly byok_usd: number
}

/** What one key spent on one day. Every period consists of days, so a batch is summed by day first: one look-up per record instead of twelve. */
interface DaySum extends Money {
  readonly keyHash: string
  readonly workspaceId: string
  readonly day: number
  usd: number
  byok_usd: number
}

function addToDay(sums: Map<string, DaySum>, { keyHash, workspaceId, endedAt }: Generation, money: Money): void {
  const day = periodStart('daily', endedAt)
  const key = `${day} ${workspaceId} ${keyHash}`
  const sum = sums.get(key)
  if (sum === undefined) sums.set(key, { keyHash, workspaceId, day, ...money })
  else {
    sum.usd += money.usd
    sum.byok_usd += money.byok_usd
  }
}

function addPeriods(spend: Map<string, SpendRow>, subject: string, at: number, money: Money): void {
  for (const interval of INTERVALS) {
    const period_start = periodStart(interval, at)
    const key = `${subject} ${interval} ${period_start}`
    const row = spend.get(key)
    if (row === undefined) spend.set(key, { subject, interval, period_start, ...money })
    else {
      row.usd += money.usd
      row.byok_usd += money.byok_usd
    }
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
      ...money,
    })
    return
  }
  row.requests += 1
  row.input_tokens += integer(usage.inputTokens)
  row.output_tokens += integer(usage.outputTokens)
  row.reasoning_tokens += integer(usage.reasoningTokens)
  row.usd += money.usd
  row.byok_usd += money.byok_usd
}

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
          figures.usd[row.interval as Interval] = row.usd
          figures.byokUsd[row.interval as Interval] = row.byok_usd
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
