import { createHash, hash } from 'node:crypto'

/**
 * Ids of one generation in the formats of the platforms. All are derived from text that never changes, so that a platform recognises a repeated delivery.
 * This makes at-least-once delivery safe.
 */

const HEX_32 = /^[0-9a-f]{32}$/
const HEX_16 = /^[0-9a-f]{16}$/
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const ZEROS = /^0+$/

const sha256 = (text: string): string => hash('sha256', text, 'hex')

/** 32 hex digits. A trace id already in that form, or a UUID, is kept (lower case); anything else is hashed. */
export function otlpTraceId(id: string): string {
  const lower = id.trim().toLowerCase()
  const hex = UUID.test(lower) ? lower.replaceAll('-', '') : lower
  return HEX_32.test(hex) && !ZEROS.test(hex) ? hex : sha256(id).slice(0, 32)
}

/** The trace id of a call: the caller's if there is one, otherwise the call's own id. */
export function callTraceId(traceId: unknown, callId: string): string {
  return typeof traceId === 'string' && traceId.trim() !== '' ? traceId : callId
}

/** The id of our span for one attempt at a provider; `number` counts from 1. */
export const attemptSpanId = (callId: string, number: number): string => `${callId}:attempt:${number}`

/** 16 hex digits for one of our spans. */
export function otlpSpanId(id: string): string {
  return sha256(id).slice(0, 16)
}

/** 16 hex digits for a span of the caller. An id already in that form is kept (lower case). */
export function otlpParentSpanId(id: string): string {
  const lower = id.trim().toLowerCase()
  return HEX_16.test(lower) && !ZEROS.test(lower) ? lower : otlpSpanId(id)
}

const format = (bytes: Buffer): string => {
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`
}

const stamp = (bytes: Buffer, version: number): Buffer => {
  bytes[6] = (bytes[6]! & 0x0f) | (version << 4)
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return bytes
}

/** The namespace of our UUIDs, chosen once at random. A different one would duplicate every record already delivered. */
const NAMESPACE = Buffer.from('6f0c3b0e5d7a4c0f9b1e2a7d84c6f013', 'hex')

/** The UUID version 5 (RFC 9562) of an id; an id that is a UUID is kept (lower case). */
export function uuidFromId(id: string): string {
  const lower = id.trim().toLowerCase()
  if (UUID.test(lower)) return lower
  return format(stamp(createHash('sha1').update(NAMESPACE).update(id).digest().subarray(0, 16), 5))
}

/** A UUID version 7: the event's time (milliseconds), followed by 80 bits of the id's SHA-256 in place of randomness. */
export function uuid7FromId(id: string, timeMs: number): string {
  const bytes = Buffer.alloc(16)
  bytes.writeUIntBE(Math.max(0, Math.trunc(timeMs)), 0, 6)
  bytes.write(sha256(id).slice(0, 20), 6, 'hex')
  return format(stamp(bytes, 7))
}

/** Unix seconds of an event, for object keys. They come from the event and not from the clock, so that a retry overwrites its own object. */
export function unixSeconds(timeMs: number): number {
  return Math.floor(timeMs / 1000)
}

/** Unix nanoseconds as a decimal string. Whole milliseconds are exact; fractions are kept to the nanosecond. */
export function unixNanos(timeMs: number): string {
  const wholeMs = Math.floor(timeMs)
  const nanos = Math.round((timeMs - wholeMs) * 1e6)
  return nanos === 1_000_000 ? `${wholeMs + 1}000000` : `${wholeMs}${String(nanos).padStart(6, '0')}`
}
