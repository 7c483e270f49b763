import { z } from 'zod'
import { type Branch, byType, fields, list, type Shape, tagged } from './schema-combinators.ts'
import { gatewayTagged, OWN_ENGINES } from './schema-names.ts'
import { cacheControl, effort, searchEngines, searchMode, userLocation } from './schema-shared.ts'

/**
 * Tools the gateway runs itself. Their parameters are the contract's, without null: each tool reads them with a schema of its own.
 */

const text = z.string().optional()
/** Each address is held against each of them. */
const domains = list(z.string().max(2_048)).max(1_024).optional()
const flag = z.boolean().optional()
const positive = z.int().min(1).optional()
const temperature = z.number().min(0).max(2).optional()
const agentName = z
  .string()
  .regex(/^[a-zA-Z0-9 _-]{1,64}$/, { error: 'must be 1 to 64 letters, digits, spaces, hyphens or underscores' })
  .optional()
const agentReasoning = fields({ effort: effort.optional(), max_tokens: z.int().min(0).optional() }).optional()
const nestedTool = fields({ type: z.string(), parameters: fields({}).optional() })

const environment = byType(
  [
    tagged('container_auto', {}),
    tagged('container_reference', {
      container_id: z.string().regex(/^[\w-]{1,20}$/, { error: 'must be 1 to 20 letters, digits, hyphens or underscores' }),
    }),
  ],
  { noun: 'environment' },
)

function tool(name: string, parameters: Shape): Branch {
  return gatewayTagged(name, { parameters: fields(parameters).optional() })
}

function sandbox(engines: readonly string[]): Shape {
  return { engine: z.enum(engines).optional(), environment: environment.optional(), sleep_after_seconds: positive }
}

const agent: Shape = {
  name: agentName,
  model: text,
  instructions: text,
  max_completion_tokens: positive,
  reasoning: agentReasoning,
  temperature,
}

export const WEB_SEARCH_PARAMETERS: Shape = {
  engine: z.enum([...searchEngines, ...OWN_ENGINES]).optional(),
  allowed_domains: domains,
  excluded_domains: domains,
  max_characters: positive,
  max_results: positive,
  max_total_results: positive,
  max_uses: positive,
  mode: searchMode.optional(),
  search_context_size: z.enum(['low', 'medium', 'high']).optional(),
  user_location: userLocation.optional(),
}

export const GATEWAY_TOOLS: readonly Branch[] = [
  tool('web_search', WEB_SEARCH_PARAMETERS),
  tool('web_fetch', {
    engine: z.enum([...searchEngines, ...OWN_ENGINES]).optional(),
    allowed_domains: domains,
    blocked_domains: domains,
    max_content_tokens: positive,
    max_uses: positive,
  }),
  tool('datetime', { timezone: text }),
  tool('files', {}),
  tool('image_generation', { model: text }),
  tool('experimental__search_models', { max_results: positive }),
  tool('tool_search', { max_results: positive }),
  tool('apply_patch', { engine: z.enum(['auto', 'native', ...OWN_ENGINES]).optional() }),
  tool('bash', sandbox(['auto', 'native', ...OWN_ENGINES])),
  tool('shell', sandbox(['auto', ...OWN_ENGINES])),
  tool('advisor', { ...agent, forward_transcript: flag, stream: flag }),
  tool('subagent', {
    ...agent,
    inherit_functions: flag,
    inherited_function_names: list(z.string().min(1)).optional(),
    max_tool_calls: z.int().min(1).max(25).optional(),
    tools: list(nestedTool).optional(),
  }),
  tool('fusion', {
    model: text,
    analysis_models: list(z.string()).min(1).max(8).optional(),
    cache_control: cacheControl.optional(),
    max_completion_tokens: positive,
    max_tool_calls: z.int().min(1).max(16).optional(),
    reasoning: agentReasoning,
    temperature,
    tools: list(nestedTool).max(8).optional(),
  }),
]

/** Without those that hand their work to the caller, in items only Responses have. */
export const GATEWAY_TOOLS_OF_ANY_FORMAT: readonly Branch[] = GATEWAY_TOOLS.filter(([type]) => type !== 'gateway:apply_patch')
