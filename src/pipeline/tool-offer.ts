import { z } from 'zod'
import type { Endpoint } from '../core/endpoint.ts'
import { GatewayError } from '../core/error.ts'
import type { ServerTool } from '../core/extension.ts'
import { isFunctionTool, type FunctionTool, type JsonObject, type OtherTool, type Tool, type ToolChoice } from '../core/item.ts'
import type { ModelRequest } from '../core/request.ts'

/** One entry of the caller's `tools` that the gateway runs. */
export interface OfferedTool {
  readonly tool: ServerTool
  readonly settings: unknown
  /** As the caller spelled it. */
  readonly type: string
  /** Type of the items that stand for its calls, in the caller's spelling. */
  readonly itemType: string
  /** What the model calls it. */
  readonly functionName: string
  readonly instance: number
  readonly tally: Map<string, number>
  uses: number
}

/** The caller's tools as the model gets them. */
export interface Offer {
  readonly tools: readonly Tool[]
  readonly byFunction: ReadonlyMap<string, OfferedTool>
  /** Offered tools by the type of their items in a history. */
  readonly byItem: ReadonlyMap<string, OfferedTool>
  /** Types of items the provider answers with, and what the caller asked to see instead. */
  readonly renamed: ReadonlyMap<string, string>
  readonly choice: ToolChoice | undefined
  /** Functions the model does not see before a search has found them. */
  readonly deferred: readonly FunctionTool[]
}

/** The tools of the gateway, by every type callers may use. */
export interface ToolBelt {
  readonly find: (type: string) => ServerTool | undefined
  readonly names: readonly string[]
}

const OWN_PREFIX = 'gateway:'
const ALIAS_PREFIX = 'openrouter:'

/** The name in `gateway:<name>`, in either spelling. */
export function ownName(type: string): string | undefined {
  if (type.startsWith(OWN_PREFIX)) return type.slice(OWN_PREFIX.length)
  return type.startsWith(ALIAS_PREFIX) ? type.slice(ALIAS_PREFIX.length) : undefined
}

export function createToolBelt(tools: readonly ServerTool[]): ToolBelt {
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  const bySpelling = new Map(tools.flatMap((tool) => Object.keys(tool.spellings ?? {}).map((type) => [type, tool] as const)))
  return {
    find: (type) => {
      const name = ownName(type)
      return name === undefined ? bySpelling.get(type) : byName.get(name)
    },
    names: [...byName.keys()],
  }
}

/** Whether a request names a tool the gateway runs: the only price of this room for calls that do not. */
export function wantsTools(request: ModelRequest, belt: ToolBelt): boolean {
  const { tools } = request
  if (tools === undefined) return false
  for (const { type } of tools) if (type !== 'function' && (ownName(type) !== undefined || belt.find(type) !== undefined)) return true
  return false
}

export interface OfferOptions {
  readonly belt: ToolBelt
  /** Endpoints that may serve the request: whether they run a tool themselves decides who does. */
  readonly endpoints: readonly Endpoint[]
  /** Inside a tool's own model call: agents are left out. */
  readonly nested: boolean
}

/**
 * Checks the caller's server tools and turns them into functions for the model, or into the provider's own tool where every endpoint has
 * one. Throws `invalid_request` for tools that do not exist here, lack what they need, or contradict the rest of the request.
 */
export function offerTools(request: ModelRequest, options: OfferOptions): Offer {
  const entries = request.tools ?? []
  const taken = new Set(entries.filter(isFunctionTool).map(({ name }) => name))
  const byFunction = new Map<string, OfferedTool>()
  const byItem = new Map<string, OfferedTool>()
  const renamed = new Map<string, string>()
  const theirs = new Map<ServerTool, string>()
  const tools: Tool[] = []
  for (const [index, entry] of entries.entries()) {
    const found = lookUp(entry, index, options)
    if (found === undefined) {
      tools.push(entry)
      continue
    }
    const { tool } = found
    if (tool.agent === true && options.nested) continue
    const settings = readSettings(tool, entry as OtherTool, index)
    const hosted = hostedBy(tool, settings, entry, options.endpoints)
    if (hosted !== undefined) {
      tools.push(hosted.tool)
      theirs.set(tool, hosted.tool.type)
      if (hosted.itemType !== undefined && ownName(entry.type) !== undefined) renamed.set(hosted.itemType, entry.type)
      continue
    }
    if (tool.available?.(settings) === false && tool.spellings?.[entry.type] !== undefined) {
      // A provider's own tool nobody here can stand in for: it goes on as it came, and endpoints without it say so.
      tools.push(entry)
      continue
    }
    const offered = offer(tool, settings, entry as OtherTool, index, { request, byFunction, taken })
    byFunction.set(offered.functionName, offered)
    byItem.set(offered.itemType, offered)
    tools.push(functionFor(offered))
  }
  const deferring = [...byFunction.values()].some(({ tool }) => tool.name === 'tool_search')
  const deferred = deferring ? tools.filter((tool): tool is FunctionTool => isFunctionTool(tool) && tool.defer_loading === true) : []
  const visible = tools.filter((tool) => !(deferred as readonly Tool[]).includes(tool))
  if (deferred.length > 0) checkDeferral(request.tool_choice)
  return {
    tools: visible,
    byFunction,
    byItem,
    renamed,
    choice: translateChoice(request.tool_choice, { byFunction, theirs, belt: options.belt }),
    deferred,
  }
}

