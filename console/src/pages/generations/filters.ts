import type { Routes } from '../../api/schema.ts'

type Query = Routes['GET /api/v1/generations']['query']

/** How far back is looked, by what stands in the address. */
export const SPANS = [
  { value: '15m', label: 'Last 15 minutes', ms: 15 * 60_000 },
  { value: '1h', label: 'Last hour', ms: 3_600_000 },
  { value: '24h', label: 'Last 24 hours', ms: 86_400_000 },
  { value: '7d', label: 'Last 7 days', ms: 7 * 86_400_000 },
] as const

export const STATUSES = ['completed', 'incomplete', 'failed', 'cancelled'] as const
export type Status = (typeof STATUSES)[number]

/** What may be looked for, under the names it has in the address and in the API. */
export const TEXTS = ['model', 'provider', 'error_type', 'api_key_hash', 'session_id', 'workspace_id'] as const
export type TextFilter = (typeof TEXTS)[number]

export type Filters = { readonly [K in TextFilter]?: string } & { readonly status?: Status; readonly span?: string }

/** The filters an address names; what it names wrongly is none. */
export function filtersOf(search: URLSearchParams): Filters {
  const found: { [name: string]: string } = {}
  for (const name of TEXTS) {
    const value = search.get(name)?.trim() ?? ''
    if (value !== '') found[name] = value
  }
  const status = search.get('status') ?? ''
  if (STATUSES.some((one) => one === status)) found['status'] = status
  const span = search.get('span') ?? ''
  if (SPANS.some(({ value }) => value === span)) found['span'] = span
  return found
}

/** The address with one filter set, or without it; whatever else it names stays, but for the record that was open. */
export function withFilter(search: URLSearchParams, name: keyof Filters, value: string | null): URLSearchParams {
  const next = new URLSearchParams(search)
  next.delete('id')
  if (value === null || value === '') next.delete(name)
  else next.set(name, value)
  return next
}

/** What the API is asked: a span is counted back from `now` each time, in milliseconds since the epoch. */
export function queryOf({ span, ...filters }: Filters, now: number): Query {
  const found = SPANS.find(({ value }) => value === span)
  return { ...filters, ...(found === undefined ? {} : { from: new Date(now - found.ms).toISOString() }) }
}
