import { Counter, Gauge, Registry, collectDefaultMetrics } from 'prom-client'
import { roundUsd } from '../core/cost.ts'
import type { Generation } from '../core/generation.ts'
import { ExactSum } from '../lib/exact-sum.ts'

export interface Metrics {
  /** Records one finished call. */
  finished(generation: Generation): void
  /** A provider was skipped because it has used up a limit set by its operator. */
  passedOver(provider: string, limit: string): void
  /** A call was refused because its key, its workspace or the installation has used up a rate limit. */
  limited(limit: string): void
  /** Registers a gauge that is read when the metrics are scraped. */
  gauge(name: string, help: string, read: () => number): void
  /** Registers several of these, distinguished by a label. */
  gauges(name: string, help: string, label: string, read: () => { readonly [value: string]: number }): void
  /** Prometheus text format. */
  text(): Promise<string>
  readonly contentType: string
  readonly registry: Registry
}

const HOUR_MS = 3_600_000
/**
 * Metrics of Node's event loop delay histogram, which wakes the process a hundred times a second even when idle, and counts its own interval as delay.
 * `nodejs_eventloop_lag_seconds` and `gateway_event_loop_delay_seconds` report the same without that cost.
 */
const LAGS = ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99']
const RATE_LIMITS = ['requests', 'tokens', 'concurrent_requests']
const SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]
/** The most label sets per metric with a model of their own; further ones are counted for all models of their provider together. */
const MAX_SERIES = 5_000
const MAX_OVERFLOWS = 1_000
/** The most models with labels of their own. If a provider accepts any model name, callers could create any number of them. */
const MAX_MODELS = 500

/** A counter with concatenated labels as keys: hashing label objects cost more than everything else that is done here for a finished call. */
class Tally {
  readonly #values = new Map<string, ExactSum>()

  /** `overflow`: the key that is counted instead if there is no room for another. There are few such keys, and they have room of their own. */
  add(key: string, value: number, overflow?: string): void {
    if (this.#has(key, MAX_SERIES)) this.#count(key, value)
    else if (overflow !== undefined && this.#has(overflow, MAX_SERIES + MAX_OVERFLOWS)) this.#count(overflow, value)
  }

  /** Whether the key exists, or there is room for it. */
  #has(key: string, room: number): boolean {
    return this.#values.size < room || this.#values.has(key)
  }

  #count(key: string, value: number): void {
    const sum = this.#values.get(key)
    if (sum === undefined) this.#values.set(key, new ExactSum(value))
    else sum.add(value)
  }

  register(registers: readonly Registry[], name: string, help: string, labelNames: readonly string[]): void {
    const values = this.#values
    const counter = new Counter({
      name,
      help,
      labelNames: [...labelNames],
      registers: [],
      collect() {
        this.reset()
        for (const [key, sum] of values) {
          const labels = key.split(SEPARATOR)
          // Counts are whole, and rounding leaves them as they are.
          this.inc(Object.fromEntries(labelNames.map((label, i) => [label, labels[i] ?? ''])), roundUsd(sum.value))
        }
      },
    })
    for (const registry of registers) registry.registerMetric(counter)
  }
}

const SEPARATOR = '\u0000'

/** A histogram as Prometheus reads it, counted without label objects. */
class Buckets {
  readonly #series = new Map<string, { readonly counts: number[]; sum: number }>()

