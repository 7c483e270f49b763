import { z } from 'zod'
import type { Target } from '../../core/dialect.ts'
import { maxUserLength } from '../shared/account-name.ts'
import type { IdRule } from '../shared/id-map.ts'
import { compiled, pattern } from '../shared/pattern.ts'
import { serviceTiers } from '../shared/service-tier.ts'

const STYLES = ['none', 'effort', 'reasoning-object', 'thinking-type', 'enable-thinking', 'template-kwargs', 'think'] as const
const REPLAYS = ['none', 'reasoning_content', 'reasoning', 'reasoning_details', 'thinking-part'] as const
const SCHEMA_MODES = ['auto', 'native', 'json-object', 'tool', 'prompt'] as const

/** These read the ids of earlier calls in their prompt and write the next alike: after one of another form, calls come as text. */
const OWN_IDS = [{ match: '[Kk]imi', pattern: '^(?:functions\\.)?[a-zA-Z0-9_.-]{1,128}:\\d{1,6}$' }]

/** What differs between models behind one server. None has a default here: see `reasoningRulesFor`. */
const modelRules = z.strictObject({
  reasoning_style: z.enum(STYLES).optional().describe('How reasoning is asked for. Default: not at all, and by `effort` at endpoints that list it.'),
  reasoning_efforts: z
    .array(z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']))
    .optional()
    .describe('Efforts this server knows (default for `effort`: low, medium, high). With `thinking-type`: efforts sent beside the switch.'),
  forced_tools: z
    .enum(['without-reasoning', 'never'])
    .optional()
    .describe('Whether a call can be forced: only while the model does not reason, which it then does not, or never. Default: always.'),
})

/**
 * How servers of this format differ. The defaults suit a server nothing is known of: what only some accept is off, what nearly all
 * need is on. Vendors that take more declare it.
 */
export const openAiChatOptions = z.strictObject({
  path: z.string().startsWith('/').default('/chat/completions').describe('Appended to the base URL.'),

  // ---- roles and turns ----
  system_role: z
    .enum(['system', 'developer', 'first-only', 'none'])
    .default('first-only')
    .describe(
      '`first-only`: one system message at the start, later ones become marked user text (strict chat templates). `none`: it stands in the first message of the user.',
    ),
  alternating_roles: z.boolean().default(false).describe('Merge neighbours of one role and begin with a user message.'),
  prefill: z
    .boolean()
    .optional()
    .describe('False: the server refuses to go on with an answer begun (a last message of the assistant), or begins anew.'),
  prefill_field: z
    .string()
    .optional()
    .describe('Set to true on a last message of the assistant, without which the server would not go on with it: `prefix`, `partial`.'),
  user_after_tool_filler: z
    .string()
    .nullable()
    .default(null)
    .describe('Assistant text put between a tool message and a user message where the server forbids that order.'),
  empty_content: z.enum(['empty', 'null', 'omit']).default('empty').describe('Content of an assistant message that has only tool calls.'),

  // ---- parameters ----
  max_tokens_field: z.enum(['max_tokens', 'max_completion_tokens']).default('max_tokens'),
  default_max_tokens: z
    .int()
    .positive()
    .optional()
    .describe(
      'What is sent when the caller sets no bound, for servers that else cut answers short; no more than the model writes, nor than a quarter of its window.',
    ),
  max_temperature: z.number().positive().optional().describe('Higher temperatures are lowered to this.'),
  min_temperature: z.number().positive().optional().describe('Lower temperatures are raised to this, where zero is refused.'),
  sampling_with_reasoning: z
    .boolean()
    .default(true)
    .describe('False: temperature, top_p, penalties and logprobs are refused (reasoning models), and left out.'),
  field_names: z
    .record(z.string(), z.string())
    .default({})
    .describe('Body fields this server calls differently, for example {"seed": "random_seed"}.'),
  forward: z
    .array(z.enum(['user', 'metadata', 'safety_identifier', 'prompt_cache_key', 'prompt_cache_options', 'service_tier']))
    .default([])
    .describe('Fields about the caller and the account that this server knows.'),
  max_user_length: maxUserLength,
  tier_names: z
    .partialRecord(z.enum(['auto', 'default', 'flex', 'priority', 'scale']), z.string())
    .default({})
    .describe('Service tiers this server calls differently, for example {"default": "on_demand"}.'),
  service_tiers: serviceTiers,
  pass_through: z.array(z.string()).default([]).describe('Unknown fields of the request that may reach this server.'),
  extra_body: z.record(z.string(), z.unknown()).default({}).describe('Constant body fields; objects are merged one level deep.'),
  max_stop_sequences: z.int().positive().optional().describe('Stop sequences this server takes; of more only the first are sent. Without it, all.'),
  stream_usage: z
    .boolean()
    .default(true)
    .describe('Ask for usage in streams with `stream_options`; false where the field is refused or usage comes anyway.'),

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
      'Ids of tool calls this server takes; others are rewritten. `own_form`: models, by upstream id, that write ids of a form of their own, and lose it when those come back as others.',
    ),
  tool_names: z.strictObject({ pattern: pattern.default('^[a-zA-Z0-9_-]+$'), max: z.int().positive().default(64) }).prefault({}),
  strict_tools: z.boolean().default(false).describe('Send `strict` of function tools.'),
  optional_members: z
    .enum(['taken', 'refused'])
    .default('taken')
    .describe('`refused`: a strict schema whose members may be left out is an error here, and is sent as one that is not strict.'),
  tool_bounds: z
    .enum(['sent', 'told', 'patterns-told'])
    .default('sent')
    .describe(
      '`told`: patterns and lengths in schemas of tools become words of their descriptions, for servers that refuse what they can make no grammar of. `patterns-told`: patterns alone.',
    ),
  schemas: z
    .enum(['any', 'curated'])
    .default('any')
    .describe(
      '`curated`: schemas are put into the words of a subset, for servers that refuse a type beside `anyOf`, lists of types and words beside `$ref`.',
    ),
  named_tool_choice: z.boolean().default(true).describe('False: forcing one tool is done by offering only that tool.'),
  none_tool_choice: z.boolean().default(true).describe('False: `tool_choice: none` is done by offering no tools.'),
  required_word: z.enum(['required', 'any']).default('required'),
  one_call_models: pattern
    .optional()
    .describe('Models, by upstream id, whose history may hold one call a message: several of one turn are told one after the other.'),
  tool_result_name: z.boolean().default(false).describe('Tool messages carry the name of the tool.'),
  tool_result_images: z.boolean().default(false).describe('Tool messages may hold images; else they follow in a user message.'),
  tool_signature_path: z
    .array(z.string())
    .default([])
    .describe('Where a tool call carries an opaque signature that must be sent back, for example ["extra_content", "vendor", "thought_signature"].'),
  tool_extra: z
    .string()
    .nullable()
    .default('extra_content')
    .describe('Member of a tool call whose object is sent back with it as it came, where no path names a signature. Null: none.'),

  web_search: z
    .enum(['none', 'options', 'plugin'])
    .default('none')
    .describe('How the server searches the web itself: by `web_search_options` and `search_domain_filter`, or by a plugin `web`.'),

  // ---- structured output ----
  json_schema: z
    .enum(SCHEMA_MODES)
    .default('auto')
    .describe(
      'How a JSON schema is asked for. `auto`: natively when the endpoint supports structured outputs, else as a JSON object with the schema in the prompt, else by the prompt alone. `tool`: by a forced tool.',
    ),
  json_object: z
    .enum(['native', 'schema'])
    .default('native')
    .describe('How a JSON object of no schema is asked for where formats are known. `schema`: by the schema of any object.'),
  formats_with_tools: z
    .boolean()
    .default(true)
    .describe('False: output formats and tools refuse each other; beside tools the prompt asks for the format.'),
  streamed_schemas: z
    .boolean()
    .default(true)
    .describe('False: a JSON schema and a stream refuse each other; such an answer is asked for whole and told in one piece.'),

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
      'Models known to reason and, where they differ, how: the first whose pattern matches the upstream id counts, options of the same name count more. Only such a model gets the least effort where reasoning cannot be switched off. With `sampling_with_reasoning: false` it gets no sampling parameters, nor ever those `refused`; its own `json_schema` stands in for `auto`. `off`: how its reasoning is switched off, where that is another way than the one it is asked for. Its own `reasoning_replay` goes over that of the server.',
    ),
  thinking_budget: z.boolean().default(true).describe('With `enable-thinking`: whether a number of tokens may stand beside the switch.'),
  reasoning_replay: z.enum(REPLAYS).default('none').describe('The field in which reasoning of earlier turns is sent back.'),
  reasoning_replay_turns: z.enum(['tool-calls', 'all']).default('tool-calls'),
  reasoning_replay_required: z
    .boolean()
    .default(false)
    .describe('Turns with tool calls are refused without the field: a blank is sent when the reasoning is lost.'),
  reasoning_format: z.string().default('unknown').describe('Public format name of reasoning that this server signs.'),
  think_tags: z
    .enum(['none', 'tags', 'open-omitted'])
    .default('tags')
    .describe('Reasoning between tags at the start of the text; `open-omitted`: the template writes the opening tag itself.'),

  // ---- media ----
  image_url: z.enum(['object', 'string', 'none']).default('object'),
  image_detail: z.boolean().default(true),
  inline_images: z.boolean().default(false).describe('Remote images are fetched and sent as data URLs.'),
  inline_videos: z.boolean().default(false).describe('The same of videos, which may be too large to be fetched.'),
  audio: z.enum(['input_audio', 'none']).default('input_audio'),
  file: z.enum(['file', 'document_url', 'none']).default('none'),
  file_urls: z.boolean().default(false).describe('Files may be named by URL; else they are fetched and sent as data.'),
  video: z.enum(['video_url', 'none']).default('none').describe('Unless set, `video_url` at endpoints that list `video` in `supports`.'),
  image_output: z.boolean().default(false).describe('`modalities` and `image_config` are known: models may answer with images.'),
  cache_breakpoints: z.boolean().default(false).describe('Prompt cache breakpoints are sent as `cache_control` of text parts.'),

  // ---- answers ----
  usage: z
    .strictObject({
      output_excludes_reasoning: z.boolean().default(false).describe('Output tokens do not count reasoning tokens.'),
      input_from_total: z.boolean().default(false).describe('Input is total minus output (media counted only in the total).'),
      output_from_total: z.boolean().default(false).describe('Output is total minus input (hidden thoughts counted only in the total).'),
    })
    .prefault({}),
  finish_reasons: z
    .record(z.string(), z.enum(['stop', 'tool_calls', 'length', 'content_filter', 'refusal', 'error', 'overloaded']))
    .default({})
    .describe('Finish reasons of this server beyond the common ones.'),
  close_ends_answer: z.boolean().default(false).describe('A plain close without finish reason is the end of an answer, not a broken one.'),
  allow_empty_answer: z.boolean().default(false),
})

