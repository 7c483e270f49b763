import { z } from 'zod'
import type { DeliveryRecord } from '../core/delivery.ts'
import { DESTINATION_DEFAULTS, type Destination } from '../core/destination.ts'
import { uuidFromId } from '../lib/derived-id.ts'
import type { AttributeSet } from './shared/attributes.ts'
import { genAiAttributes, traceAttributes } from './shared/gen-ai-attributes.ts'
import { otlpProbe, otlpRequest, tracesUrl, type OtlpTarget } from './shared/otlp.ts'
import { classifyOtlp } from './shared/otlp-classify.ts'
import type { OtlpOptions } from './shared/otlp-spans.ts'
import { destinationSettings, headerSecret, HEADER_SECRETS, httpUrl, joinUrl, lineText } from './shared/settings.ts'

const settings = destinationSettings({
  apiKey: headerSecret('Ingestion key of the project.'),
  baseUrl: httpUrl('API host of the deployment, as the dashboard shows it.').default('https://api.honeyhive.ai'),
  project: lineText().min(1).optional().describe('Project, for keys that do not belong to one.'),
  source: z.string().min(1).max(100).default('gateway').describe('Source of sessions if the caller names no environment.'),
})
type HoneyhiveSettings = z.output<typeof settings>

const limit = { maxChars: DESTINATION_DEFAULTS.valueChars }

const OTLP_PATH = '/opentelemetry'

const target = ({ apiKey, baseUrl, headers }: HoneyhiveSettings): OtlpTarget => ({
  url: tracesUrl(new URL(baseUrl).pathname.includes(OTLP_PATH) ? baseUrl : joinUrl(baseUrl, OTLP_PATH)),
  headers,
  authentication: { authorization: `Bearer ${apiKey}` },
  encoding: 'protobuf',
})

const spans = (options: HoneyhiveSettings): OtlpOptions => ({
  ...limit,
  generation: (record) => setSession(genAiAttributes(record, limit).string('honeyhive_event_type', 'model'), record, options),
  wrapper: (record) => setSession(traceAttributes(record, limit).string('honeyhive_event_type', 'chain'), record, options),
  child: (child, set, record) => void setSession(set.string('honeyhive_event_type', child.kind === 'tool' ? 'tool' : 'chain'), record, options),
})

/**
 * HoneyHive over OTLP. Its sessions are UUIDs, derived from the caller's session, or from the trace if there is none. A session must be started
 * explicitly: spans of one that does not exist are accepted and shown nowhere (github.com/honeyhiveai/skills).
 */
export const honeyhive: Destination<HoneyhiveSettings> = {
  type: 'honeyhive',
  name: 'HoneyHive',
  settings,
  secrets: ['apiKey', HEADER_SECRETS],
  limits: { records: 100, bytes: 4_000_000 },
  encode: (batch, options, context) => [otlpRequest(batch, context, target(options), spans(options))],
  classify: classifyOtlp,
  probe: (options, context) => otlpProbe(context, target(options)),
}

function setSession(set: AttributeSet, record: DeliveryRecord, { project, source }: HoneyhiveSettings): AttributeSet {
  return set
    .string('honeyhive.session_id', uuidFromId(record.generation.sessionId ?? record.ids.trace))
    .bool('honeyhive.session_auto_create', true)
    .string('honeyhive.session_name', record.names.trace)
    .string('honeyhive.project', project)
    .string('honeyhive.source', record.environment ?? source)
}
