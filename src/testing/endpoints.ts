import { z } from 'zod'
import type { Catalog, Endpoint, Model, Parameter } from '../core/endpoint.ts'
import { GatewayError } from '../core/error.ts'
import { DEFAULT_TIMEOUTS } from '../core/provider.ts'
import type { Connection, Timeouts } from '../core/provider.ts'
import { Secret } from '../lib/secret.ts'

const ALL: readonly Parameter[] = [
  'temperature',
  'top_p',
  'max_tokens',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'structured_outputs',
  'reasoning',
  'verbosity',
  'seed',
  'stop',
]

/** A connection that leads nowhere: routing inspects it but never uses it. */
export function testConnection(provider: string, options: { readonly timeouts?: Partial<Timeouts>; readonly credentials?: number } = {}): Connection {
  const unreachable = (): never => {
    throw new GatewayError('server', 'a test connection cannot be used')
  }
  return {
    provider,
    providerName: provider,
    baseUrl: `http://${provider}.test/v1`,
    dialect: {
      name: 'test',
      framing: 'sse',
      options: z.unknown(),
      supports: ALL,
      encodeRequest: unreachable,
      decoder: unreachable,
      decodeError: unreachable,
    },
    options: {},
    credentials: Array.from({ length: options.credentials ?? 1 }, (_, n) => ({ id: String(n), secret: new Secret(`key-${n}`) })),
    scope: provider,
    timeouts: { ...DEFAULT_TIMEOUTS, ...options.timeouts },
  }
}

export type EndpointParts = Partial<Omit<Endpoint, 'supports' | 'inputModalities' | 'outputModalities' | 'policies'>> & {
  readonly supports?: Iterable<Parameter>
  readonly inputModalities?: Iterable<'text' | 'image' | 'file' | 'audio' | 'video'>
  readonly outputModalities?: Iterable<'text' | 'image' | 'file' | 'audio' | 'video'>
  readonly policies?: Partial<Endpoint['policies']>
  readonly timeouts?: Partial<Timeouts>
  readonly credentials?: number
}

/** An endpoint of `acme/small` at provider `acme` with all abilities; any part can be replaced. */
export function testEndpoint(parts: EndpointParts = {}): Endpoint {
  const { supports, inputModalities, outputModalities, policies, timeouts, credentials, ...rest } = parts
  const provider = rest.provider ?? rest.tag?.split('/')[0] ?? 'acme'
  const tag = rest.tag ?? provider
  const model = rest.model ?? 'acme/small'
  const upstreamModel = rest.upstreamModel ?? 'small-1'
  return {
    id: `${model}@${tag}#${upstreamModel}${rest.variant === undefined ? '' : `:${rest.variant}`}`,
    model,
    provider,
    tag,
    providerName: provider,
    upstreamModel,
    contextLength: 128_000,
    pricing: { input: 1, output: 1 },
    supports: new Set(supports ?? ALL),
    inputModalities: new Set(inputModalities ?? ['text', 'image', 'file', 'audio', 'video']),
    outputModalities: new Set(outputModalities ?? ['text']),
    policies: { dataCollection: 'deny', zdr: true, distillable: true, ...policies },
    quantization: 'unknown',
    connection: testConnection(provider, { ...(timeouts === undefined ? {} : { timeouts }), ...(credentials === undefined ? {} : { credentials }) }),
    ...rest,
  }
}

/** A catalog of these endpoints, grouped by model; models are found by slug or alias. */
export function testCatalog(endpoints: readonly Endpoint[], models: { readonly [slug: string]: Partial<Model> } = {}): Catalog {
  const bySlug = new Map<string, Model>()
  for (const slug of new Set([...endpoints.map(({ model }) => model), ...Object.keys(models)])) {
    const own = endpoints.filter(({ model }) => model === slug)
    bySlug.set(slug, {
      slug,
      name: slug,
      created: 0,
      contextLength: Math.max(0, ...own.map(({ contextLength }) => contextLength)),
      endpoints: own,
      ...models[slug],
    })
  }
  const names = new Map<string, Model>(bySlug)
  for (const model of bySlug.values()) for (const alias of model.aliases ?? []) names.set(alias, model)
  const list = [...bySlug.values()]
  return { find: (slug) => names.get(slug), models: () => list }
}
