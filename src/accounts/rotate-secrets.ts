import type { Store } from '../core/store.ts'
import { GatewayError } from '../core/error.ts'
import { createEncryption, verifySecretKey } from './encryption.ts'

export interface Rotation {
  /** Public ids of the two keys. */
  readonly from: string
  readonly to: string
  /** The number of secrets that were sealed with the new key. */
  readonly secrets: number
}

/**
 * Seals every secret of the store with another master key, all or none. The secrets themselves do not change, nor does the outbox. Processes that
 * still have the old key can use what they have read, and are refused when they want to write a secret. Throws GatewayError `precondition_failed` if
 * `current` is not the store's key, `invalid_request` if there is nothing to change.
 */
export async function rotateSecrets(store: Pick<Store, 'facts' | 'rewrapSecrets'>, current: Buffer, next: Buffer): Promise<Rotation> {
  if (current.equals(next)) throw new GatewayError('invalid_request', 'The new secret key is the one in use; nothing was changed')
  const before = createEncryption({ current })
  await verifySecretKey(before, store.facts)
  const after = createEncryption({ current: next, previous: [current] })
  const secrets = await store.rewrapSecrets((envelope, context) => after.rewrap(envelope, context))
  return { from: before.keyId, to: after.keyId, secrets }
}
