import {
  INTERVALS,
  type Charge,
  type Counter,
  type Interval,
  type Payment,
  type Reservation,
  type Settlement,
  type Verdict,
} from '../../core/counter.ts'
import { correctRate, describeRate, judgeRate, periodStarts, positionOf, toNanos, toUsd } from './arithmetic.ts'
import { createSeeds, type Seed, type SeedOptions } from './spent-seeds.ts'

export interface MemoryCounterOptions extends SeedOptions {
  /** How old the store's figures may be before they are read again in the background, because other processes spend too. */
  readonly refreshMs?: number
  /** Subjects that are remembered; the least recently used is forgotten first and read from the store again. */
  readonly maxSubjects?: number
}

const REFRESH_MS = 30_000
const RETRY_UNKNOWN_MS = 5_000
const MAX_SUBJECTS = 100_000

interface SubjectState {
  /** The revision of the limits for which its spending was read; undefined: not read yet. */
  revision: number | undefined
  refreshAt: number
  /** Nanodollars, in the order of INTERVALS, and when their periods began. */
  readonly spent: number[]
  readonly starts: number[]
  /** The previous period, for calls that belong to it: a clock may have shown tomorrow by mistake. */
  readonly spentBefore: number[]
  readonly startsBefore: number[]
  reserved: number
  /** Payments so far. */
  payments: number
  /** Open calls, and the nanodollars reserved by each. */
  readonly open: Map<string, number>
  readonly owedUntil: { requests: number; tokens: number }
}

const newState = (): SubjectState => ({
  revision: undefined,
  refreshAt: 0,
  spent: [0, 0, 0, 0],
  starts: [0, 0, 0, 0],
  spentBefore: [0, 0, 0, 0],
  startsBefore: [0, 0, 0, 0],
  reserved: 0,
  payments: 0,
  open: new Map(),
  owedUntil: { requests: 0, tokens: 0 },
})

/**
 * Counts in this process. Earlier spending is read from the store when a subject is first charged; from then on it is counted here and compared with
 * the store now and then. Checks and bookings of a step run without an await in between, which makes the step atomic.
 */
export function createMemoryCounter(options: MemoryCounterOptions): Counter {
  const { refreshMs = REFRESH_MS, maxSubjects = MAX_SUBJECTS } = options
  const subjects = new Map<string, SubjectState>()
  const seedOf = createSeeds(options)
  const steady = createSteadyTime()

  const stateOf = (subject: string): SubjectState => {
    let state = subjects.get(subject)
    if (state !== undefined) subjects.delete(subject)
    else {
      state = newState()
      if (subjects.size >= maxSubjects) forgetOldest(subjects)
    }
    subjects.set(subject, state)
    return state
  }

  const install = (state: SubjectState, seed: Seed, revision: number): void => {
    roll(state, seed.at)
    const starts = periodStarts(seed.at)
    // The larger of both: the store is a moment behind, and this process does not see what others spend.
    for (let i = 0; i < starts.length; i++) {
      const spent = starts[i] === state.starts[i] ? state.spent : starts[i] === state.startsBefore[i] ? state.spentBefore : undefined
      if (spent !== undefined) spent[i] = Math.max(spent[i]!, seed.spent[i]!)
    }
    state.revision = revision
    state.refreshAt = seed.at + (seed.known ? refreshMs : RETRY_UNKNOWN_MS)
  }

  /** Waits for the store. Returns the subject if nothing is known about it and nothing may be assumed. */
  const look = async (charge: Charge, state: SubjectState, now: number): Promise<string | undefined> => {
    const { payments } = state
    let seed = await seedOf(charge, now)
    // The store may have answered before it had a call that was paid meanwhile, and a sum that was not read yet took no payment. It has the call now.
    if (seed?.known === true && state.payments > payments) seed = await seedOf(charge, now)
    if (seed !== undefined) install(state, seed, charge.revision)
    else if (state.revision !== charge.revision) return charge.subject
    else state.refreshAt = now + RETRY_UNKNOWN_MS
    return undefined
  }

  /** Undefined if everything is known or may be assumed. A call waits once, because all its subjects are read at the same time. */
  const prepare = async (charges: readonly Charge[], now: number): Promise<string | undefined> => {
    const looks: Promise<string | undefined>[] = []
    for (const charge of charges) {
      if (charge.budgets.length === 0) continue
      const state = stateOf(charge.subject)
      roll(state, now)
      // If a refresh was missed as well, nobody has asked for so long that others may have spent everything.
      if (state.revision !== charge.revision || now >= state.refreshAt + refreshMs) looks.push(look(charge, state, now))
      else if (now >= state.refreshAt || now < state.refreshAt - refreshMs - RETRY_UNKNOWN_MS) {
        // The second condition: after a clock was set back, the next refresh must not wait for the old time.
        state.refreshAt = now + refreshMs
        void seedOf(charge, now).then((seed) => {
          if (seed?.known === true) install(state, seed, charge.revision)
        })
      }
    }
    if (looks.length === 0) return undefined
    return (await Promise.all(looks)).find((subject) => subject !== undefined)
  }

  return {
    async reserve(reservation) {
      const unknown = reservation.amountUsd === undefined ? undefined : await prepare(reservation.charges, reservation.now)
      if (unknown !== undefined) return { ok: false, reason: 'unknown', subject: unknown }
      return take(reservation, steady(reservation.now), stateOf)
    },
    settle({ id, now, payments }: Settlement) {
      const at = steady(now)
      for (const payment of payments) pay(subjects.get(payment.subject), id, now, at, payment)
      return Promise.resolve()
    },
    close: () => Promise.resolve(),
  }
}

