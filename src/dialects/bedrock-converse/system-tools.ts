import type { Tool } from '../../core/item.ts'
import type { AnswerWriter } from '../shared/answer-writer.ts'
import { asString, isObject, tryParseJson } from '../shared/json.ts'
import { OpenCalls } from '../shared/open-calls.ts'
import type { Json } from './block.ts'
import type { ModelTraits } from './model-traits.ts'

/** The kind of built-in tool that a tool of the request corresponds to. */
function kindOf({ type }: Tool): keyof ModelTraits['system_tools'] | undefined {
  if (type === 'code_interpreter') return 'code_interpreter'
  return /^web_search(?:_|$)/.test(type) ? 'web_search' : undefined
}

const isBounded = ({ filters }: Tool & { readonly filters?: unknown }): boolean =>
  isObject(filters) && Object.values(filters).some((list) => Array.isArray(list) && list.length > 0)

/** Whether the service runs this tool for the model. It cannot restrict a search to given domains. */
export function hostsTool(tool: Tool, traits: ModelTraits): boolean {
  const kind = kindOf(tool)
  return kind !== undefined && traits.tools && traits.system_tools[kind] !== undefined && !isBounded(tool)
}

/** Separates tools that the model calls from the names of those that the service runs. */
export function splitTools(
  tools: readonly Tool[] | undefined,
  traits: ModelTraits,
): { readonly callable: readonly Tool[]; readonly system: readonly string[] } {
  const system = new Set((tools ?? []).filter((tool) => hostsTool(tool, traits)))
  if (system.size === 0) return { callable: tools ?? [], system: [] }
  const names = new Set([...system].map((tool) => traits.system_tools[kindOf(tool)!]!))
  return { callable: tools!.filter((tool) => !system.has(tool)), system: [...names] }
}

interface Use {
  readonly id: string
  readonly name: string
  json: string
}

/** Converts uses of the service's own tools to items of the contract. A run of code waits for its result; searches have none. */
export class SystemToolDecoder {
  /** Web searches so far. */
  searches = 0
  readonly #writer: AnswerWriter
  readonly #names: ModelTraits['system_tools']
  readonly #uses = new Map<number, Use>()
  readonly #results = new Map<number, { readonly use: Use; readonly status: unknown; content: Json }>()
  #waiting = new OpenCalls<Use>()

  constructor(writer: AnswerWriter, traits: ModelTraits) {
    this.#writer = writer
    this.#names = traits.system_tools
  }

  use(index: number, use: Json): void {
    const name = asString(use['name']) ?? ''
    if (name === this.#names.web_search || name === this.#names.code_interpreter)
      this.#uses.set(index, { id: asString(use['toolUseId']) ?? '', name, json: '' })
  }

  result(index: number, { toolUseId, status }: Json): void {
    const use = this.#waiting.take(asString(toolUseId) ?? '')
    if (use === undefined) return
    this.#results.set(index, { use, status, content: {} })
  }

  delta(index: number, delta: Json): void {
    const use = this.#uses.get(index)
    const input = isObject(delta['toolUse']) ? delta['toolUse']['input'] : undefined
    if (use !== undefined && input !== undefined) use.json += typeof input === 'string' ? input : JSON.stringify(input)
    const result = this.#results.get(index)
    if (result === undefined || !Array.isArray(delta['toolResult'])) return
    for (const part of delta['toolResult'] as readonly unknown[])
      if (isObject(part) && isObject(part['json'])) result.content = { ...result.content, ...part['json'] }
  }

  stop(index: number): void {
    const use = this.#uses.get(index)
    if (use !== undefined) {
      this.#uses.delete(index)
      if (use.name === this.#names.web_search) this.#search(use)
      else this.#waiting.add(use.id, use)
    }
    const result = this.#results.get(index)
    if (result === undefined) return
    this.#results.delete(index)
    this.#code(result.use, result.content, result.status === 'error' || result.content['isError'] === true ? 'failed' : 'completed')
  }

  /** Ends runs whose results never came. */
  finish(): void {
    for (const index of [...this.#uses.keys(), ...this.#results.keys()]) this.stop(index)
    for (const use of this.#waiting.left) this.#code(use, undefined, 'incomplete')
    this.#waiting = new OpenCalls()
  }

  #search(use: Use): void {
    this.searches++
    const query = asString(inputOf(use)['query']) ?? ''
    this.#writer.wholeItem({ type: 'web_search_call', status: 'completed', action: { type: 'search', query, queries: [query], sources: [] } })
  }

  #code(use: Use, content: Json | undefined, status: string): void {
    const logs = content === undefined ? undefined : [content['stdOut'], content['stdErr']].filter((text) => typeof text === 'string').join('')
    this.#writer.wholeItem({
      type: 'code_interpreter_call',
      status,
      code: asString(inputOf(use)['snippet']) ?? null,
      container_id: use.name,
      outputs: logs === undefined ? null : [{ type: 'logs', logs }],
    })
  }
}

function inputOf({ json }: Use): Json {
  const input = tryParseJson(json)
  return isObject(input) ? input : {}
}
