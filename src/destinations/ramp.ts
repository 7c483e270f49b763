import type { z } from 'zod'
import { DESTINATION_DEFAULTS, type Destination } from '../core/destination.ts'
import { otlpProbe, otlpRequest, type OtlpTarget } from './shared/otlp.ts'
import { classifyOtlp } from './shared/otlp-classify.ts'
import { destinationSettings, headerSecret, HEADER_SECRETS, httpUrl } from './shared/settings.ts'

const settings = destinationSettings({
  apiKey: headerSecret('Access token with the scope ai_usage:write.'),
  baseUrl: httpUrl('Address that receives usage, used exactly as given.').default('https://api.ramp.com/developer/v1/ai-usage/openrouter'),
})
type RampSettings = z.output<typeof settings>

const target = ({ apiKey, baseUrl, headers }: RampSettings): OtlpTarget => ({
  url: baseUrl,
  headers,
  authentication: { authorization: `Bearer ${apiKey}` },
  encoding: 'json',
  gzip: false,
})

/** Ramp's AI usage: OTLP as JSON at the configured address itself, without `/v1/traces`. The platform recognises repeats. */
export const ramp: Destination<RampSettings> = {
  type: 'ramp',
  name: 'Ramp',
  settings,
  secrets: ['apiKey', HEADER_SECRETS],
  limits: { records: 100, bytes: 4_000_000 },
  encode: (batch, options, context) => [otlpRequest(batch, context, target(options), { maxChars: DESTINATION_DEFAULTS.valueChars })],
  classify: classifyOtlp,
  probe: (options, context) => otlpProbe(context, target(options)),
}
