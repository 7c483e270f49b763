import { GatewayError, isGatewayError } from '../core/error.ts'
import type { Plugin, PluginEntry } from '../core/extension.ts'
import type { JsonObject } from '../core/item.ts'
import type { ModelRequest } from '../core/request.ts'
import { insteadOf } from '../lib/closest.ts'
import { memberPath } from '../lib/member-path.ts'
import { unknownKey } from '../lib/unknown-key.ts'
import { withoutNulls } from '../lib/without-nulls.ts'
import { parseModelName } from '../router/variants.ts'

/** A plugin that applies to a call, with its settings. */
export interface ActivePlugin {
  readonly plugin: Plugin
  readonly settings: unknown
}

/** The plugins of the gateway and the operator's defaults for them. Built once per configuration. */
export interface PluginRegistry {
  readonly plugins: readonly Plugin[]
  readonly byId: ReadonlyMap<string, Plugin>
  readonly defaults: ReadonlyMap<string, PluginEntry>
  /** Some plugin runs for calls that name none. */
  readonly always: boolean
  readonly implied: readonly Plugin[]
  readonly suffixed: readonly Plugin[]
  /** Plugins that adapt requests to endpoints in every call, with the operator's settings. */
  readonly standing: readonly ActivePlugin[]
}

/** Throws `invalid_request` for defaults that name no plugin, have invalid or unknown settings, or switch on a plugin that cannot serve any call. */
export function createPluginRegistry(plugins: readonly Plugin[], defaults: readonly PluginEntry[]): PluginRegistry {
  const byId = new Map(plugins.map((plugin) => [plugin.id, plugin]))
  for (const [index, entry] of defaults.entries()) {
    const path = `defaults.plugins[${index}]`
    const plugin = byId.get(entry.id)
    if (plugin === undefined) throw refuse(`${path}.id`, `is "${entry.id}", which is not a plugin; ${insteadOf(entry.id, [...byId.keys()])}`)
    refuseUnknown(plugin, entry, path)
    const settings = readSettings(plugin, entry, path)
    if (entry['enabled'] !== false) checkDefault(plugin, settings, path)
  }
  const entries = new Map(defaults.map((entry) => [entry.id, entry]))
  return {
    plugins,
    byId,
    defaults: entries,
    always: [...entries.values()].some(({ enabled }) => enabled !== false),
    // One that runs on its own is off where the operator says so. Others are asked for by the name of a model.
    implied: plugins.filter((plugin) => plugin.implied !== undefined && !(plugin.adapts?.standing !== undefined && isOff(entries.get(plugin.id)))),
    suffixed: plugins.filter(({ suffix }) => suffix !== undefined),
    standing: plugins.flatMap((plugin) => {
      const entry = entries.get(plugin.id)
      if (plugin.adapts?.standing === undefined || isOff(entry)) return []
      return [{ plugin, settings: entry === undefined ? plugin.adapts.standing : readSettings(plugin, entry, plugin.id) }]
    }),
  }
}

const isOff = (entry: PluginEntry | undefined): boolean => entry?.['enabled'] === false

const NONE: readonly ActivePlugin[] = []

/**
 * The plugins that apply to a request, in order, with the request's settings over the operator's. Undefined if neither names any. Throws
 * `invalid_request` for settings that a plugin refuses, or a plugin this gateway does not have.
 */
export function selectPlugins(request: ModelRequest, registry: PluginRegistry): readonly ActivePlugin[] | undefined {
  const implied = impliedBy(request, registry)
  if (request.plugins === undefined && implied === undefined && !registry.always) return undefined
  const indexes = new Map<string, number>()
  for (const [index, { id }] of (request.plugins ?? []).entries()) {
    if (!registry.byId.has(id))
      throw refuse(`plugins[${index}].id`, `is "${id}", which this gateway does not have; it has ${[...registry.byId.keys()].join(', ')}`)
    indexes.set(id, index)
  }
  const active: ActivePlugin[] = []
  for (const plugin of registry.plugins) {
    const index = indexes.get(plugin.id)
    const own = index === undefined ? undefined : (withoutNulls(request.plugins![index]) as PluginEntry)
    const entry = merge(own, registry.defaults.get(plugin.id), implied?.includes(plugin) === true)
    if (entry === undefined) continue
    active.push({ plugin, settings: readSettings(plugin, entry, index === undefined ? plugin.id : `plugins[${index}]`) })
  }
  return active.length === 0 ? NONE : active
}

/** Whether the caller switched off a plugin that would otherwise run for every call. */
export function isSwitchedOff(request: ModelRequest, id: string, registry: PluginRegistry): boolean {
  if (registry.defaults.get(id)?.['prevent_overrides'] === true) return false
  return request.plugins?.findLast((entry) => entry.id === id)?.['enabled'] === false
}

/** Merges the request's entry, the operator's default and the model's suffix; undefined if the plugin does not run. */
function merge(own: PluginEntry | undefined, standard: PluginEntry | undefined, implied: boolean): PluginEntry | undefined {
  if (standard?.['prevent_overrides'] === true) return standard['enabled'] === false ? undefined : standard
  if (own !== undefined) return own['enabled'] === false ? undefined : { ...standard, ...own }
  if (implied) return standard ?? { id: '' }
  return standard === undefined || standard['enabled'] === false ? undefined : standard
}

function impliedBy(request: ModelRequest, { suffixed, implied }: PluginRegistry): readonly Plugin[] | undefined {
  let found: Plugin[] | undefined
  for (const plugin of implied) if (plugin.implied!(request)) (found ??= []).push(plugin)
  if (suffixed.length > 0 && (hasSuffix(request.model) || request.models?.some(hasSuffix) === true)) {
    for (const name of [request.model, ...(request.models ?? [])]) {
      if (name === undefined) continue
      const { effects } = parseModelName(name)
      for (const plugin of suffixed) if (effects[plugin.suffix!] === true) (found ??= []).push(plugin)
    }
  }
  return found
}

const hasSuffix = (name: string | undefined): boolean => name?.includes(':') === true

/** Fields of an entry that belong to the gateway, not the plugin. */
const OWN_FIELDS = ['id', 'enabled', 'prevent_overrides']

/** Requests may carry fields for other gateways; what the operator writes is meant for this one. */
function refuseUnknown({ settings }: Plugin, entry: JsonObject, path: string): void {
  const fields = Object.fromEntries(Object.entries(entry).filter(([field]) => !OWN_FIELDS.includes(field)))
  const unknown = unknownKey(settings, fields)
  if (unknown === undefined) return
  const known = unknown.path.length === 1 ? [...OWN_FIELDS, ...unknown.known] : unknown.known
  throw refuse([path, ...unknown.path].join('.'), `unknown setting; ${insteadOf(unknown.path.at(-1)!, known)}`)
}

/** A default that is on and cannot serve any call would fail them all. */
function checkDefault(plugin: Plugin, settings: unknown, path: string): void {
  try {
    plugin.check?.(settings)
  } catch (error) {
    throw isGatewayError(error) ? refuse(path, error.message) : error
  }
}

function readSettings(plugin: Plugin, entry: JsonObject, path: string): unknown {
  const { id: _, enabled: __, prevent_overrides: ___, ...fields } = entry
  const read = plugin.settings.safeParse(fields)
  if (read.success) return read.data
  const issue = read.error.issues[0]
  throw refuse(memberPath(path, issue?.path ?? []), issue?.message ?? 'is not valid')
}

const refuse = (path: string, what: string): GatewayError => new GatewayError('invalid_request', `${path}: ${what}`, { path })
