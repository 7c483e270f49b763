import type { IncomingMessage } from 'node:http'
import type { CacheReport, CachePreferences } from '../core/answer-cache.ts'
import type { JsonObject } from '../core/item.ts'
import { one, wordOf } from './request-headers.ts'

/** The headers in our spelling and in that of the public service. Answers use the spelling of their request. */
const PREFIXES = ['x-gateway-cache', 'x-openrouter-cache'] as const

const DEFAULT_TTL_S = 300
const MAX_TTL_S = 86_400
/** Largest body that is hashed to look for a kept answer. */
const MAX_BODY_BYTES = 8 * 1024 * 1024

export interface CacheAsked {
  readonly preferences: CachePreferences
  /** The prefix of the answer's headers. */
  readonly prefix: string
}

/**
 * Whether a call may be answered from the cache, and how long its own answer is kept: the headers `X-Gateway-Cache` (`true`, `false`), `-TTL`
 * (seconds, 1 to 86,400; others are clamped, what is no number is ignored) and `-Clear`, which win over `cache_enabled` and `cache_ttl_seconds` of
 * the preset, except over its `false`. Rules: https://openrouter.ai/docs/guides/features/response-caching. Undefined if it may not. Throws
 * GatewayError `invalid_request` for other words.
 */
export function cacheAskedFor(request: IncomingMessage, preset: JsonObject | undefined, bodyBytes: number): CacheAsked | undefined {
  const prefix = PREFIXES.find((name) => request.headers[name] !== undefined)
  const enabled = preset?.['cache_enabled']
  if (prefix === undefined && enabled !== true) return undefined
  const word = prefix === undefined ? undefined : wordOf(request, prefix, ['true', 'false'])
  if (enabled === false || word === 'false' || bodyBytes > MAX_BODY_BYTES) return undefined
  const named = prefix ?? PREFIXES.find((name) => [`${name}-ttl`, `${name}-clear`].some((header) => request.headers[header] !== undefined))
  const spelling = named ?? PREFIXES[0]
  const ttl = secondsOf(one(request.headers[`${spelling}-ttl`])) ?? secondsOf(preset?.['cache_ttl_seconds']) ?? DEFAULT_TTL_S
  const fresh = wordOf(request, `${spelling}-clear`, ['true', 'false']) === 'true'
  return { prefix: spelling, preferences: { ttlMs: ttl * 1_000, fresh } }
}

function secondsOf(value: unknown): number | undefined {
  const seconds = typeof value === 'number' ? Math.trunc(value) : typeof value === 'string' ? Number.parseInt(value, 10) : Number.NaN
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(seconds, 1), MAX_TTL_S)
}

/** What the caller is told about the cache, in whole seconds. */
export function cacheHeaders(prefix: string, report: CacheReport): { readonly [name: string]: string } {
  const ttl = { [`${prefix}-ttl`]: String(Math.ceil(report.ttlMs / 1_000)) }
  if (report.status === 'miss') return { [`${prefix}-status`]: 'MISS', ...ttl }
  return {
    [`${prefix}-status`]: 'HIT',
    [`${prefix}-age`]: String(Math.floor(report.ageMs / 1_000)),
    ...ttl,
    [`${prefix}-source-id`]: report.sourceId,
  }
}
