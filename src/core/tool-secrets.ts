import { isJsonObject } from '../lib/json.ts'
import { toolsWithin, type InputItem, type JsonObject, type Tool } from './item.ts'

/**
 * A tool as it may be shown and kept: without the caller's credentials for other servers, and of their addresses no more than the origin,
 * since some carry a key in their path; wherever the tool has its fields, and in the tools it is given. The same object when there is nothing
 * to hide.
 */
export function withoutSecrets(tool: Tool): Tool {
  if (tool.type === 'function') return tool
  const shown = withoutCredentials(tool as JsonObject)
  const parameters = shown['parameters']
  if (typeof parameters !== 'object' || parameters === null) return shown as Tool
  const kept = withShownTools(withoutCredentials(parameters as JsonObject))
  return (kept === parameters ? shown : { ...shown, parameters: kept }) as Tool
}

/** The input as it may be kept: tools may stand in it, too. The same list when there is nothing to hide. */
export function inputWithoutSecrets(input: readonly InputItem[]): readonly InputItem[] {
  if (!input.some((item) => toolsWithin(item).length > 0)) return input
  return input.map((item) => {
    const tools = toolsWithin(item)
    const shown = tools.map(withoutSecrets)
    return shown.some((tool, index) => tool !== tools[index]) ? { ...item, tools: shown } : item
  })
}

/** What a tool proves itself with to a server. */
export const TOOL_CREDENTIALS: readonly string[] = ['authorization', 'headers', 'api_key']

/** Of one call, a preset's tools first: a text is searched for each and its parts. */
const MAX_SECRET_CHARS = 65_536

/** Credentials of tools, and the paths of their servers: nobody who reads about a failure may see them. */
export function secretsOfTools(tools: readonly Tool[] | undefined, input: readonly InputItem[] = []): readonly string[] {
  const secrets = [...(tools ?? []), ...input.flatMap(toolsWithin)].flatMap((tool) => {
    if (tool.type === 'function') return []
    const { parameters } = tool as JsonObject
    return [tool as JsonObject, ...(isJsonObject(parameters) ? [parameters] : [])].flatMap(secretsIn)
  })
  let left = MAX_SECRET_CHARS
  return secrets.filter(({ length }) => length <= left && (left -= length) >= 0)
}

function secretsIn(fields: JsonObject): readonly string[] {
  const { server_url: address } = fields
  const url = typeof address === 'string' ? URL.parse(address) : null
  const behind = url === null ? [] : [url.password, `${url.pathname}${url.search}`]
  const given = TOOL_CREDENTIALS.flatMap((name) => (isJsonObject(fields[name]) ? Object.values(fields[name]) : [fields[name]]))
  return [...behind, ...given].filter((value) => typeof value === 'string')
}

function withoutCredentials(fields: JsonObject): JsonObject {
  if (!('server_url' in fields || TOOL_CREDENTIALS.some((name) => name in fields))) return fields
  const { server_url: url, ...others } = fields
  const rest = Object.fromEntries(Object.entries(others).filter(([name]) => !TOOL_CREDENTIALS.includes(name)))
  if (typeof url !== 'string') return rest
  const origin = URL.parse(url)?.origin
  return origin === undefined || origin === 'null' ? rest : { ...rest, server_url: origin }
}

/** Agents have tools of their own. */
function withShownTools(parameters: JsonObject): JsonObject {
  const { tools } = parameters
  if (!Array.isArray(tools)) return parameters
  const shown = (tools as readonly unknown[]).map((tool) => (typeof tool === 'object' && tool !== null ? withoutSecrets(tool as Tool) : tool))
  return shown.some((tool, index) => tool !== tools[index]) ? { ...parameters, tools: shown } : parameters
}
