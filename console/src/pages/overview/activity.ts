import type { Answer } from '../../api/client.ts'
import { briefUsd, count, short, usd } from '../../lib/format.ts'

/** The gateway's counts for one day, model and endpoint. */
export type ActivityRow = Pick<
  Answer<'GET /api/v1/activity'>['data'][number],
  'date' | 'model' | 'provider_name' | 'usage' | 'byok_usage_inference' | 'requests' | 'prompt_tokens' | 'completion_tokens'
>

export interface Totals {
  readonly calls: number
  /** USD paid by the gateway's own credentials. */
  readonly spent: number
  /** USD for calls with callers' own provider keys, at list price: their vendors bill it. */
  readonly ownKeys: number
  readonly tokensIn: number
  readonly tokensOut: number
}

const NONE: Totals = { calls: 0, spent: 0, ownKeys: 0, tokensIn: 0, tokensOut: 0 }

export const METRICS = {
  calls: { label: 'Calls', noun: 'calls', of: ({ calls }: Totals) => calls, shown: count, brief: short },
  spent: { label: 'USD', noun: 'USD', of: ({ spent }: Totals) => spent, shown: usd, brief: briefUsd },
  own_keys: { label: 'USD, own keys', noun: 'USD of own keys', of: ({ ownKeys }: Totals) => ownKeys, shown: usd, brief: briefUsd },
  tokens: { label: 'Tokens', noun: 'tokens', of: ({ tokensIn, tokensOut }: Totals) => tokensIn + tokensOut, shown: count, brief: short },
} as const
export type Metric = keyof typeof METRICS
export const isMetric = (name: string | undefined): name is Metric => name !== undefined && Object.hasOwn(METRICS, name)

export type Grouping = 'model' | 'provider'
const nameOf = (row: ActivityRow, by: Grouping): string => (by === 'model' ? row.model : row.provider_name)

export function sum(rows: readonly ActivityRow[]): Totals {
  return rows.reduce(
    (all, row) => ({
      calls: all.calls + row.requests,
      spent: all.spent + row.usage,
      ownKeys: all.ownKeys + row.byok_usage_inference,
      tokensIn: all.tokensIn + row.prompt_tokens,
      tokensOut: all.tokensOut + row.completion_tokens,
    }),
    NONE,
  )
}

const DAY_MS = 86_400_000

/**
 * The dates of the last `length` days, the latest last. Days are those of the gateway, in UTC; if its clock is ahead of the reader's, its latest day
 * counts as today.
 */
export function lastDays(rows: readonly ActivityRow[], now: number, length: number): readonly string[] {
  const here = new Date(now).toISOString().slice(0, 10)
  const today = Date.parse(rows.reduce((latest, { date }) => (date > latest ? date : latest), here))
  return Array.from({ length }, (_, n) => new Date(today - (length - 1 - n) * DAY_MS).toISOString().slice(0, 10))
}

/** Totals for each of the days, including days without calls. */
export function byDay(rows: readonly ActivityRow[], days: readonly string[]): readonly Totals[] {
  const found = Map.groupBy(rows, ({ date }) => date)
  return days.map((day) => sum(found.get(day) ?? []))
}

export interface Ranked {
  readonly name: string
  readonly totals: Totals
  /** Share of the metric used for ranking, 0 to 1; undefined if its total is zero. */
  readonly share: number | undefined
}

/** Models or providers, the largest first, and by name if equal. */
export function rank(rows: readonly ActivityRow[], by: Grouping, metric: Metric): readonly Ranked[] {
  const { of } = METRICS[metric]
  const all = of(sum(rows))
  return [...Map.groupBy(rows, (row) => nameOf(row, by))]
    .map(([name, group]) => ({ name, totals: sum(group) }))
    .sort((a, b) => of(b.totals) - of(a.totals) || (a.name < b.name ? -1 : 1))
    .map(({ name, totals }) => ({ name, totals, share: all > 0 ? of(totals) / all : undefined }))
}

export interface DaySeries {
  readonly name: string
  /** One figure for each day. */
  readonly values: readonly number[]
  /** Combines all that are too small for a colour of their own. */
  readonly isRest?: boolean
}

const MOST = 8

/** The series of the chart: the first eight of the ranking and one for all others. Those with nothing of the metric are left out. */
export function seriesOf(rows: readonly ActivityRow[], days: readonly string[], by: Grouping, metric: Metric): readonly DaySeries[] {
  const { of } = METRICS[metric]
  const within = rows.filter(({ date }) => days.includes(date))
  const names = rank(within, by, metric)
    .filter(({ totals }) => of(totals) > 0)
    .map(({ name }) => name)
  const groups = Map.groupBy(within, (row) => nameOf(row, by))
  const valuesOf = (some: readonly string[]): readonly number[] =>
    byDay(
      some.flatMap((name) => groups.get(name) ?? []),
      days,
    ).map(of)
  const others = names.slice(MOST)
  return [
    ...names.slice(0, MOST).map((name) => ({ name, values: valuesOf([name]) })),
    ...(others.length === 0 ? [] : [{ name: `Others (${others.length})`, values: valuesOf(others), isRest: true }]),
  ]
}
