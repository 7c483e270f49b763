import type { Config, EndpointConfig, FixedKeys, LimitsConfig, ModelConfig, ProviderConfig, ToolsConfig } from '../core/config.ts'
import type { RateLimits } from '../core/endpoint.ts'
import type { ConfiguredGuardrail } from '../core/guardrail.ts'
import type { PriceTier, Pricing } from '../core/pricing.ts'
import { defined } from '../lib/defined.ts'
import { Secret } from '../lib/secret.ts'
import { toOverload, toRetention } from './running.ts'
import { toPlugins } from './plugins-section.ts'
import type { ConfigFile } from './schema.ts'

type FileProvider = ConfigFile['providers'][number]
type FileModel = ConfigFile['models'][number]
type FileEndpoint = FileModel['endpoints'][number]
type FilePricing = NonNullable<FileEndpoint['pricing']>

/** Translates the file's vocabulary (snake_case, strings) into the program's: names as in core, secrets wrapped. */
export function toConfig(file: ConfigFile, keys: FixedKeys, path: string | undefined): Config {
  const { storage, network, destinations } = file
  return {
    ...(path === undefined ? {} : { file: path }),
    server: {
      host: file.server.host,
      port: file.server.port,
      bodyLimit: file.server.body_limit,
      console: file.server.console,
      allowedOrigins: file.server.allowed_origins,
      shutdownGrace: file.server.shutdown_grace,
      ...defined({ wrongKeysPerMinute: file.server.wrong_keys_per_minute }),
      shutdownDelay: file.server.shutdown_delay,
      keepAliveTimeout: file.server.keep_alive_timeout,
      role: file.server.role,
      workers: file.server.workers,
    },
    dataDir: storage.data_dir,
    keys,
    providers: file.providers.map(toProvider),
    models: file.models.map(toModel),
    catalog: file.catalog,
    defaults: file.defaults,
    routing: file.routing,
    responses: {
      mirrorReasoning: file.responses.mirror_reasoning,
      errorEvent: file.responses.error_event,
      echoUpstreamBody: file.responses.echo_upstream_body,
    },
    limits: toLimits(file.limits),
    network: { allowPrivate: network.allow_private },
    tools: toTools(file.tools),
    guardrails: { rules: file.guardrails.rules.map(toGuardrail), whenUnknown: file.guardrails.when_unknown },
    plugins: toPlugins(file.plugins),
    destinations: {
      serviceName: destinations.service_name,
      baseUrls: destinations.base_urls,
      privacyLocked: destinations.privacy_locked,
      traceContext: destinations.trace_context,
    },
    storage: {
      database: storage.database ?? (storage.url === undefined ? 'sqlite' : 'postgres'),
      ...(storage.url === undefined ? {} : { url: new Secret(storage.url) }),
      shared: storage.shared ?? (storage.redis_url === undefined ? 'memory' : 'redis'),
      ...(storage.redis_url === undefined ? {} : { redisUrl: new Secret(storage.redis_url) }),
      redisNamespace: storage.redis_namespace,
    },
    answerCache: file.answer_cache,
    overload: toOverload(file.overload),
    retention: toRetention(file.retention),
    logging: file.logging,
  }
}

function toLimits(entry: ConfigFile['limits']): LimitsConfig {
  return {
    ...defined({
      credits: entry.credits ?? undefined,
      requestsPerMinute: entry.requests_per_minute ?? undefined,
      tokensPerMinute: entry.tokens_per_minute ?? undefined,
      concurrentRequests: entry.concurrent_requests ?? undefined,
    }),
    unknownPrice: entry.unknown_price,
    expectedOutputTokens: entry.expected_output_tokens,
    whenUnknown: entry.when_unknown,
  }
}

function toTools({ web_search: search, web_fetch: fetch, image_generation: images, fusion, sandbox, mcp, limits }: ConfigFile['tools']): ToolsConfig {
  const engines = Object.entries(search.engines).map(([name, { api_key: key, base_url: baseUrl, price }]) => {
    return [name, defined({ apiKey: key === undefined ? undefined : new Secret(key), baseUrl, price })] as const
  })
  return {
    webSearch: { engine: search.engine, engines: Object.fromEntries(engines) },
    webFetch: fetch,
    mcp: { progressEvents: mcp.progress_events },
    ...defined({
      imageModel: images.model,
      fusionModels: fusion.models,
      sandbox:
        sandbox === undefined ? undefined : { url: sandbox.url, ...(sandbox.api_key === undefined ? {} : { apiKey: new Secret(sandbox.api_key) }) },
    }),
    limits: { wallMs: limits.wall, parallel: limits.parallel },
  }
}

