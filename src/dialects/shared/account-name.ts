import { z } from 'zod'
import { hashedName } from './id-map.ts'

/** For formats whose servers refuse a whole call because of a longer name. */
export const maxUserLength = z
  .int()
  .min(32)
  .default(64)
  .describe('Maximum length of `user`, `safety_identifier` and `prompt_cache_key`. Longer ones are sent as a hash that is always the same.')

const NAMES: ReadonlySet<string> = new Set(['user', 'safety_identifier', 'prompt_cache_key'])

/** A field about the caller or the account, as the endpoint accepts it. */
export function accountField(field: string, value: unknown, max: number): unknown {
  return NAMES.has(field) && typeof value === 'string' && value.length > max ? hashedName(value, 32) : value
}
