import { secretsOf } from '../core/api-key.ts'
import { GatewayError } from '../core/error.ts'
import type { ApiKey, ApiKeyPatch, KeySecret } from '../core/store.ts'

/** Long enough to bring a new secret everywhere; longer, a rotation would not end anything. */
export const MAX_GRACE_MS = 90 * 86_400_000
/** Each secret that works is a way in. */
const MAX_EARLIER = 5
/** Secrets that ended are remembered, so that their users are told why; the oldest of them are forgotten. */
const MAX_ENDED = 10

/** Adds a new current secret. All earlier ones stop working after the grace period at the latest. Throws `conflict` and `invalid_request`. */
export function rotation(key: ApiKey, secret: Pick<KeySecret, 'hash' | 'label'>, graceMs: number, now: number): ApiKeyPatch {
  if (key.revokedAt !== null) throw new GatewayError('conflict', 'The key is revoked, so it cannot be rotated')
  if (key.expiresAt !== null && key.expiresAt <= now) throw new GatewayError('conflict', 'The key has expired, so it cannot be rotated')
  if (key.origin === 'environment')
    throw new GatewayError('conflict', `The key comes from the variable ${key.name}: change the variable and restart, which replaces it`)
  const ended = endedBy(secretsOf(key), graceMs === 0 ? 0 : now + graceMs)
  if (ended.filter(({ endsAt }) => endsAt! > now).length > MAX_EARLIER)
    throw new GatewayError('conflict', `The key has ${MAX_EARLIER} earlier secrets that still work: end them first, or rotate without a grace period`)
  return { label: secret.label, secrets: [...remembered(ended, key.hash, now), { hash: secret.hash, label: secret.label, endsAt: null }] }
}

/** Ends all earlier secrets at once. */
export function withoutGrace(key: ApiKey): ApiKeyPatch {
  const secrets = secretsOf(key)
  return key.secrets === undefined ? {} : { secrets: [...endedBy(secrets.slice(0, -1), 0), secrets.at(-1)!] }
}

const endedBy = (secrets: readonly KeySecret[], at: number): readonly KeySecret[] =>
  secrets.map((secret) => ({ ...secret, endsAt: Math.min(secret.endsAt ?? at, at) }))

/** The secret that is the key's id always stays: without it, it would count as valid again. */
function remembered(secrets: readonly KeySecret[], id: string, now: number): readonly KeySecret[] {
  const ended = secrets.filter(({ hash, endsAt }) => endsAt! <= now && hash !== id)
  const forgotten = new Set(ended.slice(0, Math.max(0, ended.length - MAX_ENDED)))
  return secrets.filter((secret) => !forgotten.has(secret))
}
