import type { DeliveryStatus } from '../core/outbox.ts'

/**
 * The state of a destination as its owner is shown it. Rules that cannot be used select nothing, so no delivery would ever fail and show it: they count
 * as the latest failure, which lasts until they change.
 */
export function shownStatus(status: DeliveryStatus, unusableRules: string | undefined, now: number): DeliveryStatus {
  if (unusableRules === undefined) return status
  return { ...status, health: { breaker: 'closed', ...status.health, lastErrorAt: now, lastStatus: 0, lastError: unusableRules } }
}
