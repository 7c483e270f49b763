import type { Destination } from '../core/destination.ts'
import { arize } from './arize.ts'
import { bigquery } from './bigquery.ts'
import { braintrust } from './braintrust.ts'
import { clickhouse } from './clickhouse.ts'
import { datadog } from './datadog.ts'
import { dynatrace } from './dynatrace.ts'
import { file } from './file.ts'
import { grafana } from './grafana.ts'
import { helicone } from './helicone.ts'
import { honeycomb } from './honeycomb.ts'
import { honeyhive } from './honeyhive.ts'
import { kafkaRest } from './kafka-rest.ts'
import { langfuse } from './langfuse.ts'
import { langsmith } from './langsmith.ts'
import { nats } from './nats.ts'
import { newrelic } from './newrelic.ts'
import { opik } from './opik.ts'
import { otelCollector } from './otel-collector.ts'
import { phoenix } from './phoenix.ts'
import { posthog } from './posthog.ts'
import { raindrop } from './raindrop.ts'
import { ramp } from './ramp.ts'
import { s3 } from './s3.ts'
import { sentry } from './sentry.ts'
import { snowflake } from './snowflake.ts'
import { weave } from './weave.ts'
import { webhook } from './webhook.ts'

/** Every destination type, one line each. */
const ALL: readonly Destination[] = [
  arize,
  bigquery,
  braintrust,
  clickhouse,
  datadog,
  dynatrace,
  file,
  grafana,
  helicone,
  honeycomb,
  honeyhive,
  kafkaRest,
  langfuse,
  langsmith,
  nats,
  newrelic,
  opik,
  otelCollector,
  phoenix,
  posthog,
  raindrop,
  ramp,
  s3,
  sentry,
  snowflake,
  weave,
  webhook,
]

/** Destination types by their name in the API. */
export const DESTINATIONS: ReadonlyMap<string, Destination> = new Map(ALL.map((destination) => [destination.type, destination]))
