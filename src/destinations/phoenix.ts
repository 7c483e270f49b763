import { z } from 'zod'
import { DESTINATION_DEFAULTS, type Destination } from '../core/destination.ts'
import { openInferenceAttributes, openInferenceChild, openInferenceWrapper } from './shared/open-inference.ts'
import { otlpProbe, otlpRequest, tracesUrl, type OtlpTarget } from './shared/otlp.ts'
import { classifyOtlp } from './shared/otlp-classify.ts'
import type { OtlpOptions } from './shared/otlp-spans.ts'
import { destinationSettings, headerSecret, HEADER_SECRETS, httpUrl } from './shared/settings.ts'

const settings = destinationSettings({
  baseUrl: httpUrl('Address of the Phoenix server, with or without `/v1/traces`.'),
  apiKey: headerSecret('API key; not needed by servers without authentication.').optional(),
  project: z.string().min(1).default('default').describe('Project that receives the traces.'),
})
type PhoenixSettings = z.output<typeof settings>

const limit = { maxChars: DESTINATION_DEFAULTS.valueChars }

const target = ({ baseUrl, apiKey, headers }: PhoenixSettings): OtlpTarget => ({
  url: tracesUrl(baseUrl),
  headers,
  ...(apiKey === undefined ? {} : { authentication: { authorization: `Bearer ${apiKey}` } }),
  // Older servers answer 415 to JSON.
  encoding: 'protobuf',
})

const spans = ({ project }: PhoenixSettings): OtlpOptions => ({
  ...limit,
  generation: (record) => openInferenceAttributes(record, limit),
  wrapper: (record) => openInferenceWrapper(record, limit),
  child: openInferenceChild,
  project: (set) => set.string('openinference.project.name', project),
})

/** Phoenix, self-hosted or in its cloud: OpenInference spans over OTLP. */
export const phoenix: Destination<PhoenixSettings> = {
  type: 'phoenix',
  name: 'Phoenix',
  settings,
  secrets: ['apiKey', HEADER_SECRETS],
  limits: { records: 100, bytes: 4_000_000 },
  encode: (batch, options, context) => [otlpRequest(batch, context, target(options), spans(options))],
  classify: classifyOtlp,
  probe: (options, context) => otlpProbe(context, target(options), spans(options)),
}
