import { z } from 'zod'
import type { Endpoint } from '../core/endpoint.ts'
import { GatewayError } from '../core/error.ts'
import type { ServerTool } from '../core/extension.ts'
import { canonicalType, ownName } from '../core/own-names.ts'
import type { ToolSource } from '../core/tool-source.ts'
import {
  isCustomTool,
  isFunctionTool,
  toolsWithin,
  type FunctionTool,
  type InputItem,
  type JsonObject,
  type OtherTool,
  type Tool,
} from '../core/item.ts'
import type { ModelRequest } from '../core/request.ts'
import { cutText } from '../lib/cut-text.ts'
import { memberPath } from '../lib/member-path.ts'
import { withoutNulls } from '../lib/without-nulls.ts'
import type { ToolRegistry } from './tool-registry.ts'
import { checkNested } from './nested-tools.ts'
import type { Offer, OfferedTool, PendingSource } from './offered-tool.ts'
import { checkDeferral, findable, translateChoice } from './tool-choice.ts'

export interface OfferOptions {
  readonly registry: ToolRegistry
  /** Endpoints that may serve the request: whether they run a tool themselves decides who does. */
  readonly endpoints: readonly Endpoint[]
  /** For a tool's own model call, in which agents are left out. */
  readonly nested: boolean
}

/** Each is compared with all others, and costs the model a description. */
const MAX_SERVER_TOOLS = 128
/** Of an unknown name, so that the error has room for the known ones. */
const MAX_SHOWN = 60

function checkCount(entries: readonly Tool[], { find, source }: ToolRegistry): void {
  const count = entries.reduce((sum, { type }) => (type !== 'function' && (source(type) ?? find(type)) !== undefined ? sum + 1 : sum), 0)
  if (count > MAX_SERVER_TOOLS)
    throw new GatewayError('invalid_request', `tools: names ${count} tools the gateway runs; at most ${MAX_SERVER_TOOLS} are allowed`, {
      path: 'tools',
    })
}

/**
 * Checks the caller's server tools and turns them into functions for the model, or into the provider's own tool if every endpoint has one. Throws
 * `invalid_request` for tools that do not exist here, lack what they need, or contradict the rest of the request.
 */
export function offerTools(request: ModelRequest, options: OfferOptions): Offer {
  const entries = request.tools ?? []
  checkCount(entries, options.registry)
  let names: ReadonlySet<string> | undefined
  // Most calls have no tool that needs a name, and conversations are long.
  const isTaken = (name: string): boolean => (names ??= namesOf(entries, request.input)).has(name)
  const types = new Set(entries.map(({ type }) => type))
  const byFunction = new Map<string, OfferedTool>()
  const renamed = new Map<string, string>()
  const theirs = new Map<ServerTool, string>()
  const tools: Tool[] = []
  const pending: PendingSource[] = []
  const hostedSources = new Set<ToolSource>()
  for (const [index, entry] of entries.entries()) {
    const source = entry.type === 'function' ? undefined : options.registry.source(entry.type)
    if (source !== undefined) {
      if (options.nested) continue
      const opened = readSource(source, entry as OtherTool, index, request, options.endpoints)
      if (opened.hosted === undefined) pending.push(opened.pending)
      else {
        tools.push(opened.hosted)
        hostedSources.add(source)
      }
      continue
    }
    const found = lookUp(entry, index, options)
    if (found === undefined) {
      tools.push(entry)
      continue
    }
    const { tool } = found
    if (tool.agent === true && options.nested) continue
    const settings = readSettings(tool, entry as OtherTool, index)
    const hosted = hostedBy(tool, settings, entry, entries, options.endpoints)
    if (hosted !== undefined) {
      // A provider has one tool of a kind and would refuse a second.
      if (theirs.has(tool)) continue
      tools.push(hosted.tool)
      theirs.set(tool, hosted.tool.type)
      if (hosted.itemType !== undefined && ownName(entry.type) !== undefined) renamed.set(hosted.itemType, entry.type)
      continue
    }
    if (tool.available?.(settings) === false && tool.spellings?.[entry.type] !== undefined) {
      // A provider's own tool that the gateway cannot replace goes on unchanged; endpoints without it report that.
      tools.push(entry)
      continue
    }
    const offered = offer(tool, settings, entry as OtherTool, index, { request, byFunction, isTaken })
    checkNested(tool, settings, index, options.registry)
    byFunction.set(offered.functionName, offered)
    tools.push(functionFor(offered))
  }
  const deferring = [...byFunction.values()].some(({ tool }) => tool.name === 'tool_search')
  const deferred = deferring ? tools.filter((tool): tool is FunctionTool => isFunctionTool(tool) && tool.defer_loading === true) : []
  const unseen = new Set<Tool>(deferred)
  const visible = tools.filter((tool) => !unseen.has(tool))
  if (deferred.length > 0) checkDeferral(request.tool_choice)
  const choose: Offer['choose'] = (functions) =>
    translateChoice(request.tool_choice, { byFunction: functions, theirs, hostedSources, types, registry: options.registry })
  return {
    tools: visible,
    byFunction,
    byItem: Map.groupBy(byFunction.values(), ({ itemType }) => canonicalType(itemType)),
    renamed,
    choice: choose(byFunction),
    choose,
    deferred: findable(deferred, request.tool_choice),
    pending,
    hostedSources,
  }
}

