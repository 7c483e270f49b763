import { z } from 'zod'
import { GatewayError } from '../../core/error.ts'
import type { ToolRequest } from '../../core/extension.ts'
import type { JsonObject, OtherTool } from '../../core/item.ts'
import { checkHeaders, EgressError } from '../../lib/egress-policy.ts'

/** Bounded because each tool is compared with every entry. */
const toolNames = z.array(z.string()).max(1_024)
const toolFilter = z.object({ read_only: z.boolean().nullish(), tool_names: toolNames.nullish() })

/** An entry of type `mcp`, with the contract's fields. `engine` says who runs it. */
export const mcpSettings = z.object({
  server_label: z.string().min(1).max(128),
  server_url: z.string().max(2_048).nullish(),
  connector_id: z.string().nullish(),
  tunnel_id: z.string().nullish(),
  server_description: z.string().max(4_096).nullish(),
  authorization: z.string().max(16_384).nullish(),
  headers: z.record(z.string(), z.string()).nullish(),
  allowed_tools: z.union([toolNames, toolFilter]).nullish(),
  require_approval: z.union([z.enum(['always', 'never']), z.object({ always: toolFilter.nullish(), never: toolFilter.nullish() })]).nullish(),
  engine: z.enum(['auto', 'gateway', 'native']).nullish(),
})

export type McpSettings = z.infer<typeof mcpSettings>
type ToolFilter = z.infer<typeof toolFilter>

/** A tool as described by its server. */
export interface RemoteTool {
  readonly name: string
  readonly description?: string | undefined
  readonly inputSchema: JsonObject
  readonly annotations?: JsonObject | undefined
}

const MAX_SERVERS = 16
const MAX_HEADERS = 64

export function readEntry(entry: OtherTool): unknown {
  const { type: _, parameters, ...fields } = entry
  return typeof parameters === 'object' && parameters !== null ? parameters : fields
}

/** Throws GatewayError for entries that can never be opened. The address itself is checked when connecting. */
export function checkEntry(settings: McpSettings, { siblings }: Pick<ToolRequest, 'siblings'>): void {
  const { server_label: label, server_url: url, connector_id: connector, tunnel_id: tunnel, headers, authorization } = settings
  const refuse = (field: string, reason: string): never => {
    throw new GatewayError('invalid_request', `${field} ${reason}`)
  }
  if (siblings.length > MAX_SERVERS) refuse('tools', `may name at most ${MAX_SERVERS} MCP servers, not ${siblings.length}`)
  if (siblings.filter((other) => (readEntry(other) as { readonly server_label?: unknown }).server_label === label).length > 1)
    refuse('server_label', `"${label}" is used by two MCP servers: give each a label of its own`)
  if (connector != null)
    refuse('connector_id', 'names a connector of one provider, which no endpoint of this model has: give the server_url of an MCP server instead')
  if (tunnel != null)
    refuse('tunnel_id', 'names a tunnel of one provider, which no endpoint of this model has: give the server_url of an MCP server instead')
  if (url == null || url === '') return refuse('server_url', 'is required: the address of the MCP server')
  const parsed = URL.parse(url)
  if (parsed === null || (parsed.protocol !== 'https:' && parsed.protocol !== 'http:')) return refuse('server_url', 'must be an https or http URL')
  if (parsed.username !== '' || parsed.password !== '') refuse('server_url', 'must not carry credentials: use authorization or headers')
  if (authorization != null && Object.keys(headers ?? {}).some((name) => name.toLowerCase() === 'authorization'))
    refuse('authorization', 'is given twice, here and in headers: give it once')
  if (Object.keys(headers ?? {}).length > MAX_HEADERS) refuse('headers', `may have at most ${MAX_HEADERS} entries`)
  try {
    checkHeaders(requestHeaders(settings))
  } catch (error) {
    if (error instanceof EgressError) refuse('headers', `are refused: ${error.message}`)
    throw error
  }
}

/** Headers of the protocol itself, which callers must not set. */
const OF_THE_PROTOCOL = new Set(['accept', 'content-type', 'last-event-id', 'mcp-method', 'mcp-name', 'mcp-protocol-version', 'mcp-session-id'])

/** The headers that the caller sends to the server with every request, including the bearer token. Names in lower case. */
export function requestHeaders({ headers, authorization }: Pick<McpSettings, 'headers' | 'authorization'>): { readonly [name: string]: string } {
  const lowercased = Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value] as const)
  const allowed = lowercased.filter(([name]) => !OF_THE_PROTOCOL.has(name))
  const bearer =
    authorization == null ? [] : [['authorization', /^bearer /i.test(authorization) ? authorization : `Bearer ${authorization}`] as const]
  return Object.fromEntries([...allowed, ...bearer])
}

