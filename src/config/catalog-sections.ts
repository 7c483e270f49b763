import { z } from 'zod'
import { INPUT_MODALITIES, PARAMETERS } from '../core/capability.ts'
import { choice, credential, flag, headers, httpUrl, list, price, section, text, wait, whole } from './fields.ts'

/** `providers` and `models`: who serves what, at which price. */

const QUANTIZATIONS = ['int4', 'int8', 'fp4', 'mxfp4', 'nvfp4', 'fp6', 'fp8', 'mxfp8', 'fp16', 'bf16', 'fp32', 'unknown'] as const

/** Through the year 9999: clients read no later date. Larger numbers are most likely milliseconds. */
const LAST_SECOND = 253_402_300_799

const SLUG = /^[a-z0-9][a-z0-9._-]*$/
const MODEL_SLUG = /^~?[a-z0-9][\w.-]*\/[\w][\w.@-]*$/i

const providerSlug = () => text().regex(SLUG, 'lower-case letters, digits, dots, dashes and underscores, such as acme')
const modelSlug = () => text().regex(MODEL_SLUG, 'author/slug, such as acme/small (a variant such as :free goes into the endpoint)')
const free = () => z.record(z.string(), z.unknown(), { error: 'a mapping' })

const policies = {
  data_collection: choice(['allow', 'deny']).optional().describe('`deny`: prompts are neither kept nor used. Unknown counts as `allow`.'),
  zdr: flag().optional().describe('Whether nothing is retained. Unknown counts as `false`.'),
  distillable: flag().optional().describe('Whether models may be trained on the answers. Unknown counts as `false`.'),
}

const patience = (expected: string) => z.union([z.literal('auto'), wait()], { error: expected })

/** The same names as in the limits of keys and workspaces. */
const rateLimits = (whose: string) =>
  section({
    requests_per_minute: whole(1).optional().describe(`The most requests a minute that ${whose} gets; others are sent elsewhere.`),
    tokens_per_minute: whole(1).optional().describe('The same for tokens, of prompts and answers together.'),
    concurrent_requests: whole(1).optional().describe('The same for requests at a time.'),
  }).default({})

export const providerEntry = section({
  slug: providerSlug().describe('A known vendor, or a name of your own, which then needs `dialect` and `base_url`.'),
  vendor: providerSlug()
    .optional()
    .describe(
      'The known vendor of which this is another account, region or resource; the vendor’s variables are not read ([how](../guides/reliability.md#several-accounts-of-one-vendor)).',
    ),
  name: text().optional().describe('As lists show it. Without: the vendor’s own, or the slug.'),
  dialect: text('the name of a dialect, such as openai-chat').optional().describe('The format it speaks ([dialects](dialects.md)).'),
  base_url: httpUrl().optional().describe('Up to and including the version.'),
  api_keys: list(text('a key; write null instead of the list when the server needs none'), 'a list of keys, or null for none')
    .nullable()
    .optional()
    .describe('Used in turn; a session keeps its key. `null`: the server needs none. Default: the vendor’s usual variable.'),
  options: free().default({}).describe('Options of the dialect ([dialects](dialects.md)).'),
  timeouts: section({
    connect: wait().optional().describe('Until the connection stands; `5s` unless set.'),
    first_token: patience('auto, or a duration such as 12s')
      .optional()
      .describe('Until the first content; `auto` depends on the request and on other endpoints.'),
    idle: patience('auto, or a duration such as 45s')
      .optional()
      .describe('Silence within an answer; `auto`: 35 s, or 120 s with reasoning, tools or media.'),
    total: wait().optional().describe('The whole attempt; `15m` unless set.'),
  }).default({}),
  rate_limits: rateLimits('it'),
  headers: headers().default({}).describe('More headers for its requests.'),
  trace_context: flag()
    .prefault(false)
    .describe('Whether its requests carry `traceparent` with the gateway’s span ([how](../guides/destinations.md#one-trace-from-end-to-end)).'),
  organization: credential('an account')
    .optional()
    .describe('The account at the vendor: sent if the vendor has a header for it. Encrypted reasoning is replayed only within it.'),
  region: text().optional().describe('Short for `settings.region`.'),
  settings: free()
    .default({})
    .describe('Settings of the vendor itself, such as a project or a resource ([add a provider](../guides/add-a-provider.md)).'),
  enabled: flag().prefault(true).describe('`false` removes its endpoints; its variables need not be set.'),
  open_models: flag()
    .optional()
    .describe('Whether unlisted ids are served as `<slug>/<id>`. Default: known vendors decide; other providers do so while no model names them.'),
  policies: section(policies).default({}),
})

