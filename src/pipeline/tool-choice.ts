import { GatewayError } from '../core/error.ts'
import type { ServerTool } from '../core/extension.ts'
import type { FunctionTool, JsonObject, ToolChoice } from '../core/item.ts'
import type { ToolSource } from '../core/tool-source.ts'
import type { ToolRegistry } from './tool-registry.ts'
import type { Offer, OfferedTool } from './offered-tool.ts'

export function checkDeferral(choice: ToolChoice | undefined): void {
  if (choice === undefined || choice === 'auto' || (typeof choice === 'object' && choice.type === 'allowed_tools')) return
  throw new GatewayError(
    'invalid_request',
    'tool_choice contradicts deferred tools, which become callable one by one: leave it out, or name what is callable at once as "allowed_tools"',
    { path: 'tool_choice' },
  )
}

interface ChoiceScene {
  readonly byFunction: ReadonlyMap<string, OfferedTool>
  /** Type of the provider's own tool, by the gateway's tool it replaces. */
  readonly theirs: ReadonlyMap<ServerTool, string>
  readonly hostedSources: ReadonlySet<ToolSource>
  /** Types of the caller's entries. */
  readonly types: ReadonlySet<string>
  readonly registry: ToolRegistry
}

type Named = { readonly type: string; readonly name?: string }

/** A choice of server tools, translated to what stands for them: functions, or the provider's own tool. */
export function translateChoice(choice: ToolChoice | undefined, scene: ChoiceScene): ToolChoice | undefined {
  if (choice === undefined || typeof choice === 'string') return choice
  const allowed = allowedBy(choice)
  if (allowed !== undefined) return { ...choice, tools: allowed.flatMap((entry): readonly JsonObject[] => standIns(entry, scene) ?? [entry]) }
  const found = standIns(choice, scene)
  if (found === undefined) return choice
  if (found.length > 1) return { type: 'allowed_tools', mode: 'required', tools: found }
  // If the server could not be reached, its functions cannot be forced.
  return found[0] ?? 'auto'
}

/** What a choice stands for; undefined for choices that are not about server tools. */
function standIns(wanted: JsonObject, { byFunction, theirs, hostedSources, types, registry }: ChoiceScene): readonly Named[] | undefined {
  const { type } = wanted
  if (typeof type !== 'string' || type === 'function' || type === 'allowed_tools') return undefined
  const source = registry.source(type)
  if (source !== undefined) {
    if (hostedSources.has(source)) return undefined
    const fields = { ...wanted, type: source.type }
    return [...byFunction.values()]
      .filter((offered) => isChosen(offered, fields))
      .map(({ functionName }) => ({ type: 'function', name: functionName }))
  }
  // The contract's choices know some of the gateway's tools only by their vendors' names.
  const tool = registry.find(type) ?? (types.has(type) ? undefined : registry.named(type))
  if (tool === undefined) return undefined
  const hosted = theirs.get(tool)
  if (hosted !== undefined) return [{ type: hosted }]
  const name = [...byFunction.values()].find((offered) => offered.tool === tool)?.functionName
  return name === undefined ? undefined : [{ type: 'function', name }]
}

/** Whether every field of the choice fits the tool. */
function isChosen({ choice }: Pick<OfferedTool, 'choice'>, wanted: JsonObject): boolean {
  return choice !== undefined && Object.entries(wanted).every(([field, value]) => value == null || choice[field] === value)
}

/**
 * Finds the first tool that every field of a choice fits. A history may hold tens of thousands of calls and a request thousands of functions, so they are
 * looked through once for all choices that name the same fields.
 */
export function choiceFinder(tools: Iterable<OfferedTool>): (wanted: JsonObject) => OfferedTool | undefined {
  const choosable = [...tools].flatMap((offered) => (offered.choice === undefined ? [] : [{ offered, choice: offered.choice }]))
  const byFields = new Map<string, Map<string, OfferedTool>>()
  return (wanted) => {
    const fields = Object.keys(wanted).filter((field) => wanted[field] != null)
    const names = JSON.stringify(fields)
    let byValues = byFields.get(names)
    if (byValues === undefined) {
      byValues = new Map()
      for (const { offered, choice } of choosable) {
        const values = JSON.stringify(fields.map((field) => choice[field]))
        if (!byValues.has(values)) byValues.set(values, offered)
      }
      byFields.set(names, byValues)
    }
    return byValues.get(JSON.stringify(fields.map((field) => wanted[field])))
  }
}

/** The tools that a choice allows, if it is a list. */
function allowedBy(choice: ToolChoice | undefined): readonly JsonObject[] | undefined {
  if (typeof choice !== 'object' || choice.type !== 'allowed_tools' || !('tools' in choice) || !Array.isArray(choice.tools)) return undefined
  return choice.tools as readonly JsonObject[]
}

const isNamed = (list: readonly JsonObject[], wanted: string): boolean => list.some(({ type, name }) => type === 'function' && name === wanted)

/** Whether a list of allowed tools leaves this one out. Endpoints are told the list, but models also call what they remember from earlier turns. */
export function isLeftOut({ functionName }: Pick<OfferedTool, 'functionName'>, choice: ToolChoice | undefined): boolean {
  const allowed = allowedBy(choice)
  return allowed !== undefined && !isNamed(allowed, functionName)
}

/** The deferred functions that a search may find. A list of allowed tools says what is callable at once; if it names deferred ones, only those. */
export function findable(deferred: readonly FunctionTool[], choice: ToolChoice | undefined): readonly FunctionTool[] {
  const allowed = allowedBy(choice)
  const named = allowed === undefined ? [] : deferred.filter(({ name }) => isNamed(allowed, name))
  return named.length > 0 ? named : deferred
}

/** The choice once these functions were found, which a list of allowed tools would otherwise exclude. */
export function allowFound(choice: ToolChoice | undefined, found: readonly FunctionTool[]): ToolChoice | undefined {
  const allowed = allowedBy(choice)
  if (allowed === undefined || typeof choice !== 'object') return choice
  const added = found.filter(({ name }) => !isNamed(allowed, name)).map(({ name }) => ({ type: 'function', name }))
  return added.length === 0 ? choice : { ...choice, tools: [...allowed, ...added] }
}

/** The choice for turns after the first. A forced server tool has been called by then; forcing it again would never end. */
export function relaxChoice(choice: ToolChoice | undefined, offer: Offer, original: ToolChoice | undefined): ToolChoice | undefined {
  if (choice === 'required') return 'auto'
  if (typeof choice !== 'object') return choice
  if (choice.type === 'function') return offer.byFunction.has(String((choice as { readonly name?: unknown }).name)) ? 'auto' : choice
  if (choice.type !== 'allowed_tools') return choice
  // A forced server became a list of its functions here; the caller never asked for a restriction to them.
  if (typeof original === 'object' && original.type !== 'allowed_tools') return 'auto'
  return (choice as { readonly mode?: unknown }).mode === 'required' ? { ...choice, mode: 'auto' } : choice
}
