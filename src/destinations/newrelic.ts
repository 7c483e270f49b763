import { z } from 'zod'
import type { Destination, DestinationContext } from '../core/destination.ts'
import type { Attribute, AttributeLimits, AttributeSet } from './shared/attributes.ts'
import { genAiAttributes, traceAttributes } from './shared/gen-ai-attributes.ts'
import { otlpProbe, otlpRequest, type OtlpTarget } from './shared/otlp.ts'
import { classifyOtlp } from './shared/otlp-classify.ts'
import type { OtlpOptions } from './shared/otlp-spans.ts'
import { destinationSettings, headerSecret, HEADER_SECRETS, joinUrl } from './shared/settings.ts'

const REGIONS = { us: 'https://otlp.nr-data.net', eu: 'https://otlp.eu01.nr-data.net' } as const
/** The platform cuts longer values or raises an integration error. */
const LIMITS = { maxChars: 4_095, maxKeyChars: 255, maxEntries: 64 } satisfies AttributeLimits
/**
 * Limit per span: an event may have 254 attributes, including those that the platform adds (docs.newrelic.com, data requirements and limits for custom
 * event data).
 */
const MAX_ATTRIBUTES = 230

const settings = destinationSettings({
  licenseKey: headerSecret('Ingest license key.'),
  region: z.enum(['us', 'eu']).default('us').describe('Data centre of the account.'),
})
type NewrelicSettings = z.output<typeof settings>

const target = ({ licenseKey, region, headers }: NewrelicSettings, context: DestinationContext): OtlpTarget => ({
  url: joinUrl(context.baseUrl ?? REGIONS[region], '/v1/traces'),
  headers,
  authentication: { 'api-key': licenseKey },
  encoding: 'protobuf',
})

const spans: OtlpOptions = {
  ...LIMITS,
  generation: (record) => bounded(genAiAttributes(record, LIMITS)),
  wrapper: (record) => bounded(traceAttributes(record, LIMITS)),
}

/** New Relic's OTLP endpoint. A request may have one million bytes. The platform validates after it has answered. */
export const newrelic: Destination<NewrelicSettings> = {
  type: 'newrelic',
  name: 'New Relic',
  settings,
  secrets: ['licenseKey', HEADER_SECRETS],
  limits: { records: 100, bytes: 900_000, valueChars: LIMITS.maxChars },
  encode: (batch, options, context) => [otlpRequest(batch, context, target(options, context), spans)],
  classify: classifyOtlp,
  probe: (options, context) => otlpProbe(context, target(options, context)),
}

/** Removes the caller's keys if there are too many attributes: first their second copies, then the last keys. */
function bounded(set: AttributeSet): Pick<AttributeSet, 'list'> {
  const all = set.list()
  if (all.length <= MAX_ATTRIBUTES) return set
  const once = all.filter(({ key }) => !key.startsWith('span.metadata.'))
  if (once.length <= MAX_ATTRIBUTES) return { list: () => once }
  const flag: Attribute = { key: 'gateway.metadata.truncated', kind: 'bool', value: true }
  const ordered = [flag, ...once.filter((attribute) => !isCallers(attribute)), ...once.filter(isCallers)]
  return { list: () => ordered.slice(0, MAX_ATTRIBUTES) }
}

const isCallers = ({ key }: Attribute): boolean => /^trace\.metadata\.(?!(?:gateway|gateway_generation|provider_responses)(?:\.|$))/.test(key)
