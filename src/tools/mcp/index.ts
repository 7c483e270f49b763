import type { GenerationStep } from '../../core/generation.ts'
import type { InputItem, JsonObject } from '../../core/item.ts'
import type { OpenedSource, SourceContext, SourceItem, ToolSource } from '../../core/tool-source.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Egress } from '../../lib/egress.ts'
import { McpConnection, type McpAddress } from './connection.ts'
import { failureOf } from './failure.ts'
import { ITEM_TYPES, LIST, listedTools, OWN_CALLS, replay } from './history.ts'
import { McpPool } from './pool.ts'
import { createRemoteTool } from './remote-tool.ts'
import { scrub, scrubJson } from './result.ts'
import { allowedBy, checkEntry, mcpSettings, readEntry, requestHeaders, secretsOf, type McpSettings, type RemoteTool } from './settings.ts'
import { cutText } from '../../lib/cut-text.ts'

export interface McpOptions {
  /** The way out for addresses callers choose. */
  readonly egress: Egress
  readonly clock: Clock
  /** How we introduce ourselves to servers. */
  readonly version: string
  /** Whether streams tell of progress by the events of the vendor who invented the tool, which the contract does not list. */
  readonly progressEvents: boolean
}

const CONNECT_MS = 10_000
const OPEN_MS = 20_000
const POOL = { max: 128, ttlMs: 5 * 60_000, connectMs: CONNECT_MS }
const MAX_TOOLS = 128
const MAX_SCHEMA_CHARS = 64 * 1024
const MAX_LIST_CHARS = 1024 * 1024
const MAX_DESCRIPTION = 8_192

/** Tools of remote MCP servers, for any model: the gateway is their client. */
export function createMcp({ egress, clock, version, progressEvents }: McpOptions): ToolSource<McpSettings> & { close(): Promise<void> } {
  const pool = new McpPool({ ...POOL, clock, connect: (address, signal) => McpConnection.open(address, { egress, version }, signal) })

  const list = async (settings: McpSettings, { call }: SourceContext): Promise<readonly RemoteTool[]> => {
    const signal = AbortSignal.any([call.signal, AbortSignal.timeout(OPEN_MS)])
    const tools = await pool.use(call.owner.workspaceId, addressOf(settings), signal, (connection) => connection.listTools(signal), true)
    return withoutSecrets(checked(tools.filter(allowedBy(settings))), secretsOf(settings))
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
    hosted({ engine, connector_id: connector, server_url: url }, entry) {
      if (engine !== 'native' && connector == null) return undefined
      const { engine: _, ...native } = entry
      return { tool: { ...native, type: 'mcp' }, only: connector != null && url == null }
    },
    async open(context, history) {
      const { settings } = context
      const { server_label: label } = settings
      const known = listedTools(history, label)
      if (known !== undefined) {
        const usable = known.filter(allowedBy(settings)).slice(0, MAX_TOOLS)
        return { functions: opened(usable, context), items: [] }
      }
      const listing = new Listing(context, progressEvents)
      try {
        const tools = await list(settings, context)
        return { functions: opened(tools, context), ...listing.told(tools) }
      } catch (error) {
        if (context.call.signal.aborted) throw error
        return { functions: [], ...listing.told([], scrub(failureOf(error).message, secretsOf(settings))) }
      }
    },
    replay: (input: readonly InputItem[], find: (choice: JsonObject) => string | undefined) => replay(input, find),
    close: () => pool.close(),
  }
}

/** How the tools of a server were asked for, as an item of the answer and a step of the record. */
class Listing {
  readonly #context: SourceContext<McpSettings>
  readonly #tells: boolean
  readonly #startedAt: number
  readonly #begun: number

  constructor(context: SourceContext<McpSettings>, progressEvents: boolean) {
    this.#context = context
    this.#tells = progressEvents && !OWN_CALLS.includes(context.type)
    this.#startedAt = context.call.clock.now()
    this.#begun = context.call.clock.monotonic()
  }

  told(tools: readonly RemoteTool[], error?: string): { readonly items: readonly SourceItem[]; readonly step: GenerationStep } {
    const { settings, type, call, newId } = this.#context
    const { server_label: label } = settings
    const id = `mcpl_${newId(24)}`
    const message = error === undefined ? undefined : `The tools of the MCP server "${label}" cannot be used: ${error}`
    const item: SourceItem = {
      id,
      start: { type: LIST, server_label: label, tools: [] },
      events: this.#tells ? [`${LIST}.in_progress`, `${LIST}.${message === undefined ? 'completed' : 'failed'}`] : [],
      end: { tools: tools.map(present), ...(message === undefined ? {} : { error: message }) },
    }
    return {
      // The contract has no list in the gateway's own spelling: its callers see one only when there is something to say.
      items: OWN_CALLS.includes(type) && message === undefined ? [] : [item],
      step: {
        kind: 'tool',
        name: `${label}.${LIST}`,
        itemId: id,
        startedAt: this.#startedAt,
        durationMs: call.clock.monotonic() - this.#begun,
        ...(message === undefined ? {} : { errorType: 'provider_unavailable', errorMessage: message }),
      },
    }
  }
}

/** What a server says of its tools. Their names stay: a tool is called by its name. */
function withoutSecrets(tools: readonly RemoteTool[], secrets: readonly string[]): readonly RemoteTool[] {
  if (tools.some(({ name }) => scrub(name, secrets) !== name)) throw new Error('its list names a tool by the credentials it was sent')
  return tools.map(({ name, ...rest }) => ({ name, ...scrubJson(rest, secrets) }))
}

const present = ({ name, description, inputSchema, annotations }: RemoteTool): JsonObject => ({
  name,
  description: description ?? null,
  input_schema: inputSchema,
  annotations: annotations ?? null,
})

function addressOf(settings: McpSettings): McpAddress {
  return { url: settings.server_url ?? '', headers: requestHeaders(settings) }
}

/** Throws for lists no model should be shown whole; the message says what to do. */
function checked(tools: readonly RemoteTool[]): readonly RemoteTool[] {
  if (tools.length > MAX_TOOLS) throw new Error(`it has ${tools.length} tools, at most ${MAX_TOOLS} can be offered: choose some by allowed_tools`)
  let total = 0
  const seen = new Set<string>()
  for (const { name, inputSchema } of tools) {
    const size = JSON.stringify(inputSchema).length
    total += size
    if (name === '' || name.length > 256 || seen.has(name)) throw new Error('its list names a tool twice, or one without a usable name')
    seen.add(name)
    if (size > MAX_SCHEMA_CHARS)
      throw new Error(`the schema of its tool "${name.slice(0, 64)}" is larger than ${MAX_SCHEMA_CHARS} characters: leave it out by allowed_tools`)
  }
  if (total > MAX_LIST_CHARS)
    throw new Error(`the schemas of its tools are larger than ${MAX_LIST_CHARS} characters together: choose some by allowed_tools`)
  return tools.map((tool) => ({ ...tool, ...(tool.description === undefined ? {} : { description: cutText(tool.description, MAX_DESCRIPTION) }) }))
}
