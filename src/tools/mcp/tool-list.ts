import { AsyncLocalStorage } from 'node:async_hooks'
import type { JsonObject } from '../../core/item.ts'
import { cutText } from '../../lib/cut-text.ts'
import { isJsonObject, MAX_JSON_DEPTH } from '../../lib/json.ts'
import type { RemoteTool } from './settings.ts'

/** The readable parts of a tool that cannot be offered, and the reason. */
export interface LeftOutTool {
  readonly tool: RemoteTool
  readonly reason: string
}

/** The tools of a server, as far as they were read. */
export interface ToolList {
  readonly tools: readonly RemoteTool[]
  readonly leftOut: readonly LeftOutTool[]
  /** The server has more tools than we read. */
  readonly endless: boolean
}

/** State of reading a list, page by page. */
export interface ListWalk {
  pages: number
  tools: number
  endless: boolean
  readonly leftOut: LeftOutTool[]
}

const MAX_PAGES = 16
const MAX_TOOLS = 4_096
/** The most left-out tools that are remembered: hundreds of them would add nothing to the first. */
const MAX_LEFT_OUT = 64
const MAX_NAME = 256

export const newWalk = (): ListWalk => ({ pages: 0, tools: 0, endless: false, leftOut: [] })

const walks = new AsyncLocalStorage<ListWalk>()

/** Runs work whose page requests belong to this walk. */
export function walking<T>(walk: ListWalk, work: () => Promise<T>): Promise<T> {
  return walks.run(walk, work)
}

/** Reads a page for the walk that requested it; undefined if the message does not request a page. */
export function pageReader(method: string): ((result: JsonObject) => void) | undefined {
  if (method !== 'tools/list') return undefined
  const walk = walks.getStore() ?? newWalk()
  return (page) => {
    if (Array.isArray(page['tools'])) readPage(page, page['tools'] as readonly unknown[], walk)
  }
}

/** Removes tools that cannot be offered. A page that exceeds the bounds becomes the last. */
function readPage(page: { tools?: unknown; nextCursor?: unknown }, tools: readonly unknown[], walk: ListWalk): void {
  const usable: JsonObject[] = []
  walk.pages++
  for (const entry of tools) {
    const reason = faultOf(entry)
    if (reason === undefined) {
      walk.endless = walk.tools === MAX_TOOLS
      if (walk.endless) break
      walk.tools++
      usable.push(cleaned(entry as JsonObject))
    } else if (walk.leftOut.length < MAX_LEFT_OUT) walk.leftOut.push({ tool: partOf(entry), reason })
  }
  const more = typeof page.nextCursor === 'string' && page.nextCursor !== ''
  walk.endless ||= more && walk.pages >= MAX_PAGES
  page.tools = usable
  if (!more || walk.endless) delete page.nextCursor
}

/** Why a tool cannot be offered to any model; undefined if it can. Providers refuse a whole request because of one invalid schema. */
function faultOf(entry: unknown): string | undefined {
  if (!isJsonObject(entry)) return 'it is no object'
  const { name, inputSchema: schema } = entry
  if (typeof name !== 'string' || name === '') return 'it has no name'
  if (name.length > MAX_NAME) return `its name is longer than ${MAX_NAME} characters`
  if (schema === undefined) return 'it has no inputSchema'
  if (!isJsonObject(schema)) return 'its inputSchema is no object'
  const { type, properties = {}, required = [] } = objectSchema(schema)
  if (type !== 'object') return 'its inputSchema is not of type "object"'
  if (!isJsonObject(properties)) return 'the properties of its inputSchema are no object'
  if (!Array.isArray(required) || required.some((each) => typeof each !== 'string')) return 'what its inputSchema requires is no list of names'
  return isDeeper(schema, MAX_JSON_DEPTH) ? `its inputSchema is nested more than ${MAX_JSON_DEPTH} deep` : undefined
}

/** In languages where an empty list is null (Go), servers write null for empty fields. */
const NULLED: ReadonlySet<string> = new Set(['type', 'properties', 'required'])

const objectSchema = (schema: JsonObject): JsonObject => ({
  type: 'object',
  ...Object.fromEntries(Object.entries(schema).filter(([name, value]) => value !== null || !NULLED.has(name))),
})

const HINTS: ReadonlySet<string> = new Set(['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'])

/** The SDK refuses the whole list because of one field with an unexpected type, and leaves out unknown fields. */
function readAnnotations(annotations: JsonObject): JsonObject {
  const isReadable = (name: string, value: unknown): boolean =>
    HINTS.has(name) ? typeof value === 'boolean' : name === 'title' ? typeof value === 'string' : value !== null
  const readable = Object.fromEntries(Object.entries(annotations).filter(([name, value]) => isReadable(name, value)))
  const { title } = readable
  return typeof title === 'string' ? { ...readable, title: cutText(title, MAX_NAME) } : readable
}

/**
 * The useful and readable parts of a tool. The output schema is left out: the SDK would throw away a result that does not match it, after the tool has
 * already done its work.
 */
function cleaned({ name, description, annotations, inputSchema }: JsonObject): JsonObject {
  return {
    name,
    inputSchema: objectSchema(inputSchema as JsonObject),
    ...(typeof description === 'string' ? { description } : {}),
    ...(isJsonObject(annotations) ? { annotations: readAnnotations(annotations) } : {}),
  }
}

function partOf(entry: unknown): RemoteTool {
  const { name, annotations } = isJsonObject(entry) ? entry : {}
  return {
    name: typeof name === 'string' ? name.slice(0, MAX_NAME) : '',
    inputSchema: {},
    ...(isJsonObject(annotations) ? { annotations } : {}),
  }
}

function isDeeper(value: unknown, max: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return max === 0 || Object.values(value).some((inner) => isDeeper(inner, max - 1))
}
