import type { Charge, Reservation } from '../../core/counter.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Seed } from './spent-seeds.ts'

/** How old a comparison may be before another is made, in the background. */
const AGAIN_MS = 30_000

interface Comparison {
  /** Of the limits. */
  readonly revision: number
  at: number
  /** What the store said in the background. */
  later: Seed | undefined
}

/** Which subjects' spending in Redis was compared with the store since the last connection. */
export interface Comparisons {
  /** Charges that must be compared before they are reserved. */
  readonly due: (reservation: Reservation) => readonly Charge[]
  /** What the store said in the background, for the next reservation to take along. */
  readonly found: (reservation: Reservation) => Map<string, Seed>
  /** Redis was told these. */
  told(reservation: Reservation, seeds: ReadonlyMap<string, Seed>): void
  forget(subjects: readonly string[]): void
  clear(): void
}

/**
 * One comparison is not enough: when Redis is back, other processes may not have written yet what they counted alone, and nobody would count it again.
 * So subjects in use are compared now and then, and no call waits for it.
 */
export function createComparisons(
  seedOf: (charge: Charge, now: number) => Promise<Seed | undefined>,
  { monotonic }: Pick<Clock, 'monotonic'>,
): Comparisons {
  const compared = new Map<string, Comparison>()

  const again = (charge: Charge, now: number): void => {
    const known = compared.get(charge.subject)
    if (known === undefined || monotonic() - known.at < AGAIN_MS) return
    known.at = monotonic()
    void seedOf(charge, now).then((seed) => {
      if (seed?.known === true) known.later = seed
    })
  }

  return {
    due: (reservation) => limitedIn(reservation).filter(({ subject, revision }) => compared.get(subject)?.revision !== revision),
    found: (reservation) => {
      const seeds = new Map<string, Seed>()
      for (const { subject } of limitedIn(reservation)) {
        const later = compared.get(subject)?.later
        if (later !== undefined) seeds.set(subject, later)
      }
      return seeds
    },
    told: (reservation, seeds) => {
      for (const charge of limitedIn(reservation)) {
        const { subject, revision } = charge
        if (seeds.get(subject)?.known === true) compared.set(subject, { revision, at: monotonic(), later: undefined })
        else again(charge, reservation.now)
      }
    },
    forget: (subjects) => subjects.forEach((subject) => compared.delete(subject)),
    clear: () => compared.clear(),
  }
}

const limitedIn = ({ amountUsd, charges }: Reservation): readonly Charge[] =>
  amountUsd === undefined ? [] : charges.filter(({ budgets }) => budgets.length > 0)
