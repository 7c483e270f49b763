import { z } from 'zod'
import type { Modality, Parameter } from '../core/capability.ts'
import { guardrailFields } from '../core/guardrail-schema.ts'
import { address, choice, duration, flag, httpUrl, list, price, section, size, text, whole } from './fields.ts'
import { pluginsSection } from './plugins-section.ts'
import { overloadSection, retentionSection } from './running.ts'

/** The one schema of `signalbox.yaml`: validation, defaults, JSON Schema and the reference page come from it. */

const PARAMETERS = [
  'temperature',
  'top_p',
  'top_k',
  'min_p',
  'top_a',
  'frequency_penalty',
  'presence_penalty',
  'repetition_penalty',
  'max_tokens',
  'max_completion_tokens',
  'logit_bias',
  'logprobs',
  'top_logprobs',
  'prediction',
  'seed',
  'response_format',
  'structured_outputs',
  'stop',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'include_reasoning',
  'reasoning',
  'reasoning_effort',
  'web_search_options',
  'verbosity',
] as const satisfies readonly Parameter[]
const MODALITIES = ['text', 'image', 'file', 'audio', 'video'] as const satisfies readonly Modality[]
const QUANTIZATIONS = ['int4', 'int8', 'fp4', 'mxfp4', 'nvfp4', 'fp6', 'fp8', 'mxfp8', 'fp16', 'bf16', 'fp32', 'unknown'] as const

const ROLES = ['all', 'gateway', 'worker'] as const

const SLUG = /^[a-z0-9][a-z0-9._-]*$/
const MODEL_SLUG = /^~?[a-z0-9][\w.-]*\/[\w][\w.@-]*$/i

const providerSlug = () => text().regex(SLUG, 'lower-case letters, digits, dots, dashes and underscores, such as acme')
const modelSlug = () => text().regex(MODEL_SLUG, 'author/slug, such as acme/small (a variant such as :free goes into the endpoint)')
const free = () => z.record(z.string(), z.unknown(), { error: 'a mapping' })

const policies = {
  data_collection: choice(['allow', 'deny']).optional(),
  zdr: flag().optional(),
  distillable: flag().optional(),
}

const server = section({
  host: text('a host name or address').default('127.0.0.1'),
  port: whole(0, 65_535).default(8787),
  body_limit: size().prefault('32MiB'),
  shutdown_grace: duration().prefault('30s'),
  wrong_keys_per_minute: whole(1).nullable().optional(),
  shutdown_delay: duration().prefault('0s'),
  role: choice(ROLES).default('all'),
  workers: z.union([z.literal('auto'), whole(1, 128)], { error: 'a whole number from 1 to 128, or auto for one per core' }).default(1),
})

const firstToken = z.union([z.literal('auto'), duration()], { error: 'auto, or a duration such as 12s' })
const idle = z.union([z.literal('auto'), duration()], { error: 'auto, or a duration such as 45s' })

const provider = section({
  slug: providerSlug(),
  name: text().optional(),
  dialect: text('the name of a dialect, such as openai-chat').optional(),
  base_url: httpUrl().optional(),
  api_keys: list(text('a key; write null instead of the list when the server needs none'), 'a list of keys, or null for none').nullable().optional(),
  options: free().default({}),
  timeouts: section({
    connect: duration().optional(),
    first_token: firstToken.optional(),
    idle: idle.optional(),
    total: duration().optional(),
  }).default({}),
  headers: z.record(z.string(), text(), { error: 'a mapping of header names to text' }).default({}),
  organization: text().optional(),
  region: text().optional(),
  settings: free().default({}),
  enabled: flag().default(true),
  open_models: flag().optional(),
  policies: section(policies).default({}),
})

const tokenPrices = {
  input: price().optional(),
  output: price().optional(),
  cache_read: price().optional(),
  cache_write: price().optional(),
  cache_write_1h: price().optional(),
}

const pricing = section({
  ...tokenPrices,
  input_audio: price().optional(),
  request: price().optional(),
  image: price().optional(),
  web_search: price().optional(),
  tiers: list(section({ from_input_tokens: whole(1), ...tokenPrices })).optional(),
})

const endpoint = section({
  provider: text().regex(/^[a-z0-9][a-z0-9._-]*(\/[\w.-]+)?$/, 'the slug of a provider, such as acme, or acme/turbo for an endpoint of its own tag'),
  upstream_model: text('the id the provider knows the model by').optional(),
  pricing: pricing.optional(),
  context_length: whole(1).optional(),
  max_output_tokens: whole(1).optional(),
  supports: list(choice([...PARAMETERS, ...MODALITIES])).optional(),
  unsupported: list(choice(PARAMETERS)).default([]),
  ...policies,
  quantization: choice(QUANTIZATIONS).optional(),
  region: text().optional(),
  tier: choice(['default', 'flex', 'priority']).optional(),
  variant: text()
    .regex(/^[a-z0-9-]+$/, 'a variant such as free, without the colon')
    .optional(),
  reasons_by_default: flag().optional(),
  implicit_caching: flag().optional(),
  options: free().default({}),
})

const model = section({
  slug: modelSlug(),
  name: text().optional(),
  description: text().optional(),
  created: whole(0).optional(),
  context_length: whole(1).optional(),
  aliases: list(text()).default([]),
  endpoints: list(endpoint).default([]),
})

