import type { Logger } from '../lib/logger.ts'

export interface LastResortOptions {
  readonly logger: Pick<Logger, 'error'>
  /** Ends service in order, then the process with this code. */
  readonly stop: (why: string, code: number) => void
  /** Emits the events; replaced in tests. */
  readonly process?: Pick<NodeJS.Process, 'on'>
}

/**
 * The last resort for errors that nobody caught, all of them bugs of ours, while thousands of streams may be open. An unhandled rejection has ended
 * one piece of work: it is logged and everything else continues. After an uncaught exception Node guarantees nothing about what was running: calls
 * may finish, new ones are refused, and the supervisor starts the process again.
 */
export function handleUncaughtErrors({ logger, stop, process: source = process }: LastResortOptions): void {
  source.on('unhandledRejection', (error) => logger.error({ error }, 'an unhandled rejection, a bug: calls go on'))
  source.on('uncaughtException', (error) => {
    logger.error({ error }, 'an uncaught failure, a bug: shutting down in order')
    stop('a failure nobody caught', 1)
  })
}