export type OpenAiChatOptions = z.output<typeof openAiChatOptions>

export interface ReasoningRules {
  /** Undefined: nobody has said. */
  readonly style: (typeof STYLES)[number] | undefined
  readonly efforts: readonly string[] | undefined
  /** How reasoning is switched off, where that is another way. */
  readonly off: 'reasoning-object' | 'thinking-type' | undefined
  /** Whether the model is known to reason: else a server that takes reasoning may still have models that do not. */
  readonly known: boolean
}

type ModelTarget = Pick<Target<OpenAiChatOptions>, 'options' | 'upstreamModel'>

const ruleOf = ({ options, upstreamModel }: ModelTarget): OpenAiChatOptions['models'][number] | undefined =>
  options.models.find(({ match }) => new RegExp(match).test(upstreamModel))

const saysHow = (rules: OpenAiChatOptions['models'][number]): boolean => rules.reasoning_style !== undefined

/** How the model a request goes to is asked for reasoning. Where it is said of some models, the others cannot be asked. */
export function reasoningRulesFor(target: ModelTarget): ReasoningRules {
  const { options } = target
  const model = ruleOf(target)
  return {
    style: options.reasoning_style ?? model?.reasoning_style ?? (options.models.some(saysHow) ? 'none' : undefined),
    efforts: options.reasoning_efforts ?? model?.reasoning_efforts,
    off: model?.off,
    known: model !== undefined,
  }
}

