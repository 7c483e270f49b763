import { z } from 'zod'
import { OWN_SPELLINGS, ownName } from '../../core/own-names.ts'
import { type Branch, byType, fields, list, maybe, type Shape, tagged } from './schema-combinators.ts'
import { gatewayTagged } from './schema-names.ts'
import {
  anyObject,
  cacheControl,
  count,
  effort,
  flag,
  PAGE_ENGINES,
  positive,
  searchEngine,
  searchMode,
  temperature,
  text,
  userLocation,
} from './schema-shared.ts'

/**
 * Tools that the gateway runs itself. Each parses its parameters with a schema of its own, which does not accept null; whoever calls it removes nulls
 * first.
 */

/** Bounded because each address is compared with every entry. */
const domains = maybe(list(z.string().max(2_048)).max(1_024))
const agentName = maybe(z.string().regex(/^[a-zA-Z0-9 _-]{1,64}$/, { error: 'must be 1 to 64 letters, digits, spaces, hyphens or underscores' }))
const agentReasoning = maybe(fields({ effort: maybe(effort), max_tokens: count }))
const nestedTool = fields({ type: z.string(), parameters: maybe(fields({})) })

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
  return gatewayTagged(name, { parameters: maybe(fields(parameters)) })
}

function sandbox(engines: readonly string[]): Shape {
  return { engine: maybe(z.enum(engines)), environment: maybe(environment), sleep_after_seconds: positive }
}

const agent: Shape = {
  name: agentName,
  model: text,
  instructions: text,
  max_completion_tokens: positive,
  reasoning: agentReasoning,
  temperature,
}

/** Bounded because each name is compared with the tools of the request. */
const MAX_INHERITED = 1_024

const subagent = (functions: Shape): Branch =>
  tool('subagent', { ...agent, ...functions, max_tool_calls: maybe(z.int().min(1).max(25)), tools: maybe(list(nestedTool)) })

const ONLY_RESPONSES = 'is not supported in this format: calls of a subagent need /api/v1/responses'

export const WEB_SEARCH_PARAMETERS: Shape = {
  engine: searchEngine,
  allowed_domains: domains,
  excluded_domains: domains,
  max_characters: positive,
  max_results: positive,
  max_total_results: positive,
  max_uses: positive,
  mode: searchMode,
  search_context_size: maybe(z.enum(['low', 'medium', 'high'])),
  user_location: userLocation,
}

const EVERYWHERE: readonly Branch[] = [
  tool('web_search', WEB_SEARCH_PARAMETERS),
  tool('web_fetch', {
    engine: maybe(z.enum(['auto', 'native', ...PAGE_ENGINES, ...OWN_SPELLINGS])),
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
  tool('bash', sandbox(['auto', 'native', ...OWN_SPELLINGS])),
  tool('shell', sandbox(['auto', ...OWN_SPELLINGS])),
  tool('advisor', { ...agent, forward_transcript: flag, stream: flag }),
  tool('fusion', {
    model: text,
    analysis_models: maybe(list(z.string()).min(1).max(8)),
    cache_control: maybe(cacheControl),
    max_completion_tokens: positive,
    max_tool_calls: maybe(z.int().min(1).max(16)),
    reasoning: agentReasoning,
    temperature,
    tools: maybe(list(nestedTool).max(8)),
  }),
]

export const GATEWAY_TOOLS: readonly Branch[] = [
  ...EVERYWHERE,
  tool('apply_patch', { engine: maybe(z.enum(['auto', 'native', ...OWN_SPELLINGS])) }),
  subagent({ inherit_functions: flag, inherited_function_names: maybe(list(z.string().min(1)).max(MAX_INHERITED)) }),
]

/** Without what passes the work of tools to the caller, in items that only Responses has. */
export const GATEWAY_TOOLS_OF_ANY_FORMAT: readonly Branch[] = [
  ...EVERYWHERE,
  subagent({
    inherit_functions: maybe(z.literal(false, { error: ONLY_RESPONSES })),
    inherited_function_names: maybe(list(z.string()).max(0, { error: ONLY_RESPONSES })),
  }),
]

/** Tools that do so: a patch and an approval are the caller's to give. */
const ONLY_IN_RESPONSES: ReadonlySet<string> = new Set(['apply_patch', 'mcp'])

/** For a tool that is not listed here: whether it exists, and what it takes, is known only to those who run it. */
export const OTHER_GATEWAY_TOOLS = {
  others: fields({ type: z.string().min(1), parameters: maybe(anyObject) }),
  admits: (type: string): boolean => {
    const name = ownName(type)
    return name !== undefined && !ONLY_IN_RESPONSES.has(name)
  },
}
