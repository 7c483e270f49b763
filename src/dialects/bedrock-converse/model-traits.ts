import { z } from 'zod'
import { pattern } from '../shared/pattern.ts'

const effort = z.enum(['low', 'medium', 'high', 'xhigh', 'max'])
const media = z.enum(['image', 'document', 'video', 'audio'])

/** Differences between the models behind this one format. Each may be an option of its own, or come from a rule for the model's id. */
export const traitFields = {
  system: z.boolean().describe('`false`: system text is put before the first user turn.'),
  tools: z.boolean().describe('`false`: the model accepts no tools, and earlier calls become text.'),
  streamed_tools: z.boolean().describe('`false`: answers with tools cannot be streamed, so the whole answer is requested and sent in one piece.'),
  tool_choices: z.array(z.enum(['auto', 'any', 'tool'])).describe('Tool choices that the model knows.'),
  native_tool_choice: z.boolean().describe('Whether the model has its own `tool_choice` field, with `none` and a switch for parallel calls.'),
  tool_ids: z
    .strictObject({ pattern, max: z.int().positive(), length: z.int().positive().optional() })
    .describe('Ids of tool calls that the model accepts.'),
  tool_result_media: z.array(media).describe('Media that tool results may contain; others follow in the same user turn.'),
  tool_result_json: z.boolean().describe('Whether tool results that are JSON objects are sent as `json`.'),
  tool_result_status: z.boolean().describe('Whether tool results have a `status`.'),
  strict_tools: z.boolean().describe('Whether `strict` of functions is sent.'),
  system_tools: z
    .strictObject({ web_search: z.string().optional(), code_interpreter: z.string().optional() })
    .describe('Tools that the service runs itself for this model.'),
  media: z.array(media).describe('Media that user turns may contain.'),
  s3_locations: z.boolean().describe('Whether media may be sent as an `s3://` address.'),
  document_citations: z.boolean().describe('Whether citations of documents are requested.'),
  sampling: z
    .enum(['all', 'one', 'none'])
    .describe('Which sampling parameters are accepted. `one`: `temperature` or `top_p`, not both. `none`: no parameters.'),
  sampling_with_reasoning: z.boolean().describe('`false`: no sampling parameters while the model reasons.'),
  stop_sequences: z.boolean().describe('Whether the model accepts stop sequences.'),
  max_temperature: z.number().positive().describe('Higher temperatures are lowered to this.'),
  top_k: z.array(z.string()).describe('Path of `top_k` inside the additional fields; empty: it is not sent.'),
  reasoning: z
    .enum(['none', 'always', 'thinking-budget', 'thinking-adaptive', 'reasoning-effort', 'reasoning-config', 'max-effort'])
    .describe('How reasoning is requested in the additional fields.'),
  reasoning_efforts: z.array(effort).describe('Efforts that the model knows.'),
  reasoning_off: z
    .enum(['disabled', 'between-tools', 'lowest-effort'])
    .describe(
      'How adaptive thinking is switched off. `disabled`: completely. `between-tools`: except between tool calls. `lowest-effort`: only as far as the lowest effort goes.',
    ),
  reasoning_unasked: z.boolean().describe('The model reasons unless reasoning is switched off.'),
  reasoning_display: z.string().nullable().describe('`display` of adaptive thinking; the newest models show no thinking without it.'),
  reasoning_replay: z.boolean().describe('Whether signed and redacted reasoning of earlier turns is sent back.'),
  reasoning_format: z.string().describe('Public name of the format of this model’s signed reasoning.'),
  forced_tools: z.boolean().describe('`false`: calls cannot be forced, only allowed.'),
  forced_tool_with_reasoning: z.boolean().describe('`false`: a forced tool choice switches reasoning off.'),
  prefill: z
    .enum(['always', 'without-reasoning', 'never'])
    .describe('Whether a conversation may end with the beginning of the answer. If not, a user message asks to continue.'),
  json_schema: z.enum(['native', 'tool', 'prompt']).describe('How a JSON schema is asked for.'),
  closed_schemas: z
    .boolean()
    .describe(
      'Schemas of answers and strict tools must close every object and contain no limits or patterns; schemas of tools have no choice at the top.',
    ),
  bare_schemas: z
    .boolean()
    .describe('Schemas of tools contain only members and required members at their top; definitions are inserted where they are used.'),
  cache_points: z.boolean().describe('Whether prompt cache breakpoints are sent.'),
  cache_tools: z.boolean().describe('Whether cache points may be among the tools.'),
  cache_ttl: z.boolean().describe('Whether cache points may have a lifetime.'),
}

