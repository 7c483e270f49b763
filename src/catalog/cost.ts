import type { Cost } from '../core/generation.ts'
import { announcedAt, isPerRequest, isSearchPriced, windowAt, type PriceTier, type Pricing } from '../core/pricing.ts'
import type { Usage } from '../core/usage.ts'
import type { Clock } from '../lib/clock.ts'

const TOKENS_PER_PRICE = 1_000_000

interface Rates {
  readonly input?: number
  readonly output?: number
  readonly cacheRead?: number
  readonly cacheWrite?: number
  readonly cacheWrite1h?: number
  readonly inputAudio?: number
  readonly cacheReadAudio?: number
  readonly inputImage?: number
  readonly outputImage?: number
}

/** Prices in force for a prompt of this size at this time (milliseconds): the highest tier reached, or else the window, or else the base. */
function ratesFor(pricing: Pricing, inputTokens: number, at?: number): Rates {
  const base: Rates & Pick<Pricing, 'tiers'> = (at === undefined ? undefined : announcedAt(pricing, at)) ?? pricing
  const window = at === undefined ? undefined : windowAt(pricing, at)
  const tier = base.tiers?.reduce<PriceTier | undefined>(
    (best, candidate) => (candidate.fromInputTokens <= inputTokens && candidate.fromInputTokens >= (best?.fromInputTokens ?? 0) ? candidate : best),
    undefined,
  )
  return window === undefined && tier === undefined ? pricing : { ...base, ...window, ...tier }
}

/**
 * The cost of one answer in USD: (input - cached - written) at the input price, cache reads and writes at theirs, output at the output price and its
 * pictures at theirs, plus prices per request and per web search, plus `extras` (server tools and plugins that the gateway itself paid for).
 *
 * If the vendor reports the tokens it charges for, these are priced, regardless of what the model saw: they already account for caching.
 *
 * Tokens for which a vendor charges a multiple of its list price cost that multiple.
 *
 * Cached audio costs the price of cached audio if it is known, or else the price of cache reads, or else that of audio.
 *
 * A cost that the upstream reports takes precedence; prices then only split it. A missing cache price is the input price. `source` is `unknown` when
 * tokens of an unknown price were used, or searches were made at one: the figures are then a lower bound, not a price of zero.
 *
 * @param at when the answer ended, in milliseconds; without it prices do not depend on the hour
 */
export function computeCost(usage: Usage, pricing: Pricing, extras: { readonly [item: string]: number } = {}, at?: number): Cost {
  const rates = ratesFor(pricing, usage.inputTokens, at)
  const perToken = TOKENS_PER_PRICE / (usage.priceFactor ?? 1)
  const { seen, saved } = inputCost(usage, rates)
  const { billed } = usage
  const input = (billed === undefined ? seen : billed.inputTokens * (rates.input ?? 0)) / perToken
  const output = outputCost(usage, rates.output ?? 0, rates.outputImage) / perToken
  // Guards against negative zero.
  const cacheDiscount = billed === undefined && saved !== 0 ? saved / perToken : 0

  const units = usage.reportedCost === undefined ? unitItems(usage, pricing) : {}
  const items = { ...units, ...extras }
  const extra = Object.values(items).reduce((sum, value) => sum + value, 0)
  const listed = Object.keys(items).length === 0 ? {} : { extras: items }
  if (usage.reportedCost !== undefined) {
    const reportedInput = usage.reportedCost * inputShare(usage, input, output)
    return {
      total: usage.reportedCost + extra,
      input: reportedInput,
      output: usage.reportedCost - reportedInput,
      cacheDiscount,
      ...listed,
      source: 'upstream',
    }
  }
  return { total: input + output + extra, input, output, cacheDiscount, ...listed, source: isKnown(usage, rates, pricing) ? 'catalog' : 'unknown' }
}

/** The cost of the tokens that the model read, per million, and how much the cache saved: text, audio, pictures, cache reads and writes. */
function inputCost(usage: Usage, rates: Rates): { readonly seen: number; readonly saved: number } {
  const { cachedTokens, cachedAudioTokens = 0, audioInputTokens = 0, imageInputTokens = 0, cacheWriteTokens, cacheWrite1hTokens = 0 } = usage
  const price = rates.input ?? 0
  const { cacheRead = price, cacheWrite = price, inputAudio = price, inputImage = price } = rates
  const plain = usage.inputTokens - cachedTokens - cacheWriteTokens
  const audio = rates.inputAudio === undefined ? 0 : Math.min(audioInputTokens - cachedAudioTokens, plain)
  const pictures = Math.min(imageInputTokens, plain - audio)
  const { cacheReadAudio = rates.cacheRead === undefined ? rates.inputAudio : undefined } = rates
  const cachedAudio = cacheReadAudio === undefined ? 0 : Math.min(cachedAudioTokens, cachedTokens)
  const cached = (cachedTokens - cachedAudio) * cacheRead + cachedAudio * (cacheReadAudio ?? 0)
  const written = (cacheWriteTokens - cacheWrite1hTokens) * cacheWrite + cacheWrite1hTokens * (rates.cacheWrite1h ?? cacheWrite)
  const uncached = (cachedTokens - cachedAudio + cacheWriteTokens) * price + cachedAudio * inputAudio
  const read = (plain - audio - pictures) * price + audio * inputAudio + pictures * inputImage
  return { seen: read + cached + written, saved: uncached - cached - written }
}

/** Text, and pictures if they have their own price. */
function outputCost({ billed, outputTokens, imageOutputTokens = 0 }: Usage, price: number, imagePrice: number | undefined): number {
  if (billed !== undefined) return billed.outputTokens * price
  const pictures = imagePrice === undefined ? 0 : Math.min(imageOutputTokens, outputTokens)
  return (outputTokens - pictures) * price + pictures * (imagePrice ?? 0)
}

/** Prices answers when they end: vendors whose prices depend on the hour charge by the time of the last token. */
export const createCostOf =
  (clock: Pick<Clock, 'now'>) =>
  (usage: Usage, pricing: Pricing): Cost =>
    computeCost(usage, pricing, {}, clock.now())

function unitItems(usage: Usage, pricing: Pricing): { readonly [item: string]: number } {
  const searches = searchesIn(usage)
  return {
    ...(pricing.request ? { request: pricing.request * (usage.requests ?? 1) } : {}),
    ...(pricing.webSearch && searches > 0 ? { web_search: pricing.webSearch * searches } : {}),
  }
}

const searchesIn = ({ serverToolUse }: Usage): number => serverToolUse?.['web_search'] ?? 0

/** The input's share of a reported total: by the catalog's prices, or else by tokens. */
function inputShare(usage: Usage, input: number, output: number): number {
  if (input + output > 0) return input / (input + output)
  return usage.totalTokens > 0 ? usage.inputTokens / usage.totalTokens : 1
}

/** Whether every kind of token used, and searches that were made, have a price or, if no token was used, whether any price exists. */
function isKnown(usage: Usage, rates: Rates, pricing: Pricing): boolean {
  const inputKnown = rates.input !== undefined || (usage.inputTokens === usage.cachedTokens && rates.cacheRead !== undefined)
  const outputKnown = rates.output !== undefined
  if (usage.unpriced === true) return false
  if (searchesIn(usage) > 0 && !isSearchPriced(pricing)) return false
  if (isPerRequest(pricing, rates)) return true
  if (usage.totalTokens === 0) return inputKnown || outputKnown
  return (inputKnown || usage.inputTokens === 0) && (outputKnown || usage.outputTokens === 0)
}
