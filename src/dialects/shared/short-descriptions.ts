import { isCustomTool, isFunctionTool } from '../../core/item.ts'
import type { Tool } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { cutText } from '../../lib/cut-text.ts'

const TOO_LONG = /tools\[\d{1,6}\][\w.[\]]{0,60}\.description['"]?: string too long\. Expected a string with maximum length (\d{2,7})/i

/** How long a tool's description may be, if a request was refused for a longer one. */
export function descriptionLimit(message: string): number | undefined {
  const limit = TOO_LONG.exec(message)?.[1]
  return limit === undefined ? undefined : Number(limit)
}

const GOES_ON = ' [more in the instructions]'

/** The request with descriptions of at most this many characters; the rest of them moves into its instructions. The same object if all are short enough. */
export function withShortDescriptions(request: ModelRequest, max: number): ModelRequest {
  const remainders: string[] = []
  const tools = request.tools?.map((tool) => shortened(tool, max, remainders))
  if (tools === undefined || remainders.length === 0) return request
  const further = remainders.join('\n\n')
  return { ...request, tools, instructions: request.instructions ? `${request.instructions}\n\n${further}` : further }
}

function shortened(tool: Tool, max: number, remainders: string[]): Tool {
  if (tool.type === 'namespace' && Array.isArray(tool['tools'])) {
    const inner = (tool['tools'] as readonly Tool[]).map((each) => shortened(each, max, remainders))
    return { ...tool, tools: inner }
  }
  if (!(isFunctionTool(tool) || isCustomTool(tool)) || !tool.description || tool.description.length <= max) return tool
  const kept = cutText(tool.description, Math.max(0, max - GOES_ON.length))
  remainders.push(`The tool ${tool.name}, further:\n${tool.description.slice(kept.length)}`)
  return { ...tool, description: kept + GOES_ON }
}