  observe(key: string, value: number): void {
    let series = this.#series.get(key)
    if (series === undefined) {
      if (this.#series.size >= MAX_SERIES) return
      series = { counts: Array.from({ length: SECONDS.length + 1 }, () => 0), sum: 0 }
      this.#series.set(key, series)
    }
    let bucket = 0
    while (bucket < SECONDS.length && value > SECONDS[bucket]!) bucket++
    series.counts[bucket]!++
    series.sum += value
  }

  text(name: string, help: string, label: string): string {
    const lines = [`# HELP ${name} ${help}`, `# TYPE ${name} histogram`]
    for (const [key, { counts, sum }] of this.#series) {
      const labels = `${label}="${key}"`
      let total = 0
      counts.forEach((count, i) => {
        total += count
        lines.push(`${name}_bucket{le="${i === SECONDS.length ? '+Inf' : SECONDS[i]}",${labels}} ${total}`)
      })
      lines.push(`${name}_sum{${labels}} ${sum}`, `${name}_count{${labels}} ${total}`)
    }
    return lines.join('\n')
  }
}

/** The name of a model in a label: the first models keep their own names. */
function createModelNames(): (model: string, anyOf: string) => string {
  const named = new Set<string>()
  return (model, anyOf) => {
    if (named.has(model)) return model
    // A caller could otherwise write the labels behind the model, and make another provider fail.
    if (named.size >= MAX_MODELS || model.includes(SEPARATOR)) return anyOf
    named.add(model)
    return model
  }
}

/**
 * The gateway's own metrics. Labels are names of served models and providers, and closed vocabularies, so their number is bounded. Whatever exceeds the
 * bound is counted under `<provider>/*` instead of being dropped.
 */
export function createMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: HOUR_MS })
  for (const name of LAGS) registry.removeSingleMetric(`nodejs_eventloop_lag_${name}_seconds`)
  const registers = [registry]
  const calls = new Tally()
  const tokens = new Tally()
  const cost = new Tally()
  const attempts = new Tally()
  const cacheHits = new Tally()
  const passedOver = new Tally()
  const limited = new Tally()
  // From 0 on: an alert subtracts them from the calls that failed, and nothing subtracted from something is nothing to Prometheus.
  for (const limit of RATE_LIMITS) limited.add(limit, 0)
  const duration = new Buckets()
  const firstToken = new Buckets()
  const nameOf = createModelNames()
  calls.register(registers, 'gateway_calls_total', 'Finished calls by served model, provider and outcome.', [
    'model',
    'provider',
    'status',
    'error_type',
  ])
  tokens.register(registers, 'gateway_tokens_total', 'Tokens by direction.', ['model', 'provider', 'direction'])
  cost.register(registers, 'gateway_cost_usd_total', 'Cost of finished calls, USD.', ['model', 'provider'])
  attempts.register(registers, 'gateway_attempts_total', 'Upstream attempts by provider, HTTP status (0: none received) and error.', [
    'provider',
    'status',
    'error_type',
  ])
  cacheHits.register(
    registers,
    'gateway_answer_cache_hits_total',
    'Calls answered from the answer cache, by the model and provider of the original answer.',
    ['model', 'provider'],
  )
  passedOver.register(registers, 'gateway_passed_over_total', 'Attempts skipped because a configured limit of the provider was used up.', [
    'provider',
    'limit',
  ])
  limited.register(registers, 'gateway_calls_limited_total', 'Calls refused because of a rate limit of their caller.', ['limit'])

  return {
    registry,
    contentType: registry.contentType,
    async text() {
      const histograms = [
        duration.text('gateway_call_duration_seconds', 'From the arrival of a call to its last byte.', 'provider'),
        firstToken.text('gateway_first_token_seconds', 'From the arrival of a call to its first content.', 'provider'),
      ]
      return `${await registry.metrics()}\n${histograms.join('\n')}\n`
    },
    gauge: (name, help, read) =>
      registry.registerMetric(
        new Gauge({
          name,
          help,
          registers: [],
          collect() {
            this.set(read())
          },
        }),
      ),
    gauges: (name, help, label, read) =>
      registry.registerMetric(
        new Gauge({
          name,
          help,
          labelNames: [label],
          registers: [],
          collect() {
            for (const [value, figure] of Object.entries(read())) this.set({ [label]: value }, figure)
          },
        }),
      ),
    limited: (limit) => limited.add(limit, 1),
    passedOver: (provider, limit) => passedOver.add(`${provider}${SEPARATOR}${limit}`, 1),
    finished(generation) {
      const { usage } = generation
      const provider = generation.provider ?? 'none'
      const anyOf = `${provider}/*`
      const served = `${generation.model === undefined ? 'none' : nameOf(generation.model, anyOf)}${SEPARATOR}${provider}`
      const any = `${anyOf}${SEPARATOR}${provider}`
      const outcome = `${SEPARATOR}${generation.status}${SEPARATOR}${generation.errorType ?? ''}`
      calls.add(served + outcome, 1, any + outcome)
      // A cached answer says nothing about its provider's speed.
      const measured = generation.cacheSourceId === undefined ? provider : 'none'
      duration.observe(measured, generation.durationMs / 1000)
      if (generation.firstTokenMs !== undefined) firstToken.observe(measured, generation.firstTokenMs / 1000)
      if (usage.inputTokens > 0) tokens.add(`${served}${SEPARATOR}input`, usage.inputTokens, `${any}${SEPARATOR}input`)
      if (usage.outputTokens > 0) tokens.add(`${served}${SEPARATOR}output`, usage.outputTokens, `${any}${SEPARATOR}output`)
      if (generation.cost.total > 0) cost.add(served, generation.cost.total, any)
      if (generation.cacheSourceId !== undefined) cacheHits.add(served, 1, any)
      for (const attempt of generation.attempts)
        attempts.add(`${attempt.provider}${SEPARATOR}${attempt.status}${SEPARATOR}${attempt.errorType ?? ''}`, 1)
    },
  }
}
