import type { z } from 'zod'
import { DESTINATION_DEFAULTS, type Destination } from '../core/destination.ts'
import { otlpProbe, otlpRequest, tracesUrl, type OtlpTarget } from './shared/otlp.ts'
import { classifyOtlp } from './shared/otlp-classify.ts'
import { destinationSettings, headerSecret, headerValue, HEADER_SECRETS, httpUrl, lineText } from './shared/settings.ts'

const settings = destinationSettings({
  writeKey: headerSecret('Write key of the organisation.'),
  baseUrl: httpUrl('Address of the API.').default('https://api.raindrop.ai'),
  project: lineText().min(1).optional().describe('Slug of the project; absent: the default one.'),
})
type RaindropSettings = z.output<typeof settings>

const target = ({ writeKey, baseUrl, project, headers }: RaindropSettings): OtlpTarget => ({
  url: tracesUrl(baseUrl),
  headers,
  authentication: {
    authorization: `Bearer ${writeKey}`,
    ...(project === undefined ? {} : { 'x-raindrop-project-id': headerValue(project) }),
  },
  // Compression is taken for protobuf only.
  encoding: 'protobuf',
})

/** Raindrop's OTLP endpoint. */
export const raindrop: Destination<RaindropSettings> = {
  type: 'raindrop',
  name: 'Raindrop',
  settings,
  secrets: ['writeKey', HEADER_SECRETS],
  limits: { records: 100, bytes: 1_000_000 },
  encode: (batch, options, context) => [otlpRequest(batch, context, target(options), { maxChars: DESTINATION_DEFAULTS.valueChars })],
  classify: classifyOtlp,
  probe: (options, context) => otlpProbe(context, target(options)),
}
