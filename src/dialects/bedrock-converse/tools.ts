import type { JsonObject } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { ANSWER_NAMES, withAnswerTool } from '../shared/format-plan.ts'
import type { FormatPlan } from '../shared/format-plan.ts'
import { NOT_STRICT, noted, takenMembers } from '../shared/member-names.ts'
import { hasOpenObjects, STRICT_WITH_MAPS } from '../shared/open-objects.ts'
import { sanitizeSchema, toolInputSchema } from '../shared/sanitize-schema.ts'
import { Unfolding } from '../shared/unfolding.ts'
import { COMMON_TOOL_NAMES } from '../shared/tool-names.ts'
import type { NameRule } from '../shared/tool-names.ts'
import { isForced, NOT_FORCED, onlyChosen } from '../shared/tool-choice.ts'
import { flattenTools } from '../shared/tools.ts'
import type { FlatChoice, FlatTool, FlatTools } from '../shared/tools.ts'
import type { Conversation } from '../shared/conversation.ts'
import { bareSchema } from './bare-schema.ts'
import { cachePointOf, type CachePlan } from './cache-points.ts'
import type { ModelTraits } from './model-traits.ts'

const NAMES: NameRule = { ...COMMON_TOOL_NAMES, taken: ANSWER_NAMES }

/** Whether the answer must not be streamed because it may contain calls. The tools field is also required for calls of earlier turns. */
export function asksWhole({ tools, text, input }: ModelRequest, { streamed_tools: streams, tools: takes }: ModelTraits): boolean {
  if (streams || !takes) return false
  return (tools?.length ?? 0) > 0 || text?.format?.type === 'json_schema' || input.some(({ type }) => type.endsWith('_call'))
}

/** The caller's tools under names that this format accepts; the decoder calls this again for the reverse mapping. */
export function toolsOf(request: Pick<ModelRequest, 'tools' | 'tool_choice'>): FlatTools {
  return flattenTools(request, NAMES)
}

export interface Offer {
  readonly tools: readonly FlatTool[]
  readonly choice: FlatChoice | undefined
  /** The choice in the model's own field, if it has one and the format's is less expressive. */
  readonly nativeChoice: JsonObject | undefined
  /** Whether past calls must be sent as text. */
  readonly textCalls: boolean
}

/** The tools and the choice among them. A history with calls requires a list of tools, even if none may be called. */
export function planTools(flat: FlatTools, format: FormatPlan, conversation: Conversation, traits: ModelTraits, dropped: string[]): Offer {
  const called = calledNames(conversation)
  if (!traits.tools) return { tools: [], choice: undefined, nativeChoice: undefined, textCalls: called.length > 0 }
  const { tools, choice } = withAnswerTool(flat.tools, flat.choice, format.answerTool)
  if (choice?.mode === 'none') {
    if (!traits.native_tool_choice || called.length === 0)
      return { tools: [], choice: undefined, nativeChoice: undefined, textCalls: called.length > 0 }
    return { tools: withStubs(tools, called), choice, nativeChoice: { type: 'none' }, textCalls: false }
  }
  const possible = possibleChoice({ tools, choice }, traits, dropped)
  return { ...possible, tools: called.length === 0 ? possible.tools : withStubs(possible.tools, called), nativeChoice: undefined, textCalls: false }
}

/** The choice as far as this model supports it; an unsupported choice restricts the list of tools instead. */
function possibleChoice({ tools, choice }: Pick<Offer, 'tools' | 'choice'>, traits: ModelTraits, dropped: string[]): Pick<Offer, 'tools' | 'choice'> {
  if (isForced(choice) && !traits.forced_tools) {
    dropped.push(NOT_FORCED)
    return { tools: onlyChosen(tools, choice), choice: { mode: 'auto' } }
  }
  if (choice?.mode === 'named' && !traits.tool_choices.includes('tool')) {
    tools = onlyChosen(tools, choice)
    choice = { mode: 'required' }
  }
  if (choice?.mode !== 'required') return { tools, choice }
  if (tools.length === 1 && traits.tool_choices.includes('tool')) return { tools, choice: { mode: 'named', name: tools[0]!.name } }
  if (traits.tool_choices.includes('any')) return { tools, choice }
  dropped.push('tool_choice')
  return { tools, choice: { mode: 'auto' } }
}

