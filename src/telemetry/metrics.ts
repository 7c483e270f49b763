import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'
import type { Generation } from '../core/generation.ts'

export interface Metrics {
  /** One finished call. */
  finished(generation: Generation): void
  /** Registers a figure that is read when the metrics are scraped. */
  gauge(name: string, help: string, read: () => number): void
  /** Prometheus text format. */
  text(): Promise<string>
  readonly contentType: string
  readonly registry: Registry
}

const SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]

/**
 * The gateway's own figures. Labels come from the catalog and from closed vocabularies, never from what a caller wrote: their number is
 * bounded and they hold no secrets.
 */
export function createMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const registers = [registry]
  const calls = new Counter({
    name: 'gateway_calls_total', help: 'Finished calls by served model, provider and outcome.', labelNames: ['model', 'provider', 'status', 'error_type'], registers,
  })
  const duration = new Histogram({ name: 'gateway_call_duration_seconds', help: 'From the arrival of a call to its last byte.', labelNames: ['provider'], buckets: SECONDS, registers })
  const firstToken = new Histogram({ name: 'gateway_first_token_seconds', help: 'From the arrival of a call to its first content.', labelNames: ['provider'], buckets: SECONDS, registers })
  const tokens = new Counter({ name: 'gateway_tokens_total', help: 'Tokens by direction.', labelNames: ['model', 'provider', 'direction'], registers })
  const cost = new Counter({ name: 'gateway_cost_usd_total', help: 'Cost of finished calls, USD.', labelNames: ['model', 'provider'], registers })
  const attempts = new Counter({ name: 'gateway_attempts_total', help: 'Upstream attempts by provider and HTTP status (0: none received).', labelNames: ['provider', 'status'], registers })

  return {
    registry,
    contentType: registry.contentType,
    text: () => registry.metrics(),
    gauge(name, help, read) {
      new Gauge({
        name, help, registers,
        collect() {
          this.set(read())
        },
      })
    },
    finished(generation) {
      const { usage } = generation
      const model = generation.model ?? 'none'
      const provider = generation.provider ?? 'none'
      calls.inc({ model, provider, status: generation.status, error_type: generation.errorType ?? '' })
      duration.observe({ provider }, generation.durationMs / 1000)
      if (generation.firstTokenMs !== undefined) firstToken.observe({ provider }, generation.firstTokenMs / 1000)
      if (usage.inputTokens > 0) tokens.inc({ model, provider, direction: 'input' }, usage.inputTokens)
      if (usage.outputTokens > 0) tokens.inc({ model, provider, direction: 'output' }, usage.outputTokens)
      if (generation.cost.total > 0) cost.inc({ model, provider }, generation.cost.total)
      for (const attempt of generation.attempts) attempts.inc({ provider: attempt.provider, status: attempt.status })
    },
  }
}
