import { createContentPolicy } from '../accounts/content-logging.ts'
import type { Boot } from './boot.ts'
import type { Config } from '../core/config.ts'
import type { Generation } from '../core/generation.ts'
import { createDeliveryHost, type DeliveryHost, type SpawnThread } from './delivery-host.ts'
import { waitingRecordsBytes } from './memory-bounds.ts'
import { createRecordLog } from './record-log.ts'
import { systemClock } from '../lib/clock.ts'
import type { Logger } from '../lib/logger.ts'
import { createGenerationSink, type WriteBehindSink } from '../store/index.ts'
import { createDeliveryMetrics } from '../telemetry/delivery-metrics.ts'
import { createMetrics, type Metrics } from '../telemetry/metrics.ts'
import { createRetentionMetrics } from '../telemetry/retention-metrics.ts'

/** Where finished calls go: metrics, the log, the store and the destinations. */
export interface Recording {
  readonly metrics: Metrics
  readonly delivery: DeliveryHost
  readonly sink: WriteBehindSink
  /** Counts and logs a finished call: one line, which above the debug level only failures have. */
  readonly finished: (generation: Generation) => void
}

/** `spawn`: starts the delivery thread. Default: from its source, or the bundled one. */
export function openRecording(config: Config, state: Boot, logger: Logger, spawn?: SpawnThread): Recording {
  const metrics = createMetrics()
  const delivery = createDeliveryHost({
    config,
    logger,
    databaseFile: state.directory.databaseFile,
    secretKey: state.directory.secretKey,
    dataDirectory: state.directory.path,
    destinations: state.store.destinations,
    keepsContent: createContentPolicy((id) => state.accounts.snapshot.workspace(id)),
    metrics: createDeliveryMetrics(metrics.registry),
    retention: createRetentionMetrics(metrics.registry),
    clock: systemClock,
    spawn,
  })
  const sink = createGenerationSink({
    store: { generations: delivery },
    packing: delivery.packing,
    clock: systemClock,
    keepsContent: delivery.wantsContent,
    onEvent: createRecordLog(logger, systemClock),
    limits: { maxBytes: waitingRecordsBytes() },
  })
  metrics.gauge('gateway_records_waiting', 'Generation records not yet written.', () => sink.stats().waiting)
  metrics.gauge('gateway_records_oldest_seconds', 'Age of the oldest generation record not yet written.', () => sink.stats().oldestAgeMs / 1000)
  return {
    metrics,
    delivery,
    sink,
    finished(generation) {
      metrics.finished(generation)
      const { id, model, provider, status, httpStatus, durationMs, errorType } = generation
      // Not the error message: upstreams quote the prompt in theirs. It is in the record with this id.
      const fields = { id, model, provider, status, http_status: httpStatus, ms: Math.round(durationMs), error_type: errorType }
      if (status === 'failed') logger.warn(fields, 'call failed')
      else logger.debug(fields, 'call')
    },
  }
}
