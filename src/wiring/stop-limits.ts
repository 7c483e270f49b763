/**
 * How long a stop may take once its grace period is over. Each step has a limit of its own, which ends before this one. A connection that dies within an
 * insert leaves its rows locked until the database gives the transaction up, twelve seconds later: until then nobody else can write the same records.
 */
export const RECORDS_LIMIT_MS = 20_000
export const SINK_LIMIT_MS = 18_000
export const DELIVERIES_LIMIT_MS = 12_000

/** For all of it: what comes after records and deliveries only lets go of connections. */
export const AFTER_GRACE_MS = RECORDS_LIMIT_MS + DELIVERIES_LIMIT_MS + 3_000
