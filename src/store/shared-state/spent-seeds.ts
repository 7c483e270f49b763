import { INTERVALS, NOTHING_SPENT, type Charge, type Spent, type SpentLoader } from '../../core/counter.ts'
import { toNanos } from './arithmetic.ts'

/** What a subject had spent at that time; nanodollars in the order of INTERVALS. */
export interface Seed {
  readonly at: number
  readonly spent: readonly number[]
  /** False: the store did not answer, and nothing spent is assumed. */
  readonly known: boolean
}

export interface SeedOptions {
  readonly load: SpentLoader
  /** If the store does not answer: `local` counts from zero, `refuse` admits nobody. Read each time, so that a new configuration takes effect at once. */
  readonly whenUnknown: () => 'local' | 'refuse'
  readonly limitMs?: number
}

const LOAD_LIMIT_MS = 1_000
/** A store that did not answer is left alone for this time, so that calls do not queue up behind it. */
const RETRY_MS = 2_000

/** Reads from the store what subjects have spent: one read per subject at a time, with a limit. Undefined: refuse the call. */
export function createSeeds({ load, whenUnknown, limitMs = LOAD_LIMIT_MS }: SeedOptions): (charge: Charge, now: number) => Promise<Seed | undefined> {
  const loading = new Map<string, Promise<Spent | undefined>>()
  let silentUntil = 0

  // The second condition keeps it from lasting longer when the clock is set back.
  const isSilent = (now: number): boolean => now < silentUntil && now >= silentUntil - 2 * RETRY_MS
  const read = async (subject: string, now: number): Promise<Spent | undefined> => {
    const limit = Promise.withResolvers<undefined>()
    const timer = setTimeout(() => limit.resolve(undefined), limitMs)
    try {
      const spent = await Promise.race([load(subject, now), limit.promise])
      if (spent === undefined) silentUntil = now + RETRY_MS
      return spent
    } catch {
      silentUntil = now + RETRY_MS
      return undefined
    } finally {
      clearTimeout(timer)
      loading.delete(subject)
    }
  }

  return async ({ subject }, now) => {
    let pending = loading.get(subject)
    // A read that was skipped is no answer for others to share.
    if (pending === undefined && !isSilent(now)) {
      pending = read(subject, now)
      loading.set(subject, pending)
    }
    const spent = await pending
    if (spent === undefined && whenUnknown() === 'refuse') return undefined
    return { at: now, spent: INTERVALS.map((interval) => toNanos((spent ?? NOTHING_SPENT)[interval])), known: spent !== undefined }
  }
}
