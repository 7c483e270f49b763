import { REASONING_FORMATS } from '../../core/reasoning-envelope.ts'
import { z } from 'zod'
import type { Target } from '../../core/dialect.ts'
import { maxUserLength } from '../shared/account-name.ts'
import { compiled, pattern } from '../shared/pattern.ts'
import { serviceTiers, tierFactors } from '../shared/service-tier.ts'

const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const
const efforts = z.array(z.enum(EFFORTS))
export const INPUT_PARTS = ['input_text', 'input_image', 'input_file', 'input_audio', 'input_video'] as const

/**
 * Differences between servers of this format. The defaults describe the complete format as its inventor serves it; servers that support less declare
 * it.
 */
export const responsesOptions = z.strictObject({
  path: z.string().startsWith('/').default('/responses').describe('Path appended to the base URL.'),

  // -- parameters --
  sampling_parameters: z
    .enum(['forward', 'drop', 'drop-when-reasoning'])
    .default('forward')
    .describe('Whether `temperature` and `top_p` are sent: always, never, or not when the request asks for reasoning.'),
  reasoning_models: pattern
    .optional()
    .describe(
      'Upstream ids of models that reason unless reasoning is switched off. With `drop-when-reasoning` they get sampling parameters only if it is.',
    ),
  penalties: z.boolean().default(true).describe('Whether `presence_penalty` and `frequency_penalty` are sent (some endpoints refuse even 0).'),
  min_output_tokens: z.int().min(1).default(1).describe('Smallest `max_output_tokens` that the endpoint accepts; smaller values are raised.'),
  verbosities: z
    .array(z.enum(['low', 'medium', 'high', 'xhigh', 'max']))
    .default(['low', 'medium', 'high'])
    .describe('Values of `verbosity` that the endpoint accepts.'),
  prompt_cache_key: z.boolean().default(true).describe('Whether `prompt_cache_key` is sent.'),
  prompt_cache_options: z.boolean().default(true).describe('Whether `prompt_cache_options` and `prompt_cache_breakpoint` of parts are sent.'),
  cache_option_models: pattern
    .optional()
    .describe('Upstream ids of models that accept `prompt_cache_options`; others refuse the call. Default: all.'),
  metadata: z.boolean().default(true).describe('Whether `metadata` is sent.'),
  service_tier: z.boolean().default(true).describe('Whether `service_tier` is sent.'),
  service_tiers: serviceTiers,
  tier_factors: tierFactors,
  safety_identifier: z.boolean().default(true).describe('Whether `safety_identifier` and `user` are sent.'),
  max_user_length: maxUserLength,
  max_tool_calls: z
    .boolean()
    .default(false)
    .describe(
      'Whether `max_tool_calls` is sent for tools that the endpoint runs itself. If not, the limit cannot be enforced and is a dropped parameter.',
    ),
  store: z.boolean().default(true).describe('Whether the field `store` may be sent (always false).'),
  suppress_obfuscation: z.boolean().default(false).describe('Whether the upstream is asked not to pad its events with random text.'),
  unknown_fields: z
    .enum(['forward', 'drop'])
    .default('forward')
    .describe('What happens to top-level fields that the gateway does not interpret, including `prompt` (prompts stored by the vendor).'),
  extra_body: z.record(z.string(), z.unknown()).default({}).describe(`Merged into every request; overrides the caller’s fields.`),

  // -- reasoning --
  reasoning_efforts: efforts
    .optional()
    .describe('Efforts that the endpoint accepts; others become the nearest one. Empty: none. Default: those in `models`, else all.'),
  models: z
    .array(z.strictObject({ match: pattern, reasoning_efforts: efforts }))
    .default([])
    .describe('Efforts of single models; the first entry whose `match` fits the upstream id counts.'),
  reasoning_summary: z.boolean().default(true).describe('Whether `reasoning.summary` is sent.'),
  reasoning_budget: z
    .boolean()
    .default(false)
    .describe('Whether the endpoint knows `reasoning.max_tokens` and `reasoning.enabled`. If not, they become an effort.'),
  encrypted_reasoning: z.boolean().default(true).describe('Whether the endpoint returns encrypted reasoning and accepts it again.'),
  include_reasoning: z
    .enum(['auto', 'always', 'asked'])
    .default('auto')
    .describe(
      'When encrypted reasoning is requested. `auto`: if the request configures or contains reasoning. `always`: for every model that reasons (models that do not reason answer with an error, so the catalog must be exact). `asked`: only if the caller asks.',
    ),
  reasoning_format: z.enum(REASONING_FORMATS).default('openai-responses-v1').describe(`Name of the format of this endpoint’s encrypted reasoning.`),
  replay_formats: z
    .enum(['own', 'any'])
    .default('own')
    .describe('Which formats of reasoning are sent back. `any`: for routers whose items have formats of several vendors.'),
  reasoning_text: z.boolean().default(false).describe('Whether raw reasoning text of earlier turns is sent back.'),
  reasoning_ids: z
    .boolean()
    .default(false)
    .describe('Whether a reasoning item that is sent back must have an `id`. Servers that look items up by id need `false`.'),

  // -- tools --
  custom_tools: z
    .boolean()
    .default(true)
    .describe('Whether the endpoint knows free-form tools. If not, they become functions with one string `input`.'),
  namespace_tools: z.boolean().default(true).describe('Whether the endpoint knows namespaces of tools. If not, they are flattened.'),
  async_calls: z
    .boolean()
    .default(true)
    .describe('Whether the endpoint knows tools whose results may come later than in the next turn (`async`). If not, each call must have a result.'),
  builtin_tools: z
    .union([z.boolean(), z.array(z.string())])
    .default(true)
    .describe(`The vendor's own tools (\`web_search\`, \`mcp\`, ...) and their items that the endpoint knows: all, none, or these types.`),
  paid_tools: z
    .array(z.string())
    .default([])
    .describe(
      'Those of them that the vendor charges for separately, at prices the gateway does not know; also kinds of `environment` in which one of them runs (`container_auto`). An answer that used one has an unknown cost, and `limits.unknown_price` applies to requests that offer one.',
    ),
  search_exclusions: z
    .enum(['blocked_domains', 'excluded_domains'])
    .default('blocked_domains')
    .describe(`The vendor’s name for domains that a web search excludes.`),
  search_bounds: z
    .boolean()
    .default(false)
    .describe(`Whether \`engine\`, \`mode\`, \`max_results\` and \`max_uses\` of a web search are sent. Routers know them, vendors refuse them.`),
  allowed_tools: z
    .boolean()
    .default(true)
    .describe('Whether the endpoint knows `tool_choice` of type `allowed_tools`. If not, only the allowed tools are offered.'),
  strict: z
    .enum(['forward', 'only-true', 'drop'])
    .default('forward')
    .describe('When `strict` of functions is sent: as the caller set it, only if true, or never.'),
  optional_members: z
    .enum(['taken', 'refused'])
    .default('refused')
    .describe('`refused`: the server refuses strict schemas with optional members, so they are sent as not strict.'),
  max_tool_name_length: z.int().min(16).default(64).describe('Maximum length of tool names; longer ones are rewritten.'),
  max_call_id_length: z.int().min(16).default(64).describe('Maximum length of call ids; longer ones are rewritten.'),
  tool_outputs: z
    .enum(['as-sent', 'adjacent'])
    .default('as-sent')
    .describe(`\`adjacent\`: results are sent directly after their calls, whatever the caller’s order.`),
  tool_output_parts: z.boolean().default(true).describe('Whether tool results may contain images and files. If not, these follow in a user message.'),

  // -- messages --
  input_parts: z
    .array(z.enum(INPUT_PARTS))
    .default(['input_text', 'input_image', 'input_file', 'input_audio'])
    .describe(
      'Content parts that the endpoint accepts; others are replaced by a sentence. If unset: all parts at endpoints that list `video` in `supports`.',
    ),
  assistant_parts: z.boolean().default(true).describe('Whether assistant messages may contain parts. If not, their texts are sent as one string.'),
  phase: z.boolean().default(true).describe('Whether `phase` of assistant messages is sent.'),
  developer_role: z
    .boolean()
    .default(true)
    .describe('Whether the endpoint knows the role `developer`. If not, such messages have the role `system`.'),
  image_output: z.boolean().default(false).describe(`Whether \`modalities\` and \`image_config\` are sent, with which routers are asked for images.`),
  inline_media: z
    .boolean()
    .default(false)
    .describe('The gateway fetches remote images and files and sends their bytes, for servers that cannot reach them.'),
})

export type ResponsesOptions = z.infer<typeof responsesOptions>

/** Whether the model that a request goes to accepts `prompt_cache_options` and cache breakpoints. */
export function takesCacheOptions({ options, upstreamModel }: Pick<Target<ResponsesOptions>, 'options' | 'upstreamModel'>): boolean {
  const { prompt_cache_options: known, cache_option_models: models } = options
  return known && (models === undefined || compiled(models).test(upstreamModel))
}

/** The efforts that the model that a request goes to accepts. */
export function effortsFor({ options, upstreamModel }: Pick<Target<ResponsesOptions>, 'options' | 'upstreamModel'>): readonly string[] {
  return options.reasoning_efforts ?? options.models.find(({ match }) => new RegExp(match).test(upstreamModel))?.reasoning_efforts ?? EFFORTS
}
