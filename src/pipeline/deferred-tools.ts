import { isCustomTool, isFunctionTool, type JsonObject, type Tool } from '../core/item.ts'

interface Namespace {
  readonly type: 'namespace'
  readonly name: string
  readonly tools: readonly Tool[]
}

const isNamespace = (tool: Tool): tool is Tool & Namespace => tool.type === 'namespace' && Array.isArray(tool['tools'])
const isDeferred = (tool: Tool): boolean => (tool as { readonly defer_loading?: unknown }).defer_loading === true

/** The tools the model sees before it has searched. */
export function withoutDeferred(tools: readonly Tool[]): readonly Tool[] {
  return tools.flatMap((tool) => {
    if (!isNamespace(tool)) return isDeferred(tool) ? [] : [tool]
    const shown = tool.tools.filter((inner) => !isDeferred(inner))
    return shown.length === 0 ? [] : [shown.length === tool.tools.length ? tool : { ...tool, tools: shown }]
  })
}

/**
 * The tools, with those a search found behind them, so that what stands before stays in the provider's cache. `all`: the request's own tools, which
 * may describe what was found by name only.
 */
export function loadFound(shown: readonly Tool[], all: readonly Tool[], found: readonly Tool[]): readonly Tool[] {
  if (found.length === 0) return shown
  const described = new Map(listed(all))
  const known = new Set(listed(shown).map(([key]) => key))
  const load = (tool: Tool, namespace?: string): readonly Tool[] => {
    const key = keyOf(tool, namespace)
    if (key === undefined) return [tool]
    if (known.has(key)) return []
    known.add(key)
    const { defer_loading: _, ...loaded } = { ...(described.get(key) as JsonObject | undefined), ...tool } as JsonObject & { readonly type: string }
    return [loaded]
  }
  const added = found.flatMap((tool): readonly Tool[] => {
    if (!isNamespace(tool)) return load(tool)
    const tools = tool.tools.flatMap((inner) => load(inner, tool.name))
    return tools.length === 0 ? [] : [{ ...tool, tools }]
  })
  return [...shown, ...added]
}

function listed(tools: readonly Tool[]): readonly (readonly [key: string | undefined, tool: Tool])[] {
  return tools.flatMap((tool) =>
    isNamespace(tool) ? tool.tools.map((inner) => [keyOf(inner, tool.name), inner] as const) : [[keyOf(tool), tool] as const],
  )
}

/** Undefined for tools that are not called by a name. */
function keyOf(tool: Tool, namespace = ''): string | undefined {
  return isFunctionTool(tool) || isCustomTool(tool) ? `${namespace}\u0000${tool.name}` : undefined
}
