/** Token counts of one answer in the gateway's normal form, whatever the vendor's own vocabulary. */
export interface Usage {
  /** All prompt tokens, cache reads and writes included. */
  readonly inputTokens: number
  /** Prompt tokens read from a cache; part of `inputTokens`. */
  readonly cachedTokens: number
  /** Prompt tokens written to a cache; part of `inputTokens`. */
  readonly cacheWriteTokens: number
  /** The part of `cacheWriteTokens` kept for an hour or longer (priced apart by some vendors). */
  readonly cacheWrite1hTokens?: number
  /** Visible and reasoning tokens together. */
  readonly outputTokens: number
  readonly reasoningTokens: number
  readonly totalTokens: number
  readonly audioInputTokens?: number
  /** Audio among `cachedTokens`; part of `audioInputTokens`. */
  readonly cachedAudioTokens?: number
  readonly imageOutputTokens?: number
  /** What is charged, if it is not what the model read and wrote: some vendors leave out what they add to a prompt themselves. */
  readonly billed?: { readonly inputTokens: number; readonly outputTokens: number }
  /** How many times its list price the vendor charges for these tokens, for a speed or a place that was asked for. Absent: once. */
  readonly priceFactor?: number
  /** Requests to server-side tools the upstream charged, by tool. */
  readonly serverToolUse?: { readonly [tool: string]: number }
  /** What the upstream itself says the call cost, USD. Takes precedence over the catalog's prices. */
  readonly reportedCost?: number
  /** True when the upstream did something besides that it charges for, at a price nobody knows. */
  readonly unpriced?: boolean
  /** True when the upstream reported nothing and the counts are an estimate. */
  readonly estimated?: boolean
  /** The upstream's own usage object, kept for billing disputes. */
  readonly raw?: unknown
}

/** The part of the usage that is known before the first word. */
export type PromptCount = Pick<Usage, 'inputTokens' | 'cachedTokens' | 'cacheWriteTokens' | 'cacheWrite1hTokens'>

/** What an upstream that has not answered yet has counted; undefined if it has not counted the prompt either. */
export function promptCount(counted: Usage | undefined): PromptCount | undefined {
  if (counted === undefined || counted.inputTokens === 0) return undefined
  const { inputTokens, cachedTokens, cacheWriteTokens, cacheWrite1hTokens } = counted
  return { inputTokens, cachedTokens, cacheWriteTokens, ...(cacheWrite1hTokens === undefined ? {} : { cacheWrite1hTokens }) }
}

/** More tokens than any answer has: what lies beyond is nonsense whose sums and prices would be no numbers any more. */
export const MAX_TOKENS = 1e12

/** More than any answer costs, USD. A larger amount is nonsense and not what is owed, and sums with it would be meaningless. */
const MAX_COST = 1e6
/** More times its list price than anybody charges. */
const MAX_FACTOR = 1e4

const count = (value: unknown): number => (typeof value === 'number' && value > 0 && value <= MAX_TOKENS ? Math.trunc(value) : 0)

const counts = (uses: { readonly [tool: string]: number }): { readonly [tool: string]: number } =>
  Object.fromEntries(Object.entries(uses).map(([tool, value]) => [tool, count(value)]))

type UsageParts = { readonly [K in keyof Usage]?: Usage[K] | null | undefined }

/**
 * Builds the normal form and enforces its invariants: cached + written <= input, reasoning <= output, total = input + output.
 * Negative, absurd and missing numbers become 0; a part larger than its whole is cut to the whole. An absurd cost counts as none reported.
 */
export function createUsage(parts: UsageParts): Usage {
  const inputTokens = count(parts.inputTokens)
  const outputTokens = count(parts.outputTokens)
  const cachedTokens = Math.min(count(parts.cachedTokens), inputTokens)
  const cacheWriteTokens = Math.min(count(parts.cacheWriteTokens), inputTokens - cachedTokens)
  const usage: { -readonly [K in keyof Usage]: Usage[K] } = {
    inputTokens,
    cachedTokens,
    cacheWriteTokens,
    outputTokens,
    reasoningTokens: Math.min(count(parts.reasoningTokens), outputTokens),
    totalTokens: inputTokens + outputTokens,
  }
  if (parts.cacheWrite1hTokens) usage.cacheWrite1hTokens = Math.min(count(parts.cacheWrite1hTokens), cacheWriteTokens)
  if (parts.audioInputTokens) usage.audioInputTokens = Math.min(count(parts.audioInputTokens), inputTokens)
  if (parts.cachedAudioTokens) usage.cachedAudioTokens = Math.min(count(parts.cachedAudioTokens), usage.audioInputTokens ?? 0, cachedTokens)
  if (parts.imageOutputTokens) usage.imageOutputTokens = count(parts.imageOutputTokens)
  if (parts.billed) usage.billed = { inputTokens: count(parts.billed.inputTokens), outputTokens: count(parts.billed.outputTokens) }
  const { priceFactor } = parts
  if (typeof priceFactor === 'number' && priceFactor > 0 && priceFactor <= MAX_FACTOR && priceFactor !== 1) usage.priceFactor = priceFactor
  if (parts.serverToolUse) usage.serverToolUse = counts(parts.serverToolUse)
  if (typeof parts.reportedCost === 'number' && parts.reportedCost >= 0 && parts.reportedCost <= MAX_COST) usage.reportedCost = parts.reportedCost
  if (parts.unpriced) usage.unpriced = true
  if (parts.estimated) usage.estimated = true
  if (parts.raw !== undefined && parts.raw !== null) usage.raw = parts.raw
  return usage
}

export const ZERO_USAGE: Usage = createUsage({})

/** An estimate of what an unfinished answer has used, mended by what its upstream had counted by then: all of the prompt, some of the answer. */
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
    imageOutputTokens: counted.imageOutputTokens,
    priceFactor: counted.priceFactor,
    serverToolUse: counted.serverToolUse,
    unpriced: counted.unpriced,
    estimated: true,
  })
}

/** Sums the usage of several upstream calls of one answer (tool loop, continued streams). */
export function addUsage(a: Usage, b: Usage): Usage {
  const both = (part: 'cacheWrite1hTokens' | 'audioInputTokens' | 'cachedAudioTokens' | 'imageOutputTokens'): number =>
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

/** Of a sum: the mean, by tokens. */
function factorOf(a: Usage, b: Usage): number | undefined {
  if (a.priceFactor === b.priceFactor || a.totalTokens + b.totalTokens === 0) return a.priceFactor
  return ((a.priceFactor ?? 1) * a.totalTokens + (b.priceFactor ?? 1) * b.totalTokens) / (a.totalTokens + b.totalTokens)
}
