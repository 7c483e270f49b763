import { GatewayError } from '../../core/error.ts'
import type { FunctionCallItem, FunctionCallOutputItem, InputItem, JsonObject } from '../../core/item.ts'
import { ownTypes } from '../../core/own-names.ts'
import type { DueCall, ReplayedInput } from '../../core/tool-source.ts'
import { functionName } from './names.ts'
import type { RemoteTool } from './settings.ts'

/** Item types, by what they are. Calls may also have the gateway's own spelling, with types of their own. */
export const LIST = 'mcp_list_tools'
export const CALL = 'mcp_call'
export const APPROVAL_REQUEST = 'mcp_approval_request'
const APPROVAL_RESPONSE = 'mcp_approval_response'
export const OWN_CALLS: readonly string[] = ownTypes('mcp')

export const ITEM_TYPES: ReadonlySet<string> = new Set([LIST, CALL, APPROVAL_REQUEST, APPROVAL_RESPONSE, ...OWN_CALLS])

/** A list with both an error and tools is only incomplete. */
function isUsable({ error, tools }: JsonObject): boolean {
  return error == null || (Array.isArray(tools) && tools.length > 0)
}

/** The tools of a server as listed by an earlier answer; undefined if none did, or only without success. */
export function listedTools(input: readonly InputItem[], label: string): readonly RemoteTool[] | undefined {
  const item = input.findLast((each) => each.type === LIST && (each as JsonObject)['server_label'] === label && isUsable(each as JsonObject))
  const tools = (item as JsonObject | undefined)?.['tools']
  if (!Array.isArray(tools)) return undefined
  return (tools as readonly JsonObject[]).map(({ name, description, input_schema: schema, annotations }) => ({
    name: String(name),
    inputSchema: (schema ?? {}) as JsonObject,
    ...(typeof description === 'string' ? { description } : {}),
    ...(typeof annotations === 'object' && annotations !== null ? { annotations: annotations as JsonObject } : {}),
  }))
}

type Find = (choice: JsonObject) => string | undefined

/** The approvals requested from the caller in this conversation, and their answers. */
interface Approvals {
  readonly requests: ReadonlyMap<string, JsonObject>
  readonly responses: ReadonlyMap<string, JsonObject>
  /** Ids of requests that the model has already reacted to. */
  readonly settled: ReadonlySet<string>
  /** Ids of requests that were answered after the model had gone on without an answer. */
  readonly late: ReadonlySet<string>
}

/**
 * Converts items of remote servers to function calls and results. An approved call is due only as long as nothing from the model follows the approval, so
 * it never runs twice. Throws `invalid_prompt` for an approval of an unknown request.
 */
export function replay(input: readonly InputItem[], find: Find): ReplayedInput {
  const approvals = readApprovals(input)
  const due: DueCall[] = []
  const replayed = input.flatMap((item, index): readonly InputItem[] => {
    if (!ITEM_TYPES.has(item.type)) return [item]
    const fields = item as JsonObject
    switch (item.type) {
      case LIST:
        return []
      case APPROVAL_REQUEST:
        return replayRequest(fields, approvals, find)
      case APPROVAL_RESPONSE:
        return replayResponse(fields, index, approvals, find, due)
      default:
        return replayCall(fields, index, find)
    }
  })
  return { input: replayed, due }
}

/** Whether an item begins a turn of the model if it follows something of the caller. Approved calls run before the model goes on. */
function isOfTurn(item: InputItem): boolean {
  if (item.type === CALL || OWN_CALLS.includes(item.type)) return (item as JsonObject)['approval_request_id'] == null
  return item.type === APPROVAL_REQUEST || isOfModel(item)
}

/** Whether an item came from the model, as opposed to its caller. */
function isOfModel({ type, ...item }: InputItem): boolean {
  if (type === 'message') return (item as JsonObject)['role'] === 'assistant'
  return type !== APPROVAL_RESPONSE && type !== APPROVAL_REQUEST && type !== LIST && !type.endsWith('_output')
}

