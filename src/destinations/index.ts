import type { Destination } from '../core/destination.ts'
import { arize } from './arize.ts'
import { file } from './file.ts'
import { grafana } from './grafana.ts'
import { langfuse } from './langfuse.ts'
import { langsmith } from './langsmith.ts'
import { newrelic } from './newrelic.ts'
import { otelCollector } from './otel-collector.ts'
import { phoenix } from './phoenix.ts'
import { ramp } from './ramp.ts'
import { sentry } from './sentry.ts'
import { webhook } from './webhook.ts'

/** Every destination type, one line each. */
const ALL: readonly Destination[] = [
  arize,
  file,
  grafana,
  langfuse,
  langsmith,
  newrelic,
  otelCollector,
  phoenix,
  ramp,
  sentry,
  webhook,
]

/** Destination types by their name in the API. */
export const DESTINATIONS: ReadonlyMap<string, Destination> = new Map(ALL.map((destination) => [destination.type, destination]))
