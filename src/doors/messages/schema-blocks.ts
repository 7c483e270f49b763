import { z } from 'zod'
import { type Branch, byKind, byType, fields, list, maybe, tagged } from '../responses/schema-combinators.ts'
import { anyObject, cacheControl, flag, text } from '../responses/schema-shared.ts'
import { tool } from './schema-tools.ts'

/** Content blocks of the Messages format. */

const marked = { cache_control: maybe(cacheControl) }
const word = z.string().min(1)

export const textBlock = tagged('text', { text: z.string(), citations: maybe(list(fields({ type: z.string() }))), ...marked })

const imageSource = byType(
  [
    tagged('base64', { media_type: z.enum(['image/jpeg', 'image/png', 'image/gif', 'image/webp']), data: word }),
    tagged('url', { url: word }),
    tagged('file', { file_id: word }),
  ],
  { noun: 'image source' },
)
const imageBlock = tagged('image', { source: imageSource, ...marked })

/** Whether the model should cite the content. */
const citations = maybe(fields({ enabled: flag }))

const documentSource = byType(
  [
    tagged('base64', { media_type: word, data: word }),
    tagged('text', { data: z.string() }),
    tagged('content', { content: byKind({ string: z.string(), array: list(byType([textBlock, imageBlock], { noun: 'content block' })) }) }),
    tagged('url', { url: word }),
    tagged('file', { file_id: word }),
  ],
  { noun: 'document source' },
)
const documentBlock = tagged('document', {
  source: documentSource,
  title: text,
  context: text,
  citations,
  ...marked,
})
const searchResult = tagged('search_result', {
  source: z.string(),
  title: z.string(),
  content: list(byType([textBlock], { noun: 'content block' })),
  citations,
  ...marked,
})
const toolReference = tagged('tool_reference', { tool_name: word })

const resultContent = byKind({
  string: z.string(),
  array: list(byType([textBlock, imageBlock, documentBlock, searchResult, toolReference], { noun: 'content block' })),
})
const toolResult = tagged('tool_result', { tool_use_id: word, content: maybe(resultContent), is_error: flag, ...marked })
const toolUse = tagged('tool_use', { id: word, name: word, input: maybe(anyObject), ...marked })

const serverToolUse = tagged('server_tool_use', { id: word, name: word, input: maybe(anyObject), ...marked })
const searchResults = tagged('web_search_tool_result', {
  tool_use_id: word,
  content: byKind({ array: list(fields({ type: z.string() })), object: fields({ type: z.string() }) }),
  ...marked,
})

/** Tools that are added and removed in the course of a conversation. */
const named = tagged('tool_reference', { name: word })
const OF_SERVERS: readonly Branch[] = ['mcp_tool_reference', 'mcp_toolset_reference'].map((type) => tagged(type, {}))
const kindOfChange = { noun: 'reference to a tool' }
const CHANGES: readonly Branch[] = [
  tagged('tool_addition', { tool: byType([named, tagged('tool_definition', { definition: tool }), ...OF_SERVERS], kindOfChange), ...marked }),
  tagged('tool_removal', { tool: byType([named, ...OF_SERVERS], kindOfChange), ...marked }),
]

/** Blocks that the vendor's own tools leave in its answers: no other upstream reads them. */
const PASSED_OVER: readonly Branch[] = [
  'advisor_tool_result',
  'bash_code_execution_tool_result',
  'code_execution_tool_result',
  'container_upload',
  'fallback',
  'gateway_bash_tool_result',
  'gateway_shell_tool_result',
  'mcp_tool_listing',
  'mcp_tool_result',
  'mcp_tool_use',
  'text_editor_code_execution_tool_result',
  'tool_search_tool_result',
  'web_fetch_tool_result',
].map((type) => tagged(type, {}))
/** Types of blocks that are not part of the conversation's content. */
export const IS_PASSED_OVER: ReadonlySet<string> = new Set([...PASSED_OVER, ...CHANGES].map(([type]) => type))

const BLOCKS: readonly Branch[] = [
  textBlock,
  imageBlock,
  documentBlock,
  searchResult,
  toolUse,
  toolResult,
  tagged('thinking', { thinking: z.string(), signature: text }),
  tagged('redacted_thinking', { data: z.string() }),
  serverToolUse,
  searchResults,
  tagged('compaction', { content: text, ...marked }),
  ...CHANGES,
  ...PASSED_OVER,
]

const FOREIGN = new Map([
  ['input_text', '"text"'],
  ['output_text', '"text"'],
  ['image_url', '"image"'],
  ['input_image', '"image"'],
  ['file', '"document"'],
  ['function_call', '"tool_use"'],
])
function hint(type: string): string | undefined {
  const ours = FOREIGN.get(type)
  return ours === undefined ? undefined : `is "${type}", a name of another API; here it is ${ours}`
}

const content = byKind({ string: z.string(), array: list(byType(BLOCKS, { noun: 'content block', hint })) })

export const message = fields({ role: z.enum(['user', 'assistant', 'system']), content })
export const system = byKind({ string: z.string(), array: list(byType([textBlock], { noun: 'content block', hint })) })
