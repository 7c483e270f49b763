import type { JsonObject } from '../../core/item.ts'
import type { Block, Message } from './history.ts'

/** A tool the model is offered, as its caller wrote it, and where. */
export interface OfferedTool {
  readonly tool: JsonObject
  readonly path: string
}

/** Tools are told apart by their names; those of the gateway have none but their type. */
const nameOf = ({ name, type }: JsonObject): unknown => name ?? type

/**
 * The tools that are offered at the end of a conversation in which some came and went: those of the request, in their order, then those the
 * messages brought. What was taken away is left out, until it is brought again.
 */
export function toolsAtTheEnd(tools: readonly JsonObject[], messages: readonly Message[]): readonly OfferedTool[] {
  const declared = tools.map((tool, at) => ({ tool, path: `tools[${at}]` }))
  const changes = messages.flatMap(({ content }, at) => (typeof content === 'string' ? [] : changesIn(content, `messages[${at}].content`)))
  if (changes.length === 0) return declared
  const offered = new Map<unknown, OfferedTool>(declared.map((entry) => [nameOf(entry.tool), entry]))
  const gone = new Set<unknown>()
  for (const { adds, tool, path } of changes) {
    const definition = tool.type === 'tool_definition' ? (tool['definition'] as JsonObject) : undefined
    const name = nameOf(definition ?? tool)
    if (!adds) gone.add(name)
    else {
      gone.delete(name)
      const found = offered.get(name)
      if (definition !== undefined) offered.set(name, { tool: definition, path: `${path}.tool.definition` })
      // Nobody has to search for what was brought by its name.
      else if (found !== undefined) offered.set(name, { ...found, tool: { ...found.tool, defer_loading: false } })
    }
  }
  return [...offered].flatMap(([name, entry]) => (gone.has(name) ? [] : [entry]))
}

interface Change {
  readonly adds: boolean
  readonly tool: Block
  readonly path: string
}

function changesIn(content: readonly Block[], path: string): readonly Change[] {
  return content.flatMap((block, at) => {
    const adds = block.type === 'tool_addition'
    if (!adds && block.type !== 'tool_removal') return []
    const tool = block['tool'] as Block
    // Tools of MCP servers are no business of this format.
    return tool.type === 'tool_definition' || tool.type === 'tool_reference' ? [{ adds, tool, path: `${path}[${at}]` }] : []
  })
}
