import type { JsonObject, OtherTool, Tool } from '../../core/item.ts'
import { MAX_TOOL_CALLS, type ModelRequest } from '../../core/request.ts'
import { ANSWER_NAMES, withAnswerTool } from '../shared/format-plan.ts'
import type { FormatPlan } from '../shared/format-plan.ts'
import { asString, isObject } from '../shared/json.ts'
import { NOT_STRICT, noted, takenMembers } from '../shared/member-names.ts'
import { hasOpenObjects, STRICT_WITH_MAPS } from '../shared/open-objects.ts'
import { sanitizeSchema, toolInputSchema } from '../shared/sanitize-schema.ts'
import { Unfolding } from '../shared/unfolding.ts'
import { isForced, NOT_FORCED, onlyChosen } from '../shared/tool-choice.ts'
import { flattenTools, examplesText } from '../shared/tools.ts'
import type { FlatChoice, FlatTool, FlatTools } from '../shared/tools.ts'
import { markOf } from './content.ts'
import { rulesFor } from './options.ts'
import type { AnthropicMessagesOptions, MessagesTarget } from './options.ts'
import { compiled } from '../shared/pattern.ts'

const WEB_SEARCH = /^web_search/
/** More strict tools than this are refused. */
const MAX_STRICT_TOOLS = 20

/** The caller's tools, encoded for this endpoint. */
export interface ToolPlan {
  readonly flat: FlatTools
  /** Tools that the upstream runs itself or knows by type, in its own form. */
  readonly native: readonly JsonObject[]
  readonly choice?: FlatChoice
}

type ToolSource = Pick<ModelRequest, 'tools' | 'tool_choice'>

/** Functions under names that this endpoint accepts, and native tools; the decoder calls this again for the reverse mapping. */
export function planTools(request: ToolSource, options: AnthropicMessagesOptions): ToolPlan {
  const named = new Map<unknown, JsonObject>()
  const others: Tool[] = []
  for (const tool of request.tools ?? []) {
    const encoded = nativeTool(tool, options)
    if (encoded === undefined) others.push(tool)
    else {
      // Toolsets have no name, only a type.
      const name = encoded['name'] ?? encoded['type']
      if (!named.has(name)) named.set(name, encoded)
    }
  }
  const native = [...named.values()]
  const choice = request.tool_choice
  const chosenNative = typeof choice === 'object' && choice !== null ? nativeNamed(choice, native) : undefined
  const source = { tools: others, ...(choice === undefined || chosenNative !== undefined ? {} : { tool_choice: choice }) }
  const taken = new Set([...ANSWER_NAMES, ...native.flatMap(({ name }) => asString(name) ?? [])])
  const flat = flattenTools(
    source,
    { pattern: compiled(options.tool_names.pattern), max: options.tool_names.max, taken },
    { keepExamples: options.tool_examples },
  )
  if (chosenNative !== undefined) return { flat, native, choice: { mode: 'named', name: chosenNative } }
  // With native tools alone, `tool_choice` still applies.
  const word = typeof choice === 'string' && native.length > 0 ? { mode: choice } : undefined
  const decided = flat.choice ?? word
  return { flat, native, ...(decided === undefined ? {} : { choice: decided }) }
}

const TOOLSET = /^(\w+)_toolset_\d{8}$/

/**
 * Names of the sets of tools that the upstream knows by type. Their members are called by names of their own, which may be those of other tools, and by
 * the name of the set (`toolset_name`): here, by a namespace.
 */
export function toolsetsOf({ native }: ToolPlan): ReadonlySet<string> | undefined {
  const names = native.flatMap(({ type }) => TOOLSET.exec(String(type))?.[1] ?? [])
  return names.length === 0 ? undefined : new Set(names)
}

function nativeNamed(choice: { readonly [field: string]: unknown }, native: readonly JsonObject[]): string | undefined {
  const type = asString(choice['type']) ?? ''
  const found = native.find((tool) => tool['type'] === type || (WEB_SEARCH.test(type) && tool['name'] === 'web_search'))
  return asString(found?.['name'])
}