/** Calls may be judged a moment out of order; a larger step back means that the clock was set. */
const JITTER_MS = 1_000

/** The time for rates. It continues when the clock is set back; otherwise every caller would wait until the old time is reached again. */
function createSteadyTime(): (now: number) => number {
  let latest = -Infinity
  let shift = 0
  return (now) => {
    if (now + shift < latest - JITTER_MS) shift = latest - now
    latest = Math.max(latest, now + shift)
    return latest
  }
}

/** Idle subjects only: forgetting one with open calls would lose what they reserve. */
function forgetOldest(subjects: Map<string, SubjectState>): void {
  for (const [subject, { open }] of subjects) {
    if (open.size > 0) continue
    subjects.delete(subject)
    return
  }
}

/** Starts a new period if one has ended. A period that is neither the newest nor the one before is read from the store. */
function roll(state: SubjectState, now: number): void {
  const starts = periodStarts(now)
  // The only period of `lifetime` starts at 0 and never ends.
  for (let i = 0; i < starts.length; i++) {
    if (starts[i]! > state.starts[i]!) {
      state.startsBefore[i] = state.starts[i]!
      state.spentBefore[i] = state.spent[i]!
      state.starts[i] = starts[i]!
      state.spent[i] = 0
    } else if (starts[i]! < state.starts[i]! && starts[i]! > state.startsBefore[i]!) {
      // The clock skipped this period.
      state.startsBefore[i] = starts[i]!
      state.spentBefore[i] = 0
      state.revision = undefined
    } else if (starts[i]! < state.startsBefore[i]!) {
      state.starts[i] = starts[i]!
      state.spent[i] = 0
      state.startsBefore[i] = 0
      state.spentBefore[i] = 0
      state.revision = undefined
    }
  }
}

/** Nanodollars by interval, in the periods that contain `now`. In the previous period, later spending counts as well. */
function spentAt(state: SubjectState, now: number): readonly number[] {
  const starts = periodStarts(now)
  return state.spent.map((spent, i) => (starts[i]! < state.starts[i]! ? state.spentBefore[i]! + spent : spent))
}

function take(reservation: Reservation, at: number, stateOf: (subject: string) => SubjectState): Verdict {
  const { id, now, charges } = reservation
  const states = charges.map(({ subject }) => stateOf(subject))
  const wanted = reservation.amountUsd === undefined ? undefined : toNanos(reservation.amountUsd)
  const least = reservation.leastUsd === undefined ? wanted : toNanos(reservation.leastUsd)
  let granted = wanted ?? 0
  if (wanted !== undefined && least !== undefined) {
    for (const [i, charge] of charges.entries()) {
      if (charge.budgets.length === 0) continue
      roll(states[i]!, now)
      const spent = spentAt(states[i]!, now)
      const others = reservedByOthers(states[i]!, id)
      const available = availableIn(spent, others, charge.budgets)
      if (available < least || exhausted(spent, charge)) return overBudget(spent, others, charge, least)
      granted = Math.min(granted, available)
    }
  }
  for (const [i, charge] of charges.entries()) {
    const state = states[i]!
    if (state.open.has(id)) continue
    const refused = refusedByRate(state, charge, now, at)
    if (refused !== undefined) return refused
    if (charge.maxOpen !== undefined && state.open.size >= charge.maxOpen)
      return { ok: false, reason: 'open', subject: charge.subject, limit: charge.maxOpen }
  }
  for (const [i, charge] of charges.entries()) book(states[i]!, charge, id, at, wanted === undefined ? undefined : granted)
  return { ok: true, grantedUsd: toUsd(granted) }
}

