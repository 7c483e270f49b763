import type { z } from 'zod'
import type { ChildSpan, DeliveryRecord } from '../core/delivery.ts'
import { DESTINATION_DEFAULTS, type Destination } from '../core/destination.ts'
import type { AttributeSet } from './shared/attributes.ts'
import { genAiAttributes, hasCost, isEmbedding } from './shared/gen-ai-attributes.ts'
import { otlpProbe, otlpRequest, tracesUrl, type OtlpTarget } from './shared/otlp.ts'
import { classifyOtlp } from './shared/otlp-classify.ts'
import type { OtlpOptions } from './shared/otlp-spans.ts'
import { destinationSettings, headerText, HEADER_SECRETS, httpUrl } from './shared/settings.ts'

const DSN = /^https:\/\/([^:@]+)(?::[^@]*)?@([^/]+)(?:\/[^/]+)*\/(\d+)\/?$/

const settings = destinationSettings({
  otlpEndpoint: httpUrl('OTLP endpoint of the project, with or without `/v1/traces`.'),
  // Old DSNs contain a secret next to the key. Nothing needs it any more, and settings that are not secrets are shown in full.
  dsn: headerText()
    .min(1)
    .max(2_048)
    .regex(DSN, 'must look like https://<key>@<host>/<project>')
    .overwrite((dsn) => dsn.replace(/^(https:\/\/[^:@]+):[^@]*@/, '$1@'))
    .describe('Client key (DSN) of the project.'),
})
type SentrySettings = z.output<typeof settings>

const publicKey = (dsn: string): string => DSN.exec(dsn)?.[1] ?? ''

const target = ({ otlpEndpoint, dsn, headers }: SentrySettings): OtlpTarget => ({
  url: tracesUrl(otlpEndpoint),
  headers,
  authentication: { 'x-sentry-auth': `sentry sentry_key=${publicKey(dsn)}` },
  encoding: 'json',
})

const spans: OtlpOptions = {
  maxChars: DESTINATION_DEFAULTS.valueChars,
  generation: generationAttributes,
  child: toolAttributes,
  resource: (record, set) => set.string('deployment.environment.name', record.environment).string('service.version', record.release),
}

/** Sentry's OTLP endpoint. It drops span events, so failures are in status and attributes. */
export const sentry: Destination<SentrySettings> = {
  type: 'sentry',
  name: 'Sentry',
  settings,
  secrets: [HEADER_SECRETS],
  limits: { records: 100, bytes: 4_000_000 },
  encode: (batch, options, context) => [otlpRequest(batch, context, target(options), spans)],
  classify: classifyOtlp,
  probe: (options, context) => otlpProbe(context, target(options)),
}

function generationAttributes(record: DeliveryRecord): AttributeSet {
  const { cost } = record.generation
  const set = genAiAttributes(record, { maxChars: DESTINATION_DEFAULTS.valueChars })
    // The platform's views distinguish calls by this.
    .string('sentry.op', isEmbedding(record) ? 'gen_ai.embeddings' : 'gen_ai.chat')
    .string('error.message', record.failure?.message)
  if (!hasCost(record)) return set
  // The platform's own names, all in US dollars (@sentry/conventions). If it has a price for the model, it overwrites these.
  return set
    .double('gen_ai.cost.input_tokens', cost.input)
    .double('gen_ai.cost.output_tokens', cost.output)
    .double('gen_ai.cost.total_tokens', cost.total)
}

function toolAttributes({ kind, input, output }: ChildSpan, set: AttributeSet): void {
  if (kind !== 'tool') return
  set
    .string('sentry.op', 'gen_ai.execute_tool')
    .string('gen_ai.operation.name', 'execute_tool')
    .string('gen_ai.tool.call.arguments', input)
    .string('gen_ai.tool.call.result', output)
}