/** Whether the upstream runs tools of this type itself, or knows them by type. */
export function hostsTool(type: string, options: AnthropicMessagesOptions): boolean {
  return isNative(type, options) || (options.web_search_tool !== undefined && WEB_SEARCH.test(type))
}

const isNative = (type: string, options: AnthropicMessagesOptions): boolean => options.native_tools.some((source) => new RegExp(source).test(type))

function nativeTool(tool: Tool, options: AnthropicMessagesOptions): JsonObject | undefined {
  if (tool.type === 'function' || tool.type === 'custom') return undefined
  if (isNative(tool.type, options)) return tool as JsonObject
  return options.web_search_tool !== undefined && WEB_SEARCH.test(tool.type) ? webSearchTool(tool as OtherTool, options.web_search_tool) : undefined
}

const nonEmpty = (value: unknown): value is readonly unknown[] => Array.isArray(value) && value.length > 0

/** The contract's web search in this format. Only one of the two lists of domains is accepted. */
function webSearchTool(tool: OtherTool, type: string): JsonObject {
  const filters = isObject(tool['filters']) ? tool['filters'] : {}
  const blocked = filters['blocked_domains'] ?? filters['excluded_domains']
  const location = tool['user_location']
  const place = isObject(location) ? Object.fromEntries(Object.entries(location).filter(([key, value]) => key !== 'type' && value != null)) : {}
  return {
    type,
    name: 'web_search',
    ...(typeof tool['max_uses'] === 'number' ? { max_uses: tool['max_uses'] } : {}),
    ...(nonEmpty(filters['allowed_domains'])
      ? { allowed_domains: filters['allowed_domains'] }
      : nonEmpty(blocked)
        ? { blocked_domains: blocked }
        : {}),
    ...(Object.keys(place).length === 0 ? {} : { user_location: { type: 'approximate', ...place } }),
  }
}

export interface EncodedTools {
  /** The cache may still add breakpoints to the tools. */
  readonly fields: { readonly tools?: readonly { [field: string]: unknown }[]; readonly tool_choice?: JsonObject }
  /** A call is forced, so thinking would be refused. */
  readonly forced: boolean
}

/** The body's tool fields. `called` lists the tools that the history calls: without any tools the request would be refused. */
export function encodeTools(
  plan: ToolPlan,
  format: FormatPlan,
  called: readonly string[],
  request: ModelRequest,
  target: MessagesTarget,
  dropped: string[],
): EncodedTools {
  const { functions, native, choice, answers } = offer(plan, format, target, dropped)
  const tools = [...encodeFunctions(functions, target, dropped), ...native.map((tool) => ({ ...withBudget(tool, request, dropped) }))]
  if (tools.length === 0) return { fields: stubFields(called, target), forced: false }
  const oneAtATime = answers || request.parallel_tool_calls === false
  const encoded = encodeChoice(choice, oneAtATime, target.options, dropped)
  return { fields: { tools, ...(encoded === undefined ? {} : { tool_choice: encoded }) }, forced: isForced(choice) }
}

/** Server tools that accept a limit on their uses. */
const BOUNDED = /^web_(?:search|fetch)/

/** Each tool that the server runs has the caller's limit individually, because the format has none for all of them. */
function withBudget(tool: JsonObject, { max_tool_calls: budget }: ModelRequest, dropped: string[]): JsonObject {
  if (budget == null || budget < 1) return tool
  if (!BOUNDED.test(String(tool['type']))) {
    dropped.push('max_tool_calls')
    return tool
  }
  const maxUses = typeof tool['max_uses'] === 'number' ? tool['max_uses'] : MAX_TOOL_CALLS
  return { ...tool, max_uses: Math.min(maxUses, budget, MAX_TOOL_CALLS) }
}

interface Offer {
  readonly functions: readonly FlatTool[]
  readonly native: readonly JsonObject[]
  readonly choice?: FlatChoice
  /** The answer is a call of the hidden tool. */
  readonly answers: boolean
}

