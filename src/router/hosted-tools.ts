import { isClientSearchTool } from '../core/client-search.ts'
import type { Endpoint } from '../core/endpoint.ts'
import type { OtherTool, Tool } from '../core/item.ts'
import type { ModelRequest } from '../core/request.ts'

/** A tool that only some endpoints support, with the other tools of the request. */
export interface HostedTool {
  readonly tool: OtherTool
  /** What every endpoint is given beside it, one tool of each type. */
  readonly others: readonly Tool[]
}

/** Every format supports these, if necessary as functions. */
const CARRIED: ReadonlySet<string> = new Set(['function', 'custom', 'namespace'])

/**
 * The request's vendor tools. Tools that the gateway runs are not among them: they are functions by the time a call is planned, or have a colon in their
 * type.
 */
export function hostedTools({ tools }: Pick<ModelRequest, 'tools'>): readonly HostedTool[] {
  if (tools === undefined || tools.every(isCarried)) return NONE
  const others = carriedTools(tools)
  return tools.filter((tool): tool is OtherTool => !isCarried(tool)).map((tool) => ({ tool, others }))
}
const NONE: readonly HostedTool[] = []

/** What every endpoint is given: one short list for all, or a request of many tools would need memory and time that grow by the square of their number. */
export const carriedTools = (tools: readonly Tool[] = []): readonly Tool[] => [
  ...new Map(tools.filter(isCarried).map((tool) => [tool.type, tool])).values(),
]

const isCarried = (tool: Tool): boolean => CARRIED.has(tool.type) || tool.type.includes(':') || isClientSearchTool(tool)

/** Whether the endpoint would have to omit one of them. */
export function lacksTool(wanted: readonly HostedTool[], endpoint: Endpoint): boolean {
  for (let n = 0; n < wanted.length; n++) if (!knows(endpoint, wanted[n]!)) return true
  return false
}

/** The types of the tools that the endpoint would omit. */
export const lackedTools = (wanted: readonly HostedTool[], endpoint: Endpoint): readonly string[] =>
  wanted.filter((each) => !knows(endpoint, each)).map(({ tool }) => tool.type)

const knows = ({ connection: { dialect, options }, upstreamModel }: Endpoint, { tool, others }: HostedTool): boolean =>
  dialect.hosts?.(tool, others, { options, upstreamModel }) === true
