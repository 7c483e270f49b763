import { createHash } from 'node:crypto'
import type { Generation } from '../core/generation.ts'

/**
 * Whether a destination takes the share of traffic that this generation belongs to. Deterministic: a session is delivered whole or not at all,
 * different destinations pick different sessions, and a higher rate only adds sessions.
 */
export function isSampled(destinationId: string, rate: number, generation: Generation): boolean {
  if (rate >= 1) return true
  return sampleValue(destinationId, samplingKey(generation)) < rate
}

/** What is sampled together: the session, or else the caller's trace, or else the single generation. */
export function samplingKey(generation: Generation): string {
  const traceId = generation.trace?.['trace_id']
  return generation.sessionId ?? (typeof traceId === 'string' && traceId.trim() !== '' ? traceId : generation.id)
}

/** Uniform in 0 (inclusive) .. 1 (exclusive): the top 53 bits of SHA-256 of destination, a zero byte, key. */
export function sampleValue(destinationId: string, key: string): number {
  const top = createHash('sha256').update(destinationId).update('\0').update(key).digest().readBigUInt64BE(0) >> 11n
  return Number(top) / 2 ** 53
}
