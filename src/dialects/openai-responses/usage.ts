import type { JsonObject } from '../../core/item.ts'
import { createUsage } from '../../core/usage.ts'
import type { Usage } from '../../core/usage.ts'
import { isObject } from '../shared/json.ts'
import { countedApart, hasCounts, reportedByRouter } from '../shared/usage-counts.ts'

/** Ticks of `cost_in_usd_ticks` per US dollar. */
const TICKS_PER_USD = 1e10

/** What the upstream did by tools of its own, as far as it costs something. */
export class ToolRuns {
  /** Web searches, which have a price of their own. */
  searches = 0
  /** Whether something ran that is charged at a price nobody here knows. */
  unpriced = false
  readonly #paid: readonly string[]

  constructor(paid: readonly string[] = []) {
    this.#paid = paid
  }

  /** An item that stands for one run. */
  note(item: JsonObject): void {
    const { type, action } = item
    if (type === 'web_search_call' && (!isObject(action) || action['type'] === undefined || action['type'] === 'search')) this.searches++
    const [, name] = /^(\w+)_call$/.exec(String(type)) ?? []
    if (isPaid(item, name, this.#paid)) this.unpriced = true
  }
}

/** Whether a tool, or what it did, is charged for separately: the tool itself, or the environment in which the vendor runs it. */
export function isPaid({ environment }: JsonObject, name: string | undefined, paid: readonly string[]): boolean {
  return (name !== undefined && paid.includes(name)) || (isObject(environment) && paid.includes(String(environment['type'])))
}

const NOTHING_RAN = { searches: 0, unpriced: false }

type Numbers = { readonly [name: string]: unknown }

const objectOf = (value: unknown): Numbers => (isObject(value) ? value : {})

function firstNumber(source: Numbers, ...names: readonly string[]): number | undefined {
  for (const name of names) {
    const value = source[name]
    if (typeof value === 'number' && Number.isFinite(value)) return value
  }
  return undefined
}

/**
 * Token counts in the spelling of any Responses server. Input includes cache reads and writes, and output includes reasoning: this holds for every
 * recorded server of this dialect. Relays that count them separately are recognised by their sums. `searches` are the web searches that the decoder
 * saw, used if the upstream does not count them.
 */
export function readUsage(value: unknown, { searches, unpriced }: Pick<ToolRuns, 'searches' | 'unpriced'> = NOTHING_RAN): Usage | undefined {
  if (!isObject(value) || !hasCounts(value)) return undefined
  const input = firstNumber(value, 'input_tokens', 'prompt_tokens')
  const output = firstNumber(value, 'output_tokens', 'completion_tokens')
  if (input === undefined && output === undefined) return undefined
  const inputDetails: Numbers = { ...objectOf(value['prompt_tokens_details']), ...objectOf(value['input_tokens_details']) }
  const outputDetails = { ...objectOf(value['completion_tokens_details']), ...objectOf(value['output_tokens_details']) }
  const cached = firstNumber(inputDetails, 'cached_tokens') ?? firstNumber(value, 'cached_tokens', 'cache_read_input_tokens')
  const written =
    firstNumber(inputDetails, 'cache_write_tokens', 'cache_creation_tokens') ??
    firstNumber(value, 'cache_write_tokens', 'cache_creation_input_tokens')
  const total = firstNumber(value, 'total_tokens')
  const apart = countedApart(input ?? 0, (cached ?? 0) + (written ?? 0), total === undefined ? undefined : total - (output ?? 0))
  const charged = reportedCost(value)
  return createUsage({
    inputTokens: (input ?? 0) + apart,
    cachedTokens: cached,
    cacheWriteTokens: written,
    // The longer of the two TTLs that these servers offer, at a price of its own.
    cacheWrite1hTokens: firstNumber(objectOf(inputDetails['cache_write_tokens_details']), 'ttl_12h_tokens'),
    outputTokens: output ?? Math.max(0, (total ?? 0) - (input ?? 0)),
    reasoningTokens: firstNumber(outputDetails, 'reasoning_tokens') ?? firstNumber(value, 'reasoning_tokens'),
    audioInputTokens: firstNumber(inputDetails, 'audio_tokens'),
    imageOutputTokens: firstNumber(outputDetails, 'image_tokens'),
    serverToolUse: serverToolUse(value, searches),
    reportedCost: charged,
    unpriced: unpriced && charged === undefined,
    raw: value,
  })
}

/** The cost of the call according to the upstream, USD. */
function reportedCost(usage: Numbers): number | undefined {
  const ticks = firstNumber(usage, 'cost_in_usd_ticks')
  // Servers that do not meter this account send zero ticks.
  if (ticks !== undefined && ticks > 0) return ticks / TICKS_PER_USD
  return reportedByRouter(usage)
}

/** Requests to the upstream's own tools, by tool: `web_search_calls: 2` and `web_search_requests: 2` both count as `web_search`. */
function serverToolUse(usage: Numbers, searches: number): { readonly [tool: string]: number } | undefined {
  const tools: Record<string, number> = {}
  const details = {
    ...objectOf(usage['server_side_tool_usage_details']),
    ...objectOf(usage['server_tool_use_details']),
    ...objectOf(usage['server_tool_use']),
  }
  for (const [name, count] of Object.entries(details)) {
    const tool = /^(.+)_(?:calls|requests)$/.exec(name)?.[1]
    if (tool !== undefined && tool !== 'tool' && typeof count === 'number' && count > 0) tools[tool] = count
  }
  if (searches > 0 && tools['web_search'] === undefined) tools['web_search'] = searches
  return Object.keys(tools).length > 0 ? tools : undefined
}
