import type { GatewayError } from '../core/error.ts'
import { Breaker } from './breaker.ts'
import { OutcomeRing, QuantileRing } from './sketch.ts'
import type { Quantiles } from './sketch.ts'

/**
 * `healthy`; `outage`: it failed noticeably in the last 30 s; `benched`: it asked for a pause or its circuit is open; `probe`: its circuit is open
 * and the next request tests it.
 */
export type EndpointState = 'healthy' | 'outage' | 'benched' | 'probe'

/** What is known about one endpoint at the moment of the view. */
export interface EndpointHealth {
  readonly state: EndpointState
  /** The state for callers with a key of their own, whom the operator's limits do not affect, if it differs. */
  readonly ownKeyState?: EndpointState
  /** Milliseconds since the epoch; 0 if it is not benched. */
  readonly benchedUntil: number
  /** The last failure that opened its circuit or kept it open; 0: none. */
  readonly lastOutageAt: number
  /** Time to first token in the last five minutes, ms. Absent if nothing was measured. */
  readonly latency?: Quantiles | undefined
  /** Tokens per second in the last five minutes. */
  readonly throughput?: Quantiles | undefined
  /** Share of requests of the last 30 minutes that succeeded with well-formed tool calls; absent below 20 requests. */
  readonly quality?: number | undefined
}

/** Figures for the endpoints API. Uptime in percent; null without traffic. */
export interface EndpointStats {
  readonly uptimeLast5m: number | null
  readonly uptimeLast30m: number | null
  readonly uptimeLast1d: number | null
  /** Seconds to the first token. */
  readonly latencyLast30m: Quantiles | null
  /** Tokens per second. */
  readonly throughputLast30m: Quantiles | null
}

/** What a served request says about its endpoint. */
export interface Sample {
  /** From sending to the first content event. */
  readonly firstTokenMs?: number
  /** Output tokens, reasoning included. */
  readonly tokens?: number
  /** From sending to the end. */
  readonly durationMs?: number
  /** Whether a tool call of the answer named no tool of the request, or had arguments that are not JSON. Absent for answers without calls. */
  readonly badToolCall?: boolean
}

const MINUTE = 60_000
const RATE_LIMIT_FIRST_MS = 1_000
const RATE_LIMIT_LONGEST_MS = 60_000
/** A vendor may name an absurd pause; after this time it is tried again. */
const LONGEST_COOLDOWN_MS = 10 * MINUTE
const OUTAGE_SHARE = 0.1
export const OUTAGE_WINDOW_MS = 30_000
/**
 * After an outage a session may have moved, as seen by another process. For the lifetime of a pin no session is hashed to the endpoint, or processes
 * that do not share pins would disagree about it. Calls without a session return at once.
 */
export const RETURN_QUIET_MS = 10 * MINUTE
const QUALITY_SAMPLES = 20
/** The throughput of fewer tokens is noise. */
const MIN_TOKENS = 8

/** What is known about one endpoint, in fixed memory. Its getters refer to the moment set by `at`. */
export class EndpointRecord implements EndpointHealth {
  readonly breaker = new Breaker()
  readonly last30s = new OutcomeRing(6, 5_000)
  readonly last5m = new OutcomeRing(10, 30_000)
  readonly last30m = new OutcomeRing(10, 3 * MINUTE)
  readonly last1d = new OutcomeRing(48, 30 * MINUTE)
  readonly toolCalls30m = new OutcomeRing(10, 3 * MINUTE)
  readonly latency5m = new QuantileRing({ lowest: 1, slots: 10, slotMs: 30_000, highIsGood: false })
  readonly latency30m = new QuantileRing({ lowest: 1, slots: 10, slotMs: 3 * MINUTE, highIsGood: false })
  readonly throughput5m = new QuantileRing({ lowest: 0.1, slots: 10, slotMs: 30_000, highIsGood: true })
  readonly throughput30m = new QuantileRing({ lowest: 0.1, slots: 10, slotMs: 3 * MINUTE, highIsGood: true })
  /** Figures as last read, and how long they are valid: a plan asks a thousand endpoints, whose sketches are scattered in memory. */
  #latency: Quantiles | undefined
  #throughput: Quantiles | undefined
  #figuresUntil = 0
  cooldownUntil = 0
  /** Until when the gateway may send it nothing with its own credentials. */
  fullUntil = 0
  rateLimits = 0
  /** The moment that the getters below refer to. */
  now = 0

  at(now: number): this {
    this.now = now
    return this
  }

  outcome(good: boolean, now: number): void {
    this.last30s.add(good, now)
    this.last5m.add(good, now)
    this.last30m.add(good, now)
    this.last1d.add(good, now)
  }

