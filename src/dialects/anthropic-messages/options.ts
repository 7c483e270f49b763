import { z } from 'zod'
import type { Target } from '../../core/dialect.ts'
import { pattern } from '../shared/pattern.ts'

/** https://platform.claude.com/docs/en/api/versioning */
export const API_VERSION = '2023-06-01'

/** Differences between generations of models behind one endpoint. None has a default here: see RULES. */
const modelRules = z.strictObject({
  max_output_tokens: z.int().positive().optional().describe('Longest answer of the model, if the catalog does not know it.'),
  thinking: z
    .enum(['none', 'budget', 'adaptive', 'adaptive-or-budget'])
    .optional()
    .describe('How thinking is requested. `budget`: as a number of tokens. `adaptive`: the model decides, guided by an effort.'),
  thinking_off: z
    .enum(['omit', 'disabled', 'between-tools', 'lowest-effort'])
    .optional()
    .describe(
      'How thinking is switched off. `omit`: it is off unless requested. `disabled`: explicitly. `between-tools`: by the weakest mode. `lowest-effort`: only as far as the lowest effort goes.',
    ),
  thinking_display: z.enum(['summarized', 'omitted']).optional().describe('Sent with adaptive thinking: whether the answer contains its text.'),
  thinking_in_tool_loops: z
    .enum(['required', 'optional'])
    .optional()
    .describe('`required`: with thinking on, a running tool loop must begin with the thinking that led to it. Default: `required` for budgets.'),
  stale_thinking: z
    .enum(['as-is', 'dropped'])
    .optional()
    .describe('`dropped`: the server refuses thinking whose history has changed since, so it is asked to leave such thinking out.'),
  efforts: z
    .array(z.enum(['minimal', 'low', 'medium', 'high', 'xhigh', 'max']))
    .optional()
    .describe('Efforts that the model knows.'),
  sampling: z
    .enum(['all', 'one', 'none'])
    .optional()
    .describe('Which sampling parameters are accepted. `one`: `temperature` or `top_p`, not both. `none`: no parameters.'),
  forced_tools: z.enum(['without-thinking', 'never']).optional().describe('When a tool call can be forced. Default: only without thinking.'),
  prefill: z.boolean().optional().describe('Whether a conversation may end with the beginning of the answer.'),
  json_schema: z
    .enum(['native', 'tool', 'prompt'])
    .optional()
    .describe(
      'How a JSON schema is requested. `native`: with `output_config.format`. `tool`: with a forced hidden tool. `prompt`: only in the prompt.',
    ),
  strict_tools: z.boolean().optional().describe('Whether `strict` of tools is sent, with a schema reduced to what strict tools support.'),
  later_system: z
    .enum(['user-text', 'in-place'])
    .optional()
    .describe('What later system messages become. `user-text`: marked text of the user. `in-place`: system messages where they are.'),
  caller_betas: z
    .array(pattern)
    .optional()
    .describe('Patterns of beta features that callers may switch on with the headers `anthropic-beta` and `x-anthropic-beta`; others are left out.'),
})

type ModelRuleOptions = z.output<typeof modelRules>
/** All rules, with their defaults applied. */
export type ModelRules = Required<Omit<ModelRuleOptions, 'max_output_tokens' | 'thinking_display'>> &
  Pick<ModelRuleOptions, 'max_output_tokens' | 'thinking_display'>

/** For an unknown server and model. */
const RULES: Omit<ModelRules, 'thinking_in_tool_loops'> = {
  thinking: 'budget',
  thinking_off: 'disabled',
  stale_thinking: 'as-is',
  efforts: ['low', 'medium', 'high'],
  sampling: 'all',
  forced_tools: 'without-thinking',
  prefill: true,
  json_schema: 'tool',
  strict_tools: false,
  later_system: 'user-text',
  caller_betas: [],
}

/**
 * Differences between servers of this format. The defaults suit an unknown server. Rules of a model are at the top level (for every model of the
 * endpoint, overriding everything else) or in `models`, of which the first whose pattern matches the upstream id applies.
 */
