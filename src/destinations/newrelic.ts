import { z } from 'zod'
import type { Destination, DestinationContext } from '../core/destination.ts'
import type { AttributeLimits } from './shared/attributes.ts'
import { otlpProbe, otlpRequest, type OtlpTarget } from './shared/otlp.ts'
import { classifyOtlp } from './shared/otlp-classify.ts'
import { destinationSettings, headerSecret, HEADER_SECRETS, joinUrl } from './shared/settings.ts'

const REGIONS = { us: 'https://otlp.nr-data.net', eu: 'https://otlp.eu01.nr-data.net' } as const
/** More is cut by the platform or raises an integration error there. */
const LIMITS = { maxChars: 4_095, maxKeyChars: 255, maxEntries: 64 } satisfies AttributeLimits

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

/** New Relic's OTLP endpoint. A request may have one million bytes; validation happens after the answer. */
export const newrelic: Destination<NewrelicSettings> = {
  type: 'newrelic',
  name: 'New Relic',
  settings,
  secrets: ['licenseKey', HEADER_SECRETS],
  limits: { records: 100, bytes: 900_000, valueChars: LIMITS.maxChars },
  encode: (batch, options, context) => [otlpRequest(batch, context, target(options, context), LIMITS)],
  classify: classifyOtlp,
  probe: (options, context) => otlpProbe(context, target(options, context)),
}
