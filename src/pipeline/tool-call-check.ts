import type { ModelEvent } from '../core/event.ts'
import { isCustomTool, isFunctionTool, toolsWithin } from '../core/item.ts'
import type { ModelRequest } from '../core/request.ts'
import { wholeText } from './answer-fold.ts'

type Asked = Pick<ModelRequest, 'tools' | 'input'>

/** Longer arguments count as well-formed, because reading them would hold up other calls. */
const MAX_CHARS = 64 * 1024

/** Undefined if the model is offered no tools: most calls are not watched. */
export const checkCalls = (request: Asked): ToolCallCheck | undefined =>
  request.tools === undefined || request.tools.length === 0 ? undefined : new ToolCallCheck(request)

/** Watches the function calls of one answer: how well a model calls tools depends on who serves it. */
export class ToolCallCheck {
  readonly #request: Asked
  readonly #open = new Map<string, string>()
  /** The functions of the request, listed at the first call: there may be tens of thousands, and as many calls. */
  #names: ReadonlySet<string> | undefined
  #knowsAll = false
  #calls = 0
  #isBad = false
  #isCut = false

  constructor(request: Asked) {
    this.#request = request
  }

  /** Whether a call named no function of the request, or had arguments that are not JSON. Undefined if there was no call, or if the answer was cut off. */
  get bad(): boolean | undefined {
    return this.#calls === 0 || this.#isCut ? undefined : this.#isBad
  }

  take(events: readonly ModelEvent[]): void {
    for (const event of events) {
      if (event.type === 'item-start') this.#start(event)
      else if (event.type === 'arguments-delta') this.#add(event)
      else if (event.type === 'item-end') this.#end(event)
      else if (event.type === 'response-end') this.#isCut = event.reason === 'length' || event.reason === 'content_filter'
    }
  }

  #start({ key, item }: ModelEvent & { readonly type: 'item-start' }): void {
    if (item.type !== 'function_call') return
    this.#calls++
    this.#open.set(key, '')
    this.#isBad ||= typeof item.name === 'string' && !this.#isOffered(item.name)
  }

  #add({ key, delta }: ModelEvent & { readonly type: 'arguments-delta' }): void {
    const before = this.#open.get(key)
    if (before !== undefined && before.length <= MAX_CHARS) this.#open.set(key, before + delta)
  }

  #end({ key, item }: ModelEvent & { readonly type: 'item-end' }): void {
    const deltas = this.#open.get(key)
    if (deltas === undefined) return
    this.#open.delete(key)
    const text = wholeText(deltas, item?.['arguments'])
    this.#isBad ||= text.length <= MAX_CHARS && text !== '' && !isJson(text)
  }

  #isOffered(name: string): boolean {
    if (this.#names === undefined) {
      const { tools = [], input } = this.#request
      this.#names = new Set(tools.filter(isFunctionTool).map((tool) => tool.name))
      // Functions may also be in namespaces, be found by a search, or come with the input: then only the vendor knows all names.
      this.#knowsAll = tools.every((tool) => isFunctionTool(tool) || isCustomTool(tool)) && !input.some((item) => toolsWithin(item).length > 0)
    }
    return !this.#knowsAll || this.#names.has(name)
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
