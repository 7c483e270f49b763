import type { z } from 'zod'
import type { Destination } from '../core/destination.ts'
import { otlpProbe, otlpRequest, tracesUrl, type OtlpTarget } from './shared/otlp.ts'
import { classifyOtlp } from './shared/otlp-classify.ts'
import { destinationSettings, headerSecret, headerValue, HEADER_SECRETS, httpUrl, lineText } from './shared/settings.ts'

/** The platform drops attributes with longer values. It counts bytes, and a character may take four. */
const MAX_VALUE_CHARS = 16_000

const settings = destinationSettings({
  apiKey: headerSecret('Ingest key of the environment.'),
  baseUrl: httpUrl('API of the region.').default('https://api.honeycomb.io'),
  dataset: lineText().min(1).optional().describe('Dataset, only for keys of classic environments; otherwise the service name is the dataset.'),
})
type HoneycombSettings = z.output<typeof settings>

const target = ({ apiKey, baseUrl, dataset, headers }: HoneycombSettings): OtlpTarget => ({
  url: tracesUrl(baseUrl),
  headers,
  authentication: { 'x-honeycomb-team': apiKey, ...(dataset === undefined ? {} : { 'x-honeycomb-dataset': headerValue(dataset) }) },
  encoding: 'protobuf',
})

/** Honeycomb's OTLP endpoint. */
export const honeycomb: Destination<HoneycombSettings> = {
  type: 'honeycomb',
  name: 'Honeycomb',
  settings,
  secrets: ['apiKey', HEADER_SECRETS],
  limits: { records: 100, bytes: 4_000_000, valueChars: MAX_VALUE_CHARS },
  encode: (batch, options, context) => [otlpRequest(batch, context, target(options), { maxChars: MAX_VALUE_CHARS })],
  classify: classifyOtlp,
  probe: (options, context) => otlpProbe(context, target(options)),
}