const allTraits = z.strictObject(traitFields)
const someTraits = allTraits.partial()

export type ModelTraits = z.output<typeof allTraits>

/** Traits of the models whose upstream id matches. */
export const traitRule = z.strictObject({ match: pattern, ...someTraits.shape })
export type TraitRule = z.output<typeof traitRule>

const NINE_CHARACTERS = { pattern: '^[a-zA-Z0-9]+$', max: 9, length: 9 }

/** Traits of unknown models: what nearly all models support is on, and what only some support is off. */
const UNKNOWN_MODEL: ModelTraits = {
  system: true,
  tools: true,
  streamed_tools: true,
  tool_choices: ['auto', 'any', 'tool'],
  native_tool_choice: false,
  tool_ids: { pattern: '^[a-zA-Z0-9_-]+$', max: 64 },
  tool_result_media: [],
  tool_result_json: false,
  tool_result_status: false,
  strict_tools: false,
  system_tools: {},
  media: ['image', 'document'],
  s3_locations: false,
  document_citations: false,
  sampling: 'all',
  sampling_with_reasoning: true,
  stop_sequences: true,
  max_temperature: 1,
  top_k: [],
  reasoning: 'none',
  reasoning_efforts: ['low', 'medium', 'high'],
  reasoning_off: 'disabled',
  reasoning_unasked: false,
  reasoning_display: null,
  reasoning_replay: false,
  reasoning_format: 'unknown',
  forced_tools: true,
  forced_tool_with_reasoning: true,
  prefill: 'always',
  json_schema: 'tool',
  closed_schemas: false,
  bare_schemas: false,
  cache_points: false,
  cache_tools: false,
  cache_ttl: false,
}

