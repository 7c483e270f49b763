import type { Encryption } from '../core/account.ts'
import { joinSecrets, splitSecrets } from '../core/destination-config.ts'
import type { JsonObject } from '../core/item.ts'
import type { DestinationRecord, StoredDestination } from '../core/outbox.ts'
import { destinationContext } from '../core/secret-context.ts'
import { Secret } from '../lib/secret.ts'

/** The two columns of a configuration: the part that may be readable, and an envelope for the rest. `secrets` are the paths of the type's secrets. */
export function sealConfig(
  encryption: Encryption,
  destination: { readonly id: string; readonly type: string },
  config: JsonObject,
  secrets: readonly string[],
): Pick<StoredDestination, 'config' | 'sealed'> {
  const { open, secret } = splitSecrets(config, secrets)
  if (Object.keys(secret).length === 0) return { config: open, sealed: null }
  return { config: open, sealed: encryption.seal(new Secret(JSON.stringify(secret)), destinationContext(destination.id, destination.type)) }
}

/** The secrets of a configuration in plain text, for use in memory only. Throws the errors of `Encryption.open`. */
export function openSecrets(encryption: Encryption, { id, type, sealed }: Pick<StoredDestination, 'id' | 'type' | 'sealed'>): JsonObject {
  return sealed === null ? {} : (JSON.parse(encryption.open(sealed, destinationContext(id, type)).reveal()) as JsonObject)
}

/** A stored destination with its secrets in plain text, for use in memory only. Throws the errors of `Encryption.open`. */
export function openDestination(encryption: Encryption, stored: StoredDestination): DestinationRecord {
  return withSecrets(stored, openSecrets(encryption, stored))
}

export function withSecrets({ sealed, ...stored }: StoredDestination, secrets: JsonObject): DestinationRecord {
  return sealed === null ? stored : { ...stored, config: joinSecrets(stored.config, secrets) }
}