function calledNames({ turns }: Conversation): string[] {
  const names = turns.flatMap((turn) => (turn.role === 'assistant' ? turn.parts.flatMap((part) => (part.type === 'call' ? [part.name] : [])) : []))
  return [...new Set(names)]
}

/** Tools of the history that are no longer offered must still be listed if there are no others. */
function withStubs(tools: readonly FlatTool[], called: readonly string[]): readonly FlatTool[] {
  if (tools.length > 0) return tools
  return called.map((name) => ({ name, description: 'No longer available.', parameters: { type: 'object', properties: {} } }))
}

/** The list of tools, with cache points after those that have a breakpoint, if the model accepts points here. */
export function toolList({ tools }: Offer, systemTools: readonly string[], traits: ModelTraits, cache: CachePlan, dropped: string[]): JsonObject[] {
  const unfolding = new Unfolding()
  const specs = tools.flatMap((tool): JsonObject[] => [
    { toolSpec: toolSpec(tool, traits, unfolding, dropped) },
    ...(traits.cache_tools ? cachePointOf(tool, cache) : []),
  ])
  return [...specs, ...systemTools.map((name) => ({ systemTool: { name } }))]
}

/** The field `toolConfig`, if there are any tools. */
export function toolConfig(list: readonly JsonObject[], { tools, choice, nativeChoice }: Offer, traits: ModelTraits): JsonObject {
  if (list.length === 0) return {}
  const chosen = choice === undefined || nativeChoice !== undefined || tools.length === 0 ? {} : encodeChoice(choice, traits)
  return { toolConfig: { tools: list, ...chosen } }
}

/**
 * The service requires an object at the top level of the schema. Models that require closed schemas do not accept a choice of schemas there either.
 */
function toolSpec(tool: FlatTool, traits: ModelTraits, unfolding: Unfolding, dropped: string[]): JsonObject {
  const { name, description } = tool
  if (!traits.closed_schemas) {
    // The schema's own identifiers do not describe the input, and some of these models refuse unknown keys.
    const { $schema: _dialect, $id: _id, ...parameters } = tool.parameters
    const json = traits.bare_schemas ? bareSchema(tool.parameters, unfolding) : { ...parameters, type: 'object' }
    const strict = traits.strict_tools && tool.strict === true ? { strict: true } : {}
    return { name, ...(description === undefined ? {} : { description }), inputSchema: { json }, ...strict }
  }
  const { schema, note } = takenMembers(toolInputSchema(tool.parameters, unfolding))
  const wanted = traits.strict_tools && tool.strict === true
  const isOpen = wanted && hasOpenObjects(schema)
  const strict = wanted && note === undefined && !isOpen
  if (wanted && !strict) dropped.push(isOpen ? `tools: ${STRICT_WITH_MAPS}` : NOT_STRICT)
  const withNote = noted(description, note)
  return {
    name,
    ...(withNote === undefined ? {} : { description: withNote }),
    inputSchema: { json: strict ? sanitizeSchema(schema) : schema },
    ...(strict ? { strict: true } : {}),
  }
}

function encodeChoice(choice: FlatChoice, traits: ModelTraits): JsonObject {
  if (choice.mode === 'named') return { toolChoice: { tool: { name: choice.name } } }
  if (choice.mode === 'required') return { toolChoice: { any: {} } }
  // Not sent, as it is the default and some models refuse the field.
  return traits.tool_choices.includes('auto') && traits.tool_choices.length > 1 ? { toolChoice: { auto: {} } } : {}
}
