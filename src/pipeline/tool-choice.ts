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
  const standIns = standInsOf(scene)
  const allowed = allowedBy(choice)
  if (allowed !== undefined) return { ...choice, tools: translateList(allowed, standIns) }
  const found = standIns(choice)
  if (found === undefined) return choice
  if (found.length > 1) return { type: 'allowed_tools', mode: 'required', tools: found }
  // If the server could not be reached, its functions cannot be forced.
  return found[0] ?? 'auto'
}

type StandIns = (wanted: JsonObject) => readonly Named[] | undefined

/** A few bytes may stand for all functions of a server: each is named once, however often the list means it. */
function translateList(allowed: readonly JsonObject[], standIns: StandIns): readonly JsonObject[] {
  const known = new Set<string>()
  const isNews = ({ type, name = '' }: Named): boolean => {
    const key = `${type}\n${name}`
    return known.size < known.add(key).size
  }
  const meant = new Set<readonly Named[]>()
  return allowed.flatMap((entry): readonly JsonObject[] => {
    const found = standIns(entry)
    if (found === undefined) return [entry]
    if (meant.has(found)) return []
    meant.add(found)
    return found.filter(isNews)
  })
}

/** What a choice stands for; undefined for choices that are not about server tools. The same list for what the same functions stand for. */
function standInsOf({ byFunction, theirs, hostedSources, types, registry }: ChoiceScene): StandIns {
  const index = choiceIndex(byFunction.values())
  const named = new Map<readonly OfferedTool[], readonly Named[]>()
  const byTool = new Map<ServerTool, readonly Named[]>()
  const standIn = ({ functionName }: OfferedTool): Named => ({ type: 'function', name: functionName })
  return (wanted) => {
    const { type } = wanted
    if (typeof type !== 'string' || type === 'function' || type === 'allowed_tools') return undefined
    const source = registry.source(type)
    if (source !== undefined) {
      if (hostedSources.has(source)) return undefined
      const chosen = index({ ...wanted, type: source.type })
      if (!named.has(chosen)) named.set(chosen, chosen.map(standIn))
      return named.get(chosen)
    }
    // The contract's choices know some of the gateway's tools only by their vendors' names.
    const tool = registry.find(type) ?? (types.has(type) ? undefined : registry.named(type))
    if (tool === undefined) return undefined
    const hosted = theirs.get(tool)
    if (hosted !== undefined) return [{ type: hosted }]
    if (byTool.size === 0) for (const offered of byFunction.values()) if (!byTool.has(offered.tool)) byTool.set(offered.tool, [standIn(offered)])
    return byTool.get(tool)
  }
}

const NONE: readonly OfferedTool[] = []

/**
 * Finds the tools that every field of a choice fits. A history may hold tens of thousands of calls, a list of allowed tools as many entries, and a request
 * thousands of functions: these are looked through once for all choices that name the same fields.
 */
export function choiceIndex(tools: Iterable<OfferedTool>): (wanted: JsonObject) => readonly OfferedTool[] {
  const choosable = [...tools].flatMap((offered) => (offered.choice === undefined ? [] : [{ offered, choice: offered.choice }]))
  const known = new Set(choosable.flatMap(({ choice }) => Object.keys(choice)))
  const byFields = new Map<string, ReadonlyMap<string, readonly OfferedTool[]>>()
  return (wanted) => {
    const fields = Object.keys(wanted).filter((field) => wanted[field] != null)
    if (!fields.every((field) => known.has(field))) return NONE
    const valuesIn = (choice: JsonObject): string => JSON.stringify(fields.map((field) => choice[field]))
    const names = JSON.stringify(fields)
    let byValues = byFields.get(names)
    if (byValues === undefined) {
      const groups = Map.groupBy(choosable, ({ choice }) => valuesIn(choice))
      byValues = new Map([...groups].map(([values, group]) => [values, group.map(({ offered }) => offered)]))
      byFields.set(names, byValues)
    }
    return byValues.get(valuesIn(wanted)) ?? NONE
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
  const names = new Set(allowed?.map(({ type, name }) => (type === 'function' ? name : undefined)))
  const named = deferred.filter(({ name }) => names.has(name))
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
