import type { ApiKey } from '../../api/schema.ts'
import { containing } from '../../lib/find.ts'
import { count, short } from '../../lib/format.ts'

export type KeyState = 'active' | 'disabled' | 'expired'

/** Whether calls with the key are accepted at a given time, in milliseconds. */
export function stateOf({ disabled, expires_at: expires }: ApiKey, now: number): KeyState {
  if (disabled) return 'disabled'
  return expires !== null && Date.parse(expires) <= now ? 'expired' : 'active'
}

/** Keys whose name, label or hash contains a text, ignoring case. */
export const keysWith = (keys: readonly ApiKey[], text: string): readonly ApiKey[] =>
  containing(keys, text, ({ name, label, hash }) => [name, label, hash])

const DAY_MS = 86_400_000

/** Keys that existed and were not used for some days; all keys without a number of days. */
export function unusedFor(keys: readonly ApiKey[], days: number | undefined, now: number): readonly ApiKey[] {
  if (days === undefined) return keys
  return keys.filter(
    ({ last_used_at: used, created_at: created }) => now - Math.max(Date.parse(used ?? created), Date.parse(created)) > days * DAY_MS,
  )
}

const RATES = [
  ['requests_per_minute', 'req/min', count],
  ['tokens_per_minute', 'tok/min', short],
  ['concurrent_requests', 'concurrent', count],
] as const

/** `60 req/min` and `4 concurrent`: the limits that the key has. */
export const ratesOfKey = ({ rate_limits: rates }: ApiKey): readonly string[] =>
  RATES.flatMap(([name, unit, shown]) => (rates?.[name] == null ? [] : [`${shown(rates[name])} ${unit}`]))

/** How much of the limit is used, from 0 to 1. A limit of zero is fully used. */
export const usedShare = ({ limit, limit_remaining: left }: ApiKey): number | undefined => {
  if (limit === null || left === null) return undefined
  return limit === 0 ? 1 : Math.min(1, Math.max(0, 1 - left / limit))
}
