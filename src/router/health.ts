import type { GatewayError } from '../core/error.ts'
import type { Clock } from '../lib/clock.ts'
import { EndpointRecord, judgeFailure, NO_STATS, OUTAGE_WINDOW_MS, RETURN_QUIET_MS } from './endpoint-record.ts'
import type { EndpointHealth, EndpointStats, Sample } from './endpoint-record.ts'

export { RETURN_QUIET_MS } from './endpoint-record.ts'
export type { EndpointHealth, EndpointState, EndpointStats, Sample } from './endpoint-record.ts'

export interface HealthView {
  /** Undefined if nothing is known about the endpoint. The result is valid until the next call for the same endpoint. */
  get(endpointId: string): EndpointHealth | undefined
  /** True if no endpoint at all is benched, probing, failing or freshly back: then only figures are worth asking for. */
  readonly quiet?: boolean
}

export const UNKNOWN_HEALTH: HealthView = { get: () => undefined }

export interface Cooldown {
  readonly endpointId: string
  /** Milliseconds since the epoch. */
  readonly until: number
}

/** How processes tell each other which endpoints to leave alone. Best effort: a lost message costs one refused request. */
export interface CooldownChannel {
  announce(cooldown: Cooldown): void
  /** Returns the function that stops listening. */
  listen(handler: (cooldown: Cooldown) => void): () => void
}

export interface Health {
  /** A request is about to be sent; if a probe is due, it is the probe. */
  started(endpointId: string): void
  success(endpointId: string, sample: Sample): void
  /** A failed attempt. Errors caused by the request, the credential or the gateway itself leave no mark. */
  failure(endpointId: string, error: GatewayError): void
  /**
   * With its own credentials, the gateway may send nothing to this endpoint for so many milliseconds: others come first, except for callers with keys of
   * their own.
   */
  pause(endpointId: string, ms: number): void
  /** The attempt ended without a result (the caller left). */
  abandoned(endpointId: string): void
  view(): HealthView
  stats(endpointId: string): EndpointStats
  /** Endpoints that wait at the back of every plan, and until when. */
  benched(): readonly Cooldown[]
  /** Stops listening to other processes. */
  close(): void
}

export interface HealthOptions {
  readonly clock: Clock
  /** Endpoints remembered; the least recently used is forgotten first. 13 KB each, allocated with the first request. */
  readonly maxEndpoints?: number
  readonly channel?: CooldownChannel
}

/** Synchronized clocks step back by less. */
const SET_BACK_MS = 10_000

/** The time of a clock; calls back when the clock was set back. */
function timeOf(clock: Clock, onSetBack: () => void): () => number {
  let latest = -Infinity
  return () => {
    const at = clock.now()
    if (at < latest - SET_BACK_MS) onSetBack()
    latest = at
    return at
  }
}

/** Keeps the health of endpoints, in memory and in bounds. Only cooldowns are shared between processes. */
export function createHealth(options: HealthOptions): Health {
  const { clock, channel } = options
  const maxEndpoints = options.maxEndpoints ?? 1_000
  const records = new Map<string, EndpointRecord>()
  let youngest: string | undefined
  let openBreakers = 0
  /** Until then there may be trouble; after it everything is quiet, except for open circuits. */
  let quietFrom = 0

  // After the clock was set back, all records refer to times in the future: a pause of seconds would last until then. Therefore they are discarded.
  const now = timeOf(clock, () => {
    records.clear()
    youngest = undefined
    openBreakers = 0
    quietFrom = 0
  })

  const forgetOldest = (): void => {
    const oldest = records.keys().next()
    if (oldest.done) return
    if (records.get(oldest.value)?.breaker.open) openBreakers--
    records.delete(oldest.value)
  }
  /** Also makes the endpoint the most recently used. */
  const touch = (id: string): EndpointRecord => {
    const at = now()
    const known = records.get(id)
    // Each move leaves a hole in the map, which is rebuilt when there are many: nothing moves while a single endpoint serves call after call.
    if (known !== undefined && id === youngest) return known.at(at)
    if (known !== undefined) records.delete(id)
    else if (records.size >= maxEndpoints) forgetOldest()
    const record = known ?? new EndpointRecord()
    records.set(id, record)
    youngest = id
    return record.at(at)
  }
  /** Makes a change and notes the trouble it may mean; a longer bench is announced. */
  const change = (id: string, apply: (record: EndpointRecord) => void, announce: boolean): void => {
    const record = touch(id)
    const wasOpen = record.breaker.open
    const before = record.restsUntil
    apply(record)
    const { breaker, now: at, restsUntil, cooldownUntil, fullUntil } = record
    openBreakers += Number(breaker.open) - Number(wasOpen)
    quietFrom = Math.max(quietFrom, cooldownUntil, fullUntil, at + (breaker.open ? RETURN_QUIET_MS : OUTAGE_WINDOW_MS))
    if (announce && restsUntil > Math.max(before, at)) channel?.announce({ endpointId: id, until: restsUntil })
  }

  const stop = channel?.listen(({ endpointId, until }) => {
    const at = now()
    if (until > at) change(endpointId, (record) => record.pause(until - at), false)
  })

  return {
    started(id) {
      const at = now()
      records.get(id)?.breaker.started(at)
    },
    success(id, sample) {
      const record = touch(id)
      if (record.breaker.open) openBreakers--
      record.succeed(sample)
    },
    failure(id, error) {
      const verdict = judgeFailure(error)
      if (verdict === 'none') {
        records.get(id)?.breaker.probeVoid()
        return
      }
      const hint = error.details.retryAfterMs ?? 0
      change(id, (record) => (verdict === 'busy' ? record.refuse(hint) : record.fail(hint)), true)
    },
    pause(id, ms) {
      change(id, (record) => record.fill(ms), false)
    },
    abandoned(id) {
      records.get(id)?.breaker.probeVoid()
    },
    view() {
      const at = now()
      return { get: (id) => records.get(id)?.at(at), quiet: openBreakers === 0 && at >= quietFrom }
    },
    stats(id) {
      const at = now()
      return records.get(id)?.at(at).stats() ?? NO_STATS
    },
    benched() {
      const at = now()
      const list: Cooldown[] = []
      for (const [endpointId, record] of records) {
        const until = record.at(at).benchedUntil
        if (until > 0) list.push({ endpointId, until })
      }
      return list
    },
    close() {
      stop?.()
    },
  }
}
