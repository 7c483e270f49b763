import { isClientSearchTool } from '../core/client-search.ts'
import type { Endpoint } from '../core/endpoint.ts'
import type { OtherTool, Tool } from '../core/item.ts'
import type { ModelRequest } from '../core/request.ts'

/** A tool only an endpoint that knows it can be given, and the tools beside it. */
export interface HostedTool {
  readonly tool: OtherTool
  readonly others: readonly Tool[]
}

/** Every format carries these, as functions where it has nothing else. */
const CARRIED: ReadonlySet<string> = new Set(['function', 'custom', 'namespace'])

/** Tools of the request that are their vendor's. Those the gateway runs are functions when a call is planned, or have a colon in their type. */
export function hostedTools({ tools }: Pick<ModelRequest, 'tools'>): readonly HostedTool[] {
  if (tools === undefined || tools.every(isCarried)) return NONE
  return tools.filter((tool): tool is OtherTool => !isCarried(tool)).map((tool) => ({ tool, others: tools.filter((other) => other !== tool) }))
}
const NONE: readonly HostedTool[] = []

const isCarried = (tool: Tool): boolean => CARRIED.has(tool.type) || tool.type.includes(':') || isClientSearchTool(tool)

/** Whether the endpoint would have to leave one of them out. */
export function lacksTool(wanted: readonly HostedTool[], endpoint: Endpoint): boolean {
  for (let n = 0; n < wanted.length; n++) if (!knows(endpoint, wanted[n]!)) return true
  return false
}

/** The types of those it would leave out. */
export const lackedTools = (wanted: readonly HostedTool[], endpoint: Endpoint): readonly string[] =>
  wanted.filter((each) => !knows(endpoint, each)).map(({ tool }) => tool.type)

const knows = ({ connection: { dialect, options }, upstreamModel }: Endpoint, { tool, others }: HostedTool): boolean =>
  dialect.hosts?.(tool, others, { options, upstreamModel }) === true
