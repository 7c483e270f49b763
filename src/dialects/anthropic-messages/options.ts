import { z } from 'zod'
import type { Target } from '../../core/dialect.ts'
import { pattern } from '../shared/pattern.ts'

/** https://platform.claude.com/docs/en/api/versioning */
export const API_VERSION = '2023-06-01'

/** What differs between generations of models behind one endpoint. None has a default here: see RULES. */
const modelRules = z.strictObject({
  max_output_tokens: z.int().positive().optional().describe('Longest answer of the model, where the catalog does not say.'),
  thinking: z
    .enum(['none', 'budget', 'adaptive', 'adaptive-or-budget'])
    .optional()
    .describe('`budget`: a number of tokens; `adaptive`: the model decides, steered by an effort.'),
  thinking_off: z
    .enum(['omit', 'disabled', 'between-tools', 'lowest-effort'])
    .optional()
    .describe('How thinking is switched off: it is off anyway, by saying so, by the weakest mode, or not at all.'),
  thinking_display: z.enum(['summarized', 'omitted']).optional().describe('Sent with adaptive thinking: whether its text can be read.'),
  thinking_in_tool_loops: z
    .enum(['required', 'optional'])
    .optional()
    .describe('`required`: with thinking on, a running tool loop must begin with the thinking that led to it. Default: required with budgets.'),
  stale_thinking: z
    .enum(['as-is', 'dropped'])
    .optional()
    .describe(
      '`dropped`: the server ties thinking to what stood before it and refuses a call whose history has changed since, unless it is told to leave such thinking out.',
    ),
  efforts: z.array(z.enum(['minimal', 'low', 'medium', 'high', 'xhigh', 'max'])).optional(),
  sampling: z
    .enum(['all', 'one', 'none'])
    .optional()
    .describe('`one`: temperature and top_p refuse each other; `none`: all sampling parameters are refused.'),
  forced_tools: z.enum(['without-thinking', 'never']).optional().describe('Whether a tool call can be forced: only without thinking, or never.'),
  prefill: z.boolean().optional().describe('Whether the conversation may end with the beginning of the answer.'),
  json_schema: z
    .enum(['native', 'tool', 'prompt'])
    .optional()
    .describe('How a JSON schema is asked for: `output_config.format`, a forced hidden tool, or the prompt alone.'),
  strict_tools: z.boolean().optional().describe('Send `strict` of tools, with a schema cut down to what strict tools know.'),
  later_system: z
    .enum(['user-text', 'in-place'])
    .optional()
    .describe('System messages in the middle: as marked text of the user, or where they stand.'),
  caller_betas: z
    .array(pattern)
    .optional()
    .describe(
      'Beta features that callers may switch on by their headers `anthropic-beta` and `x-anthropic-beta`; what matches none of these is left out.',
    ),
})

type ModelRuleOptions = z.output<typeof modelRules>
/** Every rule, decided. */
export type ModelRules = Required<Omit<ModelRuleOptions, 'max_output_tokens' | 'thinking_display'>> &
  Pick<ModelRuleOptions, 'max_output_tokens' | 'thinking_display'>

/** For a server and a model nothing is known of. */
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
 * How servers of this format differ. The defaults suit a server nothing is known of. Rules of a model stand at the top level (for every
 * model of the endpoint, and over everything else) or in `models`, of which the first whose pattern matches the upstream id counts.
 */
