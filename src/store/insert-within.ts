import { GatewayError } from '../core/error.ts'
import { toStoreError } from './store-error.ts'

/** Inserts one batch at a time, each within a limit. */
export interface LimitedInsert<P> {
  /** Undefined if the store took the batch. A store that does not answer is given up after the limit; ids make a late success harmless. */
  insert(batch: readonly P[], behind: number): Promise<GatewayError | undefined>
  /**
   * The process is ending: shortens the limit, also for the current insert. A dead connection would otherwise be trusted for longer than the end may
   * take; the next try uses another one.
   */
  hurry(): void
}

/** Milliseconds; the end of a process has time for a few of them. */
const HURRIED_LIMIT_MS = 3_000

export function createLimitedInsert<P>(insertMany: (batch: readonly P[], behind: number) => Promise<void>, limitMs: number): LimitedInsert<P> {
  let limit = limitMs
  let rearm: () => void = () => undefined
  return {
    async insert(batch, behind) {
      const expired = Promise.withResolvers<GatewayError>()
      let timer: NodeJS.Timeout | undefined
      rearm = () => {
        clearTimeout(timer)
        const ms = limit
        timer = setTimeout(() => expired.resolve(new GatewayError('provider_overloaded', `The database did not answer within ${ms} ms`)), ms)
      }
      rearm()
      try {
        return await Promise.race([insertMany(batch, behind).then(() => undefined, toStoreError), expired.promise])
      } catch (error) {
        return toStoreError(error)
      } finally {
        rearm = () => undefined
        clearTimeout(timer)
      }
    },
    hurry() {
      if (limit <= HURRIED_LIMIT_MS) return
      limit = HURRIED_LIMIT_MS
      rearm()
    },
  }
}