const reservedByOthers = (state: SubjectState, id: string): number => state.reserved - (state.open.get(id) ?? 0)

function availableIn(spent: readonly number[], others: number, budgets: Charge['budgets']): number {
  return Math.min(Infinity, ...budgets.map(({ interval, limitUsd }) => toNanos(limitUsd) - spent[positionOf(interval)]! - others))
}

/** A budget that is used up admits nothing, not even what is free. */
const exhausted = (spent: readonly number[], { budgets }: Charge): boolean =>
  budgets.some(({ interval, limitUsd }) => spent[positionOf(interval)]! >= toNanos(limitUsd))

function overBudget(spent: readonly number[], others: number, charge: Charge, least: number): Verdict {
  const intervals: Interval[] = INTERVALS.filter((interval, i) =>
    charge.budgets.some((budget) => {
      const limit = toNanos(budget.limitUsd)
      return budget.interval === interval && (spent[i]! >= limit || limit - spent[i]! - others < least)
    }),
  )
  const broadest = charge.budgets.filter(({ interval }) => interval === intervals[0])
  const left = (budgets: Charge['budgets']): number => Math.max(0, toUsd(availableIn(spent, others, budgets)))
  return { ok: false, reason: 'budget', subject: charge.subject, intervals, leftUsd: left(broadest), availableUsd: left(charge.budgets) }
}

function refusedByRate(state: SubjectState, charge: Charge, now: number, at: number): Verdict | undefined {
  for (const { name, limit, cost } of charge.rates) {
    const owedUntil = state.owedUntil[name]
    if (judgeRate(owedUntil, at, limit, cost).ok) continue
    const { state: rateState, retryAfterMs } = describeRate(owedUntil, at, limit, cost)
    // Converted back to the clock of the machine, which callers know.
    return {
      ok: false,
      reason: 'rate',
      subject: charge.subject,
      rate: name,
      state: { ...rateState, resetAt: rateState.resetAt - (at - now) },
      retryAfterMs,
    }
  }
  return undefined
}

function book(state: SubjectState, charge: Charge, id: string, at: number, amount: number | undefined): void {
  const before = state.open.get(id)
  if (before === undefined)
    for (const { name, limit, cost } of charge.rates) state.owedUntil[name] = judgeRate(state.owedUntil[name], at, limit, cost).next
  if (charge.maxOpen === undefined && charge.budgets.length === 0) {
    // Only rates are limited. The call is remembered all the same, so that a second reservation does not take them again.
    state.open.set(id, 0)
    return
  }
  // If this attempt costs the subject nothing, earlier ones may have.
  const next = charge.budgets.length === 0 ? (before ?? 0) : (amount ?? before ?? 0)
  state.reserved += next - (before ?? 0)
  state.open.set(id, next)
}

function pay(state: SubjectState | undefined, id: string, now: number, at: number, payment: Payment): void {
  if (state === undefined) return
  state.payments++
  state.reserved -= state.open.get(id) ?? 0
  state.open.delete(id)
  for (const { name, limit, cost } of payment.rates) if (cost !== 0) state.owedUntil[name] = correctRate(state.owedUntil[name], at, limit, cost)
  // If it was never read, it is read when the subject is next charged, with this payment.
  if (state.revision === undefined) return
  roll(state, now)
  const starts = periodStarts(now)
  const spent = toNanos(payment.spentUsd)
  for (let i = 0; i < starts.length; i++) {
    const period = starts[i]! < state.starts[i]! ? state.spentBefore : state.spent
    period[i]! += spent
  }
}
