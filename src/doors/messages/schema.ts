import { z } from 'zod'
import { byType, fields, list, maybe, type Schema, type Shape, strictFields, tagged } from '../responses/schema-combinators.ts'
import { responsesRequest } from '../responses/schema.ts'
import { anyObject, count, flag, positive, text, texts } from '../responses/schema-shared.ts'
import { message, system } from './schema-blocks.ts'
import { tool } from './schema-tools.ts'

/** Fields that exist in the body of Responses with the same meaning. */
export const SHARED = [
  'model',
  'models',
  'preset',
  'stop_server_tools_when',
  'max_tool_calls',
  'user',
  'session_id',
  'trace',
  'cache_control',
  'provider',
  'plugins',
  'debug',
  'store',
] as const
const shape: Shape = responsesRequest.shape
const shared: Shape = Object.fromEntries(SHARED.map((field) => [field, shape[field]!]))

/** What clients from the first years of this format send as `top_p` and `top_k` unless their user sets them. */
export const NO_LIMIT = -1

const unsupported = (reason: string): Schema => z.null({ error: reason }).optional()

const thinking = byType(
  [
    tagged('enabled', { budget_tokens: positive, display: text }),
    tagged('adaptive', { display: text }),
    tagged('disabled', {}),
    tagged('between_tools', {}),
  ],
  {
    noun: 'kind of thinking',
  },
)
const parallel = { disable_parallel_tool_use: flag }
const toolChoice = byType(
  [tagged('auto', parallel), tagged('any', parallel), tagged('none', {}), tagged('tool', { name: z.string().min(1), ...parallel })],
  { noun: 'tool choice' },
)
const format = maybe(byType([tagged('json_schema', { schema: anyObject })], { noun: 'output format' }))
const outputConfig = fields({
  task_budget: maybe(anyObject).describe('Accepted, but has no effect.'),
  effort: maybe(z.enum(['low', 'medium', 'high', 'xhigh', 'max'])),
  format,
})

/** The body of POST /api/v1/messages. Unlisted fields are accepted and dropped, because vendors of other formats refuse unknown fields. */
export const messagesRequest = fields({
  ...shared,
  messages: list(message).describe('The conversation, oldest message first.'),
  system: maybe(system),
  max_tokens: count.describe('Maximum number of tokens of the answer. Optional here.'),
  tools: maybe(list(tool)),
  tool_choice: maybe(toolChoice),
  thinking: maybe(thinking),
  output_config: maybe(outputConfig),
  output_format: format.describe('Older form of `output_config.format`, which takes precedence.'),
  stop_sequences: texts,
  stream: flag,
  temperature: shape['temperature']!,
  // Other numbers below zero are refused with the translated body.
  top_p: maybe(z.number().min(NO_LIMIT).max(1)).describe('-1: as if absent.'),
  top_k: maybe(z.int().min(NO_LIMIT)).describe('-1: as if absent.'),
  metadata: maybe(fields({ user_id: text })),
  service_tier: text,
  speed: maybe(z.enum(['fast', 'standard'])),
  inference_geo: text.describe('Region of the inference, for endpoints that support it.'),
  fallbacks: maybe(list(strictFields({ model: z.string().min(1) }))).describe('Models to try after `model`, in order; another form of `models`.'),
  route: z.unknown().optional().describe('Ignored.'),
  context_management: z.unknown().optional().describe('Accepted, but has no effect.'),
  thread: unsupported('must be null: nothing is stored, send the whole conversation in "messages" instead'),
  mcp_servers: unsupported('is not supported in this format: /api/v1/responses takes tools of the type mcp'),
})
