import { servedModel } from '../core/endpoint-names.ts'
import type { Endpoint } from '../core/endpoint.ts'
import { GatewayError } from '../core/error.ts'
import type { ErrorType } from '../core/error.ts'
import { CREDENTIAL_TYPES, isCredentialFailure, judge, type FailoverAttempt, type Try } from './failover.ts'

/** The provider was not asked, because none of its credentials is usable at the moment. */
const lacksCredential = ({ error, sent }: Try): boolean => sent === false && error.details.source === 'provider'

/** How useful an error is to the caller. Among equals the earliest wins, which belongs to the model asked for. */
function usefulness(failed: Try): number {
  const { error } = failed
  if (lacksCredential(failed)) return 1
  // A budget of the gateway did not cover an endpoint; the caller can do something about that.
  if (CREDENTIAL_TYPES.has(error.errorType) && !isCredentialFailure(error)) return 8
  switch (judge(error)) {
    case 'never':
      return 8
    case 'next-model':
      return 7
    case 'credential':
      return 0
    case 'busy':
      return 3
    default:
      switch (error.errorType) {
        case 'provider_overloaded':
        case 'provider_unavailable':
          return 6
        case 'timeout':
          return 5
        case 'not_found':
          return 2
        default:
          return 4
      }
  }
}

/**
 * The pause that each attempt named, or undefined for one that named none. Omits attempts whose credential failed, and pauses that have passed and were
 * followed by another try.
 */
function pausesOf(tries: readonly Try[]): readonly (number | undefined)[] {
  const waitedOut = ({ index, startedAt, error }: Try, at: number): boolean => {
    const { retryAfterMs } = error.details
    return retryAfterMs !== undefined && tries.some((later, n) => n > at && later.index === index && later.startedAt >= startedAt + retryAfterMs)
  }
  return tries
    .filter((one, at) => judge(one.error) !== 'credential' && !lacksCredential(one) && !waitedOut(one, at))
    .map(({ error }) => error.details.retryAfterMs)
}

const MAX_LISTED = 16

/** The list of attempts in the caller's error. */
const listed = (attempts: readonly FailoverAttempt[], tries: readonly Try[]): readonly object[] =>
  tries.slice(0, MAX_LISTED).map(({ index, status, error }) => {
    const endpoint = attempts[index]?.endpoint
    return {
      provider: endpoint?.providerName ?? '',
      model: endpoint === undefined ? '' : servedModel(endpoint),
      status: error.details.upstreamStatus ?? status ?? 0,
      error_type: error.errorType,
    }
  })

/**
 * The error of an answer that broke after the caller had a part of it, with the attempts in `metadata.attempts`. If a credential was the cause the
 * error says whose it was, as before the first content.
 */
export function brokenError(attempts: readonly FailoverAttempt[], tries: readonly Try[], error: GatewayError): GatewayError {
  const list = listed(attempts, tries)
  const broken = isCredentialFailure(error) ? tries.filter((one) => one.error === error) : []
  if (broken.length > 0) return credentialError(error, attempts, broken, list)
  return error.with({ metadata: { ...error.details.metadata, attempts: list } })
}

/**
 * The error the caller sees if no attempt served, with the attempts in `metadata.attempts`.
 *
 * Every live attempt busy: `rate_limit_exceeded` with the shortest pause named. Only dead credentials: `provider_unavailable` with reason
 * `upstream_credentials_exhausted`, never a 401 that would make callers doubt their own key. Otherwise the most useful error, the earliest among
 * equals.
 */
export function finalError(attempts: readonly FailoverAttempt[], tries: readonly Try[]): GatewayError {
  const told = tries.reduce<Try | undefined>(
    (found, one) => (found === undefined || usefulness(one) > usefulness(found) ? one : found),
    undefined,
  )?.error
  if (told === undefined) return new GatewayError('provider_overloaded', 'No endpoint could be tried in time.')
  const best = tries.some(({ error }) => error !== told && error.details.fruitless === true) ? told.with({ fruitlessTry: true }) : told
  const list = listed(attempts, tries)
  const verdict = judge(best)
  if (verdict === 'credential') return credentialError(best, attempts, tries, list)
  if (verdict === 'busy' || best.errorType === 'provider_overloaded') {
    const pauses = pausesOf(tries)
    const everyPause = pauses.every((pause) => pause !== undefined)
    const { retryAfterMs: _own, ...details } = best.details
    const known = pauses.filter((pause) => pause !== undefined)
    // A pause is promised only if every attempt named one; after the shortest the first of them is ready again.
    const retryAfter = everyPause ? known : []
    return new GatewayError(best.errorType, best.message, {
      ...details,
      ...(retryAfter.length > 0 ? { retryAfterMs: Math.min(...retryAfter) } : {}),
      metadata: { ...details.metadata, attempts: list },
    })
  }
  return best.with({ metadata: { ...best.details.metadata, attempts: list } })
}

function credentialError(error: GatewayError, attempts: readonly FailoverAttempt[], tries: readonly Try[], list: readonly object[]): GatewayError {
  const refused = tries.filter((one) => isCredentialFailure(one.error))
  return refused.every(({ index }) => attempts[index]?.isByok === true)
    ? ownKeyRefused(error, list)
    : credentialsExhausted(error, attempts, tries, list)
}

/** The caller's own key for a provider was refused and nobody else could serve: the caller can act on this refusal. */
function ownKeyRefused(error: GatewayError, list: readonly object[]): GatewayError {
  const { upstreamStatus, providerName } = error.details
  const type: ErrorType = upstreamStatus === 402 ? 'payment_required' : upstreamStatus === 403 ? 'permission_denied' : ownKind(error)
  return new GatewayError(type, `Your own key for ${providerName ?? 'the provider'} was refused: ${error.message}`, {
    ...error.details,
    failover: 'never',
    metadata: { ...error.details.metadata, reason: 'own_key_refused', attempts: list },
  })
}

/** The error's type decides, because a failure inside an answer has no status of its own and other statuses are ambiguous. */
const ownKind = ({ errorType }: GatewayError): ErrorType => (CREDENTIAL_TYPES.has(errorType) ? errorType : 'authentication')

function credentialsExhausted(
  error: GatewayError,
  attempts: readonly FailoverAttempt[],
  tries: readonly Try[],
  list: readonly object[],
): GatewayError {
  const names = [...new Set(tries.map(({ index }) => attempts[index]?.endpoint.providerName ?? ''))].filter((name) => name !== '').slice(0, 4)
  const who = names.length === 0 ? 'the provider' : names.join(', ')
  const { providerName, upstreamStatus, providerCode } = error.details
  const keyless = tries.every(({ index }) => hasNoKey(attempts[index]?.endpoint.connection))
  const what = keyless ? `The gateway has no key configured for ${who}` : `The gateway's credentials for ${who} were refused`
  return new GatewayError('provider_unavailable', `${what} (upstream_credentials_exhausted); the key of this request is fine.`, {
    source: 'provider',
    failover: 'never',
    ...(providerName === undefined ? {} : { providerName }),
    ...(upstreamStatus === undefined ? {} : { upstreamStatus }),
    ...(providerCode === undefined ? {} : { providerCode }),
    metadata: { reason: 'upstream_credentials_exhausted', attempts: list },
    cause: error,
  })
}

/** Providers with a signer of their own may hold credentials elsewhere. */
const hasNoKey = (connection: Endpoint['connection'] | undefined): boolean => connection?.credentials.length === 0 && connection.sign === undefined
