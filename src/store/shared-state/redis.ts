import type { Redis } from 'ioredis'
import { INTERVALS, type Counter, type Interval, type Reservation, type Settlement, type Verdict } from '../../core/counter.ts'
import type { Clock } from '../../lib/clock.ts'
import { createAloneCounter } from './alone.ts'
import { describeRate, periodStarts, positionOf, toNanos, toUsd } from './arithmetic.ts'
import { createComparisons } from './comparisons.ts'
import { startHeartbeat } from './heartbeat.ts'
import type { OpenCall, Place } from './open-places.ts'
import { createPause } from './pause.ts'
import { createScript } from './redis-client.ts'
import { RESERVE, SETTLE, TTL_MS } from './scripts.ts'
import { createSeeds, type Seed, type SeedOptions } from './spent-seeds.ts'
import { createOutages } from './outages.ts'
import { createUnsentSettlements, type UnsentOptions } from './unsent-settlements.ts'

export interface RedisCounterOptions extends SeedOptions {
  readonly redis: Redis
  readonly clock: Clock
  /** Separates it from every other user of the same Redis. */
  readonly namespace?: string
  /** Budgets while Redis is away: `local` counts in this process, starting from what the store remembers; `refuse` admits nobody who has a budget. */
  readonly whenUnknown: () => 'local' | 'refuse'
  /** How long a reservation outlives a process that died. */
  readonly leaseMs?: number
  /** Called once when Redis is reachable but fails (no memory, a replica), and with undefined when it works again. */
  readonly onTrouble?: (error: Error | undefined) => void
}

export interface RedisCounter extends Counter {
  /** Whether processes count together at the moment. */
  readonly answers: () => boolean
}

const LEASE_MS = 120_000

/**
 * Counts in Redis, for several processes together: one script and one round trip per step.
 *
 * While Redis is away each process counts alone: rates and concurrent calls at its share (the limit divided by the number of processes last seen),
 * budgets from what the store remembers (`whenUnknown`). When it is back, each subject's spending is first compared with the store, which has
 * recorded the outage, and the larger figure counts (`comparisons.ts`). If Redis is only slow for a while this is no outage: what it did not confirm
 * is sent again.
 */
export function createRedisCounter(options: RedisCounterOptions): RedisCounter {
  const { redis, clock, namespace = 'signalbox', leaseMs = LEASE_MS } = options
  const reserveScript = createScript(redis, RESERVE)
  const alone = createAloneCounter(options)
  const seedOf = createSeeds(options)
  const comparisons = createComparisons(seedOf, clock)
  const openCalls = new Map<string, OpenCall>()
  const settling = new Set<Promise<void>>()
  const outages = createOutages(options.onTrouble)
  const keysOf = keysIn(namespace)
  const send = createSender(redis, keysOf)
  const pause = createPause({
    clock,
    onTrouble: (error) => outages.tell('calls', error),
    ask: async () => reachable() && Array.isArray(await send(nothingAt(clock.now()), true)),
  })
  const unsent = createUnsentSettlements({
    send,
    reachable: () => reachable(),
    onFailure: (error) => pause.failed(error),
    onUncertain: (subjects) => comparisons.forget(subjects),
  })

  const heartbeat = startHeartbeat({
    redis,
    namespace,
    leaseMs,
    openCalls,
    onRefused: (error) => outages.tell('heartbeat', error),
    onReady: () => {
      comparisons.clear()
      unsent.spendNothing()
      pause.end()
    },
  })

  const reachable = (): boolean => redis.status === 'ready' && !pause.isOn

  const remote = async (reservation: Reservation): Promise<Verdict> => {
    // First, because a comparison with the store would count them twice.
    if (unsent.size > 0) await unsent.drain()
    for (let tries = 0; ; tries++) {
      const seeds = comparisons.found(reservation)
      for (const charge of comparisons.due(reservation)) {
        const seed = await seedOf(charge, reservation.now)
        if (seed === undefined) return { ok: false, reason: 'unknown', subject: charge.subject }
        seeds.set(charge.subject, seed)
      }
      const reply = await reserveScript(keysOf(reservation.charges.map(({ subject }) => subject)), encodeReservation(reservation, seeds, leaseMs))
      comparisons.told(reservation, seeds)
      const verdict = decodeVerdict(reply as readonly (string | number)[], reservation)
      if (verdict !== 'unseeded') return verdict
      // Redis has forgotten what we told it (a flush, an eviction).
      if (tries > 1) throw new Error('Redis forgets what it is told')
      comparisons.forget(reservation.charges.map(({ subject }) => subject))
      await heartbeat.beat()
    }
  }

  const pay = async (settlement: Settlement): Promise<void> => {
    const among = openCalls.get(settlement.id)?.aloneAmong
    openCalls.delete(settlement.id)
    const isAlone = among !== undefined
    if (isAlone) await alone.settle(settlement, among)
    // It was counted here and not in Redis, unless Redis's answer only came too late: so it gives nothing back there, and the store knows the cost.
    if (reachable()) await unsent.send(settlement, isAlone)
    else unsent.keep(settlement, isAlone)
  }

  return {
    answers: () => reachable() && !outages.any,
    async reserve(reservation) {
      const before = openCalls.get(reservation.id)
      if (reachable() && before?.aloneAmong === undefined) {
        try {
          const verdict = await retriedOnce(() => remote(reservation), reachable)
          pause.succeeded()
          alone.end()
          if (verdict.ok) openCalls.set(reservation.id, { places: placesOf(reservation, verdict.grantedUsd, before), aloneAmong: undefined })
          return verdict
        } catch (error) {
          pause.failed(error)
        }
      }
      const peers = before?.aloneAmong ?? heartbeat.peers()
      const verdict = await alone.reserve(reservation, peers)
      if (verdict.ok) openCalls.set(reservation.id, { places: [], aloneAmong: peers })
      return verdict
    },
    async settle(settlement) {
      const work = pay(settlement)
      settling.add(work)
      await work
      settling.delete(work)
    },
    async close() {
      pause.close()
      await Promise.all(settling)
      await unsent.close()
      await heartbeat.stop()
    },
  }
}

