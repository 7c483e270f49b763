import { z } from 'zod'
import { SORT_KEYS } from '../../core/request.ts'
import { type Branch, byKind, byType, fields, list, maybe, strictFields, tagged } from './schema-combinators.ts'
import { flag, positive, SEARCH_ENGINES, searchMode, text, userLocation } from './schema-shared.ts'

/** Provider preferences and plugins, which steer the gateway itself. */

const sortKey = z.enum(SORT_KEYS)
const limit = maybe(z.number().min(0))
const percentiles = byKind({ number: z.number().min(0), object: strictFields({ p50: limit, p75: limit, p90: limit, p99: limit }) })
const price = maybe(
  byKind({
    string: z.string().regex(/^\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/, { error: 'must be a price in USD, zero or more, for example "0.5"' }),
    number: z.number().min(0),
  }),
)

/** Bounded because every endpoint is compared with each entry. */
const providers = maybe(list(z.string()).max(1_024))

/** Unknown keys are refused: a preference that is silently ignored could send data where it must not go, or cost more than allowed. */
export const providerPreferences = strictFields({
  order: providers,
  only: providers,
  ignore: providers,
  allow_fallbacks: flag,
  require_parameters: flag,
  data_collection: maybe(z.enum(['allow', 'deny'])),
  zdr: flag,
  enforce_distillable_text: flag,
  quantizations: maybe(list(z.enum(['int4', 'int8', 'fp4', 'mxfp4', 'nvfp4', 'fp6', 'fp8', 'mxfp8', 'fp16', 'bf16', 'fp32', 'unknown']))),
  max_price: maybe(strictFields({ prompt: price, completion: price, request: price, image: price, audio: price })),
  sort: maybe(byKind({ string: sortKey, object: strictFields({ by: maybe(sortKey), partition: maybe(z.enum(['model', 'none'])) }) })),
  preferred_max_latency: maybe(percentiles),
  preferred_min_throughput: maybe(percentiles),
})

// ---- plugins: each parses its settings with a schema of its own, which does not accept null; whoever calls it removes nulls first ----

/** Bounded because each address is compared with every entry. */
const domains = maybe(list(z.string().max(2_048)).max(1_024))
const models = maybe(list(z.string().max(1024)).max(1024))

const autoRouter = {
  enabled: flag,
  allowed_models: models,
  excluded_models: models,
  cost_quality_tradeoff: maybe(z.int().min(0).max(10)),
  cost_tier: maybe(z.enum(['low', 'medium', 'high', 'xhigh', 'max'])),
}

export const PLUGINS: readonly Branch[] = [
  tagged('auto-router', { ...autoRouter, pin_model: flag }, 'id'),
  tagged('auto-beta-router', autoRouter, 'id'),
  tagged('moderation', { enabled: flag }, 'id'),
  tagged(
    'web',
    {
      enabled: flag,
      engine: maybe(z.enum(['native', ...SEARCH_ENGINES])),
      include_domains: domains,
      exclude_domains: domains,
      max_results: positive,
      max_uses: positive,
      mode: searchMode,
      search_prompt: text,
      user_location: userLocation,
    },
    'id',
  ),
  tagged('web-fetch', { enabled: flag, allowed_domains: domains, blocked_domains: domains, max_content_tokens: positive, max_uses: positive }, 'id'),
  tagged(
    'file-parser',
    { enabled: flag, pdf: maybe(fields({ engine: maybe(z.enum(['pdf-text', 'native', 'mistral-ocr', 'cloudflare-ai'])) })) },
    'id',
  ),
  tagged('response-healing', { enabled: flag }, 'id'),
  tagged('context-compression', { enabled: flag, engine: maybe(z.literal('middle-out')) }, 'id'),
  tagged(
    'pareto-router',
    {
      enabled: flag,
      max_price: maybe(z.number().min(0)),
      min_coding_score: maybe(z.number().min(0).max(1)),
      price_source: maybe(z.enum(['prompt', 'weighted_avg'])),
    },
    'id',
  ),
  tagged(
    'fusion',
    {
      enabled: flag,
      model: text,
      analysis_models: maybe(list(z.string()).min(1).max(8)),
      max_tool_calls: maybe(z.int().min(1).max(16)),
      preset: maybe(z.enum(['general-high', 'general-budget', 'general-fast'])),
      tools: maybe(list(fields({ type: z.string(), parameters: maybe(fields({})) })).max(8)),
    },
    'id',
  ),
]

/** decode-request refuses them, and names the known ones. */
const otherPlugin = fields({ id: z.string().min(1) })

export const plugins = list(byType(PLUGINS, { noun: 'plugin', tag: 'id', others: otherPlugin }))
