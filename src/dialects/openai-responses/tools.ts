import type { Parameter } from '../../core/endpoint.ts'
import { isCustomTool, isFunctionTool } from '../../core/item.ts'
import type { CustomTool, FunctionTool, JsonObject, Tool, ToolChoice } from '../../core/item.ts'
import { ownName } from '../../core/own-names.ts'
import type { ModelRequest } from '../../core/request.ts'
import { functionParameters } from '../shared/function-parameters.ts'
import { asString, isObject } from '../shared/json.ts'
import { noted } from '../shared/member-names.ts'
import { hasOptionalMembers, STRICT_WITH_OPTIONAL } from '../shared/optional-members.ts'
import { objectAtTop } from '../shared/sanitize-schema.ts'
import { strictChoices } from '../shared/strict-choices.ts'
import { COMMON_TOOL_NAMES, createToolNames } from '../shared/tool-names.ts'
import type { ToolNames } from '../shared/tool-names.ts'
import { examplesOf, flattenTools, examplesText } from '../shared/tools.ts'
import { Unfolding } from '../shared/unfolding.ts'
import type { ResponsesOptions } from './options.ts'
import { PROGRAMS, withoutPrograms } from './programs.ts'
import { encodeWebSearch, isWebSearch } from './web-search.ts'

export interface EncodedTools {
  readonly tools?: readonly JsonObject[]
  readonly choice?: unknown
  readonly names: ToolNames
}

/** Whether the endpoint accepts this type of built-in tool (or the items that such a tool produces). */
export function acceptsBuiltin(type: string, builtin: ResponsesOptions['builtin_tools']): boolean {
  // No upstream knows the tools that the gateway runs itself.
  if (ownName(type) !== undefined) return false
  if (typeof builtin === 'boolean') return builtin
  const base = type.replace(/_(?:call|call_output|output|list_tools|approval_request|approval_response)$/, '')
  return builtin.some((name) => name === base || name === type || name.startsWith(`${base}_`) || base.startsWith(`${name}_`))
}

/** The encoded form of a tool at this endpoint. */
type Listed =
  | { readonly kind: 'function' | 'custom'; readonly tool: FunctionTool | CustomTool; readonly namespace?: string }
  | { readonly kind: 'verbatim'; readonly tool: Tool }

function listTools(request: ModelRequest, options: ResponsesOptions, dropped: Set<string>): Listed[] {
  const listed: Listed[] = []
  for (const tool of request.tools ?? []) {
    if (isFunctionTool(tool)) listed.push({ kind: 'function', tool })
    else if (isCustomTool(tool)) listed.push({ kind: 'custom', tool })
    else if (tool.type === 'namespace' && !options.namespace_tools && Array.isArray(tool['tools'])) {
      const namespace = asString(tool['name'])
      for (const inner of tool['tools'] as readonly Tool[]) {
        if (!isFunctionTool(inner) && !isCustomTool(inner)) dropped.add(`tools: ${inner.type}`)
        else listed.push({ kind: isCustomTool(inner) ? 'custom' : 'function', tool: inner, ...(namespace === undefined ? {} : { namespace }) })
      }
    } else if (tool.type === 'namespace' ? options.namespace_tools : acceptsBuiltin(tool.type, options.builtin_tools))
      listed.push({ kind: 'verbatim', tool })
    else dropped.add(`tools: ${tool.type}`)
  }
  return listed
}

/** Names that the endpoint accepts are assigned first, so that a rewritten one never replaces them. */
function nameTools(listed: readonly Listed[], options: ResponsesOptions): ToolNames {
  const rule = { pattern: COMMON_TOOL_NAMES.pattern, max: options.max_tool_name_length }
  const names = createToolNames(rule)
  const fits = (listing: Listed): boolean =>
    listing.kind !== 'verbatim' && listing.namespace === undefined && listing.tool.name.length <= rule.max && rule.pattern.test(listing.tool.name)
  for (const entry of [...listed.filter(fits), ...listed.filter((listing) => !fits(listing))]) {
    if (entry.kind !== 'verbatim') names.upstream(entry.tool.name, entry.namespace, entry.kind)
  }
  return names
}

const NO_NAMES: ToolNames = { upstream: (name) => name, origin: (name) => ({ kind: 'function', name }), begins: () => false }

/** The mapping from the endpoint's tool names to the caller's tools, with the same names as in `encodeTools`. */
export function toolNames(request: ModelRequest, options: ResponsesOptions): ToolNames {
  return request.tools === undefined || request.tools.length === 0 ? NO_NAMES : nameTools(listTools(request, options, new Set()), options)
}

