import type { Logger } from '../../lib/logger.ts'

/** What the log says of a shared state that is away, whoever finds it: two connections, and what is asked over them. */
export interface OutageLog {
  /** Undefined: it does what this one asks of it (again). */
  tell(who: string, error: Error | undefined): void
}

/** A network that breaks connections again and again would fill the log: one outage is said no sooner after another, and only if it still lasts. */
const QUIET_MS = 60_000

/** One line when the first finds it away, one when the last has it back. */
export function createOutageLog(logger: Logger, quietMs = QUIET_MS): OutageLog {
  const open = new Map<string, Error>()
  let isSaid = false
  let quiet: NodeJS.Timeout | undefined

  const say = (): void => {
    const [error] = open.values()
    if (isSaid || error === undefined) return
    isSaid = true
    quiet = setTimeout(() => {
      quiet = undefined
      say()
    }, quietMs).unref()
    logger.warn({ error: error.message }, 'the shared state does not answer: this process goes on with its own')
  }

  return {
    tell(who, error) {
      if (error === undefined) open.delete(who)
      else open.set(who, error)
      if (quiet === undefined) say()
      if (!isSaid || open.size > 0) return
      isSaid = false
      logger.info({}, 'the shared state answers again')
    },
  }
}
