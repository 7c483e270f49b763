import { CLIENT_SEARCH, CLIENT_SEARCH_CALL, isClientSearchCall, isClientSearchOutput, isClientSearchTool } from '../core/client-search.ts'
import type { Dialect, Target } from '../core/dialect.ts'
import type { ModelEvent } from '../core/event.ts'
import { isCustomTool, isFunctionTool, toolsWithin } from '../core/item.ts'
import type { FunctionTool, InputItem, JsonObject, OtherItem, Tool, ToolChoice } from '../core/item.ts'
import type { ModelRequest } from '../core/request.ts'
import { parseJson } from '../lib/json.ts'
import { wholeText } from './answer-fold.ts'
import { loadFound, withoutDeferred } from './deferred-tools.ts'
import { freeName, namesOf } from './tool-offer.ts'

const DESCRIPTION =
  'Finds further tools and loads them, so that you can call them from your next turn on. Search before you say that something cannot be done.'
const PARAMETERS: JsonObject = {
  type: 'object',
  properties: { query: { type: 'string', description: 'What the tools are to do.' } },
  required: ['query'],
}

/**
 * Translates a tool search that the caller runs, for an endpoint whose format has none. The model is offered a function instead; its call becomes the
 * search that the caller answers, and what earlier turns found is offered beside the other tools.
 */
export class ClientSearch {
  readonly request: ModelRequest
  /** The function that stands for the search; undefined if the caller no longer offers one. */
  readonly #functionName: string | undefined
  /** Arguments received so far, by the key of the call. */
  readonly #open = new Map<string, string>()

  private constructor(request: ModelRequest, functionName: string | undefined) {
    this.request = request
    this.#functionName = functionName
  }

  /** Created once per attempt. Undefined if the request has no such search, or the endpoint understands it. */
  static of(request: ModelRequest, dialect: Dialect, target: Target): ClientSearch | undefined {
    const { input, tools = [] } = request
    const isOffered = tools.some(isClientSearchTool)
    const isOurs = isOffered || input.some((item) => isClientSearchCall(item) || isClientSearchOutput(item))
    if (!isOurs || dialect.knowsClientSearch?.(target) === true) return undefined
    const found = input.flatMap((item) => (isClientSearchOutput(item) ? toolsWithin(item) : []))
    const taken = namesOf(tools, input)
    const name = freeName(CLIENT_SEARCH, (wanted) => !taken.has(wanted))
    const shown = loadFound(isOffered ? withoutDeferred(tools) : tools, tools, found)
    const { tool_choice: choice, tools: _, ...rest } = request
    return new ClientSearch(
      {
        ...rest,
        input: replay(input, name),
        ...(shown.length === 0 ? {} : { tools: asFunctions(shown, name) }),
        ...(choice === undefined ? {} : { tool_choice: renameChoice(choice, name) }),
      },
      isOffered ? name : undefined,
    )
  }

  /** The events as the caller reads them. */
  take(events: readonly ModelEvent[]): readonly ModelEvent[] {
    return events.flatMap((event) => this.#take(event))
  }

  #take(event: ModelEvent): readonly ModelEvent[] {
    if (event.type === 'item-start') return [this.#start(event)]
    if (event.type !== 'arguments-delta' && event.type !== 'item-end') return [event]
    const text = this.#open.get(event.key)
    if (text === undefined) return [event]
    if (event.type === 'arguments-delta') {
      this.#open.set(event.key, text + event.delta)
      return []
    }
    this.#open.delete(event.key)
    return [{ ...event, item: { ...event.item, arguments: parseObject(wholeText(text, event.item?.['arguments'])) } }]
  }

  #start(event: Extract<ModelEvent, { readonly type: 'item-start' }>): ModelEvent {
    const { type, name, namespace, call_id } = event.item as OtherItem
    // Namespaces belong to the caller: a function of this name in one of them is another function.
    const isSearch = type === 'function_call' && name === this.#functionName && (namespace == null || namespace === '')
    if (!isSearch) return event
    this.#open.set(event.key, '')
    return { ...event, item: { type: CLIENT_SEARCH_CALL, execution: 'client', call_id, arguments: {}, status: 'in_progress' } }
  }
}

/** The request as its endpoint reads it, with the answer as the caller does. */
export function translateSearch(request: ModelRequest, dialect: Dialect, target: Target): Pick<ClientSearch, 'request' | 'take'> {
  return ClientSearch.of(request, dialect, target) ?? { request, take: (events) => events }
}

/** Arguments that are no object give the caller nothing to search for; nesting too deep would break whoever writes them. */
function parseObject(text: string): JsonObject {
  try {
    const value = parseJson(Buffer.from(text))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}
  } catch {
    return {}
  }
}

/** The caller's search as a function; a second search would say the same. */
function asFunctions(tools: readonly Tool[], name: string): readonly Tool[] {
  const first = tools.find(isClientSearchTool)
  return tools.flatMap((tool) => {
    if (!isClientSearchTool(tool)) return [tool]
    return tool === first ? [functionOf(tool as JsonObject, name)] : []
  })
}

function functionOf({ description, parameters }: JsonObject, name: string): FunctionTool {
  return {
    type: 'function',
    name,
    description: typeof description === 'string' && description !== '' ? description : DESCRIPTION,
    parameters: typeof parameters === 'object' && parameters !== null ? (parameters as JsonObject) : PARAMETERS,
  }
}

function renameChoice(choice: ToolChoice, name: string): ToolChoice {
  if (typeof choice === 'string') return choice
  if (choice.type === CLIENT_SEARCH) return { type: 'function', name }
  if (choice.type !== 'allowed_tools' || !Array.isArray(choice['tools'])) return choice
  const tools = (choice['tools'] as readonly JsonObject[]).map((tool) => (tool['type'] === CLIENT_SEARCH ? { type: 'function', name } : tool))
  return { ...choice, tools }
}

/** Earlier searches as calls of the function with their results. Those without ids are matched by their order. */
function replay(input: readonly InputItem[], name: string): readonly InputItem[] {
  let calls = 0
  let outputs = 0
  return input.map((item) => {
    const { call_id: callId, arguments: args } = item as OtherItem
    const idOf = (number: number): string => (typeof callId === 'string' && callId !== '' ? callId : `call_search_${number}`)
    if (isClientSearchCall(item)) {
      const text = typeof args === 'string' ? args : JSON.stringify(args ?? {})
      return { type: 'function_call', call_id: idOf(callId ? calls : ++calls), name, arguments: text }
    }
    if (!isClientSearchOutput(item)) return item
    return { type: 'function_call_output', call_id: idOf(callId ? outputs : ++outputs), output: describe(toolsWithin(item)) }
  })
}

function describe(found: readonly Tool[]): string {
  const tools = found.flatMap((tool) => {
    if (isFunctionTool(tool) || isCustomTool(tool)) return [tool.name]
    if (tool.type !== 'namespace') return []
    return (tool['tools'] as readonly { readonly name?: string }[]).flatMap(({ name }) =>
      name === undefined ? [] : [`${String(tool['name'])}__${name}`],
    )
  })
  return JSON.stringify({ tools, note: tools.length === 0 ? 'No tool matches.' : 'These tools can be called now.' })
}
