import type { FactStore, Store } from '../core/store.ts'
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

/** Whether the store's secrets are sealed with `key`. */
export async function isKeyInUse(facts: FactStore, key: Buffer): Promise<boolean> {
  try {
    await verifySecretKey(createEncryption({ current: key }), facts)
    return true
  } catch (error) {
    if (error instanceof GatewayError && error.errorType === 'precondition_failed') return false
    throw error
  }
}

/**
 * The error of a rotation with what became of the new key, which its operator has already: a database that goes away in the last moment may have taken
 * it all the same, and whoever then throws it away has lost every secret.
 */
export async function withKeyInForce(failure: unknown, facts: FactStore, next: Buffer): Promise<unknown> {
  if (!(failure instanceof GatewayError)) return failure
  const inUse = await isKeyInUse(facts, next).catch(() => undefined)
  const outcome =
    inUse === undefined
      ? 'Which key is in force is not known: keep both, and use the one that signalbox doctor accepts'
      : `The new key is ${inUse ? '' : 'not '}in force`
  return new GatewayError(failure.errorType, `${failure.message}. ${outcome}`, failure.details)
}
