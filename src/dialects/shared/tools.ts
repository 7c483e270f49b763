import { isCustomTool, isFunctionTool } from '../../core/item.ts'
import type { CacheMarked, CustomTool, FunctionTool, JsonObject, Tool, ToolChoice } from '../../core/item.ts'
import { markOf } from './cache-mark.ts'
import { functionParameters } from './function-parameters.ts'
import { asString, isObject } from './json.ts'
import { noted } from './member-names.ts'
import { createToolNames } from './tool-names.ts'
import type { NameRule, ToolNames } from './tool-names.ts'

/** A tool as a plain function, whatever it was: what every dialect but the native one can offer. */
export interface FlatTool extends CacheMarked {
  /** The endpoint's name, already mapped. */
  readonly name: string
  readonly description?: string
  readonly parameters: JsonObject
  readonly strict?: boolean
  readonly isEager?: boolean
  /** Examples of its input, if `keepExamples` was set. */
  readonly examples?: readonly JsonObject[]
}

/** A tool choice independent of the contract's spellings. `name` is the endpoint's. */
export type FlatChoice = { readonly mode: 'auto' | 'none' | 'required' } | { readonly mode: 'named'; readonly name: string }

export interface FlatTools {
  readonly tools: readonly FlatTool[]
  /** Undefined if the caller chose nothing, or there is nothing to choose from. */
  readonly choice?: FlatChoice
  readonly names: ToolNames
  readonly dropped: readonly string[]
}

interface ToolSource {
  readonly tools?: readonly Tool[]
  readonly tool_choice?: ToolChoice
}

const INPUT_DESCRIPTION = 'The complete input of the tool, as plain text.'

/** An endpoint without free-form tools cannot enforce the grammar, so the model is told about it. */
function customDescription(tool: CustomTool): string {
  const { format } = tool
  const grammar = format?.type === 'grammar' ? `The input must match this ${format.syntax} grammar:\n${format.definition}` : undefined
  return [tool.description, grammar].filter((text) => text !== undefined && text !== '').join('\n\n')
}

/** Examples as text for the model, for formats without a field for them; undefined if there are none. */
export const examplesText = (examples: readonly JsonObject[]): string | undefined =>
  examples.length === 0 ? undefined : `Examples of its input:\n${examples.map((example) => JSON.stringify(example)).join('\n')}`

/** The caller's examples of a tool's input; what is no object is no example. */
export const examplesOf = ({ input_examples: examples }: FunctionTool): readonly JsonObject[] =>
  Array.isArray(examples) ? examples.filter((example) => isObject(example)) : []

function flatFunction(tool: FunctionTool, name: string, keepExamples: boolean): FlatTool {
  const examples = examplesOf(tool)
  const description = noted(tool.description ?? undefined, keepExamples ? undefined : examplesText(examples))
  return {
    name,
    ...(description === undefined || description === '' ? {} : { description }),
    ...(keepExamples && examples.length > 0 ? { examples } : {}),
    parameters: functionParameters(tool.parameters),
    ...(tool.strict == null ? {} : { strict: tool.strict }),
    ...(tool.eager_input_streaming === true ? { isEager: true } : {}),
    ...markOf(tool),
  }
}

/** A free-form tool as a function with one string, `input`. */
function flatCustom(tool: CustomTool, name: string): FlatTool {
  const description = customDescription(tool)
  return {
    name,
    ...(description === '' ? {} : { description }),
    parameters: {
      type: 'object',
      properties: { input: { type: 'string', description: INPUT_DESCRIPTION } },
      required: ['input'],
      additionalProperties: false,
    },
    ...markOf(tool),
  }
}

interface Listed {
  readonly tool: FunctionTool | CustomTool
  readonly namespace?: string
}

