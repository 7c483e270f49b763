import { z } from 'zod'
import type { ServerTool, ToolContext, ToolResult } from '../../core/extension.ts'
import type { JsonObject } from '../../core/item.ts'
import type { SourceFunction } from '../../core/tool-source.ts'
import { failureOf } from './failure.ts'
import { APPROVAL_REQUEST, CALL } from './history.ts'
import { functionName } from './names.ts'
import { readResult, type RemoteResult } from './result.ts'
import { needsApproval, secretsOf, type McpSettings, type RemoteTool } from './settings.ts'
import { blankTexts } from '../../lib/blank-texts.ts'
import { cutText } from '../../lib/cut-text.ts'
import { parseExact } from '../../lib/exact-json.ts'
import { isJsonObject } from '../../lib/json.ts'

export interface RemoteToolOptions {
  readonly settings: McpSettings
  /** The type of its items if the caller uses the gateway's own spelling. */
  readonly itemType: string | undefined
  readonly progressEvents: boolean
  /** Rejects with McpFailure. */
  readonly run: (args: JsonObject, signal: AbortSignal) => Promise<RemoteResult>
}

type Arguments = { readonly [name: string]: unknown }
const parameters = z.record(z.string(), z.unknown())
const MAX_SERVER_DESCRIPTION = 300

/** A tool of a remote server as a tool of the gateway. */
export function createRemoteTool(remote: RemoteTool, options: RemoteToolOptions): SourceFunction {
  const { settings, itemType, progressEvents, run } = options
  const { server_label: label } = settings
  const secrets = secretsOf(settings)
  const asks = needsApproval(settings, remote)
  const name = functionName(label, remote.name)
  const sendsProgress = itemType === undefined && progressEvents
  const identity = itemType === undefined ? { server_label: label, name: remote.name } : { serverLabel: label, toolName: remote.name }
  const isHeld = ({ grant }: ToolContext): boolean => asks && grant === undefined

  const tool: ServerTool<unknown, Arguments> = {
    name,
    knownAs: [remote.name, label],
    description: describe(remote, settings),
    settings: z.unknown(),
    parameters,
    schema: { type: 'object', ...remote.inputSchema },
    begin(_args, context) {
      if (isHeld(context)) return undefined
      if (sendsProgress) {
        context.emit(`${CALL}.in_progress`)
        if (context.rawArguments !== '') context.emit(`${CALL}_arguments.delta`, { delta: context.rawArguments })
        context.emit(`${CALL}_arguments.done`, { arguments: context.rawArguments })
      }
      return { ...identity, arguments: '', output: null, error: null, ...granted(context) }
    },
    async execute(args, context) {
      if (isHeld(context)) {
        return {
          output: 'asked',
          held: true,
          handBack: { type: APPROVAL_REQUEST, server_label: label, name: remote.name, arguments: context.rawArguments || '{}' },
        }
      }
      try {
        const result = await run(exactly(args, context.rawArguments), context.signal)
        const { text, output } = readResult(result, secrets)
        return result.isError ? failed('tool_error', text || 'The tool failed.') : { output, item: { output: text } }
      } catch (error) {
        if (context.signal.aborted) throw error
        return failed('provider_unavailable', `The MCP server "${label}" failed: ${blankTexts(failureOf(error).message, secrets)}`)
      }
    },
    end(result, context) {
      if (isHeld(context)) return undefined
      if (sendsProgress) context.emit(`${CALL}.${result.error === undefined ? 'completed' : 'failed'}`)
      return { arguments: context.rawArguments, ...(result.error === undefined ? {} : { output: null, error: result.error.message }) }
    },
  }
  return { tool, itemType: itemType ?? CALL, choice: { type: 'mcp', server_label: label, name: remote.name } }
}

/** Integers that a double may change. All other numbers are sent as JavaScript writes them: some servers do not accept 5.0 as an integer. */
const LONG_NUMBER = /\d{16}/

/** Many servers use numbers beyond a double's precision as ids, and a rounded id could belong to something else. */
function exactly(args: Arguments, written: string): Arguments {
  const exact = LONG_NUMBER.test(written) ? parseExact(written) : undefined
  return isJsonObject(exact) ? exact : args
}

const granted = ({ grant }: ToolContext): JsonObject => (grant === undefined ? {} : { approval_request_id: grant })

function failed(type: string, message: string): ToolResult {
  return { output: JSON.stringify({ status: 'error', error: message }), error: { type, message } }
}

function describe({ description = '' }: RemoteTool, { server_description: server }: McpSettings): string {
  if (server == null || server === '') return description
  return `${description}${description === '' ? '' : '\n'}(Server: ${cutText(server, MAX_SERVER_DESCRIPTION)})`
}