function lookUp(entry: Tool, index: number, { belt }: OfferOptions): { readonly tool: ServerTool } | undefined {
  if (entry.type === 'function') return undefined
  const tool = belt.find(entry.type)
  if (tool !== undefined) return { tool }
  const name = ownName(entry.type)
  if (name === undefined) return undefined
  throw new GatewayError('invalid_request', `tools[${index}].type: there is no server tool "${name}"; known are ${belt.names.join(', ')}`, {
    path: `tools[${index}].type`,
  })
}

function readSettings(tool: ServerTool, entry: OtherTool, index: number): unknown {
  const given = ownName(entry.type) === undefined ? (tool.readNative?.(entry) ?? {}) : (entry['parameters'] ?? {})
  const read = tool.settings.safeParse(given)
  if (read.success) return read.data
  const issue = read.error.issues[0]
  const path = [`tools[${index}]`, 'parameters', ...(issue?.path ?? []).map(String)].join('.')
  throw new GatewayError('invalid_request', `${path}: ${issue?.message ?? 'is not valid'}`, { path })
}

/** The provider's own tool, when all endpoints have it, or some and nobody else could do it. */
function hostedBy(
  tool: ServerTool,
  settings: unknown,
  entry: Tool,
  endpoints: readonly Endpoint[],
): { readonly tool: OtherTool; readonly itemType: string | undefined } | undefined {
  const wanted = tool.hosted?.(settings)
  if (wanted === undefined || endpoints.length === 0) return undefined
  const hosts = ({ connection }: Endpoint): boolean => connection.dialect.hosts?.(wanted.type, connection.options) === true
  const able = tool.available?.(settings) !== false
  if (!(able ? endpoints.every(hosts) : endpoints.some(hosts))) return undefined
  return { tool: ownName(entry.type) === undefined ? (entry as OtherTool) : wanted, itemType: tool.spellings?.[wanted.type] }
}

interface OfferScene {
  readonly request: ModelRequest
  readonly byFunction: ReadonlyMap<string, OfferedTool>
  readonly taken: ReadonlySet<string>
}

function offer(tool: ServerTool, settings: unknown, entry: OtherTool, index: number, scene: OfferScene): OfferedTool {
  const siblings = (scene.request.tools ?? []).filter((other): other is OtherTool => other === entry || sameTool(other.type, entry.type, tool))
  const instance = siblings.indexOf(entry)
  try {
    tool.check?.(settings, { request: scene.request, siblings, instance })
  } catch (error) {
    if (error instanceof GatewayError) throw error.with({ path: `tools[${index}]` })
    throw error
  }
  const base = tool.present?.(settings).name ?? tool.name
  const isFree = (name: string): boolean => !scene.taken.has(name) && !scene.byFunction.has(name)
  let functionName = base
  // The caller's functions keep their names.
  for (let n = 0; !isFree(functionName); n++) functionName = n === 0 ? `gateway_${base}` : `gateway_${base}_${n + 1}`
  return { tool, settings, type: entry.type, itemType: tool.spellings?.[entry.type] ?? entry.type, functionName, instance, tally: new Map(), uses: 0 }
}

const sameTool = (a: string, b: string, tool: ServerTool): boolean => a === b || (ownName(a) === tool.name && ownName(b) === tool.name)

const schemas = new WeakMap<ServerTool, JsonObject>()

function schemaOf(tool: ServerTool): JsonObject {
  let schema = schemas.get(tool)
  if (schema === undefined) {
    const { $schema: _, ...rest } = z.toJSONSchema(tool.parameters, { io: 'input', unrepresentable: 'any' }) as JsonObject
    schema = rest
    schemas.set(tool, schema)
  }
  return schema
}

function functionFor({ tool, settings, functionName }: OfferedTool): FunctionTool {
  return {
    type: 'function',
    name: functionName,
    description: tool.present?.(settings).description ?? tool.description,
    parameters: schemaOf(tool),
    strict: false,
  }
}

function checkDeferral(choice: ToolChoice | undefined): void {
  if (choice === undefined || choice === 'auto' || (typeof choice === 'object' && choice.type === 'allowed_tools')) return
  throw new GatewayError(
    'invalid_request',
    'tool_choice contradicts deferred tools, which become callable one by one: leave it out, or name what is callable at once as "allowed_tools"',
    { path: 'tool_choice' },
  )
}

interface ChoiceScene {
  readonly byFunction: ReadonlyMap<string, OfferedTool>
  /** Type of the provider's own tool, by the tool it stands for. */
  readonly theirs: ReadonlyMap<ServerTool, string>
  readonly belt: ToolBelt
}

/** Choices of server tools as choices of what stands for them: a function, or the provider's own tool. */
function translateChoice(choice: ToolChoice | undefined, { byFunction, theirs, belt }: ChoiceScene): ToolChoice | undefined {
  if (choice === undefined || typeof choice === 'string') return choice
  const find = (type: unknown): { readonly type: string; readonly name?: string } | undefined => {
    const tool = typeof type !== 'string' || type === 'function' || type === 'allowed_tools' ? undefined : belt.find(type)
    if (tool === undefined) return undefined
    const hosted = theirs.get(tool)
    if (hosted !== undefined) return { type: hosted }
    const name = [...byFunction.values()].find((offered) => offered.tool === tool)?.functionName
    return name === undefined ? undefined : { type: 'function', name }
  }
  if (choice.type === 'allowed_tools' && 'tools' in choice && Array.isArray(choice.tools)) {
    const tools = (choice.tools as readonly JsonObject[]).map((entry) => find(entry['type']) ?? entry)
    return { ...choice, tools }
  }
  return find(choice.type) ?? choice
}
