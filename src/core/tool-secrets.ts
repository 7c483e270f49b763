import { isJsonObject } from '../lib/json.ts'
import { toolsGiven, toolsWithin, type InputItem, type JsonObject, type Tool } from './item.ts'

/**
 * A tool for display and storage: without the caller's credentials for other servers, and with only the origin of their addresses, because some
 * contain a key in their path. Applies wherever the tool has its fields, and to the tools it is given. Returns the same object if there is nothing to
 * hide.
 */
export function withoutSecrets(tool: Tool): Tool {
  if (tool.type === 'function') return tool
  const shown = withShownTools(withoutCredentials(tool as JsonObject))
  const parameters = shown['parameters']
  if (typeof parameters !== 'object' || parameters === null) return shown as Tool
  const shownParameters = withShownTools(withoutCredentials(parameters as JsonObject))
  return (shownParameters === parameters ? shown : { ...shown, parameters: shownParameters }) as Tool
}

/** The input for storage, because it may contain tools, too. Returns the same list if there is nothing to hide. */
export function inputWithoutSecrets(input: readonly InputItem[]): readonly InputItem[] {
  if (!input.some((item) => toolsWithin(item).length > 0)) return input
  return input.map((item) => {
    const tools = toolsWithin(item)
    const shown = tools.map(withoutSecrets)
    return shown.some((tool, index) => tool !== tools[index]) ? { ...item, tools: shown } : item
  })
}

/** Fields with which a tool authenticates to a server. */
export const TOOL_CREDENTIALS: readonly string[] = ['authorization', 'headers', 'api_key']

/** The most characters of secrets per call, the tools of a preset first. Limited, because a text is searched for each secret and its parts. */
const MAX_SECRET_CHARS = 65_536

/** Credentials of tools and the paths of their servers, which must not be shown to anyone who reads about a failure. */
export function secretsOfTools(tools: readonly Tool[] | undefined, input: readonly InputItem[] = []): readonly string[] {
  const secrets = toolsGiven({ tools, input }).flatMap((tool) => {
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
  const credentials = TOOL_CREDENTIALS.flatMap((name) => (isJsonObject(fields[name]) ? Object.values(fields[name]) : [fields[name]]))
  return [...behind, ...credentials].filter((value) => typeof value === 'string')
}

function withoutCredentials(fields: JsonObject): JsonObject {
  if (!('server_url' in fields || TOOL_CREDENTIALS.some((name) => name in fields))) return fields
  const { server_url: url, ...others } = fields
  const rest = Object.fromEntries(Object.entries(others).filter(([name]) => !TOOL_CREDENTIALS.includes(name)))
  if (typeof url !== 'string') return rest
  const origin = URL.parse(url)?.origin
  return origin === undefined || origin === 'null' ? rest : { ...rest, server_url: origin }
}

/** Agents and namespaces have tools of their own. */
function withShownTools(fields: JsonObject): JsonObject {
  const { tools } = fields
  if (!Array.isArray(tools)) return fields
  const shown = (tools as readonly unknown[]).map((tool) => (typeof tool === 'object' && tool !== null ? withoutSecrets(tool as Tool) : tool))
  return shown.some((tool, index) => tool !== tools[index]) ? { ...fields, tools: shown } : fields
}