export const anthropicMessagesOptions = modelRules.extend({
  // ---- address ----
  path: z.string().startsWith('/').default('/messages').describe('Appended to the base URL; `{model}` stands for the upstream model id.'),
  stream_path: z.string().startsWith('/').optional().describe('The path of streams, where it is another.'),
  version: z.string().default(API_VERSION),
  version_in: z.enum(['header', 'body']).default('header').describe('`body`: as `anthropic_version`, for clouds that host the models.'),
  model_in_body: z.boolean().default(true),
  stream_in_body: z.boolean().default(true),
  betas: z.array(z.string()).default([]).describe('Names of beta features to switch on.'),
  field_betas: z
    .array(z.strictObject({ field: z.string(), match: pattern.optional(), betas: z.array(z.string()).min(1) }))
    .default([])
    .describe(
      'Beta features that a field of the request needs, switched on when it is sent: always, or when it matches, as JSON; of `tools` only the types count.',
    ),
  betas_in: z.enum(['header', 'body']).default('header'),

  models: z.array(modelRules.extend({ match: pattern })).default([]),
  eager_tools: z.boolean().default(false).describe('Send `eager_input_streaming` of tools: their arguments come as they are made.'),
  tool_examples: z.boolean().default(false).describe('Send `input_examples` of tools; else they stand in the description.'),
  default_max_tokens: z.int().positive().default(8192).describe('`max_tokens` is required: what is sent when neither caller nor catalog say.'),

  // ---- reasoning ----
  reasoning_format: z.string().default('anthropic-claude-v1').describe('Public format name of reasoning that this server signs.'),
  signature_scope: z
    .enum(['format', 'endpoint'])
    .default('endpoint')
    .describe('Who gets a signature back: only the party that made it, or everyone who serves models of this format (they can read it).'),
  unsigned_thinking: z.boolean().default(false).describe('Thinking without signature may be sent back (compatible servers).'),

  // ---- parameters ----
  max_temperature: z.number().positive().default(1),
  forward_user: z
    .boolean()
    .default(false)
    .describe('Send `user` as `metadata.user_id`; what looks like an e-mail address or a telephone number, for which calls are refused, as a hash.'),
  service_tier: z.boolean().default(false),
  pass_through: z.array(z.string()).default([]).describe('Unknown fields of the request that may reach this server.'),
  extra_body: z.record(z.string(), z.unknown()).default({}).describe('Constant body fields; objects are merged one level deep.'),

  // ---- prompt caching ----
  cache_control: z.enum(['none', 'short', 'all']).default('all').describe('Breakpoints: none, only the default lifetime, or one hour too.'),
  cache_breakpoints: z.int().positive().default(4),

  // ---- tools ----
  tool_ids: z.strictObject({ pattern: pattern.default('^[a-zA-Z0-9_-]+$'), max: z.int().positive().default(64) }).prefault({}),
  tool_names: z.strictObject({ pattern: pattern.default('^[a-zA-Z0-9_-]+$'), max: z.int().positive().default(64) }).prefault({}),
  none_tool_choice: z.boolean().default(true).describe('False: `tool_choice: none` is left out and said in no other way.'),
  web_search_tool: z.string().optional().describe('Type of the built-in search that stands for native web search tools of callers.'),
  native_tools: z.array(pattern).default([]).describe('Types of tools that are sent as the caller wrote them.'),

  // ---- media ----
  image_urls: z.boolean().default(true).describe('Images may be named by URL; else they are fetched and sent as data.'),
  document_urls: z.boolean().default(true).describe('PDFs may be named by URL; else they are fetched and sent as data.'),
  documents: z.boolean().default(true).describe('PDF and text documents.'),
  file_ids: z.boolean().default(false).describe('Files uploaded to this vendor may be named by id.'),
  document_citations: z.boolean().default(false).describe('Ask for citations of documents.'),

  surcharges: z
    .array(z.strictObject({ match: pattern.optional(), field: z.string(), value: z.string(), factor: z.number().positive() }))
    .default([])
    .describe(
      'What an answer costs beside the list price: where `field` of its usage has this value, its tokens cost `factor` times as much. Of each field the first entry whose pattern matches the upstream id counts.',
    ),

  allow_empty_answer: z.boolean().default(false),
})

export type AnthropicMessagesOptions = z.output<typeof anthropicMessagesOptions>
export type MessagesTarget = Target<AnthropicMessagesOptions>

const known = new WeakMap<AnthropicMessagesOptions, Map<string, ModelRules>>()
/** Models of one endpoint are few; a proxy that is asked for any id must not fill the memory. */
const MAX_KNOWN = 256

/** The rules of the model a request goes to. */
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