function readApprovals(input: readonly InputItem[]): Approvals {
  const requests = new Map<string, JsonObject>()
  const responses = new Map<string, JsonObject>()
  const settled = new Set<string>()
  const late = new Set<string>()
  const lastOfModel = input.findLastIndex(isOfModel)
  const askedIn = new Map<string, number>()
  let turn = 0
  let callerSpoke = false
  for (const [index, item] of input.entries()) {
    const fields = item as JsonObject
    if (isOfTurn(item)) {
      if (callerSpoke) turn++
      callerSpoke = false
    } else callerSpoke ||= item.type !== LIST && !isOfModel(item)
    if (item.type === APPROVAL_REQUEST) {
      requests.set(String(fields['id']), fields)
      askedIn.set(String(fields['id']), turn)
    } else if (item.type === APPROVAL_RESPONSE) {
      const id = String(fields['approval_request_id'])
      if (!responses.has(id)) responses.set(id, fields)
      if (responses.get(id) === fields && turn > (askedIn.get(id) ?? turn)) late.add(id)
      if (index < lastOfModel) settled.add(id)
    } else if (typeof fields['approval_request_id'] === 'string') settled.add(fields['approval_request_id'])
  }
  return { requests, responses, settled, late }
}

const nameOf = (label: unknown, name: unknown, find: Find): string =>
  find({ server_label: label, name }) ?? functionName(wordOf(label, 'mcp'), wordOf(name, 'tool'))
/** Items in the gateway's own spelling may omit these fields. */
const wordOf = (value: unknown, otherwise: string): string => (typeof value === 'string' && value !== '' ? value : otherwise)

const textOf = (args: unknown): string => (typeof args === 'string' && args !== '' ? args : '{}')
const called = (callId: string, name: string, args: unknown): FunctionCallItem => ({
  type: 'function_call',
  call_id: callId,
  name,
  arguments: textOf(args),
})
const gave = (callId: string, output: string): FunctionCallOutputItem => ({ type: 'function_call_output', call_id: callId, output })
const gaveError = (callId: string, error: string): FunctionCallOutputItem => gave(callId, JSON.stringify({ status: 'error', error }))

/** Statuses of calls that are over and may have given nothing. Clients that drop unknown fields keep the status, but not the error beside it. */
const OVER: ReadonlySet<unknown> = new Set(['completed', null, undefined])
const NO_RESULT = 'This call has no result: it failed, or was not finished.'

function replayCall(item: JsonObject, index: number, find: Find): readonly InputItem[] {
  const callId = typeof item['id'] === 'string' && item['id'] !== '' ? item['id'] : `call_history_${index}`
  const name = nameOf(item['server_label'] ?? item['serverLabel'], item['name'] ?? item['toolName'], find)
  const { error, output, status } = item
  const hasResult = OVER.has(status) || (typeof output === 'string' && output !== '')
  const words = error == null ? (hasResult ? undefined : NO_RESULT) : typeof error === 'string' ? error : JSON.stringify(error)
  return [
    called(callId, name, item['arguments']),
    words === undefined ? gave(callId, typeof output === 'string' ? output : '') : gaveError(callId, words),
  ]
}

function replayRequest(item: JsonObject, { responses, settled, late }: Approvals, find: Find): readonly InputItem[] {
  const id = String(item['id'])
  if (settled.has(id) && !late.has(id) && responses.get(id)?.['approve'] !== false) return []
  const call = called(id, nameOf(item['server_label'], item['name'], find), item['arguments'])
  if (responses.has(id) && !late.has(id)) return [call]
  return [call, gaveError(id, 'The user has not approved this call (yet): it was not carried out.')]
}

function replayResponse(item: JsonObject, index: number, approvals: Approvals, find: Find, due: DueCall[]): readonly InputItem[] {
  const id = String(item['approval_request_id'])
  const request = approvals.requests.get(id)
  if (request === undefined) {
    const path = `input[${index}].approval_request_id`
    throw new GatewayError('invalid_prompt', `${path} names no mcp_approval_request among the items of "input": send the one it answers along`, {
      path,
    })
  }
  if (approvals.responses.get(id) !== item) return []
  const isLate = approvals.late.has(id)
  const callId = isLate ? `${id}_late` : id
  const { server_label: label, name, arguments: args } = request
  // The first attempt has been told to the model as one that was not carried out: what was decided since is another.
  const call = isLate ? [called(callId, nameOf(label, name, find), args)] : []
  if (item['approve'] !== true) {
    const reason = typeof item['reason'] === 'string' && item['reason'] !== '' ? ` Reason: ${item['reason']}` : ''
    return [...call, gaveError(callId, `The user did not approve this call: it was not carried out.${reason}`)]
  }
  if (approvals.settled.has(id)) return []
  const offered = find({ server_label: label, name })
  if (offered === undefined) return [...call, gaveError(callId, 'This tool is not available any more: the call was not carried out.')]
  due.push({ functionName: offered, callId, arguments: textOf(args), grant: id })
  return [...call, gave(callId, '')]
}