  get benchedUntil(): number {
    return Math.max(this.restsUntil, this.fullUntil > this.now ? this.fullUntil : 0)
  }
  /** The same without the operator's limits. */
  get restsUntil(): number {
    const until = Math.max(this.cooldownUntil, this.breaker.probeAt)
    if (until > this.now) return until
    // A probe is running, and everybody else waits for its result.
    return this.breaker.open && this.breaker.probing(this.now) ? this.now + 1 : 0
  }
  get state(): EndpointState {
    return this.fullUntil > this.now ? 'benched' : this.ownKeyState
  }
  get ownKeyState(): EndpointState {
    const { breaker, last30s } = this
    if (this.cooldownUntil > this.now) return 'benched'
    // An open circuit that nobody has tried for long is old news: it counts as closed, and one failed probe opens it again.
    if (breaker.open && this.now - breaker.lastOutageAt < RETURN_QUIET_MS) return this.restsUntil > 0 ? 'benched' : 'probe'
    if (last30s.bad === 0) return 'healthy'
    last30s.advance(this.now)
    const { good, bad } = last30s
    return bad > 0 && bad >= OUTAGE_SHARE * (good + bad) ? 'outage' : 'healthy'
  }
  get lastOutageAt(): number {
    return this.breaker.lastOutageAt
  }
  get latency(): Quantiles | undefined {
    if (this.now >= this.#figuresUntil) this.#readFigures()
    return this.#latency
  }
  get throughput(): Quantiles | undefined {
    if (this.now >= this.#figuresUntil) this.#readFigures()
    return this.#throughput
  }
  #readFigures(): void {
    const { now, latency5m, throughput5m } = this
    latency5m.advance(now)
    throughput5m.advance(now)
    this.#latency = latency5m.quantiles()
    this.#throughput = throughput5m.quantiles()
    this.#figuresUntil = Math.min(latency5m.currentEndsAt, throughput5m.currentEndsAt)
  }
  get quality(): number | undefined {
    this.last30m.advance(this.now)
    this.toolCalls30m.advance(this.now)
    const { good, bad } = this.last30m
    if (good + bad < QUALITY_SAMPLES) return undefined
    return (good / (good + bad)) * (this.toolCalls30m.share() ?? 1)
  }

  /** A request was served. */
  succeed(sample: Sample): void {
    const { now, breaker } = this
    // What was measured before the recovery says nothing about the recovered endpoint.
    if (breaker.open) this.last30s.clear()
    breaker.succeeded()
    this.outcome(true, now)
    if (now >= this.cooldownUntil) this.rateLimits = 0
    if (sample.badToolCall !== undefined) this.toolCalls30m.add(!sample.badToolCall, now)
    const { firstTokenMs, durationMs, tokens } = sample
    this.#figuresUntil = 0
    if (firstTokenMs !== undefined) {
      this.latency5m.add(firstTokenMs, now)
      this.latency30m.add(firstTokenMs, now)
    }
    if (tokens === undefined || durationMs === undefined || tokens < MIN_TOKENS) return
    const perSecond = throughput(tokens, durationMs, firstTokenMs)
    this.throughput5m.add(perSecond, now)
    this.throughput30m.add(perSecond, now)
  }

  /** It asked for a pause: the longer of its hint and the backoff. */
  refuse(retryAfterMs: number): void {
    this.breaker.probeVoid()
    // Concurrent requests are refused together, which counts as one step of the backoff.
    if (this.now >= this.cooldownUntil) this.rateLimits++
    const backoff = Math.min(RATE_LIMIT_FIRST_MS * 2 ** Math.min(this.rateLimits - 1, 16), RATE_LIMIT_LONGEST_MS)
    this.pause(Math.max(retryAfterMs, backoff))
  }

  /** It failed; a 503 may name a pause. */
  fail(retryAfterMs: number): void {
    const { now } = this
    this.outcome(false, now)
    this.breaker.failed(now, 1 - (this.last30s.share() ?? 0))
    if (retryAfterMs > 0) this.pause(retryAfterMs)
  }

  pause(ms: number): void {
    this.cooldownUntil = Math.max(this.cooldownUntil, this.now + Math.min(ms, LONGEST_COOLDOWN_MS))
  }

  fill(ms: number): void {
    this.fullUntil = Math.max(this.fullUntil, this.now + ms)
  }

  stats(): EndpointStats {
    for (const ring of [this.last5m, this.last30m, this.last1d, this.latency30m, this.throughput30m]) ring.advance(this.now)
    const latency = this.latency30m.quantiles()
    return {
      uptimeLast5m: percent(this.last5m),
      uptimeLast30m: percent(this.last30m),
      uptimeLast1d: percent(this.last1d),
      latencyLast30m:
        latency === undefined ? null : { p50: latency.p50 / 1000, p75: latency.p75 / 1000, p90: latency.p90 / 1000, p99: latency.p99 / 1000 },
      throughputLast30m: this.throughput30m.quantiles() ?? null,
    }
  }
}

export const NO_STATS: EndpointStats = { uptimeLast5m: null, uptimeLast30m: null, uptimeLast1d: null, latencyLast30m: null, throughputLast30m: null }

function percent(ring: OutcomeRing): number | null {
  const share = ring.share()
  return share === undefined ? null : share * 100
}

/** Tokens per second while tokens arrived; an answer that came in one piece is measured over its whole time. */
function throughput(tokens: number, durationMs: number, firstTokenMs: number | undefined): number {
  const flowing = durationMs - (firstTokenMs ?? 0)
  return (tokens * 1000) / Math.max(1, flowing >= durationMs * 0.1 ? flowing : durationMs)
}

/** What an error says about the endpoint: nothing, that it is busy, or that it fails. */
export function judgeFailure(error: GatewayError): 'none' | 'busy' | 'outage' {
  if (error.details.credentialDead === true) return 'none'
  switch (error.errorType) {
    case 'rate_limit_exceeded':
      return error.details.source === 'gateway' ? 'none' : 'busy'
    case 'provider_overloaded':
      return error.details.source === 'gateway' ? 'none' : 'outage'
    case 'provider_unavailable':
    case 'timeout':
      return 'outage'
    case 'not_found':
      // The vendor no longer knows the model, so it fails for everybody.
      return error.details.upstreamStatus === undefined ? 'none' : 'outage'
    default:
      return 'none'
  }
}