function toGuardrail({ name, workspaces, keys, ...rules }: ConfigFile['guardrails']['rules'][number]): ConfiguredGuardrail {
  return { name, ...defined({ workspaces, keys }), rules: defined(rules) }
}

function toProvider(entry: FileProvider): ProviderConfig {
  const { timeouts } = entry
  return {
    slug: entry.slug,
    ...defined({
      vendor: entry.vendor,
      name: entry.name,
      dialect: entry.dialect,
      baseUrl: entry.base_url,
      organization: entry.organization,
      open: entry.open_models,
      apiKeys: entry.api_keys === undefined ? undefined : (entry.api_keys ?? []).map((key) => new Secret(key.trim())),
    }),
    options: entry.options,
    timeouts: defined({ connect: timeouts.connect, firstToken: timeouts.first_token, idle: timeouts.idle, total: timeouts.total }),
    rateLimits: toRateLimits(entry.rate_limits),
    headers: entry.headers,
    traceContext: entry.trace_context,
    settings: entry.region === undefined ? entry.settings : { region: entry.region, ...entry.settings },
    enabled: entry.enabled,
    policies: toPolicies(entry.policies),
  }
}

function toModel(entry: FileModel): ModelConfig {
  return {
    slug: entry.slug,
    ...defined({
      name: entry.name,
      description: entry.description,
      created: entry.created,
      contextLength: entry.context_length,
      answers: entry.answers,
    }),
    aliases: entry.aliases,
    onlyListed: entry.only_listed,
    endpoints: entry.endpoints.map((endpoint) => toEndpoint(endpoint, entry.slug)),
  }
}

function toEndpoint(entry: FileEndpoint, model: string): EndpointConfig {
  return {
    provider: entry.provider,
    upstreamModel: entry.upstream_model ?? model.slice(model.indexOf('/') + 1),
    ...defined({
      pricing: entry.pricing === undefined ? undefined : toPricing(entry.pricing),
      contextLength: entry.context_length,
      maxOutputTokens: entry.max_output_tokens,
      supports: entry.supports,
      weight: entry.weight,
      quantization: entry.quantization,
      region: entry.region,
      tier: entry.tier,
      variant: entry.variant,
      reasonsByDefault: entry.reasons_by_default,
      implicitCaching: entry.implicit_caching,
    }),
    unsupported: entry.unsupported,
    rateLimits: toRateLimits(entry.rate_limits),
    policies: toPolicies(entry),
    options: entry.options,
  }
}

function toRateLimits(entry: FileProvider['rate_limits']): RateLimits {
  return defined({
    requestsPerMinute: entry.requests_per_minute,
    tokensPerMinute: entry.tokens_per_minute,
    concurrentRequests: entry.concurrent_requests,
  })
}

function toPricing(entry: FilePricing): Pricing {
  return {
    ...tokenPrices(entry),
    ...defined({
      inputAudio: entry.input_audio,
      cacheReadAudio: entry.cache_read_audio,
      outputImage: entry.output_image,
      request: entry.request,
      image: entry.image,
      webSearch: entry.web_search,
      tiers: entry.tiers?.map((tier): PriceTier => ({ fromInputTokens: tier.from_input_tokens, ...tokenPrices(tier) })),
    }),
  }
}

function tokenPrices(entry: Omit<NonNullable<FilePricing['tiers']>[number], 'from_input_tokens'>) {
  return defined({
    input: entry.input,
    output: entry.output,
    cacheRead: entry.cache_read,
    cacheWrite: entry.cache_write,
    cacheWrite1h: entry.cache_write_1h,
  })
}

function toPolicies(entry: FileProvider['policies']) {
  return defined({ dataCollection: entry.data_collection, zdr: entry.zdr, distillable: entry.distillable })
}