/** Functions and free-form tools, including those in namespaces; everything else is a vendor's or the gateway's own tool and is noted in `dropped`. */
function listTools(tools: readonly Tool[], dropped: string[]): Listed[] {
  const listed: Listed[] = []
  for (const tool of tools) {
    if (isFunctionTool(tool) || isCustomTool(tool)) listed.push({ tool })
    else if (tool.type === 'namespace' && Array.isArray(tool['tools'])) {
      const namespace = asString(tool['name'])
      for (const inner of tool['tools'] as readonly Tool[]) {
        if (!isFunctionTool(inner) && !isCustomTool(inner)) dropped.push(`tools: ${(inner as Tool).type}`)
        else listed.push({ tool: inner, ...(namespace === undefined ? {} : { namespace }) })
      }
    } else dropped.push(`tools: ${tool.type}`)
  }
  return listed
}

/**
 * The caller's tools as functions with names the endpoint accepts, and the choice among them. Namespaces are flattened, free-form tools wrapped, and
 * `allowed_tools` narrows the list. Tools whose results may come later become ordinary ones. The names of the result can be mapped back to the caller's
 * tools.
 */
export function flattenTools(source: ToolSource, rule: NameRule, { keepExamples = false } = {}): FlatTools {
  const dropped: string[] = []
  const names = createToolNames(rule)
  const listed = listTools(source.tools ?? [], dropped)
  if (listed.length === 0) return chosen([], source.tool_choice, names, dropped)
  if (listed.some(({ tool }) => tool.async === true)) dropped.push('tools: async')
  // Names that need no change are assigned first, so that a rewritten name never takes one of them.
  const asIs = ({ tool, namespace }: Listed): boolean => namespace === undefined && tool.name.length <= rule.max && rule.pattern.test(tool.name)
  for (const entry of [...listed.filter(asIs), ...listed.filter((each) => !asIs(each))]) {
    names.upstream(entry.tool.name, entry.namespace, entry.tool.type)
  }
  const all = listed.map(({ tool, namespace }) => {
    const name = names.upstream(tool.name, namespace)
    return isFunctionTool(tool) ? flatFunction(tool, name, keepExamples) : flatCustom(tool, name)
  })
  // Duplicate names are refused everywhere; the first tool stays.
  const unique = [...new Map(all.toReversed().map((tool) => [tool.name, tool])).values()].toReversed()
  return chosen(unique, source.tool_choice, names, dropped)
}

function chosen(all: readonly FlatTool[], requested: ToolChoice | undefined, names: ToolNames, dropped: string[]): FlatTools {
  const { tools, choice } = narrow(all, requested, names, dropped)
  return { tools, ...(choice === undefined || tools.length === 0 ? {} : { choice }), names, dropped }
}

function narrow(
  tools: readonly FlatTool[],
  choice: ToolChoice | undefined,
  names: ToolNames,
  dropped: string[],
): { tools: readonly FlatTool[]; choice?: FlatChoice } {
  if (choice == null) return { tools }
  if (typeof choice === 'string') return { tools, choice: { mode: choice } }
  // By the caller's name, and among equals the tool outside of namespaces. A map, because a choice may name as many tools as there are.
  const known = new Map<string, FlatTool>()
  const learn = (name: string, tool: FlatTool): void => void (known.has(name) || known.set(name, tool))
  const origins = tools.map((tool) => [names.origin(tool.name), tool] as const)
  for (const [{ name, namespace }, tool] of origins) if (namespace === undefined) learn(name, tool)
  for (const [{ name }, tool] of origins) learn(name, tool)
  for (const tool of tools) learn(tool.name, tool)
  const find = (name: string | undefined): FlatTool | undefined => (name === undefined ? undefined : known.get(name))
  if (choice.type === 'allowed_tools' && Array.isArray(choice['tools'])) {
    const allowed = new Set(
      (choice['tools'] as readonly unknown[]).map((entry) => (isObject(entry) ? find(asString(entry['name']))?.name : undefined)),
    )
    return { tools: tools.filter((tool) => allowed.has(tool.name)), choice: { mode: choice['mode'] === 'required' ? 'required' : 'auto' } }
  }
  if (choice.type === 'function' || choice.type === 'custom') {
    const named = find(asString(choice['name']))
    if (named !== undefined) return { tools, choice: { mode: 'named', name: named.name } }
  }
  dropped.push('tool_choice')
  return { tools }
}
