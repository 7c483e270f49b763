import type { Destination } from '../core/destination.ts'
import { file } from './file.ts'
import { grafana } from './grafana.ts'
import { langfuse } from './langfuse.ts'
import { newrelic } from './newrelic.ts'
import { otelCollector } from './otel-collector.ts'
import { webhook } from './webhook.ts'

/** Every destination type, one line each. */
const ALL: readonly Destination[] = [file, grafana, langfuse, newrelic, otelCollector, webhook]

/** Destination types by their name in the API. */
export const DESTINATIONS: ReadonlyMap<string, Destination> = new Map(ALL.map((destination) => [destination.type, destination]))
