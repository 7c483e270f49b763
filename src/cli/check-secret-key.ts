import type { DataDirectory } from '../accounts/data-directory.ts'
import { createEncryption, verifySecretKey } from '../accounts/encryption.ts'
import { isGatewayError } from '../core/error.ts'
import { SECRET_KEY_CANARY } from '../core/secret-context.ts'
import type { Store } from '../core/store.ts'
import { MIGRATIONS } from '../store/migrations/index.ts'

/**
 * Why this secret key cannot open what the database holds; undefined if it can. Never writes to a database that no gateway has started with.
 * `pending`: migrations still to be applied. A database without any has no secrets yet; one that lacks some lacks tables.
 */
export async function secretKeyRefusal(
  store: Pick<Store, 'facts' | 'foreignSecrets'>,
  { secretKey }: Pick<DataDirectory, 'secretKey'>,
  pending: readonly string[],
): Promise<string | undefined> {
  if (pending.length === MIGRATIONS.length) return undefined
  const encryption = createEncryption({ current: secretKey })
  try {
    if ((await store.facts.get(SECRET_KEY_CANARY)) !== undefined) await verifySecretKey(encryption, store.facts)
    const foreign = pending.length === 0 ? await store.foreignSecrets(encryption.keyId) : 0
    if (foreign === 0) return undefined
    return (
      `${foreign} of the secrets in this database (provider keys, destinations, presets, queued content) were encrypted with another secret key ` +
      `than this one (${encryption.keyId}) and cannot be decrypted with it: set SIGNALBOX_SECRET_KEY, or secret.key in the data directory, to that key`
    )
  } catch (error) {
    if (isGatewayError(error) && error.errorType === 'precondition_failed') return error.message
    throw error
  }
}
