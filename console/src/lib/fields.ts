import type { ApiError } from '../api/client.ts'
import { changesOf } from './changes.ts'

/** The value of a number field: text while it is typed, an empty string once it is cleared. */
export type NumberField = number | string

export interface RateFields {
  readonly requests: NumberField
  readonly tokens: NumberField
  readonly concurrent: NumberField
}

export interface Rates {
  readonly requests_per_minute?: number | null | undefined
  readonly tokens_per_minute?: number | null | undefined
  readonly concurrent_requests?: number | null | undefined
}

/**
 * null if the field is empty. Text that is no number, such as a lone point, is sent unchanged, because the gateway then says what it expects; as a number
 * it would become null in JSON.
 */
export function numberOf(field: NumberField): number | null {
  if (typeof field === 'number') return field
  if (field.trim() === '') return null
  const value = Number(field)
  return Number.isNaN(value) ? (field as unknown as number) : value
}

export const fieldOf = (value: number | null | undefined): NumberField => value ?? ''

/** null if the field is empty. */
export const textOf = (field: string): string | null => (field.trim() === '' ? null : field.trim())

export const listOf = (field: readonly string[]): readonly string[] | null => (field.length === 0 ? null : field)

export const rateFieldsOf = (rates: Rates | null | undefined): RateFields => ({
  requests: fieldOf(rates?.requests_per_minute),
  tokens: fieldOf(rates?.tokens_per_minute),
  concurrent: fieldOf(rates?.concurrent_requests),
})

/** Rates are replaced as a whole; null if none is left. */
export function ratesOf({ requests, tokens, concurrent }: RateFields): Rates | null {
  const rates = {
    requests_per_minute: numberOf(requests),
    tokens_per_minute: numberOf(tokens),
    concurrent_requests: numberOf(concurrent),
  }
  const withValues = Object.entries(rates).filter(([, value]) => value !== null)
  return withValues.length === 0 ? null : Object.fromEntries(withValues)
}

/**
 * The rates to send, since they are replaced as a whole: those changed from `before` to `after`, and the others as they are stored `now`, because others
 * may have changed them while the form was open.
 */
export function mergedRates(before: Rates | null | undefined, after: Rates | null | undefined, now: Rates | null | undefined): Rates | null {
  const [was, mine, theirs] = [before, after, now].map(rateFieldsOf) as [RateFields, RateFields, RateFields]
  return ratesOf({ ...theirs, ...changesOf(was, mine) })
}

/** The gateway's error message for a field: `rate_limits.tokens_per_minute` also belongs to `rate_limits`. */
export function refusalAt(error: ApiError | null, field: string): string | undefined {
  const path = error?.path
  if (error === null || path === undefined) return undefined
  return path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`) ? error.message : undefined
}

/** The error, unless one of these fields shows it. */
export const refusalElsewhere = (error: ApiError | null, fields: readonly string[]): ApiError | null =>
  fields.some((field) => refusalAt(error, field) !== undefined) ? null : error
