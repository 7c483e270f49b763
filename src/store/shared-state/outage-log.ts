import type { Logger } from '../../lib/logger.ts'

/** Logs outages of the shared state, whichever of its users notices: two connections, and the commands sent over them. */
export interface OutageLog {
  /** `undefined`: it works (again) for this user. */
  tell(who: string, error: Error | undefined): void
}

/** A network that breaks connections all the time would fill the log: the next outage is logged only after this time, and only if it still lasts. */
const QUIET_MS = 60_000

/** One line when the first user notices an outage, one when the last has recovered. */
export function createOutageLog(logger: Logger, quietMs = QUIET_MS): OutageLog {
  const open = new Map<string, Error>()
  let isLogged = false
  let quiet: NodeJS.Timeout | undefined

  const logOutage = (): void => {
    const [error] = open.values()
    if (isLogged || error === undefined) return
    isLogged = true
    quiet = setTimeout(() => {
      quiet = undefined
      logOutage()
    }, quietMs).unref()
    logger.warn({ error: error.message }, 'the shared state does not answer: this process goes on with its own')
  }

  return {
    tell(who, error) {
      if (error === undefined) open.delete(who)
      else open.set(who, error)
      if (quiet === undefined) logOutage()
      if (!isLogged || open.size > 0) return
      isLogged = false
      logger.info({}, 'the shared state answers again')
    },
  }
}
