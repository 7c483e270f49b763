import type { z } from 'zod'
import { DESTINATION_DEFAULTS, type Destination } from '../core/destination.ts'
import { openInferenceAttributes, openInferenceChild, openInferenceWrapper } from './shared/open-inference.ts'
import { otlpProbe, otlpRequest, tracesUrl, type OtlpTarget } from './shared/otlp.ts'
import { classifyOtlp } from './shared/otlp-classify.ts'
import type { OtlpOptions } from './shared/otlp-spans.ts'
import { destinationSettings, headerSecret, HEADER_SECRETS, httpUrl, requiredText } from './shared/settings.ts'

const settings = destinationSettings({
  apiKey: headerSecret('API key of the space.'),
  spaceKey: headerSecret('Id of the space.'),
  modelId: requiredText('Name of the project that receives the traces.'),
  baseUrl: httpUrl('OTLP endpoint of the region, with or without `/v1` or `/v1/traces`.').default('https://otlp.arize.com'),
})
type ArizeSettings = z.output<typeof settings>

const limit = { maxChars: DESTINATION_DEFAULTS.valueChars }

const target = ({ apiKey, spaceKey, baseUrl, headers }: ArizeSettings): OtlpTarget => ({
  url: tracesUrl(baseUrl),
  headers,
  authentication: { space_id: spaceKey, api_key: apiKey },
  encoding: 'protobuf',
})

/** Spans without a project are refused. Both attribute names for the project are in use. */
const spans = ({ modelId }: ArizeSettings): OtlpOptions => ({
  ...limit,
  generation: (record) => openInferenceAttributes(record, limit),
  wrapper: (record) => openInferenceWrapper(record, limit),
  child: openInferenceChild,
  project: (set) => set.string('openinference.project.name', modelId).string('model_id', modelId),
})

/** Arize AX: OpenInference spans over OTLP. */
export const arize: Destination<ArizeSettings> = {
  type: 'arize',
  name: 'Arize AX',
  settings,
  secrets: ['apiKey', 'spaceKey', HEADER_SECRETS],
  limits: { records: 100, bytes: 4_000_000 },
  encode: (batch, options, context) => [otlpRequest(batch, context, target(options), spans(options))],
  classify: classifyOtlp,
  probe: (options, context) => otlpProbe(context, target(options), spans(options)),
}
