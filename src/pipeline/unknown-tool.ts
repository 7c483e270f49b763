import { z } from 'zod'
import type { ServerTool } from '../core/extension.ts'
import type { ModelRequest } from '../core/request.ts'
import type { Offer, OfferedTool } from './offered-tool.ts'

const MAX_NAMES = 32

/** Types of items that may bring functions which the list of tools does not name, or that show the caller had tools before. */
const OF_CALLERS: ReadonlySet<string> = new Set(['additional_tools', 'tool_search_output', 'function_call', 'custom_tool_call'])

/**
 * Stands for unknown functions if the model can only mean a tool of the gateway, because the caller has no tools and could not answer the call. It may
 * remember tools of a server that cannot be reached now. The model is told which tools there are. Undefined if the caller has tools, or may have some
 * in a prompt that the provider keeps: then unknown functions are the caller's to answer.
 */
export function unknownTool({ tools, byFunction, deferred }: Offer, { input, prompt }: ModelRequest): OfferedTool | undefined {
  if (tools.length > byFunction.size || deferred.length > 0 || prompt != null) return undefined
  if (input.some(({ type }) => OF_CALLERS.has(type))) return undefined
  const names = [...byFunction.keys()]
  const some = names.slice(0, MAX_NAMES).join(', ') + (names.length > MAX_NAMES ? ', ...' : '')
  const message = `There is no tool of this name. ${names.length === 0 ? 'Answer without tools.' : `The tools are: ${some}`}`
  const tool: ServerTool = {
    name: 'unknown',
    description: '',
    parameters: z.unknown(),
    settings: z.unknown(),
    begin: () => undefined,
    execute: async () => ({ output: JSON.stringify({ status: 'error', error: message }), error: { type: 'not_found', message } }),
  }
  return { tool, settings: {}, type: tool.name, itemType: tool.name, functionName: tool.name, instance: 0, tally: new Map(), uses: 0 }
}