function readSource(
  source: ToolSource,
  entry: OtherTool,
  index: number,
  request: ModelRequest,
  endpoints: readonly Endpoint[],
): { readonly hosted: OtherTool; readonly pending?: never } | { readonly hosted?: never; readonly pending: PendingSource } {
  const settings = parseSettings(source, source.read?.(entry) ?? entry['parameters'] ?? {}, `tools[${index}]`)
  const wanted = source.hosted?.(settings, entry)
  const others = (request.tools ?? []).filter((other) => other !== entry)
  if (wanted !== undefined && isHosted(wanted.tool, others, endpoints, !wanted.only)) return { hosted: wanted.tool }
  const siblings = (request.tools ?? []).filter((other): other is OtherTool => other.type === source.type || ownName(other.type) === source.name)
  checked(index, () => source.check(settings, { request, siblings, instance: siblings.indexOf(entry) }))
  return { pending: { source, settings, type: entry.type } }
}

function lookUp(entry: Tool, index: number, { registry }: OfferOptions): { readonly tool: ServerTool } | undefined {
  if (entry.type === 'function') return undefined
  const tool = registry.find(entry.type)
  if (tool !== undefined) return { tool }
  const name = ownName(entry.type)
  if (name === undefined) return undefined
  throw new GatewayError(
    'invalid_request',
    `tools[${index}].type: there is no server tool "${cutText(name, MAX_SHOWN)}"; known are ${registry.names.join(', ')}`,
    {
      path: `tools[${index}].type`,
    },
  )
}

function readSettings(tool: ServerTool, entry: OtherTool, index: number): unknown {
  // Vendors' own tools have their fields beside the type.
  if (ownName(entry.type) === undefined) return parseSettings(tool, tool.readNative?.(entry) ?? {}, `tools[${index}]`)
  return parseSettings(tool, entry['parameters'] ?? {}, `tools[${index}].parameters`)
}

function parseSettings({ settings }: Pick<ServerTool, 'settings'>, value: unknown, at: string): unknown {
  const read = settings.safeParse(withoutNulls(value))
  if (read.success) return read.data
  const issue = read.error.issues[0]
  const path = memberPath(at, issue?.path ?? [])
  throw new GatewayError('invalid_request', `${path}: ${issue?.message ?? 'is not valid'}`, { path })
}

