import type { DeliveryEvent } from '../delivery/worker-options.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/logger.ts'

/** The same complaint is logged at most once in this time. */
const REPEAT_MS = 60_000

type LogOnce = (key: string, fields: { readonly [field: string]: unknown }, message: string) => void

/** Logs deliveries for the operator. Never what a platform answered, which may quote prompts: that is shown to the destination's owner, in its status. */
export function createDeliveryLog(logger: Logger, clock: Clock): (event: DeliveryEvent) => void {
  const logOnce = createLogOnce(logger, clock)
  return (event) => {
    const destination = event.destinationId
    switch (event.kind) {
      case 'batch':
        return logBatch(event, logOnce)
      case 'trimmed':
        return logOnce(`${destination} trimmed`, { destination, bodies: event.bodies, deliveries: event.deliveries }, 'a queue was full')
      case 'expired':
        return logOnce(
          `${destination} expired`,
          { destination, type: event.type, dead: event.deliveries },
          'deliveries waited too long and were given up',
        )
      case 'problem':
        return logOnce(`${destination} ${event.message}`, { destination, error: event.message }, 'delivery')
      default:
        return event satisfies never
    }
  }
}

function logBatch(event: Extract<DeliveryEvent, { readonly kind: 'batch' }>, logOnce: LogOnce): void {
  const { destinationId: destination, type, status, verdict, message, counts } = event
  // A refusal is an answer: nothing failed and nothing waits, so the loss would go unnoticed if it were not logged.
  if (counts.dead > 0) logOnce(`${destination} dead`, { destination, type, status, dead: counts.dead }, 'deliveries were given up')
  if (verdict === 'ok' || verdict === 'aborted') return
  logOnce(`${destination} ${verdict}`, { destination, type, status, verdict, ...(status > 0 ? {} : { error: message }) }, 'delivery failed')
}

function createLogOnce(logger: Logger, clock: Clock): LogOnce {
  const last = new Map<string, number>()
  return (key, fields, message) => {
    const now = clock.monotonic()
    if (now - (last.get(key) ?? -Infinity) < REPEAT_MS) return
    if (last.size > 1_000) last.clear()
    last.set(key, now)
    logger.warn(fields, message)
  }
}
