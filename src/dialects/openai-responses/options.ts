import { REASONING_FORMATS } from '../../core/reasoning-envelope.ts'
import { z } from 'zod'
import type { Target } from '../../core/dialect.ts'
import { maxUserLength } from '../shared/account-name.ts'
import { compiled, pattern } from '../shared/pattern.ts'
import { serviceTiers } from '../shared/service-tier.ts'

const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const
const efforts = z.array(z.enum(EFFORTS))
export const INPUT_PARTS = ['input_text', 'input_image', 'input_file', 'input_audio', 'input_video'] as const

/**
 * Where servers of this format differ. The defaults describe the complete format as its inventor serves it; whoever serves less declares it.
 */
export const responsesOptions = z.strictObject({
  path: z.string().startsWith('/').default('/responses').describe('Path appended to the base URL.'),

  // -- parameters --
  sampling_parameters: z
    .enum(['forward', 'drop', 'drop-when-reasoning'])
    .default('forward')
    .describe('`temperature` and `top_p`: sent, refused always, or refused when the request asks for reasoning.'),
  reasoning_models: pattern
    .optional()
    .describe('Upstream ids of models that reason unless told not to: with `drop-when-reasoning` they get sampling parameters only then.'),
  penalties: z.boolean().default(true).describe('`presence_penalty` and `frequency_penalty` (some endpoints refuse them even when they are 0).'),
  min_output_tokens: z.int().min(1).default(1).describe('Smallest `max_output_tokens` the endpoint takes; smaller wishes are raised.'),
  verbosities: z.array(z.enum(['low', 'medium', 'high', 'xhigh', 'max'])).default(['low', 'medium', 'high']),
  prompt_cache_key: z.boolean().default(true),
  prompt_cache_options: z.boolean().default(true).describe('`prompt_cache_options` and the `prompt_cache_breakpoint` of parts.'),
  cache_option_models: pattern.optional().describe('Upstream ids of the models that take them: others refuse the call. Without it, all.'),
  metadata: z.boolean().default(true),
  service_tier: z.boolean().default(true),
  service_tiers: serviceTiers,
  safety_identifier: z.boolean().default(true).describe('`safety_identifier` and `user`.'),
  max_user_length: maxUserLength,
  max_tool_calls: z
    .boolean()
    .default(false)
    .describe('`max_tool_calls` for tools the endpoint runs itself; without it that bound cannot be kept, and callers are told.'),
  store: z.boolean().default(true).describe('Whether the field `store` may be sent (always false).'),
  suppress_obfuscation: z.boolean().default(false).describe('Asks the upstream not to pad its stream events with random text.'),
  unknown_fields: z
    .enum(['forward', 'drop'])
    .default('forward')
    .describe('Top-level fields of the caller the gateway does not look into, `prompt` (prompts kept by the vendor) among them.'),
  extra_body: z.record(z.string(), z.unknown()).default({}).describe(`Merged into every request, over the caller's fields.`),

  // -- reasoning --
  reasoning_efforts: efforts
    .optional()
    .describe('Efforts the endpoint takes; others become the nearest one. Empty: it takes none. Default: what `models` says, else all.'),
  models: z
    .array(z.strictObject({ match: pattern, reasoning_efforts: efforts }))
    .default([])
    .describe('Efforts of single models: the first whose pattern matches the upstream id counts.'),
  reasoning_summary: z.boolean().default(true),
  reasoning_budget: z
    .boolean()
    .default(false)
    .describe('Whether `reasoning.max_tokens` and `reasoning.enabled` are understood; else they become an effort.'),
  encrypted_reasoning: z.boolean().default(true).describe('Whether the endpoint hands out its reasoning encrypted and takes it back.'),
  include_reasoning: z
    .enum(['auto', 'always', 'asked'])
    .default('auto')
    .describe(
      'When to ask for it: `auto` when the request speaks of reasoning or replays some, `always` on every model that reasons (right where the catalog is exact: models that do not reason answer the wish with an error), `asked` only when the caller does.',
    ),
  reasoning_format: z.enum(REASONING_FORMATS).default('openai-responses-v1').describe(`What this endpoint's encrypted reasoning is called.`),
  replay_formats: z.enum(['own', 'any']).default('own').describe('`any` for a router whose items carry the formats of several vendors.'),
  reasoning_text: z.boolean().default(false).describe('Whether raw reasoning text of earlier turns is sent back.'),
  reasoning_ids: z
    .boolean()
    .default(false)
    .describe('Whether a replayed reasoning item must have an `id`. Where items are looked up by id it must have none.'),

  // -- tools --
  custom_tools: z.boolean().default(true).describe('Free-form tools; without them they become functions with one string `input`, and back.'),
  namespace_tools: z.boolean().default(true).describe('Namespaces of tools; without them they are flattened.'),
  builtin_tools: z
    .union([z.boolean(), z.array(z.string())])
    .default(true)
    .describe(`The vendor's own tools (\`web_search\`, \`mcp\`, ...) and the items they leave: all, none, or these types.`),
  search_exclusions: z
    .enum(['blocked_domains', 'excluded_domains'])
    .default('blocked_domains')
    .describe(`The vendor's name for the domains a web search leaves out.`),
  search_bounds: z
    .boolean()
    .default(false)
    .describe(
      `Whether \`engine\`, \`mode\`, \`max_results\` and \`max_uses\` of a web search are understood: a router's words, which vendors refuse.`,
    ),
  allowed_tools: z.boolean().default(true).describe('`tool_choice` of type `allowed_tools`; without it the list of tools is narrowed.'),
  strict: z
    .enum(['forward', 'only-true', 'drop'])
    .default('forward')
    .describe('`strict` of functions: as the caller set it, only when true, or never.'),
  optional_members: z
    .enum(['taken', 'refused'])
    .default('refused')
    .describe('`refused`: a strict schema whose members may be left out is an error here, and is sent as one that is not strict.'),
  max_tool_name_length: z.int().min(16).default(64),
  max_call_id_length: z.int().min(16).default(64),
  tool_outputs: z
    .enum(['as-sent', 'adjacent'])
    .default('as-sent')
    .describe(`\`adjacent\`: results directly behind the calls they answer, whatever the caller's order.`),
  tool_output_parts: z
    .boolean()
    .default(true)
    .describe('Whether tool results may hold images and files; without it these follow in a message of the user.'),

  // -- messages --
  input_parts: z
    .array(z.enum(INPUT_PARTS))
    .default(['input_text', 'input_image', 'input_file', 'input_audio'])
    .describe('Content parts the endpoint takes; others are replaced by a sentence. Unless set, all at endpoints that list `video` in `supports`.'),
  assistant_parts: z
    .boolean()
    .default(true)
    .describe('Whether messages of the assistant may hold parts; without it their texts are sent as one string.'),
  phase: z.boolean().default(true).describe('`phase` of assistant messages.'),
  developer_role: z.boolean().default(true).describe('Role `developer`; without it such messages have role `system`.'),
  image_output: z.boolean().default(false).describe(`Whether \`modalities\` and \`image_config\` are understood: a router's way to ask for images.`),
  inline_media: z
    .boolean()
    .default(false)
    .describe('Fetch remote images and files ourselves and send their bytes, for servers that cannot reach them.'),
})

export type ResponsesOptions = z.infer<typeof responsesOptions>

/** Whether the model a request goes to takes `prompt_cache_options` and marks of what is cached. */
export function takesCacheOptions({ options, upstreamModel }: Pick<Target<ResponsesOptions>, 'options' | 'upstreamModel'>): boolean {
  const { prompt_cache_options: known, cache_option_models: models } = options
  return known && (models === undefined || compiled(models).test(upstreamModel))
}

/** Efforts the model a request goes to takes. */
export function effortsFor({ options, upstreamModel }: Pick<Target<ResponsesOptions>, 'options' | 'upstreamModel'>): readonly string[] {
  return options.reasoning_efforts ?? options.models.find(({ match }) => new RegExp(match).test(upstreamModel))?.reasoning_efforts ?? EFFORTS
}