const tokenPrices = {
  input: price().optional().describe('Per million input tokens.'),
  output: price().optional().describe('Per million output tokens, reasoning included.'),
  cache_read: price().optional().describe('Per million tokens read from a cache; without, the input price.'),
  cache_write: price().optional().describe('Per million tokens written to a cache; without, the input price.'),
  cache_write_1h: price().optional().describe('The same for caches kept an hour or longer; without, `cache_write`.'),
}

const pricing = section({
  ...tokenPrices,
  input_audio: price().optional().describe('Per million audio tokens of the input; without, the input price.'),
  cache_read_audio: price().optional().describe('Per million audio tokens read from a cache; without, `cache_read`, or else `input_audio`.'),
  output_image: price().optional().describe('Per million tokens of pictures in the answer; without, the output price.'),
  request: price().optional().describe('Per request that the provider gets: of each turn, and of each part of a long list of embeddings.'),
  image: price().optional().describe('Per image: for lists and `max_price`; answers are not charged by it.'),
  web_search: price().optional().describe('Per search of the vendor’s own.'),
  tiers: list(section({ from_input_tokens: whole(1).describe('From this many input tokens on.'), ...tokenPrices }))
    .optional()
    .describe('Prices of long prompts; the highest threshold reached replaces the prices it names.'),
})

const endpoint = section({
  provider: text()
    .regex(/^[a-z0-9][a-z0-9._-]*(\/[\w.-]+)?$/, 'the slug of a provider, such as acme, or acme/turbo for an endpoint of its own tag')
    .describe('Slug of a provider; `acme/turbo` gives the endpoint its own tag.'),
  upstream_model: text('the id the provider knows the model by')
    .optional()
    .describe('The id the provider knows it by; without, the slug behind its author.'),
  pricing: pricing.optional().describe('USD. Without: the maintained price data. A price set here stands alone.'),
  context_length: whole(1).optional().describe('Tokens. Without: the model’s, then the price data’s.'),
  max_output_tokens: whole(1).optional().describe('The most it answers with.'),
  supports: list(choice([...PARAMETERS, ...INPUT_MODALITIES]))
    .optional()
    .describe(
      'Capabilities such as `tools`, `structured_outputs`, `reasoning`, and kinds of input such as `image`: those not listed are off. Sampling parameters stay.',
    ),
  unsupported: list(choice(PARAMETERS)).default([]).describe('Parameters to take away.'),
  ...policies,
  weight: whole(0, 1_000_000)
    .optional()
    .describe(
      'Share of calls relative to an endpoint of the same price and weight 1, if the request does not sort; 1 by default. `0`: only if no other endpoint serves.',
    ),
  rate_limits: rateLimits('the endpoint'),
  quantization: choice(QUANTIZATIONS).optional().describe('For `provider.quantizations` of requests.'),
  region: text().optional().describe('Where it is; becomes part of its tag.'),
  tier: choice(['default', 'flex', 'priority']).optional().describe('`flex` and `priority` serve only requests that ask for that service tier.'),
  variant: text()
    .regex(/^[a-z0-9-]+$/, 'a variant such as free, without the colon')
    .optional()
    .describe('Serves `author/slug:variant` instead, such as `free`.'),
  reasons_by_default: flag().optional().describe('The model reasons without being asked, so longer silence is tolerated.'),
  implicit_caching: flag().optional().describe('The upstream caches prompts by itself; shown in lists.'),
  options: free().default({}).describe('Options of the dialect, over those of the provider.'),
})

export const modelEntry = section({
  slug: modelSlug().describe('`author/slug`, as callers name it.'),
  name: text().optional().describe('As lists show it.'),
  description: text().optional().describe('As lists show it.'),
  created: whole(0, LAST_SECOND).optional().describe('Seconds since 1970, for lists.'),
  context_length: whole(1).optional().describe('Tokens, of endpoints that set none.'),
  answers: choice(['text', 'embeddings'])
    .optional()
    .describe('`embeddings`: it makes vectors, for `POST /api/v1/embeddings`. Default: judged by its name.'),
  aliases: list(text()).default([]).describe('Other names callers may use, listed beside it.'),
  only_listed: flag()
    .prefault(false)
    .describe('`true`: only the endpoints listed here serve it, even if other providers have the model ([why](../guides/switching.md)).'),
  endpoints: list(endpoint).default([]).describe('Endpoints that serve it, in addition to the known ones.'),
})