/** By family, then by generation; later rules override earlier ones. */
export const MODEL_RULES: readonly TraitRule[] = [
  {
    match: 'anthropic\\.claude',
    native_tool_choice: true,
    tool_result_media: ['image', 'document'],
    tool_result_status: true,
    top_k: ['top_k'],
    sampling_with_reasoning: false,
    reasoning_replay: true,
    reasoning_format: 'anthropic-claude-v1',
    forced_tool_with_reasoning: false,
    prefill: 'never',
    closed_schemas: true,
    cache_points: true,
    cache_tools: true,
  },
  // Up to 4.5; unknown models are treated like the newest.
  { match: 'anthropic\\.claude-(v?[12](?!\\d)|instant|3|(opus|sonnet|haiku)-4(?!-([6-9]|\\d\\d)(?!\\d)))', prefill: 'without-reasoning' },
  { match: 'anthropic\\.claude-(v2|instant)', tools: false, media: ['document'] },
  { match: 'claude-3-7|claude-(opus|sonnet|haiku)-4', reasoning: 'thinking-budget' },
  { match: 'claude-(opus|sonnet|haiku)-4-[1-6](?!\\d)', sampling: 'one' },
  { match: 'claude-(opus|sonnet|haiku)-(4-[5-9](?!\\d)|[5-9])', cache_ttl: true },
  // The service validates requests against a copy of the vendor's schema. For the other new models it lacks response formats and strict tools.
  { match: 'claude-((opus|sonnet|haiku)-4-[56](?!\\d)|[a-z]+-5(?![.-][1-9](?!\\d)))', json_schema: 'native', strict_tools: true },
  { match: 'claude-[a-z]+-(4-[6-9](?!\\d)|[5-9])', reasoning: 'thinking-adaptive', reasoning_efforts: ['low', 'medium', 'high', 'max'] },
  {
    match: 'claude-[a-z]+-(4-[7-9](?!\\d)|[5-9])',
    sampling: 'none',
    reasoning_efforts: ['low', 'medium', 'high', 'xhigh', 'max'],
    reasoning_display: 'summarized',
  },
  // From here on, thinking cannot be switched off and calls cannot be forced, unless a rule says otherwise.
  { match: 'claude-[a-z]+-[5-9]', reasoning_off: 'lowest-effort', forced_tools: false },
  { match: 'claude-sonnet-5[.-]5(?!\\d)', reasoning_off: 'between-tools' },
  {
    match: 'claude-((opus|sonnet|haiku)-5(?![.-][1-9](?!\\d))|haiku-5[.-]5(?!\\d))',
    reasoning_off: 'disabled',
    reasoning_unasked: true,
    forced_tools: true,
  },
  { match: 'claude-(fable|mythos)-5(?![.-][1-9](?!\\d))', forced_tools: true },

  {
    match: 'amazon\\.nova',
    tool_result_status: true,
    tool_result_media: ['image'],
    media: ['image', 'document', 'video'],
    s3_locations: true,
    top_k: ['inferenceConfig', 'topK'],
    // "Malformed input request: #/toolConfig/tools/0/toolSpec/inputSchema/json: extraneous key [definitions] is not permitted"
    bare_schemas: true,
    cache_points: true,
  },
  { match: 'amazon\\.nova-micro', media: [], tool_result_media: [] },
  { match: 'amazon\\.nova-premier', system_tools: { web_search: 'nova_grounding' } },
  { match: 'amazon\\.nova-2', reasoning: 'max-effort', system_tools: { web_search: 'nova_grounding', code_interpreter: 'nova_code_interpreter' } },
  { match: 'amazon\\.titan', tools: false, system: false, media: ['document'], json_schema: 'prompt' },

  { match: 'openai\\.gpt', reasoning: 'reasoning-effort', media: ['document'], json_schema: 'native' },
  { match: '(qwen\\.qwen3|deepseek\\.v[3-9])', reasoning: 'reasoning-config', media: ['document'], json_schema: 'native' },
  { match: 'qwen\\.qwen3-vl', media: ['image', 'document'] },
  { match: 'deepseek\\.r1', reasoning: 'always', tools: false, media: ['document'], json_schema: 'prompt' },
  { match: '(moonshot|minimax|nvidia|google\\.gemma)', json_schema: 'native' },
  // "This model doesn't support the stopSequences field. Remove stopSequences and try again."
  { match: 'openai\\.gpt|qwen\\.|deepseek\\.v[3-9]|zai\\.|google\\.gemma|nvidia\\.', stop_sequences: false },

  { match: 'meta\\.llama', tool_choices: ['auto'], media: ['document'] },
  { match: 'meta\\.llama(3-2-(11|90)b|4)', media: ['image', 'document'] },
  { match: 'meta\\.llama3-(8b|70b)', tools: false, json_schema: 'prompt' },
  { match: 'mistral\\.', tool_ids: NINE_CHARACTERS, tool_choices: ['auto', 'any'], media: ['document'] },
  { match: 'mistral\\.(pixtral|mistral-large-3|ministral|magistral|voxtral)', media: ['image', 'document'] },
  { match: 'mistral\\.voxtral', media: ['audio', 'document'] },
  { match: 'mistral\\.(mistral-large-3|ministral|magistral|voxtral)', json_schema: 'native' },
  { match: 'mistral\\.(mistral-7b|mixtral)', tools: false, system: false, json_schema: 'prompt' },
  { match: 'cohere\\.command', tool_choices: ['auto'], media: ['document'] },
  { match: 'cohere\\.command-(text|light)', tools: false, system: false, json_schema: 'prompt' },
  { match: 'ai21\\.', tool_choices: ['auto'], media: ['document'] },
  // "This model doesn't support tool use in streaming mode."
  { match: 'meta\\.llama|mistral\\.pixtral|writer\\.|ai21\\.', streamed_tools: false },
]

export type TraitOptions = z.output<typeof someTraits> & { readonly model_rules: readonly TraitRule[]; readonly model_behind?: string | undefined }

const known = new WeakMap<TraitOptions, Map<string, ModelTraits>>()

/** The traits of a model: from explicit options, or else from the rules that match its id, or else the defaults of unknown models. */
export function traitsOf(options: TraitOptions, model: string): ModelTraits {
  let models = known.get(options)
  if (models === undefined) known.set(options, (models = new Map<string, ModelTraits>()))
  let traits = models.get(model)
  if (traits === undefined) {
    const named = options.model_behind ?? model
    const matching = options.model_rules.filter(({ match }) => new RegExp(match, 'i').test(named))
    traits = { ...UNKNOWN_MODEL }
    for (const source of [...matching, options]) {
      for (const name of Object.keys(traitFields) as (keyof ModelTraits)[])
        if (source[name] !== undefined) Object.assign(traits, { [name]: source[name] })
    }
    models.set(model, traits)
  }
  return traits
}