const storage = section({
  database: choice(['sqlite', 'postgres']).optional(),
  url: text()
    .regex(/^postgres(ql)?:\/\//, 'a connection string such as postgres://user:password@host:5432/signalbox')
    .optional(),
  shared: choice(['memory', 'redis']).optional(),
  redis_url: text()
    .regex(/^(rediss?|valkeys?):\/\//, 'a URL such as redis://host:6379/0')
    .optional(),
  redis_namespace: text()
    .regex(/^[\w.-]{1,64}$/, 'letters, digits, dots, dashes and underscores')
    .default('signalbox'),
  data_dir: text('a directory').default('./data'),
})
  .refine((value) => value.database !== 'postgres' || value.url !== undefined, {
    path: ['url'],
    error: 'a connection string such as postgres://user:password@host:5432/signalbox, because database is postgres',
  })
  .refine((value) => value.database !== 'sqlite' || value.url === undefined, { path: ['database'], error: 'postgres, because url is set' })
  .refine((value) => value.shared !== 'redis' || value.redis_url !== undefined, {
    path: ['redis_url'],
    error: 'a URL such as redis://host:6379/0, because shared is redis',
  })

const guardrailRule = section({
  name: text().max(200),
  workspaces: list(text('the slug or id of a workspace')).min(1).optional(),
  keys: list(text('the name or hash of a key')).min(1).optional(),
  ...guardrailFields,
})

export const configSchema = section({
  $schema: z.string().optional(),
  server: server.prefault({}),
  providers: list(provider).default([]).superRefine(uniqueSlugs),
  models: list(model).default([]).superRefine(uniqueSlugs),
  catalog: section({ open: flag().default(true) }).prefault({}),
  defaults: section({
    model: text('a model such as acme/small').optional(),
    plugins: list(z.looseObject({ id: text() }, { error: 'a mapping with an id, such as {id: web}' })).default([]),
  }).prefault({}),
  routing: section({
    cooldown: flag().default(true),
    retries: flag().default(true),
    sticky: flag().default(true),
    stream_failure: choice(['fail', 'continue', 'buffer']).default('fail'),
  }).prefault({}),
  limits: section({
    credits: price().nullable().optional(),
    requests_per_minute: whole(1).nullable().optional(),
    tokens_per_minute: whole(1).nullable().optional(),
    concurrent_requests: whole(1).nullable().optional(),
    unknown_price: choice(['allow', 'deny']).default('allow'),
    expected_output_tokens: whole(1).default(1_024),
    when_unknown: choice(['local', 'refuse']).default('local'),
  }).prefault({}),
  network: section({
    allow_private: section({ destinations: flag().default(true), tools: flag().default(false), media: flag().default(false) }).prefault({}),
  }).prefault({}),
  tools: section({
    web_search: section({
      engine: text('the name of a search engine, or auto for the first one with a key').default('auto'),
      engines: z
        .record(z.string(), section({ api_key: text().optional(), base_url: httpUrl().optional(), price: price().optional() }), {
          error: 'a mapping of search engines to their settings, such as {searxng: {base_url: http://127.0.0.1:8888}}',
        })
        .default({}),
    }).prefault({}),
    web_fetch: section({ robots: flag().default(true) }).prefault({}),
    image_generation: section({ model: text('a model that makes images').optional() }).prefault({}),
    fusion: section({ models: list(text('a model')).optional() }).prefault({}),
    sandbox: section({ url: httpUrl('an http or https URL'), api_key: text().optional() }).optional(),
    mcp: section({ progress_events: flag().default(true) }).prefault({}),
    limits: section({ wall: duration().prefault('10m'), parallel: whole(1, 32).default(4) }).prefault({}),
  }).prefault({}),
  plugins: pluginsSection.prefault({}),
  guardrails: section({
    rules: list(guardrailRule).default([]).superRefine(uniqueNames),
    when_unknown: choice(['allow', 'refuse']).default('allow'),
  }).prefault({}),
  destinations: section({
    service_name: text().default('signalbox'),
    base_urls: z
      .record(z.string(), address('a URL such as https://host/path, or null').nullable(), { error: 'a mapping of destination types to URLs' })
      .default({}),
    privacy_locked: flag().default(false),
  }).prefault({}),
  storage: storage.prefault({}),
  overload: overloadSection,
  retention: retentionSection,
  logging: section({
    level: choice(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'),
    format: choice(['json', 'pretty']).default('json'),
  }).prefault({}),
})

export type ConfigFile = z.output<typeof configSchema>

/** Keys whose values are secrets, wherever they stand: problems never show what is there. */
export const SECRET_KEYS: ReadonlySet<string> = new Set(['api_keys', 'api_key', 'headers', 'url', 'redis_url', 'settings'])

function uniqueSlugs(items: readonly { readonly slug: string }[], context: z.RefinementCtx): void {
  const seen = new Map<string, number>()
  for (const [index, { slug }] of items.entries()) {
    const first = seen.get(slug)
    if (first === undefined) seen.set(slug, index)
    else
      context.addIssue({ code: 'custom', path: [index, 'slug'], message: `another slug, because entry ${first} has this one already`, input: slug })
  }
}

function uniqueNames(items: readonly { readonly name: string }[], context: z.RefinementCtx): void {
  const names = items.map(({ name }) => name)
  const index = names.findIndex((name, place) => names.indexOf(name) !== place)
  if (index >= 0)
    context.addIssue({
      code: 'custom',
      path: [index, 'name'],
      message: 'another name, because an entry before has this one already',
      input: names[index],
    })
}

/** JSON Schema of the file as written (before defaults), for editors and the reference page. */
export function configJsonSchema(): { readonly [key: string]: unknown } {
  const schema = z.toJSONSchema(configSchema, { io: 'input', unrepresentable: 'any', target: 'draft-2020-12' })
  return { ...schema, title: 'Signalbox configuration' }
}
