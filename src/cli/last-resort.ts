import type { Logger } from '../lib/logger.ts'

export interface LastResortOptions {
  readonly logger: Pick<Logger, 'error'>
  /** Ends service in order; the process then ends with this code. */
  readonly stop: (why: string, code: number) => void
  /** Where such events are told; replaced in tests. */
  readonly process?: Pick<NodeJS.Process, 'on'>
}

/**
 * What nobody caught is a bug of ours, and thousands of streams may be open. A rejection nobody heard has ended one piece of work: it is logged
 * and the others go on. After an exception nobody caught Node promises nothing about what was under way: calls may finish, new ones are refused,
 * and whoever supervises the process starts it again.
 */
export function catchTheUncaught({ logger, stop, process: source = process }: LastResortOptions): void {
  source.on('unhandledRejection', (error) => logger.error({ error }, 'a failure nobody heard of, a bug: calls go on'))
  source.on('uncaughtException', (error) => {
    logger.error({ error }, 'a failure nobody caught, a bug: stopping in order')
    stop('a failure nobody caught', 1)
  })
}
