import { isCustomTool, isFunctionTool } from '../../core/item.ts'
import type { Tool } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { cutText } from '../../lib/cut-text.ts'

const TOO_LONG = /tools\[\d{1,6}\][\w.[\]]{0,60}\.description['"]?: string too long\. Expected a string with maximum length (\d{2,7})/i

/** How long a tool's description may be, if a request was refused for a longer one. */
export function descriptionLimit(message: string): number | undefined {
  const told = TOO_LONG.exec(message)?.[1]
  return told === undefined ? undefined : Number(told)
}

const GOES_ON = ' [more in the instructions]'

/** The request with descriptions of at most this many characters; the rest of them moves into its instructions. The same object if all are short enough. */
export function withShortDescriptions(request: ModelRequest, max: number): ModelRequest {
  const rests: string[] = []
  const tools = request.tools?.map((tool) => shortened(tool, max, rests))
  if (tools === undefined || rests.length === 0) return request
  const told = rests.join('\n\n')
  return { ...request, tools, instructions: request.instructions ? `${request.instructions}\n\n${told}` : told }
}

function shortened(tool: Tool, max: number, rests: string[]): Tool {
  if (tool.type === 'namespace' && Array.isArray(tool['tools'])) {
    const inner = (tool['tools'] as readonly Tool[]).map((each) => shortened(each, max, rests))
    return { ...tool, tools: inner }
  }
  if (!(isFunctionTool(tool) || isCustomTool(tool)) || !tool.description || tool.description.length <= max) return tool
  const kept = cutText(tool.description, Math.max(0, max - GOES_ON.length))
  rests.push(`The tool ${tool.name}, further:\n${tool.description.slice(kept.length)}`)
  return { ...tool, description: kept + GOES_ON }
}
