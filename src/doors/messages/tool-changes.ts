import type { JsonObject } from '../../core/item.ts'
import type { Block, Message } from './block.ts'
import { searchesTools } from './native-tools.ts'

/** A tool the model is offered, as its caller wrote it, and where. */
export interface OfferedTool {
  readonly tool: JsonObject
  readonly path: string
}

/**
 * The tools that are offered at the end of a conversation in which some came and went: those of the request, in their order, then those the
 * messages brought or a search of the caller found. What was taken away is left out, until it is brought again. `chosen`: the one that has to
 * be called, which nobody needs to find.
 */
export function toolsAtTheEnd(tools: readonly JsonObject[], messages: readonly Message[], chosen?: unknown): readonly OfferedTool[] {
  const declared = tools.map((tool, at) => ({ tool, path: `tools[${at}]` }))
  const changes = messages.flatMap(({ content }, at) => (typeof content === 'string' ? [] : changesIn(content, `messages[${at}].content`)))
  const waiting = keptBack(declared)
  if (changes.length === 0 && waiting.size === 0) return declared
  const offered: OfferedTool[] = declared.filter(({ tool: { name } }) => !waiting.has(name))
  // Tools of the gateway have no names: nobody can mean one of them.
  const places = new Map<unknown, number>(offered.flatMap(({ tool: { name } }, at) => (name === undefined ? [] : [[name, at] as const])))
  const load = (name: unknown): void => {
    const tool = waiting.get(name)
    if (tool === undefined) return
    waiting.delete(name)
    places.set(name, offered.length)
    offered.push(tool)
  }
  const gone = new Set<unknown>()
  for (const { adds, tool, path } of changes) {
    const definition = tool.type === 'tool_definition' ? (tool['definition'] as JsonObject) : undefined
    const { name } = definition ?? tool
    if (adds) gone.delete(name)
    else gone.add(name)
    if (adds) load(name)
    const at = places.get(name)
    if (definition !== undefined) {
      const place = at ?? offered.length
      offered[place] = { tool: definition, path: `${path}.tool.definition` }
      if (name !== undefined) places.set(name, place)
    }
    // Nobody has to search for what was brought by its name.
    else if (adds && at !== undefined) offered[at] = { ...offered[at]!, tool: { ...offered[at]!.tool, defer_loading: false } }
  }
  load(chosen)
  return offered.filter(({ tool: { name } }) => name === undefined || !gone.has(name))
}

/**
 * What nobody is offered until it is referred to, by name: with the format's vendor the caller may search himself, by a tool like any other
 * whose result holds references. Without a tool that could do it, all are offered; a search of the gateway's keeps its own back.
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
    // Tools of MCP servers are no business of this format.
    return tool.type === 'tool_definition' || tool.type === 'tool_reference' ? [{ adds, tool, path: `${path}[${at}]` }] : []
  })
}

/** The tools a search of the caller found. */
function foundIn(result: Block, path: string): readonly Change[] {
  const content = result['content']
  if (!Array.isArray(content)) return []
  return (content as readonly Block[]).flatMap((block, at) =>
    block.type === 'tool_reference' ? [{ adds: true, tool: { type: block.type, name: block['tool_name'] }, path: `${path}.content[${at}]` }] : [],
  )
}
