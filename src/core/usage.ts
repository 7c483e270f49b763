/** Token counts of one answer in the gateway's normal form, independent of the vendor's terms. */
export interface Usage {
  /** All prompt tokens, including cache reads and writes. */
  readonly inputTokens: number
  /** Prompt tokens read from a cache; part of `inputTokens`. */
  readonly cachedTokens: number
  /** Prompt tokens written to a cache; part of `inputTokens`. */
  readonly cacheWriteTokens: number
  /** The part of `cacheWriteTokens` that is kept for an hour or longer (priced separately by some vendors). */
  readonly cacheWrite1hTokens?: number
  /** Visible and reasoning tokens together. */
  readonly outputTokens: number
  readonly reasoningTokens: number
  readonly totalTokens: number
  readonly audioInputTokens?: number
  /** Audio among `cachedTokens`; part of `audioInputTokens`. */
  readonly cachedAudioTokens?: number
  /** Pictures in the prompt; part of `inputTokens`. Only told where they have a price of their own. */
  readonly imageInputTokens?: number
  readonly imageOutputTokens?: number
  /** The tokens that are charged, if they differ from what the model read and wrote: some vendors do not charge for what they add to a prompt themselves. */
  readonly billed?: { readonly inputTokens: number; readonly outputTokens: number }
  /** The multiple of the list price that the vendor charges for these tokens, because of the requested speed or region. Absent: 1. */
  readonly priceFactor?: number
  /** Requests that were sent for this answer, if one was not enough. Absent: 1. */
  readonly requests?: number
  /** Requests to server-side tools that the upstream charged for, by tool. */
  readonly serverToolUse?: { readonly [tool: string]: number }
  /** The cost of the call in USD as reported by the upstream. Takes precedence over the catalog's prices. */
  readonly reportedCost?: number
  /** True if the upstream also did something that it charges for at an unknown price. */
  readonly unpriced?: boolean
  /** True if the upstream reported nothing and the counts are estimated. */
  readonly estimated?: boolean
  /** The upstream's own usage object, kept for billing disputes. */
  readonly raw?: unknown
}

/** The part of the usage that is known before the first output. */
export type PromptCount = Pick<Usage, 'inputTokens' | 'cachedTokens' | 'cacheWriteTokens' | 'cacheWrite1hTokens'>

/** What an upstream has counted before it answers; undefined if it has not even counted the prompt. */
export function promptCount(counted: Usage | undefined): PromptCount | undefined {
  if (counted === undefined || counted.inputTokens === 0) return undefined
  const { inputTokens, cachedTokens, cacheWriteTokens, cacheWrite1hTokens } = counted
  return { inputTokens, cachedTokens, cacheWriteTokens, ...(cacheWrite1hTokens === undefined ? {} : { cacheWrite1hTokens }) }
}

/** More tokens than any answer has. Larger counts are nonsense, and sums and prices with them would no longer be numbers. */
export const MAX_TOKENS = 1e12

/** More than any answer costs, USD. A larger amount is nonsense and is not owed, and sums with it would be meaningless. */
const MAX_COST = 1e6
/** A larger multiple of the list price than anyone charges. */
const MAX_FACTOR = 1e4

const count = (value: unknown): number => (typeof value === 'number' && value > 0 && value <= MAX_TOKENS ? Math.trunc(value) : 0)

/** More counters than any vendor has, and longer than their names. A server may write megabytes of them, which no destination would take. */
const MAX_TOOLS = 64
const MAX_TOOL_NAME = 64

const counts = (uses: { readonly [tool: string]: number }): { readonly [tool: string]: number } =>
  Object.fromEntries(
    Object.entries(uses)
      .filter(([tool]) => tool.length <= MAX_TOOL_NAME)
      .slice(0, MAX_TOOLS)
      .map(([tool, value]) => [tool, count(value)]),
  )

type Draft = { -readonly [K in keyof Usage]: Usage[K] }
type UsageParts = { readonly [K in keyof Usage]?: Usage[K] | null | undefined }

/**
 * Builds the normal form and enforces its invariants: cached + written <= input, reasoning <= output, total = input + output. Negative, absurd and
 * missing numbers become 0; a part larger than its whole is reduced to the whole. An absurd cost counts as not reported.
 */
export function createUsage(parts: UsageParts): Usage {
  const inputTokens = count(parts.inputTokens)
  const outputTokens = count(parts.outputTokens)
  const cachedTokens = Math.min(count(parts.cachedTokens), inputTokens)
  const cacheWriteTokens = Math.min(count(parts.cacheWriteTokens), inputTokens - cachedTokens)
  const usage: Draft = {
    inputTokens,
    cachedTokens,
    cacheWriteTokens,
    outputTokens,
    reasoningTokens: Math.min(count(parts.reasoningTokens), outputTokens),
    totalTokens: inputTokens + outputTokens,
  }
  if (parts.cacheWrite1hTokens) usage.cacheWrite1hTokens = Math.min(count(parts.cacheWrite1hTokens), cacheWriteTokens)
  setMedia(usage, parts)
  if (parts.billed) usage.billed = { inputTokens: count(parts.billed.inputTokens), outputTokens: count(parts.billed.outputTokens) }
  const { priceFactor } = parts
  if (typeof priceFactor === 'number' && priceFactor > 0 && priceFactor <= MAX_FACTOR && priceFactor !== 1) usage.priceFactor = priceFactor
  if (count(parts.requests) > 1) usage.requests = count(parts.requests)
  if (parts.serverToolUse) usage.serverToolUse = counts(parts.serverToolUse)
  if (typeof parts.reportedCost === 'number' && parts.reportedCost >= 0 && parts.reportedCost <= MAX_COST) usage.reportedCost = parts.reportedCost
  if (parts.unpriced) usage.unpriced = true
  if (parts.estimated) usage.estimated = true
  if (parts.raw !== undefined && parts.raw !== null) usage.raw = parts.raw
  return usage
}

