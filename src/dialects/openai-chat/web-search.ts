import type { JsonObject, Tool } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { isObject } from '../shared/json.ts'
import type { OpenAiChatOptions } from './options.ts'

/** The domains that the contract's search may use, and those that it may not. */
function domainsOf(tool: Tool): { readonly wanted: readonly unknown[]; readonly unwanted: readonly unknown[] } {
  const filters = (tool as JsonObject)['filters']
  const list = (name: string): readonly unknown[] => (isObject(filters) && Array.isArray(filters[name]) ? filters[name] : [])
  return { wanted: list('allowed_domains'), unwanted: [...list('blocked_domains'), ...list('excluded_domains')] }
}

/** Whether the server runs the search itself, as the caller set it; the gateway's own search has another name. */
export function hostsTool(tool: Tool, { web_search: mode }: OpenAiChatOptions): boolean {
  if (mode === 'none' || !/^web_search(?:_|$)/.test(tool.type)) return false
  const { wanted, unwanted } = domainsOf(tool)
  return mode === 'options' || wanted.length + unwanted.length === 0
}

/** The tools that remain for the model to call. */
export function withoutHosted(tools: readonly Tool[] | undefined, options: OpenAiChatOptions): readonly Tool[] | undefined {
  return options.web_search === 'none' ? tools : tools?.filter((tool) => !hostsTool(tool, options))
}

/** Whether the request asks the server to search. */
export function asksSearch({ tools, tool_choice: choice }: ModelRequest, options: OpenAiChatOptions): boolean {
  return options.web_search !== 'none' && choice !== 'none' && tools?.some((tool) => hostsTool(tool, options)) === true
}

/** The server's own search consists of request fields and is not a tool that the model calls. */
export function encodeWebSearch({ tools, tool_choice: choice }: ModelRequest, options: OpenAiChatOptions): JsonObject {
  const tool = choice === 'none' ? undefined : tools?.find((each) => hostsTool(each, options))
  if (tool === undefined) return {}
  const { search_context_size: size, max_results: results, user_location: location } = tool as JsonObject
  const context = typeof size === 'string' ? { search_context_size: size } : {}
  if (options.web_search === 'plugin') {
    const plugin = { id: 'web', ...(typeof results === 'number' ? { max_results: results } : {}) }
    return { plugins: [plugin], ...(typeof size === 'string' ? { web_search_options: context } : {}) }
  }
  const place = isObject(location) ? Object.fromEntries(Object.entries(location).filter(([key, value]) => key !== 'type' && value != null)) : {}
  const searchOptions = { ...context, ...(Object.keys(place).length === 0 ? {} : { user_location: place }) }
  const { wanted, unwanted } = domainsOf(tool)
  // A single list for both kinds: an excluded domain has a minus sign.
  const filter = wanted.length > 0 ? wanted : unwanted.map((domain) => `-${String(domain)}`)
  return {
    ...(Object.keys(searchOptions).length === 0 ? {} : { web_search_options: searchOptions }),
    ...(filter.length === 0 ? {} : { search_domain_filter: filter }),
  }
}