/** The provider's own tool, if all endpoints have it, or if some do and the gateway has none. */
function hostedBy(
  tool: ServerTool,
  settings: unknown,
  entry: Tool,
  entries: readonly Tool[],
  endpoints: readonly Endpoint[],
): { readonly tool: OtherTool; readonly itemType: string | undefined } | undefined {
  const wanted = tool.hosted?.(settings, entry.type)
  if (wanted === undefined || endpoints.length === 0) return undefined
  const others = entries.filter((other) => other !== entry)
  if (!isHosted(wanted, others, endpoints, tool.available?.(settings) !== false)) return undefined
  return { tool: ownName(entry.type) === undefined ? (entry as OtherTool) : wanted, itemType: tool.spellings?.[wanted.type] }
}

/** Whether endpoints run it: all of them, if the gateway could too; otherwise some. */
function isHosted(wanted: OtherTool, others: readonly Tool[], endpoints: readonly Endpoint[], able: boolean): boolean {
  if (endpoints.length === 0) return false
  const hosts = ({ connection: { dialect, options }, upstreamModel }: Endpoint): boolean =>
    dialect.hosts?.(wanted, others, { options, upstreamModel }) === true
  return able ? endpoints.every(hosts) : endpoints.some(hosts)
}

/** Adds the entry's place to errors about it. */
function checked(index: number, check: () => void): void {
  try {
    check()
  } catch (error) {
    if (error instanceof GatewayError) throw error.with({ path: `tools[${index}]` })
    throw error
  }
}

interface OfferScene {
  readonly request: ModelRequest
  readonly byFunction: ReadonlyMap<string, OfferedTool>
  readonly isTaken: (name: string) => boolean
}

function offer(tool: ServerTool, settings: unknown, entry: OtherTool, index: number, scene: OfferScene): OfferedTool {
  const siblings = (scene.request.tools ?? []).filter((other): other is OtherTool => other === entry || sameTool(other.type, entry.type, tool))
  const instance = siblings.indexOf(entry)
  checked(index, () => tool.check?.(settings, { request: scene.request, siblings, instance }))
  const functionName = freeName(tool.present?.(settings).name ?? tool.name, (name) => !scene.isTaken(name) && !scene.byFunction.has(name))
  return { tool, settings, type: entry.type, itemType: tool.spellings?.[entry.type] ?? entry.type, functionName, instance, tally: new Map(), uses: 0 }
}

/** Names of the caller's tools, wherever they stand: functions, and custom tools, which are functions for most upstreams. */
export const namesOf = (tools: readonly Tool[], input: readonly InputItem[]): Set<string> =>
  new Set([...tools, ...input.flatMap(toolsWithin)].flatMap((tool) => (isFunctionTool(tool) || isCustomTool(tool) ? [tool.name] : [])))

/** The caller's functions keep their names; other tools get free ones. */
export function freeName(base: string, isFree: (name: string) => boolean): string {
  let name = base
  for (let n = 0; !isFree(name); n++) name = n === 0 ? `gateway_${base}` : `gateway_${base}_${n + 1}`
  return name
}

const sameTool = (a: string, b: string, tool: ServerTool): boolean => a === b || (ownName(a) === tool.name && ownName(b) === tool.name)

const schemas = new WeakMap<ServerTool, JsonObject>()

function schemaOf(tool: ServerTool): JsonObject {
  if (tool.schema !== undefined) return tool.schema
  let schema = schemas.get(tool)
  if (schema === undefined) {
    const { $schema: _, ...rest } = z.toJSONSchema(tool.parameters, { io: 'input', unrepresentable: 'any' }) as JsonObject
    schema = rest
    schemas.set(tool, schema)
  }
  return schema
}

export function functionFor({ tool, settings, functionName }: OfferedTool): FunctionTool {
  return {
    type: 'function',
    name: functionName,
    description: tool.present?.(settings).description ?? tool.description,
    parameters: schemaOf(tool),
    strict: false,
  }
}
