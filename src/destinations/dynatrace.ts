import type { z } from 'zod'
import { DESTINATION_DEFAULTS, type Destination } from '../core/destination.ts'
import { otlpProbe, otlpRequest, tracesUrl, type OtlpTarget } from './shared/otlp.ts'
import { classifyOtlp } from './shared/otlp-classify.ts'
import { destinationSettings, headerSecret, HEADER_SECRETS, httpUrl, joinUrl } from './shared/settings.ts'

const OTLP_PATH = '/api/v2/otlp'

const settings = destinationSettings({
  baseUrl: httpUrl('Address of the environment, `https://<environment>.live.dynatrace.com`, or of an ActiveGate, with or without `/api/v2/otlp`.'),
  apiToken: headerSecret('Access token with the scope openTelemetryTrace.ingest.'),
})
type DynatraceSettings = z.output<typeof settings>

const target = ({ baseUrl, apiToken, headers }: DynatraceSettings): OtlpTarget => ({
  url: tracesUrl(new URL(baseUrl).pathname.includes(OTLP_PATH) ? baseUrl : joinUrl(baseUrl, OTLP_PATH)),
  headers,
  authentication: { authorization: `Api-Token ${apiToken}` },
  // The only encoding that is accepted.
  encoding: 'protobuf',
})

/** Dynatrace's OTLP endpoint. It refuses spans that ended more than an hour ago, so older generations become dead letters. */
export const dynatrace: Destination<DynatraceSettings> = {
  type: 'dynatrace',
  name: 'Dynatrace',
  settings,
  secrets: ['apiToken', HEADER_SECRETS],
  limits: { records: 100, bytes: 7_500_000, maxAgeMs: 55 * 60_000 },
  encode: (batch, options, context) => [otlpRequest(batch, context, target(options), { maxChars: DESTINATION_DEFAULTS.valueChars })],
  classify: classifyOtlp,
  probe: (options, context) => otlpProbe(context, target(options)),
}
