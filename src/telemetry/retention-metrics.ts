import { Counter, Gauge, type Registry } from 'prom-client'
import type { RetentionReport } from '../core/retention.ts'

export interface RetentionMetrics {
  /** Records one retention run. */
  finished(report: RetentionReport): void
}

/** Metrics of what was deleted because of its age. Alert on runs that do not happen, or that remain unfinished again and again. */
export function createRetentionMetrics(registry: Registry): RetentionMetrics {
  const registers = [registry]
  const deleted = new Counter({
    name: 'gateway_retention_deleted_total',
    help: 'Rows deleted because of their age, by kind.',
    labelNames: ['what'],
    registers,
  })
  const last = new Gauge({ name: 'gateway_retention_last_run_timestamp_seconds', help: 'When this process last cleaned up.', registers })
  const duration = new Gauge({ name: 'gateway_retention_last_run_seconds', help: 'Duration of the last round of cleaning up.', registers })
  const unfinished = new Gauge({ name: 'gateway_retention_unfinished', help: '1 if the last round ended before everything was deleted.', registers })
  // A gauge without labels begins with 0, which would read as a round in 1970 that took no time and deleted everything.
  for (const gauge of [last, duration, unfinished]) gauge.remove()
  return {
    finished: (report) => {
      for (const [what, rows] of Object.entries(report.deleted)) deleted.inc({ what }, rows)
      last.set(report.at / 1_000)
      duration.set(report.durationMs / 1_000)
      unfinished.set(report.unfinished ? 1 : 0)
    },
  }
}
