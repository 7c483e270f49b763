import type { GenerationStep } from '../../core/generation.ts'
import type { InputItem, JsonObject } from '../../core/item.ts'
import type { OpenedSource, SourceContext, SourceItem, ToolSource } from '../../core/tool-source.ts'
import { blankTexts } from '../../lib/blank-texts.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Egress } from '../../lib/egress.ts'
import { McpConnection, type McpAddress } from './connection.ts'
import { failureOf } from './failure.ts'
import { ITEM_TYPES, LIST, listedTools, OWN_CALLS, replay } from './history.ts'
import { McpPool } from './pool.ts'
import { createRemoteTool } from './remote-tool.ts'
import { scrubJson } from './result.ts'
import {
  allowedBy,
  checkEntry,
  mcpSettings,
  readEntry,
  requestHeaders,
  secretsOf,
  trustsHints,
  wantsMore,
  type McpSettings,
  type RemoteTool,
} from './settings.ts'
import { cutText } from '../../lib/cut-text.ts'
import type { ToolList } from './tool-list.ts'

export interface McpOptions {
  /** The egress for addresses that callers choose. */
  readonly egress: Egress
  readonly clock: Clock
  /** The version that we report to servers. */
  readonly version: string
  /** Whether streams report progress with the events of the tool's vendor, which the contract does not list. */
  readonly progressEvents: boolean
}

const CONNECT_MS = 10_000
const OPEN_MS = 20_000
const POOL = { max: 128, ttlMs: 5 * 60_000, connectMs: CONNECT_MS }
const MAX_TOOLS = 128
const MAX_SCHEMA_CHARS = 64 * 1024
const MAX_LIST_CHARS = 1024 * 1024
const MAX_DESCRIPTION = 8_192
/** The most left-out tools that are listed one by one. */
const MAX_FAULTS = 8
const MAX_NAME_SHOWN = 64

/** Tools of remote MCP servers, for any model: the gateway is their client. */
export function createMcp({ egress, clock, version, progressEvents }: McpOptions): ToolSource<McpSettings> & { close(): Promise<void> } {
  const pool = new McpPool({ ...POOL, clock, connect: (address, signal) => McpConnection.open(address, { egress, version }, signal) })

  const ask = async (settings: McpSettings, { call }: SourceContext): Promise<UsableTools> => {
    const signal = AbortSignal.any([call.signal, AbortSignal.timeout(OPEN_MS)])
    const list = await pool.use(call.owner.workspaceId, addressOf(settings), signal, (connection) => connection.listTools(signal), true)
    const usable = checked(chosen(list, settings))
    return { tools: withoutSecrets(usable.tools, secretsOf(settings)), faults: usable.faults }
  }

  const opened = (tools: readonly RemoteTool[], { settings, type, call }: SourceContext<McpSettings>): OpenedSource['functions'] =>
    tools.map((tool) =>
      createRemoteTool(tool, {
        settings,
        itemType: OWN_CALLS.includes(type) ? type : undefined,
        progressEvents,
        run: (args, signal) =>
          pool.use(call.owner.workspaceId, addressOf(settings), signal, (connection) => connection.callTool(tool.name, args, signal)),
      }),
    )

  return {
    name: 'mcp',
    type: 'mcp',
    itemTypes: ITEM_TYPES,
    settings: mcpSettings,
    read: readEntry,
    check: checkEntry,
    hosted({ engine, connector_id, tunnel_id, server_url: url }, entry) {
      const own = connector_id ?? tunnel_id
      if (engine !== 'native' && own == null) return undefined
      const { engine: _, ...native } = entry
      return { tool: { ...native, type: 'mcp' }, only: own != null && url == null }
    },
    async open(context, history) {
      const { settings } = context
      const { server_label: label } = settings
      const known = listedTools(history, label)
      // A list in the history omits tools that were not allowed at the time, and its descriptions come from the caller, not from the server.
      const listed = known === undefined || trustsHints(settings) ? undefined : known.filter(allowedBy(settings)).slice(0, MAX_TOOLS)
      const again = (): OpenedSource => ({ functions: opened(listed ?? [], context), items: [] })
      if (listed !== undefined && !wantsMore(settings, listed)) return again()
      const listing = new Listing(context, progressEvents)
      try {
        const { tools, faults } = await ask(settings, context)
        const reported = listing.told(tools, summary(faults, secretsOf(settings)))
        const isNews = known === undefined || (listed !== undefined && tools.some(({ name }) => !listed.some((tool) => tool.name === name)))
        return { functions: opened(tools, context), ...reported, ...(isNews ? {} : { items: [] }) }
      } catch (error) {
        if (context.call.signal.aborted) throw error
        if (listed !== undefined) return again()
        return { functions: [], ...listing.told([], blankTexts(failureOf(error).message, secretsOf(settings))) }
      }
    },
    replay: (input: readonly InputItem[], find: (choice: JsonObject) => string | undefined) => replay(input, find),
    close: () => pool.close(),
  }
}

