import type { OtherTool, Tool } from './item.ts'

const holdsSecrets = (tool: Tool): tool is OtherTool => 'authorization' in tool || 'headers' in tool || 'server_url' in tool

/**
 * A tool as it may be shown and kept: without the caller's credentials for other servers, and of their addresses no more than the origin,
 * since some carry a key in their path. The same object when there is nothing to hide.
 */
export function withoutSecrets(tool: Tool): Tool {
  if (tool.type === 'function' || !holdsSecrets(tool)) return tool
  const { authorization: _, headers: __, server_url: url, ...rest } = tool
  if (typeof url !== 'string') return rest
  const origin = URL.parse(url)?.origin
  return origin === undefined || origin === 'null' ? rest : { ...rest, server_url: origin }
}
