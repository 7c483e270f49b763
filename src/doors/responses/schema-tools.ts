import { z } from 'zod'
import { type Branch, byKind, byType, dictionary, fields, list, maybe, type Shape, tagged } from './schema-combinators.ts'
import { GATEWAY_TOOLS } from './schema-gateway-tools.ts'
import { canonicalType } from '../../core/own-names.ts'
import { anyObject, count, flag, positive, searchEngine, searchMode, text, texts, userLocation } from './schema-shared.ts'

/** Tools and the choice among them. Tools of types not listed here go to upstreams that may know them. */

export const otherTool = fields({ type: z.string().min(1) })

const toolName = z.string({
  error: (issue) => (issue.input === undefined ? 'is required beside "type" (not inside a "function" object, as in another API)' : undefined),
})

const functionTool = tagged('function', {
  name: toolName.min(1),
  description: text,
  parameters: maybe(anyObject),
  strict: flag,
  defer_loading: flag,
  eager_input_streaming: flag,
  output_schema: maybe(anyObject),
  allowed_callers: texts,
})

const customTool = tagged('custom', {
  name: z.string().min(1),
  description: text,
  format: maybe(
    byType([tagged('text', {}), tagged('grammar', { syntax: z.enum(['lark', 'regex']), definition: z.string() })], { noun: 'custom tool format' }),
  ),
})

const namespaceTool = tagged('namespace', {
  name: z.string().min(1),
  description: text,
  tools: list(byType([functionTool, customTool], { noun: 'tool', others: otherTool })),
})

const webSearch: Shape = {
  engine: searchEngine,
  filters: maybe(fields({ allowed_domains: texts, blocked_domains: texts, excluded_domains: texts })),
  max_results: positive,
  max_uses: positive,
  mode: searchMode,
  search_context_size: maybe(z.enum(['low', 'medium', 'high'])),
  user_location: userLocation,
}

const comparison: Shape = {
  key: z.string(),
  value: byKind({
    string: z.string(),
    number: z.number(),
    boolean: z.boolean(),
    array: list(byKind({ string: z.string(), number: z.number() })),
  }),
}
const COMPARISONS = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'nin']
const compound: Shape = { filters: list(anyObject) }

const fileSearch = tagged('file_search', {
  vector_store_ids: list(z.string()),
  filters: maybe(
    byType([...COMPARISONS.map((name) => tagged(name, comparison)), tagged('and', compound), tagged('or', compound)], { noun: 'filter' }),
  ),
  max_num_results: positive,
  ranking_options: maybe(fields({ ranker: maybe(z.enum(['auto', 'default-2024-11-15'])), score_threshold: maybe(z.number().min(0).max(1)) })),
})

const toolFilter = fields({ read_only: flag, tool_names: texts })

const mcp = tagged('mcp', {
  server_label: z.string().min(1),
  server_url: text,
  server_description: text,
  authorization: text,
  connector_id: maybe(
    z.enum([
      'connector_dropbox',
      'connector_gmail',
      'connector_googlecalendar',
      'connector_googledrive',
      'connector_microsoftteams',
      'connector_outlookcalendar',
      'connector_outlookemail',
      'connector_sharepoint',
    ]),
  ),
  tunnel_id: text,
  headers: maybe(dictionary(z.string())),
  allowed_tools: maybe(byKind({ array: list(z.string()), object: toolFilter })),
  require_approval: maybe(byKind({ string: z.enum(['always', 'never']), object: fields({ always: maybe(toolFilter), never: maybe(toolFilter) }) })),
})

/** Formats and qualities: those of the contract, and further ones that its official client libraries offer. */
const imageGeneration = tagged('image_generation', {
  model: text,
  size: text,
  background: maybe(z.enum(['transparent', 'opaque', 'auto'])),
  input_fidelity: maybe(z.enum(['high', 'low'])),
  input_image_mask: maybe(fields({ file_id: text, image_url: text })),
  moderation: maybe(z.enum(['auto', 'low'])),
  output_compression: maybe(z.int().min(0).max(100)),
  output_format: maybe(z.enum(['png', 'webp', 'jpeg', 'gif', 'svg'])),
  partial_images: count,
  quality: maybe(z.enum(['low', 'medium', 'high', 'xhigh', 'max', 'auto'])),
})

const codeInterpreter = tagged('code_interpreter', {
  container: byKind({
    string: z.string(),
    object: fields({ type: z.literal('auto'), file_ids: texts, memory_limit: maybe(z.enum(['1g', '4g', '16g', '64g'])) }),
  }),
})

const computerUse = tagged('computer_use_preview', {
  display_height: z.int().min(1),
  display_width: z.int().min(1),
  environment: z.enum(['windows', 'mac', 'linux', 'ubuntu', 'browser']),
})

/** Every tool the contract describes, by its type. */
export const TOOLS: readonly Branch[] = [
  functionTool,
  customTool,
  namespaceTool,
  ...['web_search', 'web_search_2025_08_26', 'web_search_preview', 'web_search_preview_2025_03_11'].map((name) => tagged(name, webSearch)),
  fileSearch,
  mcp,
  imageGeneration,
  codeInterpreter,
  computerUse,
  tagged('local_shell', {}),
  tagged('shell', {}),
  tagged('apply_patch', {}),
  ...GATEWAY_TOOLS,
]

export const tools = list(byType(TOOLS, { noun: 'tool', others: otherTool, alias: canonicalType }))

export const toolChoice = byKind({
  string: z.enum(['auto', 'none', 'required']),
  object: byType(
    [
      tagged('function', { name: z.string().min(1) }),
      tagged('custom', { name: z.string().min(1) }),
      tagged('allowed_tools', { mode: z.enum(['auto', 'required']), tools: list(anyObject) }),
      tagged('mcp', { server_label: z.string().min(1), name: text }),
    ],
    { noun: 'tool choice', others: otherTool },
  ),
})
