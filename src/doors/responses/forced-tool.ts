import { toolsWithin, type InputItem, type JsonObject, type Tool } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { quote } from './schema-combinators.ts'
import { canonicalType, isOwnModel } from '../../core/own-names.ts'

/** A tool choice that nothing in the request can satisfy. `reason` completes the sentence "<path> ...". */
export interface ImpossibleChoice {
  readonly path: string
  readonly reason: string
}

/**
 * Spellings of one tool: the choice may use one of them and the tool another. The contract's choices have only the vendors' names, even for the gateway's
 * tools.
 */
const FAMILIES: readonly RegExp[] = [
  /^(?:gateway:web_search|web_search(?:_preview)?(?:_\d{4}_\d{2}_\d{2})?)$/,
  /^computer(?:_use)?(?:_preview)?$/,
  /^(?:gateway:)?apply_patch$/,
  /^(?:gateway:)?image_generation$/,
  /^(?:gateway:)?shell$/,
]

/**
 * Whether `tool_choice` forces a tool that the request does not offer. Tools may also come from namespaces and from input items. `auto` and `none` force
 * nothing.
 */
export function findImpossibleChoice(
  request: Pick<ModelRequest, 'model' | 'plugins' | 'tools' | 'tool_choice' | 'input'>,
): ImpossibleChoice | undefined {
  const choice = request.tool_choice
  if (choice === undefined || choice === 'auto' || choice === 'none') return undefined
  const offered = offeredTools(request.tools, request.input)
  if (choice === 'required') {
    return offered.length > 0 || mayGetTools(request) ? undefined : { path: 'tool_choice', reason: 'is "required" but the request offers no tools' }
  }
  if (choice.type === 'allowed_tools') {
    const { mode, tools } = choice as { readonly mode: string; readonly tools: readonly JsonObject[] }
    if (mode !== 'required') return undefined
    // By kind, then by name: comparing a long list of choices with a long list of tools pair by pair would be too slow.
    const byKind = Map.groupBy(offered, ({ type }) => kindOf(type))
    const names = new Map([...byKind].map(([kind, known]) => [kind, new Set(known.flatMap(namesOf))]))
    if (tools.some((wanted) => typeof wanted['type'] === 'string' && names.get(kindOf(wanted['type']))?.has(nameOf(wanted)) === true))
      return undefined
    return { path: 'tool_choice.tools', reason: 'requires one of these tools but none of them is in "tools"' }
  }
  if (offered.some((tool) => matches(tool, choice))) return undefined
  const { name, server_label: server } = choice as JsonObject
  if (typeof name === 'string' && choice.type !== 'mcp') {
    return { path: 'tool_choice.name', reason: `forces the tool ${quote(name)}, which is not in "tools"` }
  }
  if (typeof server === 'string') return { path: 'tool_choice.server_label', reason: `forces the server ${quote(server)}, which is not in "tools"` }
  return { path: 'tool_choice.type', reason: `forces the tool ${quote(choice.type)}, which is not in "tools"` }
}

/** Plugins may add tools, and so may model names for which the gateway chooses the model. */
const mayGetTools = ({ model, plugins }: Pick<ModelRequest, 'model' | 'plugins'>): boolean =>
  plugins?.some(({ enabled }) => enabled !== false) === true || (model !== undefined && isOwnModel(model))

function offeredTools(tools: readonly Tool[] | undefined, input: readonly InputItem[]): readonly Tool[] {
  const offered: Tool[] = []
  const add = (more: readonly Tool[]): void => {
    for (const tool of more) {
      offered.push(tool)
      if (tool.type === 'namespace') add((tool as unknown as { readonly tools: readonly Tool[] }).tools)
    }
  }
  add(tools ?? [])
  for (const item of input) add(toolsWithin(item))
  return offered
}

const ANY = Symbol('any')

/** The names by which a choice may refer to this tool; a type without a name is enough, too. */
function namesOf(tool: Tool): readonly unknown[] {
  const { name, server_label: server } = tool as JsonObject
  return tool.type === 'mcp' ? [ANY, server] : [ANY, name]
}

function nameOf({ type, name, server_label: server }: JsonObject): unknown {
  if (type === 'mcp') return server === undefined ? ANY : server
  return name == null ? ANY : name
}

function matches(tool: Tool, wanted: JsonObject): boolean {
  return typeof wanted['type'] === 'string' && kindOf(tool.type) === kindOf(wanted['type']) && namesOf(tool).includes(nameOf(wanted))
}

/** One name for all spellings of a tool's type. */
function kindOf(type: string): string {
  const canonical = canonicalType(type)
  const family = FAMILIES.findIndex((spellings) => spellings.test(canonical))
  return family === -1 ? canonical : `family ${family}`
}
