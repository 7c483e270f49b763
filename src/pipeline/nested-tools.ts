import { GatewayError } from '../core/error.ts'
import type { ServerTool } from '../core/extension.ts'
import { ownName } from '../core/own-names.ts'
import { cutText } from '../lib/cut-text.ts'
import type { ToolRegistry } from './tool-registry.ts'

/** Of an unknown name. */
const MAX_SHOWN = 60

/**
 * Checks that the tools an entry gives to the model calls it makes can run there. Throws `invalid_request` for one that cannot: silently left out,
 * its model would answer without what the caller counts on. Agents are accepted but left out there, which ends the recursion.
 */
export function checkNested(tool: ServerTool, settings: unknown, index: number, registry: ToolRegistry): void {
  for (const [place, { type }] of (tool.nested?.(settings) ?? []).entries()) {
    const fault = faultOf(type, registry)
    if (fault === undefined) continue
    const path = `tools[${index}].parameters.tools[${place}].type`
    throw new GatewayError('invalid_request', `${path}: ${fault}`, { path })
  }
}

function faultOf(type: string, registry: ToolRegistry): string | undefined {
  const shown = `"${cutText(type, MAX_SHOWN)}"`
  if (type === 'function' || type === 'custom') return `${shown} is the caller's to answer, who is not asked in calls of a tool`
  if (registry.source(type) !== undefined) return `${shown} cannot be used inside another tool; name it among the tools of the request`
  if (ownName(type) !== undefined && registry.find(type) === undefined)
    return `there is no server tool ${shown}; known are ${registry.names.join(', ')}`
  return undefined
}