/** Rather too many than too few, but not the common `author` and `keywords`. */
const SECRET_NAME = /auth(?!ors?\b)|token|key(?!words?\b)|secret|cookie|passw|session|signature|credential|jwt|\bpat\b/i
const SHORTEST_SECRET = 8
/** A part of a path that looks like a key and not like a word. As an id it may be needed in results: it is hidden only together with the rest of the path. */
const KEY_IN_PATH = /\/(?=[^/]*\d)(?=[^/]*[a-z])[^/]{16,}/i

/** Values that must not come back in any text: the bearer token, headers that look like credentials, and keys in the server's address. */
export function secretsOf({
  headers,
  authorization,
  server_url: url,
}: Pick<McpSettings, 'headers' | 'authorization' | 'server_url'>): readonly string[] {
  const values = Object.entries(headers ?? {}).flatMap(([name, value]) => (SECRET_NAME.test(name) ? [value] : []))
  const tokens = [authorization ?? '', ...values].map((value) => value.replace(/^(?:bearer|basic) /i, '').trim())
  return [...new Set([...tokens, ...secretsInAddress(url)])].filter((value) => value.length >= SHORTEST_SECRET)
}

/** Keys in an address, as they are and as servers quote them. */
function secretsInAddress(address: string | null | undefined): readonly string[] {
  const url = URL.parse(address ?? '')
  if (url === null) return []
  const { pathname, search, searchParams } = url
  const written = new Map(
    search
      .slice(1)
      .split('&')
      .map((pair) => pair.split(/=(.*)/s, 2) as [string, string | undefined]),
  )
  const named = [...searchParams].flatMap(([name, value]) => (SECRET_NAME.test(name) ? [value, written.get(name) ?? ''] : []))
  return [...(KEY_IN_PATH.test(pathname) ? [`${pathname}${search}`, pathname] : []), ...named]
}

const isReadOnly = ({ annotations }: RemoteTool): boolean => annotations?.['readOnlyHint'] === true

/** Both conditions of a filter must hold; a filter without any matches nothing. */
function matches({ tool_names: names, read_only: readOnly }: ToolFilter, tool: RemoteTool): boolean {
  if (names == null && readOnly == null) return false
  return (names == null || names.includes(tool.name)) && (readOnly == null || readOnly === isReadOnly(tool))
}

/** Tools that are allowed by name. */
const namesIn = (allowed: NonNullable<McpSettings['allowed_tools']>): readonly string[] =>
  Array.isArray(allowed) ? allowed : (allowed.tool_names ?? [])

/** Whether an allowed tool is missing in a list, which may have been made under another allow-list. */
export function wantsMore({ allowed_tools: allowed }: Pick<McpSettings, 'allowed_tools'>, listed: readonly RemoteTool[]): boolean {
  if (allowed == null) return false
  const known = new Set(listed.map(({ name }) => name))
  return namesIn(allowed).some((name) => !known.has(name))
}

/** Which tools are allowed. The names are a set, because a history may list tens of thousands. */
export function allowedBy({ allowed_tools: allowed }: Pick<McpSettings, 'allowed_tools'>): (tool: RemoteTool) => boolean {
  if (allowed == null) return () => true
  const { tool_names: names, read_only: readOnly } = Array.isArray(allowed) ? { tool_names: allowed, read_only: null } : allowed
  const named = names == null ? undefined : new Set(names)
  return (tool) => named?.has(tool.name) !== false && (readOnly == null || readOnly === isReadOnly(tool))
}

/**
 * Whether a rule relies on the server's description of a tool. A list in the history comes from the caller, who need not be the one who wrote the rule (in
 * a preset), so the server is asked again.
 */
export function trustsHints({
  allowed_tools: allowed,
  require_approval: approval,
}: Pick<McpSettings, 'allowed_tools' | 'require_approval'>): boolean {
  const filters = [
    Array.isArray(allowed) ? undefined : allowed,
    ...(typeof approval === 'object' && approval !== null ? [approval.always, approval.never] : []),
  ]
  return filters.some((filter) => filter?.read_only != null)
}

/** Every call needs the caller's approval unless the rule exempts it; if the rule says both, it needs approval. */
export function needsApproval({ require_approval: rule }: Pick<McpSettings, 'require_approval'>, tool: RemoteTool): boolean {
  if (rule == null || typeof rule === 'string') return rule !== 'never'
  if (rule.always != null && matches(rule.always, tool)) return true
  return rule.never == null || !matches(rule.never, tool)
}
