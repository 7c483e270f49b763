import type { Settlement } from '../../core/counter.ts'

/** Settlements kept at most; beyond that the oldest is given up. */
const MAX_UNSENT = 5_000
const RETRY_MS = 500
/** Settlements sent at a time. */
const BATCH = 200

interface Unsent {
  readonly settlement: Settlement
  /** It was sent before, or its call was counted elsewhere, so nobody knows whether Redis has it: it pays only for what is still open there. */
  readonly again: boolean
}

export interface UnsentOptions {
  /** Resolves to the subjects that had nothing open under this id any more. Rejects if Redis does not answer. */
  readonly send: (settlement: Settlement, again: boolean) => Promise<readonly string[]>
  /** Redis's figures for these subjects can no longer be trusted. */
  readonly onUncertain: (subjects: readonly string[]) => void
  readonly reachable: () => boolean
  readonly onFailure: (error: unknown) => void
  readonly max?: number
  /** How often to check whether Redis is reachable, as there may be no call that would send them along. */
  readonly retryMs?: number
}

export interface UnsentSettlements {
  readonly size: number
  /** `again`: pay only for what is still open; default: for everything. */
  keep(settlement: Settlement, again?: boolean): void
  /** Kept if Redis does not answer. */
  send(settlement: Settlement, again?: boolean): Promise<void>
  /** Sends all of them in batches, one batch at a time. Rejects if Redis does not answer, and keeps the rest. */
  drain(): Promise<void>
  /** The figures will be compared with the store, which knows the cost of these calls, so from now on they only close the calls. */
  spendNothing(): void
  /** A last try, if Redis is reachable. */
  close(): Promise<void>
}

const subjectsOf = ({ payments }: Settlement): readonly string[] => payments.map(({ subject }) => subject)

/** Settlements that Redis has not confirmed. */
export function createUnsentSettlements(options: UnsentOptions): UnsentSettlements {
  const { send, onUncertain, reachable, onFailure, max = MAX_UNSENT, retryMs = RETRY_MS } = options
  let waiting: Unsent[] = []
  let draining: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined

  function keep(one: Unsent): void {
    waiting.push(one)
    timer ??= setInterval(look, retryMs).unref()
    const evicted = waiting.length > max ? waiting.shift() : undefined
    if (evicted !== undefined) onUncertain(subjectsOf(evicted.settlement))
  }

  async function attempt({ settlement, again }: Unsent): Promise<Error | undefined> {
    try {
      const missed = await send(settlement, again)
      // Paid the first time, or released because its lease had ended: the store knows.
      if (missed.length > 0) onUncertain(missed)
      return undefined
    } catch (error) {
      keep({ settlement, again: true })
      return error instanceof Error ? error : new Error(String(error))
    }
  }

  async function drainAll(): Promise<void> {
    while (waiting.length > 0) {
      const results = await Promise.all(waiting.splice(0, BATCH).map(attempt))
      const failed = results.find((error) => error !== undefined)
      if (failed !== undefined) throw failed
    }
  }

  const drain = (): Promise<void> =>
    (draining ??= drainAll().finally(() => {
      draining = undefined
    }))

  function look(): void {
    if (waiting.length === 0) {
      clearInterval(timer)
      timer = undefined
    } else if (reachable()) drain().catch(onFailure)
  }

  return {
    get size() {
      return waiting.length
    },
    keep: (settlement, again = false) => keep({ settlement, again }),
    send: async (settlement, again = false) => {
      const error = await attempt({ settlement, again })
      if (error !== undefined) onFailure(error)
    },
    drain,
    spendNothing: () => {
      waiting = waiting.map(({ settlement, again }) => ({
        settlement: { ...settlement, payments: settlement.payments.map((payment) => ({ ...payment, spentUsd: 0 })) },
        again,
      }))
    },
    close: async () => {
      clearInterval(timer)
      if (waiting.length > 0 && reachable()) await drain().catch(() => undefined)
    },
  }
}