/** A tool without the fields that the endpoint does not know. */
function knownFields<T extends JsonObject>(tool: T, options: ResponsesOptions, dropped: Set<string>): T {
  const known = acceptsBuiltin(PROGRAMS, options.builtin_tools) ? tool : withoutPrograms(tool)
  if (options.async_calls || known['async'] === undefined) return known
  const { async: mayWait, ...rest } = known
  if (mayWait === true) dropped.add('tools: async')
  return rest as unknown as T
}

function encodeFunction(tool: FunctionTool, name: string, options: ResponsesOptions, dropped: Set<string>, unfolding: Unfolding): JsonObject {
  // Cache breakpoints of the Anthropic family have their own meaning elsewhere, and arguments are always streamed here; in this format both are
  // unknown fields.
  const {
    strict: wanted,
    defer_loading,
    cache_control: _,
    prompt_cache_breakpoint: __,
    eager_input_streaming: ___,
    input_examples: ____,
    ...rest
  } = tool as FunctionTool & { readonly cache_control?: unknown }
  const examples = examplesText(examplesOf(tool))
  const listed = functionParameters(tool.parameters)
  const parameters = objectAtTop(listed, unfolding)
  // A folded schema contains more than a strict one may, and an absent field means strict.
  const mayLeaveOut = options.optional_members === 'refused' && wanted === true && hasOptionalMembers(listed)
  if (mayLeaveOut) dropped.add(`tools: ${STRICT_WITH_OPTIONAL}`)
  const strict = parameters === listed && !mayLeaveOut ? wanted : false
  const keepStrict = strict !== undefined && (options.strict === 'forward' || (options.strict === 'only-true' && strict === true))
  const keepDeferred = defer_loading !== undefined && acceptsBuiltin('tool_search', options.builtin_tools)
  return {
    ...knownFields(rest, options, dropped),
    name,
    ...(examples === undefined ? {} : { description: noted(tool.description ?? undefined, examples) }),
    parameters: keepStrict && strict === true ? strictChoices(parameters) : parameters,
    ...(keepStrict ? { strict } : {}),
    ...(keepDeferred ? { defer_loading } : {}),
  }
}

/** A free-form tool as a function. Not strict: only the gateway checks its single string. */
function encodeWrapped(tool: CustomTool, name: string, options: ResponsesOptions, dropped: Set<string>): JsonObject {
  const flat = flattenTools({ tools: [tool] }, { pattern: /^[\s\S]*$/, max: Infinity }).tools[0]
  const mark = tool.async === true ? { async: true } : {}
  return knownFields({ type: 'function', ...flat, name, ...(options.strict === 'forward' ? { strict: false } : {}), ...mark }, options, dropped)
}

function encodeTool(entry: Listed, names: ToolNames, options: ResponsesOptions, dropped: Set<string>, unfolding: Unfolding): JsonObject {
  if (entry.kind === 'verbatim') {
    if (isWebSearch(entry.tool)) return encodeWebSearch(entry.tool, options, dropped)
    return knownFields({ ...entry.tool }, options, dropped)
  }
  const name = names.upstream(entry.tool.name, entry.namespace)
  if (!isCustomTool(entry.tool)) return encodeFunction(entry.tool, name, options, dropped, unfolding)
  const { prompt_cache_breakpoint: _, ...tool } = entry.tool
  if (!options.custom_tools) return encodeWrapped(tool, name, options, dropped)
  return { ...knownFields<JsonObject>({ ...tool }, options, dropped), name }
}

/** The endpoint's tools and the choice among them. Changes are added to `dropped`. */
export function encodeTools(request: ModelRequest, options: ResponsesOptions, supports: ReadonlySet<Parameter>, dropped: Set<string>): EncodedTools {
  // Calls of earlier turns have names as well.
  if (request.tools === undefined || request.tools.length === 0) return { names: nameTools([], options) }
  if (!supports.has('tools')) {
    dropped.add('tools')
    return { names: nameTools(listTools(request, options, new Set()), options) }
  }
  const listed = listTools(request, options, dropped)
  const names = nameTools(listed, options)
  const seen = new Set<string>()
  const unfolding = new Unfolding()
  // A duplicate function is refused, so the first one is kept.
  const tools = listed
    .map((entry) => encodeTool(entry, names, options, dropped, unfolding))
    .filter((tool) => {
      const name = asString(tool['name'])
      if (name === undefined || (tool['type'] !== 'function' && tool['type'] !== 'custom')) return true
      return seen.has(name) ? false : seen.add(name)
    })
  if (tools.length === 0) return { names }
  return { ...choose(tools, request.tool_choice, { options, supports, names, dropped }), names }
}

