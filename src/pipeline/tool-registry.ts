import type { ServerTool } from '../core/extension.ts'
import { ownName } from '../core/own-names.ts'
import type { ModelRequest } from '../core/request.ts'
import type { ToolSource } from '../core/tool-source.ts'

/** The gateway's tools, by every type callers may use. */
export interface ToolRegistry {
  readonly find: (type: string) => ServerTool | undefined
  readonly named: (name: string) => ServerTool | undefined
  readonly source: (type: string) => ToolSource | undefined
  readonly sources: readonly ToolSource[]
  /** Whether any source produces items of this type; undefined if no source produces items. */
  readonly produces: ((itemType: string) => boolean) | undefined
  readonly names: readonly string[]
}

export function createToolRegistry(tools: readonly ServerTool[], sources: readonly ToolSource[] = []): ToolRegistry {
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  const spellings = ({ spellings: answered = {}, aliases = [] }: ServerTool): readonly string[] => [...Object.keys(answered), ...aliases]
  const bySpelling = new Map(tools.flatMap((tool) => spellings(tool).map((type) => [type, tool] as const)))
  const produced = new Set(sources.flatMap(({ itemTypes }) => [...itemTypes]))
  return {
    find: (type) => {
      const name = ownName(type)
      return name === undefined ? bySpelling.get(type) : byName.get(name)
    },
    named: (name) => byName.get(name),
    source: (type) => sources.find((source) => source.type === type || source.name === ownName(type)),
    sources,
    produces: produced.size === 0 ? undefined : (itemType) => produced.has(itemType),
    names: [...byName.keys(), ...sources.map(({ name }) => name)],
  }
}

/** The tool whose items have this type under the gateway's own name. */
export function toolOfItem(itemType: string, registry: ToolRegistry): ServerTool | undefined {
  return ownName(itemType) === undefined ? undefined : registry.find(itemType)
}

/** Vendors' own tools whose types name a version: answers with them may pause and have to be continued. */
const VERSIONED = /_\d{8}$/

/** Whether a request names a tool the gateway runs, or one whose answer may have to be continued. This look is all the layer costs other calls. */
export function wantsTools({ tools = [], input }: Pick<ModelRequest, 'tools' | 'input'>, registry: ToolRegistry): boolean {
  for (const { type } of tools)
    if (type !== 'function' && (VERSIONED.test(type) || (ownName(type) ?? registry.find(type) ?? registry.source(type)) !== undefined)) return true
  // Most models do not understand such items, whether or not the tools are offered again.
  for (const { type } of input)
    if (type !== 'message' && (toolOfItem(type, registry) !== undefined || registry.produces?.(type) === true)) return true
  return false
}
