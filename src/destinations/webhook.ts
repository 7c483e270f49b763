import { z } from 'zod'
import { DESTINATION_DEFAULTS, type Destination } from '../core/destination.ts'
import { otlpJson } from './shared/otlp-json.ts'
import { otlpRequest, type OtlpTarget } from './shared/otlp.ts'
import { classifyOtlp } from './shared/otlp-classify.ts'
import { destinationSettings, HEADER_SECRETS, httpUrl, mergeHeaders } from './shared/settings.ts'

const settings = destinationSettings({
  url: httpUrl('Address that receives the requests, used exactly as given.'),
  method: z.enum(['POST', 'PUT']).default('POST').describe('HTTP method.'),
})
type WebhookSettings = z.output<typeof settings>

const target = ({ url, method, headers }: WebhookSettings): OtlpTarget => ({ url, method, headers, encoding: 'json', gzip: false })

/** Any HTTP receiver: OTLP as JSON, uncompressed. Receivers recognise repeats by trace and span id. */
export const webhook: Destination<WebhookSettings> = {
  type: 'webhook',
  name: 'Webhook',
  settings,
  secrets: [HEADER_SECRETS],
  limits: { records: 100, bytes: 4_000_000 },
  encode: (batch, options, context) => [otlpRequest(batch, context, target(options), { maxChars: DESTINATION_DEFAULTS.valueChars })],
  classify: classifyOtlp,
  // An empty payload, which receivers may refuse. The test is only whether they answer at all.
  probe: ({ url, method, headers }) => [
    {
      name: 'send an empty payload',
      request: {
        method,
        url,
        headers: mergeHeaders(headers, { 'content-type': 'application/json', 'x-test-connection': 'true' }),
        body: otlpJson([]),
      },
      check: ({ status }) => ((status >= 200 && status < 300) || status === 400 ? undefined : `the receiver answered HTTP ${status}`),
    },
  ],
}