/** The tools and the choice among them, including the hidden answer tool, as far as this endpoint supports the choice. */
function offer(plan: ToolPlan, { answerTool }: FormatPlan, target: MessagesTarget, dropped: string[]): Offer {
  const { native } = plan
  const { tools: functions, choice, answers } = withAnswerTool(plan.flat.tools, plan.choice, answerTool, native.length)
  if (choice === undefined || choice.mode === 'auto') return { functions, native, answers, ...(choice === undefined ? {} : { choice }) }
  if (isForced(choice) && rulesFor(target).forced_tools === 'never') {
    dropped.push(NOT_FORCED)
    return { functions: onlyChosen(functions, choice), native: onlyChosen(native, choice), answers, choice: { mode: 'auto' } }
  }
  if (target.supports.has('tool_choice')) return { functions, native, answers, choice }
  // An endpoint that cannot be told not to call gets no tools.
  if (choice.mode === 'none') return { functions: [], native: [], answers }
  dropped.push('tool_choice')
  return { functions, native, answers }
}

/** Stubs for tools of the history that are no longer offered: their calls require them, but no new calls may follow. */
function stubFields(called: readonly string[], { options }: MessagesTarget): EncodedTools['fields'] {
  if (called.length === 0) return {}
  const stubs = [...new Set(called)].map((name) => ({ name, input_schema: { type: 'object', properties: {} } }))
  return { tools: stubs, ...(options.none_tool_choice ? { tool_choice: { type: 'none' } } : {}) }
}

function encodeFunctions(functions: readonly FlatTool[], target: MessagesTarget, dropped: string[]): JsonObject[] {
  const { strict_tools: known } = rulesFor(target)
  const tooMany = functions.filter(({ strict }) => strict === true).length > MAX_STRICT_TOOLS
  if (known && tooMany) dropped.push('tools: strict, for there are too many')
  const unfolding = new Unfolding()
  return functions.map((tool) => encodeTool(tool, target, known && !tooMany, unfolding, dropped))
}

function encodeTool(tool: FlatTool, target: MessagesTarget, strictTools: boolean, unfolding: Unfolding, dropped: string[]): JsonObject {
  const { schema, note } = takenMembers(toolInputSchema(tool.parameters, unfolding))
  const wanted = strictTools && tool.strict === true
  const isOpen = wanted && hasOpenObjects(schema)
  const strict = wanted && note === undefined && !isOpen
  if (wanted && !strict) dropped.push(isOpen ? `tools: ${STRICT_WITH_MAPS}` : NOT_STRICT)
  const isEager = tool.isEager === true && target.options.eager_tools
  if (tool.isEager === true && !isEager) dropped.push('tools: eager_input_streaming')
  // Examples would have to match the reduced schema.
  const misfits = note === undefined ? undefined : examplesText(tool.examples ?? [])
  const description = noted(noted(tool.description, note), misfits)
  return {
    name: tool.name,
    ...(description === undefined ? {} : { description }),
    input_schema: strict ? sanitizeSchema(schema) : schema,
    ...(strict ? { strict: true } : {}),
    ...(isEager ? { eager_input_streaming: true } : {}),
    ...(tool.examples === undefined || misfits !== undefined ? {} : { input_examples: tool.examples }),
    ...markOf(tool, target),
  }
}

function encodeChoice(
  choice: FlatChoice | undefined,
  oneAtATime: boolean,
  options: AnthropicMessagesOptions,
  dropped: string[],
): JsonObject | undefined {
  const single = oneAtATime ? { disable_parallel_tool_use: true } : {}
  switch (choice?.mode) {
    case 'named':
      return { type: 'tool', name: choice.name, ...single }
    case 'required':
      return { type: 'any', ...single }
    case 'none':
      if (options.none_tool_choice) return { type: 'none' }
      dropped.push('tool_choice: none')
      return undefined
    case 'auto':
      return { type: 'auto', ...single }
    case undefined:
      return oneAtATime ? { type: 'auto', ...single } : undefined
  }
}