/** A charge without budgets, or a reservation without an amount, leaves what was reserved before. */
const placesOf = ({ amountUsd, charges }: Reservation, grantedUsd: number, before: OpenCall | undefined): readonly Place[] =>
  charges.map(({ subject, budgets }) => ({
    subject,
    nanos:
      amountUsd !== undefined && budgets.length > 0 ? toNanos(grantedUsd) : (before?.places.find((place) => place.subject === subject)?.nanos ?? 0),
  }))

/** In a busy process a command may time out although its answer has arrived; reserving the same again is harmless. */
async function retriedOnce<T>(attempt: () => Promise<T>, reachable: () => boolean): Promise<T> {
  try {
    return await attempt()
  } catch (error) {
    if (!reachable()) throw error
    return attempt()
  }
}

/** An empty payment for a call that does not exist: tests whether scripts run and may write, as calls need. */
const nothingAt = (now: number): Settlement => ({ id: 'nobody', now, payments: [{ subject: 'nobody', spentUsd: 0, rates: [] }] })

type KeysOf = (subjects: readonly string[]) => string[]

// The braces keep all keys in one slot of a cluster, because a step touches several subjects.
const keysIn =
  (namespace: string): KeysOf =>
  (subjects) =>
    subjects.flatMap((subject) => [`{${namespace}}:${subject}`, `{${namespace}}:${subject}:open`, `{${namespace}}:${subject}:held`])

function createSender(redis: Redis, keysOf: KeysOf): UnsentOptions['send'] {
  const script = createScript(redis, SETTLE)
  return async (settlement, again) => {
    const missed = await script(keysOf(settlement.payments.map(({ subject }) => subject)), encodeSettlement(settlement, again))
    return (missed as readonly number[]).map((i) => settlement.payments[i]!.subject)
  }
}

function encodeReservation(reservation: Reservation, seeds: ReadonlyMap<string, Seed>, leaseMs: number): string {
  const { id, now, amountUsd, leastUsd = amountUsd } = reservation
  return JSON.stringify({
    id,
    now,
    lease: leaseMs,
    ttl: TTL_MS,
    starts: periodStarts(now),
    ...(amountUsd === undefined ? {} : { amount: toNanos(amountUsd), least: toNanos(leastUsd ?? amountUsd) }),
    charges: reservation.charges.map(({ subject, rates, maxOpen, budgets }) => {
      const seed = seeds.get(subject)
      return {
        rates,
        budgets: budgets.map(({ interval, limitUsd }) => [positionOf(interval), toNanos(limitUsd)]),
        ...(maxOpen === undefined ? {} : { open: maxOpen }),
        ...(seed === undefined ? {} : { seed: seed.spent, seed_starts: periodStarts(seed.at) }),
      }
    }),
  })
}

function encodeSettlement({ id, now, payments }: Settlement, again: boolean): string {
  return JSON.stringify({
    id,
    now,
    ...(again ? { again } : {}),
    ttl: TTL_MS,
    starts: periodStarts(now),
    payments: payments.map(({ spentUsd, rates }) => ({ spent: toNanos(spentUsd), rates })),
  })
}

function decodeVerdict(reply: readonly (string | number)[], { charges, now }: Reservation): Verdict | 'unseeded' {
  const [kind, first, second] = reply
  if (kind === 'ok') return { ok: true, grantedUsd: toUsd(Number(first)) }
  if (kind === 'unseeded') return 'unseeded'
  const charge = charges[Number(first)]!
  const { subject } = charge
  if (kind === 'open') return { ok: false, reason: 'open', subject, limit: charge.maxOpen ?? 0 }
  if (kind === 'rate') {
    const { name, limit, cost } = charge.rates[Number(second)]!
    return { ok: false, reason: 'rate', subject, rate: name, ...describeRate(Number(reply[3]), now, limit, cost) }
  }
  const over = new Set(reply.slice(4).map(Number))
  const intervals: readonly Interval[] = INTERVALS.filter((_, i) => over.has(i))
  return { ok: false, reason: 'budget', subject, intervals, leftUsd: toUsd(Number(reply[3])), availableUsd: toUsd(Number(second)) }
}
