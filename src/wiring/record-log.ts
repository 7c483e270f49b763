import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/logger.ts'
import type { SinkEvent } from '../store/index.ts'

/** While the store is away this is logged once in this time, although callers who wait for records try several times a second. */
const REPEAT_MS = 60_000
/** Losses that come one by one (an overflow loses one record per call) are logged together, this often. */
const GATHER_MS = 5_000

/** Logs trouble with storing records: when it begins, while it lasts, and when it is over. */
export function createRecordLog(logger: Pick<Logger, 'info' | 'warn'>, clock: Pick<Clock, 'monotonic'>): (event: SinkEvent) => void {
  const losses = createLosses(logger, clock)
  let loggedAt: number | undefined
  return (event) => {
    switch (event.type) {
      case 'insert-failed': {
        const now = clock.monotonic()
        if (loggedAt !== undefined && now - loggedAt < REPEAT_MS) return
        loggedAt = now
        return logger.warn({ ...event }, 'generation records')
      }
      case 'recovered':
        loggedAt = undefined
        losses.tell()
        return logger.info({ ...event }, 'generation records')
      case 'lost':
      case 'content-lost':
        return losses.add(event)
      default:
        return event satisfies never
    }
  }
}

type Loss = Extract<SinkEvent, { readonly type: 'lost' | 'content-lost' }>

const kindOf = (loss: Loss): string => (loss.type === 'lost' ? loss.reason : loss.type)

function createLosses(logger: Pick<Logger, 'warn'>, clock: Pick<Clock, 'monotonic'>) {
  const open = new Map<string, Loss>()
  let toldAt = -Infinity
  let timer: NodeJS.Timeout | undefined
  const flush = (): void => {
    clearTimeout(timer)
    timer = undefined
    for (const loss of open.values()) logger.warn({ ...loss }, 'generation records')
    if (open.size > 0) toldAt = clock.monotonic()
    open.clear()
  }
  const add = (loss: Loss): void => {
    const kind = kindOf(loss)
    open.set(kind, { ...loss, records: loss.records + (open.get(kind)?.records ?? 0) })
    const waitMs = toldAt + GATHER_MS - clock.monotonic()
    // Losses at the end are logged at once, because there is no later.
    if (kind === 'closed' || waitMs <= 0) flush()
    else timer ??= setTimeout(flush, waitMs).unref()
  }
  return { add, tell: flush }
}