interface ChoiceContext {
  readonly options: ResponsesOptions
  readonly supports: ReadonlySet<Parameter>
  readonly names: ToolNames
  readonly dropped: Set<string>
}

function choose(
  tools: readonly JsonObject[],
  choice: ToolChoice | undefined,
  context: ChoiceContext,
): { tools?: readonly JsonObject[]; choice?: unknown } {
  const { options, supports, dropped } = context
  if (choice == null) return { tools }
  if (isAllowed(choice) && narrow(tools, choice, context).length === 0) {
    // If nothing on offer is allowed, no call is allowed; servers do not accept a choice among no tools.
    if (choice.mode === 'required') dropped.add('tool_choice')
    return choose(tools, 'none', context)
  }
  if (!supports.has('tool_choice') && choice !== 'auto') {
    // Without `tool_choice`, "none" is achieved by offering no tools.
    if (choice === 'none') return {}
    dropped.add('tool_choice')
    return { tools: isAllowed(choice) ? narrow(tools, choice, context) : tools }
  }
  if (typeof choice === 'string') return supports.has('tool_choice') ? { tools, choice } : { tools }
  if (isAllowed(choice)) {
    if (!options.allowed_tools) return { tools: narrow(tools, choice, context), choice: choice.mode === 'required' ? 'required' : 'auto' }
    const allowed = choice.tools.map(createFinder(tools, context)).filter((tool) => tool !== undefined)
    return { tools, choice: { ...choice, tools: allowed.map((tool) => reference(tool)) } }
  }
  const found = createFinder(tools, context)(choice)
  if (found === undefined) {
    dropped.add('tool_choice')
    return { tools }
  }
  return { tools, choice: found['type'] === 'function' || found['type'] === 'custom' ? reference(found) : choice }
}

type AllowedTools = Extract<ToolChoice, { readonly tools: readonly JsonObject[] }>

function isAllowed(choice: ToolChoice): choice is AllowedTools {
  return typeof choice === 'object' && choice.type === 'allowed_tools' && Array.isArray(choice['tools'])
}

function narrow(tools: readonly JsonObject[], choice: AllowedTools, context: ChoiceContext): readonly JsonObject[] {
  const allowed = new Set(choice.tools.map(createFinder(tools, context)))
  return tools.filter((tool) => allowed.has(tool))
}

type Finder = (wanted: unknown) => JsonObject | undefined

/** Finds the encoded tool of a choice, by the caller's name or by type. Uses maps, because a choice may name as many tools as there are. */
function createFinder(tools: readonly JsonObject[], { names }: ChoiceContext): Finder {
  const named = new Map<unknown, JsonObject>()
  const renamed = new Map<string, JsonObject>()
  const inNamespaces = new Set<unknown>()
  const others = new Map<string, JsonObject>()
  for (const tool of tools) {
    const { type, name } = tool
    for (const key of [String(type), keyOf(type, tool['server_label'])]) if (!others.has(key)) others.set(key, tool)
    if (type === 'namespace') for (const inner of namesWithin(tool)) inNamespaces.add(inner)
    if (type !== 'function' && type !== 'custom') continue
    const origin = names.origin(String(name)).name
    if (!named.has(name)) named.set(name, tool)
    if (!renamed.has(origin)) renamed.set(origin, tool)
  }
  return (wanted) => {
    if (!isObject(wanted)) return undefined
    const { type } = wanted
    const name = asString(wanted['name'])
    if (name !== undefined && (type === 'function' || type === 'custom'))
      return named.get(name) ?? renamed.get(name) ?? (inNamespaces.has(name) ? { type, name } : undefined)
    const label = asString(wanted['server_label'])
    return others.get(label === undefined ? String(type) : keyOf(type, label))
  }
}

const keyOf = (type: unknown, label: unknown): string => `${String(type)}\u0000${String(label)}`

function namesWithin({ tools }: JsonObject): readonly unknown[] {
  return Array.isArray(tools) ? (tools as readonly unknown[]).map((tool) => (isObject(tool) ? tool['name'] : undefined)) : []
}

function reference(tool: JsonObject): JsonObject {
  const { type, name, server_label } = tool
  return { type, ...(name === undefined ? {} : { name }), ...(server_label === undefined ? {} : { server_label }) }
}
