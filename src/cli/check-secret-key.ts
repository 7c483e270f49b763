import type { DataDirectory } from '../accounts/data-directory.ts'
import { createEncryption, verifySecretKey } from '../accounts/encryption.ts'
import { isGatewayError } from '../core/error.ts'
import { SECRET_KEY_CANARY } from '../core/secret-context.ts'
import type { Store } from '../core/store.ts'

/** Why `serve` would refuse the secret key with this database; undefined: it would not. Writes nothing into a database nobody has started with. */
export async function secretKeyRefusal(store: Pick<Store, 'facts'>, { secretKey }: Pick<DataDirectory, 'secretKey'>): Promise<string | undefined> {
  if ((await store.facts.get(SECRET_KEY_CANARY)) === undefined) return undefined
  try {
    await verifySecretKey(createEncryption({ current: secretKey }), store.facts)
    return undefined
  } catch (error) {
    if (isGatewayError(error) && error.errorType === 'precondition_failed') return error.message
    throw error
  }
}
