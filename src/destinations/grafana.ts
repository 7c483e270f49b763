import type { z } from 'zod'
import { DESTINATION_DEFAULTS, type Destination } from '../core/destination.ts'
import { otlpProbe, otlpRequest, type OtlpTarget } from './shared/otlp.ts'
import { classifyOtlp } from './shared/otlp-classify.ts'
import { basicAuth, destinationSettings, HEADER_SECRETS, httpUrl, joinUrl, requiredText } from './shared/settings.ts'

const settings = destinationSettings({
  apiKey: requiredText('Access policy token with the scope traces:write.'),
  instanceId: requiredText('Instance id of the Grafana Cloud stack.'),
  baseUrl: httpUrl('OTLP gateway of the stack, with or without `/otlp`.').default('https://otlp-gateway-prod-us-west-0.grafana.net'),
})
type GrafanaSettings = z.output<typeof settings>

const target = ({ apiKey, instanceId, baseUrl, headers }: GrafanaSettings): OtlpTarget => ({
  url: joinUrl(baseUrl, /\/otlp\/?$/.test(new URL(baseUrl).pathname) ? '/v1/traces' : '/otlp/v1/traces'),
  headers,
  authentication: { authorization: basicAuth(instanceId, apiKey) },
  // The platform accepts JSON for "low traffic" only.
  encoding: 'protobuf',
})

/** Grafana Cloud (Tempo) through its OTLP gateway. */
export const grafana: Destination<GrafanaSettings> = {
  type: 'grafana',
  name: 'Grafana Cloud',
  settings,
  secrets: ['apiKey', HEADER_SECRETS],
  limits: { records: 100, bytes: 4_000_000 },
  encode: (batch, options, context) => [otlpRequest(batch, context, target(options), { maxChars: DESTINATION_DEFAULTS.valueChars })],
  classify: classifyOtlp,
  probe: (options, context) => otlpProbe(context, target(options)),
}
