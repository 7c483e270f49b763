import type { CreateKeyRequest } from '../../api/schema.ts'
import { numberOf, type NumberField } from '../../lib/fields.ts'

const DAY_MS = 86_400_000
const NAME = 'Playground of the web console'

/**
 * The body for a key that lasts 24 hours; `now` in milliseconds, `workspace` null for the management key's own. Undefined if the limit is invalid. The
 * limit, in USD, covers the whole lifetime: if it were reset at midnight, it could be spent twice.
 */
export function dayKeyBody(limit: NumberField, workspace: string | null, now: number): CreateKeyRequest | undefined {
  const amount = numberOf(limit)
  if (typeof amount !== 'number' || !(amount > 0)) return undefined
  const expires = new Date(now + DAY_MS).toISOString()
  return { name: NAME, limit: amount, expires_at: expires, ...(workspace === null ? {} : { workspace_id: workspace }) }
}