/** What ids of calls the model a request goes to gets back. */
export function callIdsFor({ options: { tool_ids: ids }, upstreamModel }: ModelTarget): IdRule {
  const own = ids.own_form.find(({ match }) => compiled(match).test(upstreamModel))
  return {
    pattern: compiled(ids.pattern),
    max: ids.max,
    ...(ids.length === undefined ? {} : { length: ids.length }),
    ...(own === undefined ? {} : { also: compiled(own.pattern) }),
  }
}

/** Whether the model a request goes to takes temperature and its like. */
export const takesSampling = (target: ModelTarget): boolean =>
  target.options.sampling_with_reasoning && ruleOf(target)?.sampling_with_reasoning !== false

/** Whether the model a request goes to refuses this parameter whatever the request says. */
export const refuses = (target: ModelTarget, field: string): boolean =>
  (ruleOf(target)?.refused as readonly string[] | undefined)?.includes(field) === true

/** Whether the model a request goes to can be made to call. */
export const forcedToolsFor = (target: ModelTarget): OpenAiChatOptions['forced_tools'] => target.options.forced_tools ?? ruleOf(target)?.forced_tools

/** How the model a request goes to is asked for a JSON schema. */
export const schemaModeFor = (target: ModelTarget): OpenAiChatOptions['json_schema'] =>
  target.options.json_schema === 'auto' ? (ruleOf(target)?.json_schema ?? 'auto') : target.options.json_schema

/** An endpoint as it is for its model, whose thoughts may come back in a way of their own. */
export function replaying<T extends ModelTarget>(target: T): T {
  const own = ruleOf(target)?.reasoning_replay
  return own === undefined ? target : { ...target, options: { ...target.options, reasoning_replay: own } }
}
