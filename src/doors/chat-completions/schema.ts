import { z } from 'zod'
import {
  type Branch,
  byKind,
  byType,
  dictionary,
  fields,
  list,
  maybe,
  quote,
  type Schema,
  type Shape,
  tagged,
} from '../responses/schema-combinators.ts'
import { reasoning } from '../responses/schema-options.ts'
import { responsesRequest } from '../responses/schema.ts'
import { anyObject, cacheControl, effort, flag, positive, text } from '../responses/schema-shared.ts'
import { GATEWAY_TOOLS_OF_ANY_FORMAT, OTHER_GATEWAY_TOOLS, WEB_SEARCH_PARAMETERS } from '../responses/schema-gateway-tools.ts'
import { canonicalType } from '../../core/own-names.ts'
import { message } from './schema-messages.ts'

/** Fields that are the same as in Responses. */
const SHARED = [
  'model',
  'models',
  'preset',
  'max_tool_calls',
  'stop_server_tools_when',
  'temperature',
  'top_p',
  'top_k',
  'presence_penalty',
  'frequency_penalty',
  'top_logprobs',
  'modalities',
  'image_config',
  'service_tier',
  'store',
  'user',
  'session_id',
  'metadata',
  'trace',
  'prompt_cache_options',
  'cache_control',
  'provider',
  'plugins',
  'debug',
] as const
const shape: Shape = responsesRequest.shape
const shared: Shape = Object.fromEntries(SHARED.map((field) => [field, shape[field]!]))

const functionTool = tagged('function', {
  cache_control: maybe(cacheControl).describe('The cached part of the prompt ends with this tool.'),
  function: fields({ name: z.string().min(1), description: text, parameters: maybe(anyObject), strict: flag }),
})
const customTool = tagged('custom', {
  custom: fields({
    name: z.string().min(1),
    description: text,
    format: maybe(
      byType([tagged('text', {}), tagged('grammar', { grammar: fields({ syntax: z.enum(['lark', 'regex']), definition: z.string() }) })], {
        noun: 'custom tool format',
      }),
    ),
  }),
})

const WEB_SEARCHES = ['web_search', 'web_search_2025_08_26', 'web_search_preview', 'web_search_preview_2025_03_11']

/** The vendors' names for the gateway's web search: its parameters may be siblings of the type. */
const domains = WEB_SEARCH_PARAMETERS['allowed_domains']!
const filters = maybe(fields({ allowed_domains: domains, blocked_domains: domains, excluded_domains: domains }))
const webSearches = WEB_SEARCHES.map((type) => tagged(type, { ...WEB_SEARCH_PARAMETERS, filters, parameters: maybe(fields(WEB_SEARCH_PARAMETERS)) }))

/** Tools whose calls and results can be expressed in this format. */
const TOOLS: readonly Branch[] = [functionTool, customTool, ...webSearches, ...GATEWAY_TOOLS_OF_ANY_FORMAT]

const tools = list(
  byType(TOOLS, {
    noun: 'tool',
    ...OTHER_GATEWAY_TOOLS,
    alias: canonicalType,
    hint: (type) =>
      `is ${quote(type)}, which has no place in this format (/api/v1/responses has more tools); known are ${TOOLS.map(([name]) => name).join(', ')}`,
  }),
)

const named = fields({ name: z.string().min(1) })
const chosen: readonly Branch[] = [tagged('function', { function: named }), tagged('custom', { custom: named })]
const others = fields({ type: z.string().min(1) })
const allowed = list(byType(chosen, { noun: 'tool', others }))
const toolChoice = byKind({
  // `any` is what some clients send for "required".
  string: z.enum(['auto', 'none', 'required', 'any']),
  object: byType([...chosen, tagged('allowed_tools', { allowed_tools: fields({ mode: z.enum(['auto', 'required']), tools: allowed }) })], {
    noun: 'tool choice',
    others,
  }),
})

const unsupported = (reason: string): Schema => z.null({ error: reason }).optional()
const unstored = unsupported('must be left out: nothing is stored, send the earlier messages of the conversation in "messages"')
const number = (low: number, high: number): Schema => maybe(z.number().min(low).max(high))

const responseFormat = byType(
  [
    tagged('text', {}),
    tagged('json_object', {}),
    tagged('json_schema', {
      json_schema: fields({ name: z.string().min(1), description: text, schema: maybe(anyObject), strict: flag }),
    }),
  ],
  { noun: 'response format' },
)

const stopTexts = byKind({ string: z.string(), array: list(z.string()) })

/**
 * The body of POST /api/v1/chat/completions. What it shares with Responses is validated by the same schemas. Like them, it neither changes nor copies
 * anything, and unlisted fields are kept.
 */
export const chatRequest = fields({
  ...shared,
  messages: list(message).describe('The conversation, oldest message first.'),
  tools: maybe(tools).describe('Tools the model may call.'),
  tool_choice: maybe(toolChoice).describe('"any" is the same as "required".'),
  parallel_tool_calls: flag,
  max_completion_tokens: positive,
  max_tokens: positive.describe('Older name of max_completion_tokens, which takes precedence.'),
  min_p: number(0, 1),
  top_a: number(0, 1),
  repetition_penalty: number(0, 2),
  seed: maybe(z.int()),
  random_seed: maybe(z.int()).describe('Another name of seed, which takes precedence.'),
  stop: maybe(stopTexts),
  logit_bias: maybe(dictionary(z.number().min(-100).max(100))),
  logprobs: flag,
  prediction: maybe(anyObject),
  reasoning: maybe(fields({ ...reasoning.shape, exclude: flag.describe('Leaves the reasoning out of the answer.') })),
  reasoning_effort: maybe(effort).describe('The same as reasoning.effort, which takes precedence.'),
  include_reasoning: flag.describe('false: older form of reasoning.exclude.'),
  response_format: maybe(responseFormat),
  verbosity: maybe(z.enum(['low', 'medium', 'high', 'xhigh', 'max'])),
  stream: flag,
  stream_options: maybe(fields({ include_usage: flag.describe('true: usage in a chunk of its own after the last; false: none.') })),
  n: maybe(z.literal(1, { error: 'must be 1: an answer has one choice' })),
  safety_identifier: text,
  prompt_cache_key: text,
  route: z.unknown().optional().describe('Ignored.'),
  audio: unsupported('must be left out: answers in sound are not supported'),
  functions: unsupported('is the older form of "tools": send {"type":"function","function":{...}} there'),
  function_call: unsupported('is the older form of "tool_choice"'),
  previous_response_id: unstored,
  conversation: unstored,
})
