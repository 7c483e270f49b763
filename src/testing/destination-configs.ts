import { readFileSync } from 'node:fs'

const serviceAccountKey = readFileSync(new URL('../destinations/__fixtures__/service-account.json', import.meta.url), 'utf8')

/** A config of each type that leads to the receiver; types without an address in their config get the operator's. */
export const exampleConfigs: { readonly [type: string]: (url: string) => { readonly [key: string]: unknown } } = {
  arize: (baseUrl) => ({ apiKey: 'k', spaceKey: 's', modelId: 'm', baseUrl }),
  bigquery: () => ({ projectId: 'project', datasetId: 'd', serviceAccountKey }),
  braintrust: (baseUrl) => ({ apiKey: 'k', projectId: 'p', baseUrl }),
  clickhouse: (host) => ({ host, database: 'd', username: 'u', password: 'p' }),
  datadog: (url) => ({ apiKey: 'k', mlApp: 'm', url }),
  dynatrace: (baseUrl) => ({ apiToken: 'k', baseUrl }),
  grafana: (baseUrl) => ({ apiKey: 'k', instanceId: 'i', baseUrl }),
  helicone: (baseUrl) => ({ apiKey: 'k', baseUrl }),
  honeycomb: (baseUrl) => ({ apiKey: 'k', baseUrl }),
  honeyhive: (baseUrl) => ({ apiKey: 'k', baseUrl }),
  'kafka-rest': (baseUrl) => ({ topic: 't', baseUrl }),
  langfuse: (baseUrl) => ({ secretKey: 's', publicKey: 'p', baseUrl }),
  langsmith: (endpoint) => ({ apiKey: 'k', endpoint }),
  newrelic: () => ({ licenseKey: 'k' }),
  opik: () => ({ apiKey: 'k', workspace: 'w', projectName: 'p' }),
  'otel-collector': (endpoint) => ({ endpoint }),
  phoenix: (baseUrl) => ({ baseUrl }),
  posthog: (endpoint) => ({ apiKey: 'k', endpoint }),
  raindrop: (baseUrl) => ({ writeKey: 'k', baseUrl }),
  ramp: (baseUrl) => ({ apiKey: 'k', baseUrl }),
  s3: (endpoint) => ({ bucketName: 'bucket', accessKeyId: 'a', secretAccessKey: 's', endpoint }),
  sentry: (otlpEndpoint) => ({ otlpEndpoint, dsn: 'https://key@sentry.example.com/1' }),
  snowflake: () => ({ account: 'a-b', token: 't' }),
  weave: (baseUrl) => ({ apiKey: 'k', entity: 'e', project: 'p', baseUrl }),
  webhook: (url) => ({ url }),
}
