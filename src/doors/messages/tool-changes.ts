import type { JsonObject } from '../../core/item.ts'
import type { Block, Message } from './history.ts'

/** A tool the model is offered, as its caller wrote it, and where. */
export interface OfferedTool {
  readonly tool: JsonObject
  readonly path: string
}

/**
 * The tools that are offered at the end of a conversation in which some came and went: those of the request, in their order, then those the
 * messages brought. What was taken away is left out, until it is brought again.
 */
export function toolsAtTheEnd(tools: readonly JsonObject[], messages: readonly Message[]): readonly OfferedTool[] {
  const declared = tools.map((tool, at) => ({ tool, path: `tools[${at}]` }))
  const changes = messages.flatMap(({ content }, at) => (typeof content === 'string' ? [] : changesIn(content, `messages[${at}].content`)))
  if (changes.length === 0) return declared
  const offered: OfferedTool[] = [...declared]
  // Tools of the gateway have no names: nobody can mean one of them.
  const places = new Map<unknown, number>(declared.flatMap(({ tool: { name } }, at) => (name === undefined ? [] : [[name, at] as const])))
  const gone = new Set<unknown>()
  for (const { adds, tool, path } of changes) {
    const definition = tool.type === 'tool_definition' ? (tool['definition'] as JsonObject) : undefined
    const { name } = definition ?? tool
    if (adds) gone.delete(name)
    else gone.add(name)
    const at = places.get(name)
    if (definition !== undefined) {
      const place = at ?? offered.length
      offered[place] = { tool: definition, path: `${path}.tool.definition` }
      if (name !== undefined) places.set(name, place)
    }
    // Nobody has to search for what was brought by its name.
    else if (adds && at !== undefined) offered[at] = { ...offered[at]!, tool: { ...offered[at]!.tool, defer_loading: false } }
  }
  return offered.filter(({ tool: { name } }) => name === undefined || !gone.has(name))
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
