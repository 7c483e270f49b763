import type { Dialect, Target } from '../core/dialect.ts'
import { GatewayError, isGatewayError } from '../core/error.ts'
import type { InputItem, Tool } from '../core/item.ts'
import { ownName } from '../core/own-names.ts'
import type { ModelRequest } from '../core/request.ts'
import { isInForce, isSettingsUpdate } from '../core/settings-update.ts'
import { agentMessageAsUser, isAgentMessage } from './agent-messages.ts'
import type { ToolRegistry } from './tool-registry.ts'

interface AdditionalTools {
  readonly type: 'additional_tools'
  readonly tools: readonly Tool[]
}

const isAdditional = (item: InputItem): item is InputItem & AdditionalTools => item.type === 'additional_tools' && Array.isArray(item['tools'])

/**
 * The request as its endpoint reads it: if the format does not know such items, tools in the input move to the other tools, messages between agents become
 * the user's words, and changes of settings, which are in force already, are left out. Called once per attempt, for encoding and decoding. Returns the same
 * request if there are no such items.
 */
export function readableInput(request: ModelRequest, dialect: Dialect, target: Target): ModelRequest {
  return withToolsAside(withoutUpdates(request, dialect, target), dialect, target)
}

function withoutUpdates(request: ModelRequest, dialect: Dialect, target: Target): ModelRequest {
  if (request.initial_settings === undefined) return request
  const { initial_settings: _, input, ...rest } = request
  if (dialect.readsSettings?.(input.filter(isSettingsUpdate), target) === true && isInForce(request)) return request
  return { ...rest, input: input.filter((item) => !isSettingsUpdate(item)) }
}

function withToolsAside(request: ModelRequest, dialect: Dialect, target: Target): ModelRequest {
  const { input } = request
  if (!input.some((item) => isAdditional(item) || isAgentMessage(item)) || dialect.readsInputTools?.(target) === true) return request
  const added: Tool[] = []
  const rest: InputItem[] = []
  for (const item of input) {
    if (isAdditional(item)) for (const tool of item.tools) added.push(tool)
    else if (isAgentMessage(item)) rest.push(...agentMessageAsUser(item))
    else rest.push(item)
  }
  if (added.length === 0) return { ...request, input: rest }
  return { ...request, input: rest, tools: [...(request.tools ?? []), ...added] }
}

type Runs = Pick<ToolRegistry, 'source'>

const isOwn = ({ type }: Tool, { source }: Runs): boolean => ownName(type) !== undefined || source(type) !== undefined

/**
 * Moves those tools of the input to the request's tools that only the gateway can run, or whose servers must not be known to endpoints. Returns the
 * same request if there are none.
 */
export function withOwnTools(request: ModelRequest, registry: Runs): ModelRequest {
  if (!request.input.some((item) => isAdditional(item) && item.tools.some((tool) => isOwn(tool, registry)))) return request
  const own: Tool[] = []
  const input = request.input.flatMap((item): readonly InputItem[] => {
    if (!isAdditional(item)) return [item]
    // One by one: as arguments of a single call, as many as a body can hold would overflow the stack.
    for (const tool of item.tools) if (isOwn(tool, registry)) own.push(tool)
    const others = item.tools.filter((tool) => !isOwn(tool, registry))
    return others.length === 0 ? [] : [{ ...item, tools: others }]
  })
  return { ...request, input, tools: [...(request.tools ?? []), ...own] }
}

/** An error about a tool that `withOwnTools` moved, with the path the caller used. Any other error unchanged. */
export function withCallersPath(error: unknown, { tools = [], input }: ModelRequest, registry: Runs): unknown {
  const path = isGatewayError(error) ? error.details.path : undefined
  const [moved, index] = /^tools\[(\d+)\]/.exec(path ?? '') ?? []
  const place = index === undefined ? undefined : placesOf(input, registry)[Number(index) - tools.length]
  if (moved === undefined || place === undefined || !isGatewayError(error)) return error
  const callersPath = `${place}${path!.slice(moved.length)}`
  return new GatewayError(
    error.errorType,
    error.message.replace(path!, () => callersPath),
    { ...error.details, path: callersPath },
  )
}

function placesOf(input: readonly InputItem[], registry: Runs): readonly string[] {
  return input.flatMap((item, at) =>
    isAdditional(item) ? item.tools.flatMap((tool, n) => (isOwn(tool, registry) ? [`input[${at}].tools[${n}]`] : [])) : [],
  )
}
