import type { Secret } from '../lib/secret.ts'

/**
 * Secrets at rest. An envelope is text for a database column; it opens only with the master key that wrapped it and the context it was
 * sealed for (`destination:<id>`), so that it cannot be moved to another row.
 */
export interface Encryption {
  /** Short public name of the master key in use. */
  readonly keyId: string
  seal(secret: Secret, context: string): string
  /** Throws GatewayError `precondition_failed` when the master key is not at hand, `server` when the envelope was changed or moved. */
  open(envelope: string, context: string): Secret
  /** The same secret under the master key in use; the envelope itself when it is already. Throws like `open`. */
  rewrap(envelope: string, context: string): string
}
