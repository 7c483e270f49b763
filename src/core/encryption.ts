import type { Secret } from '../lib/secret.ts'

/**
 * Encryption of stored secrets. An envelope is text for a database column. It opens only with the master key that wrapped it and the context it was
 * sealed for (`destination:<id>`), so that it cannot be moved to another row.
 */
export interface Encryption {
  /** Short public name of the current master key. */
  readonly keyId: string
  seal(secret: Secret, context: string): string
  /** Throws GatewayError `precondition_failed` if the master key is not available, `server` if the envelope was changed or moved. */
  open(envelope: string, context: string): Secret
  /** The same secret wrapped with the current master key; the envelope itself if it already is. Throws like `open`. */
  rewrap(envelope: string, context: string): string
}
