/**
 * How long a stop may take once its grace period is over. Each step has a shorter limit of its own. If a connection dies during an insert, the
 * database keeps the rows locked until it gives the transaction up twelve seconds later, and only then can another connection write the same records.
 */
export const RECORDS_LIMIT_MS = 20_000
export const SINK_LIMIT_MS = 18_000
export const DELIVERIES_LIMIT_MS = 12_000

/** For the whole end: what follows records and deliveries only closes connections. */
export const AFTER_GRACE_MS = RECORDS_LIMIT_MS + DELIVERIES_LIMIT_MS + 3_000