export const anthropicMessagesOptions = modelRules.extend({
  // ---- address ----
  path: z.string().startsWith('/').default('/messages').describe('Appended to the base URL; `{model}` stands for the upstream model id.'),
  stream_path: z.string().startsWith('/').optional().describe('Path of streams, if it differs.'),
  version: z.string().default(API_VERSION).describe('Version of the format.'),
  version_in: z
    .enum(['header', 'body'])
    .default('header')
    .describe('Where the version is sent. `body`: as `anthropic_version`, for clouds that host the models.'),
  model_in_body: z.boolean().default(true).describe('Whether the body names the model.'),
  stream_in_body: z.boolean().default(true).describe('Whether the body has `stream`.'),
  betas: z.array(z.string()).default([]).describe('Beta features that are always switched on.'),
  field_betas: z
    .array(z.strictObject({ field: z.string(), match: pattern.optional(), betas: z.array(z.string()).min(1) }))
    .default([])
    .describe('Beta features that are switched on when a field is sent, or when its JSON fits `match`; for `tools` only the types are compared.'),
  betas_in: z.enum(['header', 'body']).default('header').describe('Where beta features are sent.'),

  models: z
    .array(modelRules.extend({ match: pattern }))
    .default([])
    .describe('What differs for single models; the first entry whose `match` fits the upstream id counts. Options of the same name override it.'),
  eager_tools: z
    .boolean()
    .default(false)
    .describe('Whether `eager_input_streaming` of tools is sent, with which arguments stream while they are written.'),
  tool_examples: z.boolean().default(false).describe('Whether `input_examples` of tools are sent. If not, they become part of the description.'),
  default_max_tokens: z
    .int()
    .positive()
    .default(8192)
    .describe('`max_tokens` if neither the caller nor the catalog says it; the format requires the field.'),

  // ---- reasoning ----
  reasoning_format: z.string().default('anthropic-claude-v1').describe('Public name of the format of this server’s signed reasoning.'),
  signature_scope: z
    .enum(['format', 'endpoint'])
    .default('endpoint')
    .describe(
      'Who gets a signature back. `endpoint`: only its maker. `format`: every endpoint of this format with this setting, because it can read the signature.',
    ),
  unsigned_thinking: z.boolean().default(false).describe('Whether thinking without a signature may be sent back (compatible servers).'),

  // ---- parameters ----
  max_temperature: z.number().positive().default(1).describe('Higher temperatures are lowered to this.'),
  forward_user: z
    .boolean()
    .default(false)
    .describe('Whether `user` is sent as `metadata.user_id`. E-mail addresses and telephone numbers, which the vendor refuses, are sent as a hash.'),
  service_tier: z.boolean().default(false).describe('Whether `service_tier` is sent.'),
  pass_through: z.array(z.string()).default([]).describe('Unknown fields of the request that are sent to this server.'),
  extra_body: z.record(z.string(), z.unknown()).default({}).describe('Constant body fields; objects are merged one level deep.'),

  // ---- prompt caching ----
  cache_control: z
    .enum(['none', 'short', 'all'])
    .default('all')
    .describe('Cache breakpoints that are sent. `short`: only with the default lifetime. `all`: also for one hour.'),
  prewarm: z.boolean().default(false).describe('Whether `max_tokens: 0` reads a prompt into the cache. If not, the shortest answer is asked for.'),
  cache_breakpoints: z.int().positive().default(4).describe('Maximum number of cache breakpoints.'),

  // ---- tools ----
  tool_ids: z
    .strictObject({ pattern: pattern.default('^[a-zA-Z0-9_-]+$'), max: z.int().positive().default(64) })
    .prefault({})
    .describe('Ids of tool calls that this server accepts; others are rewritten.'),
  tool_names: z
    .strictObject({ pattern: pattern.default('^[a-zA-Z0-9_-]+$'), max: z.int().positive().default(64) })
    .prefault({})
    .describe('Names of tools that this server accepts; others are rewritten.'),
  none_tool_choice: z.boolean().default(true).describe('`false`: `tool_choice: none` is left out.'),
  web_search_tool: z.string().optional().describe('Type of the vendor’s search tool that replaces callers’ web search tools.'),
  native_tools: z.array(pattern).default([]).describe('Patterns of tool types that are sent as the caller wrote them.'),

  // ---- media ----
  image_urls: z.boolean().default(true).describe('Whether images may be sent as a URL. If not, they are fetched and sent as data.'),
  document_urls: z.boolean().default(true).describe('Whether PDFs may be sent as a URL. If not, they are fetched and sent as data.'),
  documents: z.boolean().default(true).describe('Whether PDF and text documents are accepted.'),
  file_ids: z.boolean().default(false).describe('Whether files uploaded to this vendor may be sent as an id.'),
  document_citations: z.boolean().default(false).describe('Whether citations of documents are requested.'),

  surcharges: z
    .array(z.strictObject({ match: pattern.optional(), field: z.string(), value: z.string(), factor: z.number().positive() }))
    .default([])
    .describe(
      'Surcharges on the list price: if `field` of the usage has this value, the tokens cost `factor` times as much. For each field the first entry whose `match` fits the upstream id counts.',
    ),

  allow_empty_answer: z.boolean().default(false).describe('Whether an answer without content is accepted; else it has failed.'),
})

export type AnthropicMessagesOptions = z.output<typeof anthropicMessagesOptions>
export type MessagesTarget = Target<AnthropicMessagesOptions>

const known = new WeakMap<AnthropicMessagesOptions, Map<string, ModelRules>>()
/** An endpoint has few models, but a proxy that receives arbitrary ids must not fill the memory. */
const MAX_KNOWN = 256

/** The rules of the model that a request goes to. */
export function rulesFor(target: Pick<MessagesTarget, 'options' | 'upstreamModel'>): ModelRules {
  const { options, upstreamModel } = target
  let byModel = known.get(options)
  if (byModel === undefined) known.set(options, (byModel = new Map<string, ModelRules>()))
  const before = byModel.get(upstreamModel)
  if (before !== undefined) return before
  const model: ModelRuleOptions = options.models.find(({ match }) => new RegExp(match).test(upstreamModel)) ?? {}
  const rule = <K extends keyof ModelRules & keyof typeof RULES>(name: K): ModelRules[K] =>
    (options[name] ?? model[name] ?? RULES[name]) as ModelRules[K]
  const thinking = rule('thinking')
  const maxOutputTokens = options.max_output_tokens ?? model.max_output_tokens
  const display = options.thinking_display ?? model.thinking_display
  const rules: ModelRules = {
    thinking,
    thinking_off: rule('thinking_off'),
    thinking_in_tool_loops: options.thinking_in_tool_loops ?? model.thinking_in_tool_loops ?? (thinking === 'budget' ? 'required' : 'optional'),
    stale_thinking: rule('stale_thinking'),
    efforts: rule('efforts'),
    sampling: rule('sampling'),
    forced_tools: rule('forced_tools'),
    prefill: rule('prefill'),
    json_schema: rule('json_schema'),
    strict_tools: rule('strict_tools'),
    later_system: rule('later_system'),
    caller_betas: rule('caller_betas'),
    ...(maxOutputTokens === undefined ? {} : { max_output_tokens: maxOutputTokens }),
    ...(display === undefined ? {} : { thinking_display: display }),
  }
  if (byModel.size < MAX_KNOWN) byModel.set(upstreamModel, rules)
  return rules
}
