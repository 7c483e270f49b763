import type { JsonObject } from '../core/item.ts'
import { exampleConfigs } from './destination-configs.ts'

/** Configs of several types with one secret that must not appear anywhere; they lead to this address if the type has one. */
export const secretConfigs: { readonly [type: string]: (url: string, secret: string) => JsonObject } = {
  webhook: (url, secret) => ({ url, method: 'POST', headers: { authorization: `Bearer ${secret}` } }),
  'otel-collector': (endpoint, secret) => ({ endpoint, headers: { 'x-token': secret } }),
  langfuse: (baseUrl, secret) => ({ secretKey: secret, publicKey: 'public-part', baseUrl }),
  datadog: (url, secret) => ({ apiKey: secret, mlApp: 'm', url }),
  posthog: (endpoint, secret) => ({ apiKey: secret, endpoint }),
  braintrust: (baseUrl, secret) => ({ apiKey: secret, projectId: 'p', baseUrl }),
  'kafka-rest': (baseUrl, secret) => ({ topic: 't', baseUrl, username: 'u', password: secret }),
  s3: (endpoint, secret) => ({
    bucketName: 'bucket',
    accessKeyId: 'AKID0000000',
    secretAccessKey: secret,
    endpoint,
    region: 'x-y-1',
    prefix: 'p',
    pathTemplate: '{prefix}/{date}',
  }),
  clickhouse: (host, secret) => ({ host, database: 'd', username: 'u', password: secret, table: 'T' }),
  snowflake: (_url, secret) => ({ account: 'a-b', token: secret, database: 'D', schema: 'S', table: 'T', warehouse: 'W' }),
  bigquery: (_url, secret) => ({ ...exampleConfigs['bigquery']!(''), tableId: 't', headers: { 'x-token': secret } }),
  newrelic: (_url, secret) => ({ licenseKey: secret, region: 'us' }),
}
