import type { CreateKeyRequest } from '../../api/schema.ts'
import { numberOf, type NumberField } from '../../lib/fields.ts'

const DAY_MS = 86_400_000
const NAME = 'Playground of the web console'

/**
 * The body that makes a key for 24 hours; `now` in milliseconds, `workspace` null for that of the management key. Undefined: the limit is none.
 * The limit, in USD, is for all of its time: renewed at midnight it could be spent twice.
 */
export function dayKeyBody(limit: NumberField, workspace: string | null, now: number): CreateKeyRequest | undefined {
  const amount = numberOf(limit)
  if (typeof amount !== 'number' || !(amount > 0)) return undefined
  const expires = new Date(now + DAY_MS).toISOString()
  return { name: NAME, limit: amount, expires_at: expires, ...(workspace === null ? {} : { workspace_id: workspace }) }
}
