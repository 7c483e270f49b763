import { z } from 'zod'
import { component } from './route-doc.ts'

/** Answers about models, endpoints and providers; the catalog makes them. */

const amount = z.string().describe('USD per token or unit, a decimal.')
const prices = {
  prompt: amount.optional(),
  completion: amount.optional(),
  input_cache_read: amount.optional(),
  input_cache_write: amount.optional(),
  input_cache_write_1h: amount.optional(),
}
const pricing = component(
  'Pricing',
  z.object({
    ...prices,
    prompt: z.string().describe('USD per token; -1 if unknown.'),
    completion: z.string().describe('USD per token; -1 if unknown.'),
    audio: amount.optional(),
    image: amount.optional(),
    image_output: amount.optional(),
    request: amount.optional(),
    web_search: amount.optional(),
    overrides: z
      .array(
        z.object({
          ...prices,
          min_prompt_tokens: z.number().optional().describe('For prompts with more tokens than this.'),
          utc_start: z.number().optional().describe('Time of the day, UTC: 1630 for 16:30.'),
          utc_end: z.number().optional().describe('When it ends; on the next day if it is less than `utc_start`.'),
        }),
      )
      .optional()
      .describe('Prices for long prompts and for times of day. If several apply, the last one counts.'),
  }),
)
const names = z.array(z.string())
const architecture = {
  input_modalities: names,
  output_modalities: names,
  modality: z.string().nullable(),
  tokenizer: z.string(),
}

const model = component(
  'Model',
  z.object({
    id: z.string(),
    canonical_slug: z.string(),
    name: z.string(),
    description: z.string().optional(),
    created: z.int().describe('Unix seconds.'),
    context_length: z.int().nullable(),
    architecture: z.object(architecture),
    pricing,
    top_provider: z.object({ context_length: z.int().nullable(), max_completion_tokens: z.int().nullable(), is_moderated: z.boolean() }),
    per_request_limits: z.null(),
    supported_parameters: names,
    default_parameters: z.null(),
    supported_voices: z.null(),
    reasoning: z
      .object({
        mandatory: z.boolean(),
        default_enabled: z.boolean(),
        supported_efforts: z.null().describe('All efforts are accepted; an unsupported one becomes the nearest that the endpoint supports.'),
        supports_max_tokens: z.boolean(),
      })
      .optional(),
    alias_target: z.object({ slug: z.string(), name: z.string() }).optional(),
    links: z.object({ details: z.string() }),
  }),
)
export const modelsAnswer = z.object({
  data: z.array(model),
  total_count: z.int(),
  links: z.object({ next: z.string().nullable() }),
})
export const modelAnswer = model.extend({ object: z.literal('model'), owned_by: z.string().describe('The author.') })
export const countAnswer = z.object({ data: z.object({ count: z.int() }) })

const percentiles = component('Percentiles', z.object({ p50: z.number(), p75: z.number(), p90: z.number(), p99: z.number() }))
const percent = z.number().nullable().describe('Percentage of requests that were served; null without traffic.')
const endpoint = component(
  'Endpoint',
  z.object({
    name: z.string(),
    model_id: z.string(),
    model_name: z.string(),
    context_length: z.int(),
    pricing,
    provider_name: z.string(),
    tag: z.string().describe('What `provider.order`, `only` and `ignore` may name.'),
    quantization: z.string(),
    max_completion_tokens: z.int().nullable(),
    max_prompt_tokens: z.int().nullable(),
    supported_parameters: names,
    status: z.union([z.literal(0), z.literal(-1)]).describe('-1: degraded.'),
    uptime_last_5m: percent,
    uptime_last_30m: percent,
    uptime_last_1d: percent,
    supports_implicit_caching: z.boolean(),
    supports_tool_choice: z.object({ auto: z.boolean(), none: z.boolean(), required: z.boolean(), function: z.boolean() }),
    latency_last_30m: percentiles.nullable().describe('Milliseconds to the first token.'),
    throughput_last_30m: percentiles.nullable().describe('Tokens per second.'),
  }),
)
export const endpointsAnswer = z.object({
  data: z.object({
    id: z.string(),
    name: z.string(),
    created: z.int(),
    description: z.string(),
    architecture: z.object({ ...architecture, instruct_type: z.null() }),
    endpoints: z.array(endpoint),
  }),
})

const link = z.string().nullable()
export const providersAnswer = z.object({
  data: z.array(
    component(
      'Provider',
      z.object({
        name: z.string(),
        slug: z.string(),
        privacy_policy_url: link,
        terms_of_service_url: link,
        status_page_url: link,
        headquarters: z.null(),
        datacenters: z.null(),
      }),
    ),
  ),
})

/** The type as a snapshot returns it, read-only. */
export type ReadonlyDeep<T> = T extends (infer E)[]
  ? readonly ReadonlyDeep<E>[]
  : T extends object
    ? { readonly [K in keyof T]: ReadonlyDeep<T[K]> }
    : T
