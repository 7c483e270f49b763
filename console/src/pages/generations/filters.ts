import type { Routes } from '../../api/schema.ts'
import { isoOf } from '../../lib/local-time.ts'

type Query = Routes['GET /api/v1/generations']['query']

/** Time spans, by their value in the URL. */
export const SPANS = [
  { value: '15m', label: 'Last 15 minutes', ms: 15 * 60_000 },
  { value: '1h', label: 'Last hour', ms: 3_600_000 },
  { value: '24h', label: 'Last 24 hours', ms: 86_400_000 },
  { value: '7d', label: 'Last 7 days', ms: 7 * 86_400_000 },
] as const

/** Instead of a span: two points in time, either of which may be missing. */
export const BETWEEN = { value: 'between', label: 'Custom range' } as const

export const STATUSES = ['completed', 'incomplete', 'failed', 'cancelled'] as const
export type Status = (typeof STATUSES)[number]

/** Filters, with the same names in the URL and in the API. */
export const TEXTS = ['model', 'provider', 'error_type', 'api_key_hash', 'session_id', 'workspace_id'] as const
export type TextFilter = (typeof TEXTS)[number]

export type Filters = { readonly [K in TextFilter | 'from' | 'to']?: string } & { readonly status?: Status; readonly span?: string }

/** Changes that remove every filter from the URL. */
export const NO_FILTERS: { readonly [name: string]: undefined } = Object.fromEntries(
  [...TEXTS, 'status', 'span', 'from', 'to'].map((name) => [name, undefined]),
)

/** The filters in the URL; invalid ones are ignored. `get` returns a parameter by its name. */
export function filtersOf(get: (name: string) => string | undefined): Filters {
  const found: { [name: string]: string } = {}
  for (const name of TEXTS) {
    const value = get(name)?.trim() ?? ''
    if (value !== '') found[name] = value
  }
  const status = get('status')
  if (STATUSES.some((one) => one === status)) found['status'] = status!
  const span = get('span')
  if (SPANS.some(({ value }) => value === span)) found['span'] = span!
  else Object.assign(found, momentsOf(get))
  return found
}

/** A URL with only one point in time filters for everything after or before it. */
function momentsOf(get: (name: string) => string | undefined): { readonly [name: string]: string } {
  const moments = (['from', 'to'] as const).flatMap((name) => {
    const iso = isoOf(get(name) ?? '')
    return iso === undefined ? [] : [[name, iso] as const]
  })
  return moments.length > 0 || get('span') === BETWEEN.value ? { span: BETWEEN.value, ...Object.fromEntries(moments) } : {}
}

/** The query to the API. A span is counted back from `now` each time, in milliseconds since the epoch. */
export function queryOf({ span, ...filters }: Filters, now: number): Query {
  const found = SPANS.find(({ value }) => value === span)
  return { ...filters, ...(found === undefined ? {} : { from: new Date(now - found.ms).toISOString() }) }
}
