import type { JsonObject } from '../../core/item.ts'
import type { Block, Message } from './block.ts'
import { searchesTools } from './native-tools.ts'

/** A tool that is offered to the model, as the caller wrote it, with its path. */
export interface OfferedTool {
  readonly tool: JsonObject
  readonly path: string
}

/**
 * The tools offered at the end of a conversation in which some were added and removed: those of the request, in their order, then those that messages
 * added or a search of the caller found. Removed tools are left out until they are added again. `chosen`: the tool that has to be called, which nobody
 * needs to find.
 */
export function toolsAtTheEnd(tools: readonly JsonObject[], messages: readonly Message[], chosen?: unknown): readonly OfferedTool[] {
  const declared = tools.map((tool, at) => ({ tool, path: `tools[${at}]` }))
  const changes = messages.flatMap(({ content }, at) => (typeof content === 'string' ? [] : changesIn(content, `messages[${at}].content`)))
  const waiting = keptBack(declared)
  if (changes.length === 0 && waiting.size === 0) return declared
  const offered: OfferedTool[] = declared.filter(({ tool: { name } }) => !waiting.has(name))
  // Tools of the gateway have no names, so no reference can mean one of them.
  const places = new Map<unknown, number>(offered.flatMap(({ tool: { name } }, at) => (name === undefined ? [] : [[name, at] as const])))
  const load = (name: unknown): void => {
    const tool = waiting.get(name)
    if (tool === undefined) return
    waiting.delete(name)
    places.set(name, offered.length)
    offered.push(tool)
  }
  const removed = new Set<unknown>()
  for (const { adds, tool, path } of changes) {
    const definition = tool.type === 'tool_definition' ? (tool['definition'] as JsonObject) : undefined
    const { name } = definition ?? tool
    if (adds) removed.delete(name)
    else removed.add(name)
    if (adds) load(name)
    const at = places.get(name)
    if (definition !== undefined) {
      const place = at ?? offered.length
      offered[place] = { tool: definition, path: `${path}.tool.definition` }
      if (name !== undefined) places.set(name, place)
    }
    // A tool that was added by its name need not be searched for.
    else if (adds && at !== undefined) offered[at] = { ...offered[at]!, tool: { ...offered[at]!.tool, defer_loading: false } }
  }
  load(chosen)
  return offered.filter(({ tool: { name } }) => name === undefined || !removed.has(name))
}

/**
 * Deferred tools, by name, which are not offered until something refers to them. The format's vendor lets callers implement the search as an ordinary tool
 * whose result contains references. If no tool could do that, all are offered; the gateway's search defers tools itself.
 */
function keptBack(declared: readonly OfferedTool[]): Map<unknown, OfferedTool> {
  const own = declared.filter(({ tool: { type } }) => type == null || type === 'custom')
  const isDeferred = ({ tool }: OfferedTool): boolean => tool['defer_loading'] === true
  if (own.every(isDeferred) || declared.some(({ tool }) => searchesTools(tool))) return new Map()
  return new Map(own.filter(isDeferred).map((each) => [each.tool['name'], each]))
}

interface Change {
  readonly adds: boolean
  readonly tool: Block
  readonly path: string
}

function changesIn(content: readonly Block[], path: string): readonly Change[] {
  return content.flatMap((block, at) => {
    if (block.type === 'tool_result') return foundIn(block, `${path}[${at}]`)
    const adds = block.type === 'tool_addition'
    if (!adds && block.type !== 'tool_removal') return []
    const tool = block['tool'] as Block
    // This format does not handle tools of MCP servers.
    return tool.type === 'tool_definition' || tool.type === 'tool_reference' ? [{ adds, tool, path: `${path}[${at}]` }] : []
  })
}

/** The tools that a search of the caller found. */
function foundIn(result: Block, path: string): readonly Change[] {
  const content = result['content']
  if (!Array.isArray(content)) return []
  return (content as readonly Block[]).flatMap((block, at) =>
    block.type === 'tool_reference' ? [{ adds: true, tool: { type: block.type, name: block['tool_name'] }, path: `${path}.content[${at}]` }] : [],
  )
}
