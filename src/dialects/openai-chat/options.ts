import { z } from 'zod'
import type { Target } from '../../core/dialect.ts'
import { maxUserLength } from '../shared/account-name.ts'
import type { IdRule } from '../shared/id-map.ts'
import { compiled, pattern } from '../shared/pattern.ts'
import { serviceTiers, tierFactors } from '../shared/service-tier.ts'

const STYLES = ['none', 'effort', 'reasoning-object', 'thinking-type', 'enable-thinking', 'template-kwargs', 'think'] as const
const REPLAYS = ['none', 'reasoning_content', 'reasoning', 'reasoning_details', 'thinking-part'] as const
const SCHEMA_MODES = ['auto', 'native', 'json-object', 'tool', 'prompt'] as const

/**
 * These models read the ids of earlier calls in their prompt and write the next ones in the same form. After an id of another form, calls come as
 * text.
 */
const OWN_IDS = [{ match: '[Kk]imi', pattern: '^(?:functions\\.)?[a-zA-Z0-9_.-]{1,128}:\\d{1,6}$' }]

/** Differences between models behind one server. None has a default here: see `reasoningRulesFor`. */
const modelRules = z.strictObject({
  reasoning_style: z.enum(STYLES).optional().describe('How reasoning is requested. Default: with `effort` if the endpoint lists it.'),
  reasoning_efforts: z
    .array(z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']))
    .optional()
    .describe('Efforts that this server knows (default for `effort`: low, medium, high). With `thinking-type`: the efforts sent beside the switch.'),
  forced_tools: z
    .enum(['without-reasoning', 'never'])
    .optional()
    .describe('When a tool call can be forced. `without-reasoning`: only without reasoning, which is then switched off. Default: always.'),
})

/**
 * Differences between servers of this format. The defaults suit an unknown server: what only some accept is off, what nearly all need is on. Vendors
 * that accept more declare it.
 */
export const openAiChatOptions = z.strictObject({
  path: z.string().startsWith('/').default('/chat/completions').describe('Appended to the base URL.'),

  // ---- roles and turns ----
  system_role: z
    .enum(['system', 'developer', 'first-only', 'none'])
    .default('first-only')
    .describe(
      '`first-only`: one system message at the start; later ones become marked text of the user (strict chat templates). `none`: it becomes part of the first user message.',
    ),
  alternating_roles: z.boolean().default(false).describe('Consecutive messages of one role are merged; a user message comes first.'),
  prefill: z
    .boolean()
    .optional()
    .describe('`false`: the server does not continue an answer that the request begins (a last message of the assistant).'),
  prefill_field: z
    .string()
    .optional()
    .describe('Field that must be true on a last message of the assistant for the server to continue it: `prefix`, `partial`.'),
  user_after_tool_filler: z
    .string()
    .nullable()
    .default(null)
    .describe('Assistant text to put between a tool message and a user message, if the server forbids that order.'),
  empty_content: z.enum(['empty', 'null', 'omit']).default('empty').describe('Content of an assistant message that has only tool calls.'),

  // ---- parameters ----
  max_tokens_field: z.enum(['max_tokens', 'max_completion_tokens']).default('max_tokens').describe('Name of the field for the longest answer.'),
  default_max_tokens: z
    .int()
    .positive()
    .optional()
    .describe(
      'Sent if the caller sets no limit, for servers that would cut answers short. At most what the model can write, and a quarter of its context.',
    ),
  max_temperature: z.number().positive().optional().describe('Higher temperatures are lowered to this.'),
  min_temperature: z.number().positive().optional().describe('Lower temperatures are raised to this, for servers that refuse 0.'),
  sampling_with_reasoning: z
    .boolean()
    .default(true)
    .describe('`false`: `temperature`, `top_p`, penalties and `logprobs` are left out, because reasoning models refuse them.'),
  field_names: z
    .record(z.string(), z.string())
    .default({})
    .describe('Other names of body fields at this server, for example {"seed": "random_seed"}.'),
  forward: z
    .array(z.enum(['user', 'metadata', 'safety_identifier', 'prompt_cache_key', 'prompt_cache_options', 'service_tier']))
    .default([])
    .describe('Fields about the caller and the account that are sent to this server.'),
  max_user_length: maxUserLength,
  tier_names: z
    .partialRecord(z.enum(['auto', 'default', 'flex', 'priority', 'scale']), z.string())
    .default({})
    .describe('Other names of service tiers at this server, for example {"default": "on_demand"}.'),
  service_tiers: serviceTiers,
  tier_factors: tierFactors,
  pass_through: z.array(z.string()).default([]).describe('Unknown fields of the request that are sent to this server.'),
  extra_body: z.record(z.string(), z.unknown()).default({}).describe('Constant body fields; objects are merged one level deep.'),
  max_stop_sequences: z.int().positive().optional().describe('Maximum number of stop sequences; only the first ones are sent. Default: no limit.'),
  stream_usage: z
    .boolean()
    .default(true)
    .describe('Whether streams ask for usage with `stream_options`. `false` if the server refuses the field or sends usage anyway.'),

  // ---- tools ----
  tool_ids: z
    .strictObject({
      pattern: pattern.default('^[a-zA-Z0-9_-]+$'),
      max: z.int().positive().default(40),
      length: z.int().positive().optional(),
      own_form: z.array(z.strictObject({ match: pattern, pattern })).default(OWN_IDS),
    })
    .prefault({})
    .describe(
      'Ids of tool calls that this server accepts; others are rewritten. `own_form`: models, by upstream id, that write ids in a form of their own and need them back unchanged.',
    ),
  tool_names: z
    .strictObject({ pattern: pattern.default('^[a-zA-Z0-9_-]+$'), max: z.int().positive().default(64) })
    .prefault({})
    .describe('Names of tools that this server accepts; others are rewritten.'),
  strict_tools: z.boolean().default(false).describe('Whether `strict` of functions is sent.'),
  optional_members: z
    .enum(['taken', 'refused'])
    .default('taken')
    .describe('`refused`: the server refuses strict schemas with optional members, so they are sent as not strict.'),
  tool_bounds: z
    .enum(['sent', 'described', 'patterns-described'])
    .default('sent')
    .describe(
      '`described`: patterns and lengths in tool schemas are moved into the descriptions as text, for servers that cannot make a grammar of them. `patterns-described`: only patterns.',
    ),
  schemas: z
    .enum(['any', 'curated'])
    .default('any')
    .describe(
      '`curated`: schemas are rewritten to a subset, for servers that refuse a type beside `anyOf`, lists of types, or keywords beside `$ref`.',
    ),
  named_tool_choice: z.boolean().default(true).describe('`false`: to force a tool, only that tool is offered.'),
  none_tool_choice: z.boolean().default(true).describe('`false`: for `tool_choice: none` no tools are offered.'),
  required_word: z.enum(['required', 'any']).default('required').describe('The value of `tool_choice` that requires a call.'),
  one_call_models: pattern
    .optional()
    .describe('Models, by upstream id, that accept one call per message: several calls of a turn are sent as consecutive messages.'),
  tool_result_name: z.boolean().default(false).describe('Whether tool messages have the name of the tool.'),
  tool_result_images: z.boolean().default(false).describe('Whether tool messages may contain images. If not, the images follow in a user message.'),
  tool_signature_path: z
    .array(z.string())
    .default([])
    .describe('Path of an opaque signature in a tool call that must be sent back, for example ["extra_content", "vendor", "thought_signature"].'),
  tool_extra: z
    .string()
    .nullable()
    .default('extra_content')
    .describe('Member of a tool call whose object is sent back unchanged, unless `tool_signature_path` is set. `null`: none.'),

  web_search: z
    .enum(['none', 'options', 'plugin'])
    .default('none')
    .describe('How its web search is requested: by `web_search_options` and `search_domain_filter`, or by a plugin `web`.'),

  // ---- structured output ----
  json_schema: z
    .enum(SCHEMA_MODES)
    .default('auto')
    .describe(
      'How a JSON schema is requested. `auto`: natively if the endpoint supports structured outputs, else as a JSON object with the schema in the prompt, else only in the prompt. `tool`: with a forced tool.',
    ),
  json_object: z
    .enum(['native', 'schema'])
    .default('native')
    .describe('How a JSON object without a schema is requested. `schema`: with a schema that allows any object.'),
  formats_with_tools: z
    .boolean()
    .default(true)
    .describe('`false`: output formats and tools cannot be combined, so with tools the prompt asks for the format.'),
  streamed_schemas: z
    .boolean()
    .default(true)
    .describe('`false`: JSON schemas cannot be streamed, so the whole answer is requested and sent in one piece.'),

  // ---- reasoning ----
  ...modelRules.shape,
  models: z
    .array(
      modelRules.extend({
        match: pattern,
        sampling_with_reasoning: z.boolean().optional(),
        refused: z.array(z.enum(['presence_penalty', 'frequency_penalty', 'stop'])).optional(),
        json_schema: z.enum(SCHEMA_MODES).optional(),
        off: z.enum(['reasoning-object', 'thinking-type']).optional(),
        reasoning_replay: z.enum(REPLAYS).optional(),
      }),
    )
    .default([])
    .describe(
      'Models that are known to reason, with what differs for them. The first entry whose `match` fits the upstream id counts; options of the same name on the server take precedence, except for `json_schema: auto` and `reasoning_replay`, which the entry replaces. Only these models get the lowest effort if reasoning cannot be switched off. `sampling_with_reasoning: false`: no sampling parameters. `refused`: parameters that are never sent. `off`: how reasoning is switched off, if that differs from how it is requested.',
    ),
  thinking_budget: z.boolean().default(true).describe('With `enable-thinking`: whether a number of tokens may be sent, too.'),
  reasoning_replay: z.enum(REPLAYS).default('none').describe('Field in which reasoning of earlier turns is sent back.'),
  reasoning_replay_turns: z.enum(['tool-calls', 'all']).default('tool-calls').describe('Turns whose reasoning is sent back.'),
  reasoning_replay_required: z
    .boolean()
    .default(false)
    .describe('The server refuses turns with tool calls without this field: a blank is sent if the reasoning is lost.'),
  reasoning_format: z.string().default('unknown').describe('Public name of the format of this server’s signed reasoning.'),
  think_tags: z
    .enum(['none', 'tags', 'open-omitted'])
    .default('tags')
    .describe('How reasoning between tags at the start of the text is recognised. `open-omitted`: the template writes the opening tag itself.'),

  // ---- media ----
  image_url: z.enum(['object', 'string', 'none']).default('object').describe('Form of `image_url`; `none`: images are not accepted.'),
  image_detail: z.boolean().default(true).describe('Whether `detail` of images is sent.'),
  inline_images: z.boolean().default(false).describe('Remote images are fetched and sent as data URLs.'),
  inline_videos: z.boolean().default(false).describe('Remote videos are fetched and sent as data URLs. Some are too large for that.'),
  audio: z.enum(['input_audio', 'none']).default('input_audio').describe('How audio is sent.'),
  file: z.enum(['file', 'document_url', 'none']).default('none').describe('How files are sent; `none`: as text where possible.'),
  file_urls: z.boolean().default(false).describe('Whether files may be sent as a URL. If not, they are fetched and sent as data.'),
  video: z.enum(['video_url', 'none']).default('none').describe('How videos are sent. Default: `video_url` if `supports` lists `video`.'),
  image_output: z
    .boolean()
    .default(false)
    .describe(
      'Whether the server knows `modalities` and `image_config`, so that models may answer with images. A model that takes or makes images gets these back in `images` of the message.',
    ),
  cache_breakpoints: z.boolean().default(false).describe('Whether prompt cache breakpoints are sent as `cache_control` of text parts.'),

  // ---- answers ----
  usage: z
    .strictObject({
      output_excludes_reasoning: z.boolean().default(false).describe('Output tokens do not count reasoning tokens.'),
      input_from_total: z.boolean().default(false).describe('Input is total minus output (media counted only in the total).'),
      output_from_total: z.boolean().default(false).describe('Output is total minus input (hidden thoughts counted only in the total).'),
    })
    .prefault({})
    .describe('How this server counts tokens.'),
  finish_reasons: z
    .record(z.string(), z.enum(['stop', 'tool_calls', 'length', 'content_filter', 'refusal', 'error', 'overloaded']))
    .default({})
    .describe('Meaning of finish reasons that only this server uses.'),
  close_ends_answer: z.boolean().default(false).describe('Whether a connection that closes without a finish reason ends an answer normally.'),
  allow_empty_answer: z.boolean().default(false).describe('Whether an answer without content is accepted; else it has failed.'),
})

export type OpenAiChatOptions = z.output<typeof openAiChatOptions>

export interface ReasoningRules {
  /** Undefined if it is not declared. */
  readonly style: (typeof STYLES)[number] | undefined
  readonly efforts: readonly string[] | undefined
  /** How reasoning is switched off, if that is done in another way. */
  readonly off: 'reasoning-object' | 'thinking-type' | undefined
  /** Whether the model is known to reason. Otherwise it may be one of a reasoning server's models that do not. */
  readonly known: boolean
}

type ModelTarget = Pick<Target<OpenAiChatOptions>, 'options' | 'upstreamModel'>

const ruleOf = ({ options, upstreamModel }: ModelTarget): OpenAiChatOptions['models'][number] | undefined =>
  options.models.find(({ match }) => new RegExp(match).test(upstreamModel))

const declaresReasoning = (rules: OpenAiChatOptions['models'][number]): boolean => rules.reasoning_style !== undefined

/** How reasoning is requested from the model that a request goes to. If this is declared for some models, the others cannot be asked for it. */
export function reasoningRulesFor(target: ModelTarget): ReasoningRules {
  const { options } = target
  const model = ruleOf(target)
  return {
    style: options.reasoning_style ?? model?.reasoning_style ?? (options.models.some(declaresReasoning) ? 'none' : undefined),
    efforts: options.reasoning_efforts ?? model?.reasoning_efforts,
    off: model?.off,
    known: model !== undefined,
  }
}

/** The ids of calls that are sent back to the model that a request goes to. */
export function callIdsFor({ options: { tool_ids: ids }, upstreamModel }: ModelTarget): IdRule {
  const own = ids.own_form.find(({ match }) => compiled(match).test(upstreamModel))
  return {
    pattern: compiled(ids.pattern),
    max: ids.max,
    ...(ids.length === undefined ? {} : { length: ids.length }),
    ...(own === undefined ? {} : { also: compiled(own.pattern) }),
  }
}

/** Whether the model that a request goes to accepts temperature and similar parameters. */
export const takesSampling = (target: ModelTarget): boolean =>
  target.options.sampling_with_reasoning && ruleOf(target)?.sampling_with_reasoning !== false

/** Whether the model that a request goes to always refuses this parameter. */
export const refuses = (target: ModelTarget, field: string): boolean =>
  (ruleOf(target)?.refused as readonly string[] | undefined)?.includes(field) === true

/** Whether the model that a request goes to can be forced to call. */
export const forcedToolsFor = (target: ModelTarget): OpenAiChatOptions['forced_tools'] => target.options.forced_tools ?? ruleOf(target)?.forced_tools

/** How a JSON schema is requested from the model that a request goes to. */
export const schemaModeFor = (target: ModelTarget): OpenAiChatOptions['json_schema'] =>
  target.options.json_schema === 'auto' ? (ruleOf(target)?.json_schema ?? 'auto') : target.options.json_schema

/** The endpoint with the options of its model, which may require its reasoning back in a different way. */
export function replaying<T extends ModelTarget>(target: T): T {
  const own = ruleOf(target)?.reasoning_replay
  return own === undefined ? target : { ...target, options: { ...target.options, reasoning_replay: own } }
}
