import type { z } from 'zod'
import { DESTINATION_DEFAULTS, type Destination } from '../core/destination.ts'
import { otlpProbe, otlpRequest, type OtlpTarget } from './shared/otlp.ts'
import { classifyOtlp } from './shared/otlp-classify.ts'
import { destinationSettings, HEADER_SECRETS, httpUrl, joinUrl } from './shared/settings.ts'

const settings = destinationSettings({
  endpoint: httpUrl('Address of the collector. Without a path, `/v1/traces` is added.'),
})
type OtelCollectorSettings = z.output<typeof settings>

function target({ endpoint, headers }: OtelCollectorSettings): OtlpTarget {
  const url = new URL(endpoint).pathname === '/' ? joinUrl(endpoint, '/v1/traces') : endpoint
  // Uncompressed: the address may be any OTLP receiver, and small ones do not know `content-encoding`.
  return { url, headers, encoding: 'json', gzip: false }
}

/** An OpenTelemetry collector, or anything that speaks OTLP over HTTP. */
export const otelCollector: Destination<OtelCollectorSettings> = {
  type: 'otel-collector',
  name: 'OpenTelemetry Collector',
  settings,
  secrets: [HEADER_SECRETS],
  limits: { records: 100, bytes: 4_000_000 },
  encode: (batch, options, context) => [otlpRequest(batch, context, target(options), { maxChars: DESTINATION_DEFAULTS.valueChars })],
  classify: classifyOtlp,
  probe: (options, context) => otlpProbe(context, target(options)),
}
