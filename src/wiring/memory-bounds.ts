import { heapLimit } from '../telemetry/load-probe.ts'

const MB = 1024 * 1024

/** Caches get at most these shares of a small heap, because calls need the rest. */
const RECENT_SHARE = 1 / 16
const WAITING_SHARE = 1 / 4

/** Items kept for callers that refer to them later: seconds of the busiest gateway, an hour of a quiet one. */
export const recentItemsBounds = (limit = heapLimit()) => ({
  maxEntries: 20_000,
  maxChars: Math.min(32 * MB, Math.floor(limit * RECENT_SHARE)),
  ttlMs: 3_600_000,
})

/** Bytes of records that may wait for the database. */
export const waitingRecordsBytes = (limit = heapLimit()): number => Math.min(128 * MB, Math.floor(limit * WAITING_SHARE))
