import { PICTURE_TOKENS } from '../../core/picture-items.ts'
import { createUsage } from '../../core/usage.ts'
import type { Usage } from '../../core/usage.ts'
import { isObject } from '../shared/json.ts'
import { countedApart, reportedByRouter } from '../shared/usage-counts.ts'
import type { OpenAiChatOptions } from './options.ts'

/** 1e10 ticks are one dollar, where costs are in ticks. */
const TICKS_PER_USD = 1e10

const number = (...values: readonly unknown[]): number | undefined =>
  values.find((value): value is number => typeof value === 'number' && Number.isFinite(value))

const objectOf = (value: unknown): { readonly [field: string]: unknown } => (isObject(value) ? value : {})

/** What is in an answer, for what its server does not count: web searches and pictures. */
interface Seen {
  readonly searches: number
  readonly pictures: number
}
const NOTHING_SEEN: Seen = { searches: 0, pictures: 0 }

/** Normalises the usage object of any server of this format. */
export function decodeUsage(
  raw: { readonly [field: string]: unknown },
  conventions: OpenAiChatOptions['usage'],
  { searches, pictures }: Seen = NOTHING_SEEN,
): Usage {
  const object = (field: string): { readonly [field: string]: unknown } => objectOf(raw[field])
  const promptDetails = { ...object('input_tokens_details'), ...object('prompt_tokens_details') }
  const outputDetails = { ...object('output_tokens_details'), ...object('completion_tokens_details') }

  const cached = number(
    promptDetails['cached_tokens'],
    raw['cached_tokens'],
    raw['prompt_cache_hit_tokens'],
    raw['num_cached_tokens'],
    raw['cache_read_input_tokens'],
  )
  const written = number(
    promptDetails['cache_write_tokens'],
    promptDetails['cache_creation_tokens'],
    promptDetails['cache_creation_input_tokens'],
    promptDetails['caching_tokens'],
    raw['cache_creation_input_tokens'],
  )
  const lifetimes = objectOf(promptDetails['cache_creation_token_details'] ?? raw['cache_creation'])
  const total = number(raw['total_tokens'])
  const prompt = number(raw['prompt_tokens'], raw['input_tokens'])
  let input = prompt ?? 0
  let output = number(raw['completion_tokens'], raw['output_tokens']) ?? restOf(total, prompt)
  const reasoning = number(outputDetails['reasoning_tokens'], raw['reasoning_tokens']) ?? 0

  if (total !== undefined && conventions.input_from_total && total > output) input = total - output
  if (total !== undefined && conventions.output_from_total && total > input) output = total - input
  // If the total is the sum of three, reasoning is counted separately from the output; the arithmetic shows it without a declaration.
  else if (reasoning > 0 && (total === undefined ? conventions.output_excludes_reasoning : total === input + output + reasoning)) output += reasoning
  input += countedApart(input, (cached ?? 0) + (written ?? 0), total === undefined ? undefined : total - output)

  return createUsage({
    inputTokens: input,
    outputTokens: output,
    cachedTokens: cached,
    cacheWriteTokens: written,
    cacheWrite1hTokens: number(lifetimes['ephemeral_1h_input_tokens']),
    reasoningTokens: reasoning,
    audioInputTokens: number(promptDetails['audio_tokens']),
    imageOutputTokens: pictureTokens(outputDetails['image_tokens'], pictures, output),
    serverToolUse: serverTools(raw, searches),
    reportedCost: reportedCost(raw),
    raw,
  })
}

/** An output that is left out is the rest of the total, if the prompt is known. A total alone does not say how much of it is output. */
const restOf = (total = 0, prompt = total): number => Math.max(0, total - prompt)

/** The part of the output that is pictures, which have a price of their own: as the server says, or about as much as they usually take. */
const pictureTokens = (told: unknown, pictures: number, output: number): number | undefined =>
  number(told) || (pictures === 0 ? undefined : Math.min(pictures * PICTURE_TOKENS, output))

/** Costs that a server reports itself. */
function reportedCost(raw: { readonly [field: string]: unknown }): number | undefined {
  const { cost } = raw
  if (isObject(cost)) return number(cost['total_cost'])
  if (typeof cost === 'number') return reportedByRouter(raw)
  // Servers that do not meter this account send zero ticks.
  const ticks = number(raw['cost_in_usd_ticks'])
  return ticks === undefined || ticks <= 0 ? undefined : ticks / TICKS_PER_USD
}

function serverTools(raw: { readonly [field: string]: unknown }, seen: number): Usage['serverToolUse'] | undefined {
  const counts: Record<string, number> = {}
  for (const source of [raw['prompt_tokens_details'], raw['server_tool_use'], raw['server_tool_use_details']]) {
    const searches = isObject(source) ? number(source['web_search_requests']) : undefined
    if (searches !== undefined && searches > 0) counts['web_search'] = searches
  }
  const queries = number(raw['num_search_queries'])
  if (queries !== undefined && queries > 0) counts['web_search'] ??= queries
  if (seen > 0) counts['web_search'] ??= seen
  return Object.keys(counts).length > 0 ? counts : undefined
}
