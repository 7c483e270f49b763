import { GatewayError } from '../core/error.ts'
import type { Connection, Credential } from '../core/provider.ts'
import type { Clock } from '../lib/clock.ts'
import type { Secret } from '../lib/secret.ts'

interface CredentialState {
  /** The secret that was refused: if the credential gets another one, nothing is known of that. */
  readonly secret: Secret
  /** Set aside by a rate limit until then, monotonic milliseconds. */
  limitedUntil: number
  /** Counts as dead until then (401, 402, 403, exhausted quota); tried again afterwards. */
  deadUntil: number
  /** When it was last sent or refused while dead. */
  askedAt: number
}

const isLive = (state: CredentialState | undefined, now: number): boolean =>
  state === undefined || (state.deadUntil <= now && state.limitedUntil <= now)

const DEAD_MS = 60_000
/** How often a dead credential is tried again if nothing else can serve: vendors sometimes refuse good keys for a moment. */
const ASK_AGAIN_MS = 5_000
const DEFAULT_LIMITED_MS = 10_000
const MAX_TRACKED = 10_000

/**
 * Chooses the credential of a provider's pool. States: live -> limited (429, until its hint) -> live; live -> dead (rejected by the vendor) -> live
 * again after a minute, because keys get topped up. Live ones take turns, except for sessions. A limited one is used only if no live one is left. A
 * dead one is never used, unless the call has nowhere else to go: then it is tried every few seconds.
 */
export interface CredentialPools {
  /**
   * Undefined for a provider without authentication. Throws `provider_unavailable` when every credential was tried or is dead.
   * `own`: the caller's keys instead of the provider's pool; they are tried in their order, not in turns.
   * `seed`: of a session, which keeps to one key, because other accounts do not have its prompt cache.
   */
  pick(connection: Connection, tried: ReadonlySet<string>, own?: readonly Credential[], seed?: number): Credential | undefined
  report(connection: Connection, credential: Credential, error: GatewayError): void
  /** A dead credential of the provider's own pool that has not been tried for a while, for a call that nobody else can serve. */
  pickDead(connection: Connection, tried: ReadonlySet<string>): Credential | undefined
  /** The credential brought an answer, so it is good whatever was noted before. */
  served(connection: Connection, credential: Credential): void
  /** Whether another credential of this provider could still be tried. */
  hasOther(connection: Connection, tried: ReadonlySet<string>, own?: readonly Credential[]): boolean
  /** Whether a credential of the provider's own pool is neither limited nor dead at the moment. */
  hasLive(connection: Connection): boolean
  /** Forgets everything: the configuration has changed. */
  reset(): void
}

/** Called once each time a credential of the operator's turns out dead: calls go on with others, so nobody would notice. */
export type OnDeadCredential = (connection: Connection, credential: Credential, error: GatewayError) => void

/** `cooldown: false` keeps no memory between calls; within one call a failed credential is still not tried twice. */
export function createCredentialPools(clock: Clock, cooldown = true, onDead?: OnDeadCredential): CredentialPools {
  const states = new Map<string, CredentialState>()
  const turns = new Map<string, number>()
  const keyOf = (connection: Connection, credential: Credential): string => `${connection.provider} ${credential.id}`
  const stateOf = (connection: Connection, credential: Credential): CredentialState | undefined => {
    const state = states.get(keyOf(connection, credential))
    return state?.secret.reveal() === credential.secret.reveal() ? state : undefined
  }

  const choose = (connection: Connection, tried: ReadonlySet<string>, own?: readonly Credential[], seed?: number): Credential | undefined => {
    const credentials = own ?? connection.credentials
    const now = clock.monotonic()
    const turn = own === undefined ? (seed ?? turns.get(connection.provider) ?? 0) : 0
    let limited: Credential | undefined
    for (let i = 0; i < credentials.length; i++) {
      const credential = credentials[(turn + i) % credentials.length]!
      if (tried.has(credential.id)) continue
      const state = stateOf(connection, credential)
      if (isLive(state, now)) {
        if (own === undefined && seed === undefined) turns.set(connection.provider, (turn + i + 1) % credentials.length)
        return credential
      }
      if ((state?.deadUntil ?? 0) <= now) limited ??= credential
    }
    return limited
  }

  return {
    pick(connection, tried, own, seed) {
      const credentials = own ?? connection.credentials
      if (credentials.length === 0) return undefined
      const credential = credentials.length === 1 && states.size === 0 && tried.size === 0 ? credentials[0] : choose(connection, tried, own, seed)
      if (credential !== undefined) return credential
      if (own !== undefined) {
        throw new GatewayError('provider_unavailable', `None of your own keys for ${connection.providerName} is usable at the moment`, {
          source: 'provider',
          providerName: connection.providerName,
          failover: 'next',
          metadata: { reason: 'own_keys_exhausted' },
        })
      }
      throw new GatewayError('provider_unavailable', `No credential of ${connection.providerName} is usable at the moment`, {
        source: 'provider',
        providerName: connection.providerName,
        failover: 'next',
        metadata: { reason: 'upstream_credentials_exhausted' },
      })
    },
    pickDead(connection, tried) {
      const now = clock.monotonic()
      for (const credential of connection.credentials) {
        const state = tried.has(credential.id) ? undefined : stateOf(connection, credential)
        if (state === undefined || state.deadUntil <= now || now - state.askedAt < ASK_AGAIN_MS) continue
        state.askedAt = now
        return credential
      }
      return undefined
    },
    served(connection, credential) {
      const state = states.size === 0 ? undefined : stateOf(connection, credential)
      if (state !== undefined) state.deadUntil = 0
    },
    hasOther(connection, tried, own) {
      return (own ?? connection.credentials).length > tried.size && choose(connection, tried, own) !== undefined
    },
    hasLive(connection) {
      const now = clock.monotonic()
      return connection.credentials.some((credential) => isLive(stateOf(connection, credential), now))
    },
    reset() {
      states.clear()
    },
    report(connection, credential, error) {
      const dead = error.details.credentialDead === true
      if (!cooldown) return
      if (!dead && error.errorType !== 'rate_limit_exceeded') return
      if (states.size > MAX_TRACKED) states.clear()
      const state = stateOf(connection, credential) ?? { secret: credential.secret, limitedUntil: 0, deadUntil: 0, askedAt: 0 }
      const now = clock.monotonic()
      if (dead) {
        state.askedAt = now
        if (state.deadUntil <= now) {
          state.deadUntil = now + DEAD_MS
          if (connection.credentials.includes(credential)) onDead?.(connection, credential, error)
        }
      } else {
        // Concurrent calls may hit different limits of the credential; the last one to end counts.
        state.limitedUntil = Math.max(state.limitedUntil, now + (error.details.retryAfterMs ?? DEFAULT_LIMITED_MS))
      }
      states.set(keyOf(connection, credential), state)
    },
  }
}
