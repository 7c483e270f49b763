import { GatewayError } from '../core/error.ts'
import { toStoreError } from './store-error.ts'

/** Inserts one batch at a time, each within a limit. */
export interface LimitedInsert<P> {
  /** Undefined when the store took the batch. A store that does not answer is left behind after the limit; ids make its late success harmless. */
  insert(batch: readonly P[], behind: number): Promise<GatewayError | undefined>
  /**
   * From now on little time is left, for the insert that runs as well: a connection that leads nowhere is believed in for longer than the end of a
   * process may take, and the next try goes another way.
   */
  hurry(): void
}

/** Milliseconds, of which the end of a process has a few. */
const HURRIED_LIMIT_MS = 3_000

export function createLimitedInsert<P>(insertMany: (batch: readonly P[], behind: number) => Promise<void>, limitMs: number): LimitedInsert<P> {
  let limit = limitMs
  let rearm: () => void = () => undefined
  return {
    async insert(batch, behind) {
      const given = Promise.withResolvers<GatewayError>()
      let timer: NodeJS.Timeout | undefined
      rearm = () => {
        clearTimeout(timer)
        const ms = limit
        timer = setTimeout(() => given.resolve(new GatewayError('provider_overloaded', `The database did not answer within ${ms} ms`)), ms)
      }
      rearm()
      try {
        return await Promise.race([insertMany(batch, behind).then(() => undefined, toStoreError), given.promise])
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