function setMedia(usage: Draft, { audioInputTokens, cachedAudioTokens, imageInputTokens, imageOutputTokens }: UsageParts): void {
  const { inputTokens, cachedTokens } = usage
  if (audioInputTokens) usage.audioInputTokens = Math.min(count(audioInputTokens), inputTokens)
  if (cachedAudioTokens) usage.cachedAudioTokens = Math.min(count(cachedAudioTokens), usage.audioInputTokens ?? 0, cachedTokens)
  if (imageInputTokens) usage.imageInputTokens = Math.min(count(imageInputTokens), inputTokens)
  if (imageOutputTokens) usage.imageOutputTokens = count(imageOutputTokens)
}

export const ZERO_USAGE: Usage = createUsage({})

/** Improves the estimated usage of an unfinished answer with what its upstream had counted by then: the whole prompt, and a part of the answer. */
export function mendEstimate(estimate: Usage, counted: Usage | undefined): Usage {
  if (counted === undefined) return estimate
  const { inputTokens, cachedTokens, cacheWriteTokens, cacheWrite1hTokens, audioInputTokens, cachedAudioTokens } =
    counted.inputTokens > 0 ? counted : estimate
  return createUsage({
    inputTokens,
    cachedTokens,
    cacheWriteTokens,
    cacheWrite1hTokens,
    audioInputTokens,
    cachedAudioTokens,
    outputTokens: Math.max(estimate.outputTokens, counted.outputTokens),
    reasoningTokens: Math.max(estimate.reasoningTokens, counted.reasoningTokens),
    imageOutputTokens: Math.max(estimate.imageOutputTokens ?? 0, counted.imageOutputTokens ?? 0),
    priceFactor: counted.priceFactor,
    requests: counted.requests,
    serverToolUse: counted.serverToolUse,
    unpriced: counted.unpriced,
    estimated: true,
  })
}

/** Sums the usage of several upstream calls of one answer (tool loop, continued streams). */
export function addUsage(a: Usage, b: Usage): Usage {
  const both = (part: 'cacheWrite1hTokens' | 'audioInputTokens' | 'cachedAudioTokens' | 'imageInputTokens' | 'imageOutputTokens'): number =>
    (a[part] ?? 0) + (b[part] ?? 0)
  const tools: Record<string, number> = { ...a.serverToolUse }
  for (const [tool, n] of Object.entries(b.serverToolUse ?? {})) tools[tool] = (tools[tool] ?? 0) + n
  return createUsage({
    inputTokens: a.inputTokens + b.inputTokens,
    cachedTokens: a.cachedTokens + b.cachedTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
    cacheWrite1hTokens: both('cacheWrite1hTokens'),
    outputTokens: a.outputTokens + b.outputTokens,
    reasoningTokens: a.reasoningTokens + b.reasoningTokens,
    audioInputTokens: both('audioInputTokens'),
    cachedAudioTokens: both('cachedAudioTokens'),
    imageInputTokens: both('imageInputTokens'),
    imageOutputTokens: both('imageOutputTokens'),
    billed: a.billed === undefined && b.billed === undefined ? undefined : addBilled(a.billed ?? a, b.billed ?? b),
    priceFactor: factorOf(a, b),
    serverToolUse: Object.keys(tools).length > 0 ? tools : undefined,
    reportedCost:
      a.reportedCost === undefined && b.reportedCost === undefined ? undefined : Math.min(MAX_COST, (a.reportedCost ?? 0) + (b.reportedCost ?? 0)),
    unpriced: a.unpriced || b.unpriced,
    estimated: a.estimated || b.estimated,
  })
}

type Tokens = Pick<Usage, 'inputTokens' | 'outputTokens'>

const addBilled = (a: Tokens, b: Tokens): Tokens => ({ inputTokens: a.inputTokens + b.inputTokens, outputTokens: a.outputTokens + b.outputTokens })

/** The factor of a sum: the mean, weighted by tokens. */
function factorOf(a: Usage, b: Usage): number | undefined {
  if (a.priceFactor === b.priceFactor || a.totalTokens + b.totalTokens === 0) return a.priceFactor
  return ((a.priceFactor ?? 1) * a.totalTokens + (b.priceFactor ?? 1) * b.totalTokens) / (a.totalTokens + b.totalTokens)
}
