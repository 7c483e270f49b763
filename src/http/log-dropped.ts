import type { Server } from 'node:http'
import type { Logger } from '../lib/logger.ts'

const EVERY_MS = 60_000

/** Logs that connections are closed on arrival because callers have as many as they may: the first time at once, then a count once a minute. */
export function logDropped(server: Server, logger: Pick<Logger, 'warn'>, everyMs = EVERY_MS): void {
  // Read now: once several sockets listen, the property holds another number.
  const most = server.maxConnections
  let dropped = 0
  let timer: NodeJS.Timeout | undefined
  const report = (): void => {
    timer = undefined
    if (dropped === 0) return
    logger.warn({ dropped, most }, 'new connections are refused: callers already hold half of the files this process may open (ulimit -n)')
    dropped = 0
    timer = setTimeout(report, everyMs).unref()
  }
  server.on('drop', () => {
    dropped++
    if (timer === undefined) report()
  })
}