/** The listing of a server's tools, as an item of the answer and a step of the record. */
class Listing {
  readonly #context: SourceContext<McpSettings>
  readonly #sendsProgress: boolean
  readonly #startedAt: number
  readonly #begun: number

  constructor(context: SourceContext<McpSettings>, progressEvents: boolean) {
    this.#context = context
    this.#sendsProgress = progressEvents && !OWN_CALLS.includes(context.type)
    this.#startedAt = context.call.clock.now()
    this.#begun = context.call.clock.monotonic()
  }

  /** `error`: why there are no tools, or not all of them. */
  told(tools: readonly RemoteTool[], error?: string): { readonly items: readonly SourceItem[]; readonly step: GenerationStep } {
    const { settings, type, call, newId } = this.#context
    const { server_label: label } = settings
    const id = `mcpl_${newId(24)}`
    const failed = error !== undefined && tools.length === 0
    const message = error === undefined ? undefined : `${failed ? 'The' : 'Some'} tools of the MCP server "${label}" cannot be used: ${error}`
    const item: SourceItem = {
      id,
      start: { type: LIST, server_label: label, tools: [] },
      events: this.#sendsProgress ? [`${LIST}.in_progress`, `${LIST}.${failed ? 'failed' : 'completed'}`] : [],
      end: { tools: tools.map(present), ...(message === undefined ? {} : { error: message }) },
    }
    return {
      // In the gateway's own spelling the contract has no list item, so callers get one only if there is an error to report.
      items: OWN_CALLS.includes(type) && message === undefined ? [] : [item],
      step: {
        kind: 'tool',
        name: `${label}.${LIST}`,
        itemId: id,
        startedAt: this.#startedAt,
        durationMs: call.clock.monotonic() - this.#begun,
        ...(failed ? { errorType: 'provider_unavailable' } : {}),
        ...(message === undefined ? {} : { errorMessage: message }),
      },
    }
  }
}

/** The server's descriptions without credentials. Names must stay as they are, because tools are called by them. */
function withoutSecrets(tools: readonly RemoteTool[], secrets: readonly string[]): readonly RemoteTool[] {
  if (tools.some(({ name }) => blankTexts(name, secrets) !== name)) throw new Error('its list names a tool by the credentials it was sent')
  return tools.map(({ name, ...rest }) => ({ name, ...scrubJson(rest, secrets) }))
}

/** Many tools have no description or annotations, and some clients refuse the whole answer because of a null there. */
const present = ({ name, description, inputSchema, annotations }: RemoteTool): JsonObject => ({
  name,
  ...(description === undefined ? {} : { description }),
  input_schema: inputSchema,
  ...(annotations === undefined ? {} : { annotations }),
})

function addressOf(settings: McpSettings): McpAddress {
  return { url: settings.server_url ?? '', headers: requestHeaders(settings) }
}

interface UsableTools {
  readonly tools: readonly RemoteTool[]
  /** The reasons for what was left out, one sentence each. */
  readonly faults: readonly string[]
}

/** The tools of a list that the entry allows. */
function chosen({ tools, leftOut, endless }: ToolList, settings: McpSettings): UsableTools {
  const isAllowed = allowedBy(settings)
  const faults = leftOut.filter(({ tool }) => isAllowed(tool)).map(({ tool, reason }) => fault(tool.name, reason))
  const usable = tools.filter(isAllowed)
  return { tools: usable, faults: endless ? [`its list is too long, the first ${tools.length} tools of it were read`, ...faults] : faults }
}

const fault = (name: string, reason: string): string => `"${cutText(name, MAX_NAME_SHOWN)}" is left out, for ${reason}`

function summary(faults: readonly string[], secrets: readonly string[]): string | undefined {
  if (faults.length === 0) return undefined
  const more = faults.length - MAX_FAULTS
  return blankTexts([...faults.slice(0, MAX_FAULTS), ...(more > 0 ? [`and ${more} more`] : [])].join('; '), secrets)
}

/** Throws for lists that no model should be shown as a whole; the message says what to do. Tools that conflict with others are left out. */
function checked({ tools, faults }: UsableTools): UsableTools {
  let total = 0
  const left = [...faults]
  const byName = new Map<string, RemoteTool>()
  for (const tool of tools) {
    const { name, inputSchema, description } = tool
    const size = JSON.stringify(inputSchema).length
    if (byName.has(name)) left.push(fault(name, 'it is listed before'))
    else if (size > MAX_SCHEMA_CHARS) left.push(fault(name, `its schema is larger than ${MAX_SCHEMA_CHARS} characters`))
    else {
      total += size
      byName.set(name, description === undefined ? tool : { ...tool, description: cutText(description, MAX_DESCRIPTION) })
    }
  }
  if (byName.size > MAX_TOOLS) throw new Error(`it has ${byName.size} tools, at most ${MAX_TOOLS} can be offered: choose some by allowed_tools`)
  if (total > MAX_LIST_CHARS)
    throw new Error(`the schemas of its tools are larger than ${MAX_LIST_CHARS} characters together: choose some by allowed_tools`)
  return { tools: [...byName.values()], faults: left }
}
