import { roundUsd } from '../core/cost.ts'
import type { Generation, GenerationAttempt } from '../core/generation.ts'
import { compareText } from '../lib/compare-text.ts'
import { ExactSum } from '../lib/exact-sum.ts'

/** The sum of the calls to one model at one provider. Tokens are normalised as in `Usage`; money is in USD. */
export interface CostLine {
  readonly provider: string
  readonly model: string
  calls: number
  inputTokens: number
  cachedTokens: number
  outputTokens: number
  reasoningTokens: number
  /** Paid by the gateway's own accounts. */
  usd: number
  /** Paid by callers' own keys. */
  ownKeysUsd: number
  /** The part of both sums for tools, plugins and items charged per request; some of it is on another provider's invoice. */
  extrasUsd: number
  /** Calls whose cost the provider reported. */
  reported: number
  /** Calls with tokens of unknown price, which count as free. */
  unpriced: number
  /** Calls with estimated tokens, because the provider counted none, and their cost. */
  estimated: number
  estimatedUsd: number
  /** Attempts that broke off after the start of an answer, when another attempt ended the call; a provider may charge for them. */
  broken: number
}

export interface CostReport {
  add(generation: Generation): void
  /** Sorted by provider, then model. */
  lines(): readonly CostLine[]
}

/** In place of a provider: for calls that reached none. */
const NO_ENDPOINT = '(no endpoint)'

type MoneyField = 'usd' | 'ownKeysUsd' | 'extrasUsd' | 'estimatedUsd'

/** A line while records are added to it. */
interface OpenLine {
  readonly counts: CostLine
  readonly money: { readonly [F in MoneyField]: ExactSum }
}

/**
 * Adds up records for a comparison with a provider's invoice. A call and its tokens are listed under the endpoint that ended it. Money is listed
 * under the endpoints that wrote for it, and the cost of tools and plugins with the call, also if it reached no endpoint. Answers that began and were
 * ended by another endpoint are counted as `broken`.
 */
export function createCostReport(): CostReport {
  const lines = new Map<string, OpenLine>()
  const lineOf = (provider: string, model: string): OpenLine => {
    const key = `${provider}\n${model}`
    let line = lines.get(key)
    if (line === undefined) lines.set(key, (line = openLine(provider, model)))
    return line
  }
  return {
    add(generation) {
      for (const attempt of generation.attempts) if (isUnpaid(attempt, generation)) lineOf(attempt.provider, attempt.model).counts.broken++
      // The model that the caller asked for could be any text.
      const { provider = NO_ENDPOINT, model = '-', cost } = generation
      // What plugins have bought for it is owed all the same.
      if (provider === NO_ENDPOINT && cost.total === 0) return
      const line = lineOf(provider, model)
      addTo(line, generation)
      for (const part of partsOfOthers(generation)) {
        const own = part.isByok === true ? 'ownKeysUsd' : 'usd'
        line.money[own].add(-part.costUsd)
        lineOf(part.provider, part.model).money[own].add(part.costUsd)
      }
    },
    lines: () => [...lines.values()].map(closed).toSorted((a, b) => compareText(a.provider, b.provider) || compareText(a.model, b.model)),
  }
}

/** Whether an attempt began to answer, broke off and was not charged for: another endpoint gave the whole answer. */
const isUnpaid = ({ errorType, firstTokenMs, endpointId, costUsd }: GenerationAttempt, generation: Generation): boolean =>
  errorType !== undefined && firstTokenMs !== undefined && costUsd === undefined && endpointId !== generation.endpointId

type Part = GenerationAttempt & { readonly costUsd: number }

/** What was paid to endpoints other than the last. Empty if the call was not charged for, whatever its parts would have cost. */
function partsOfOthers({ attempts, endpointId, cost }: Generation): readonly Part[] {
  const parts = attempts.filter((attempt): attempt is Part => attempt.costUsd !== undefined && attempt.endpointId !== endpointId)
  const known = parts.reduce((sum, { costUsd }) => sum + costUsd, 0)
  // The call's own sum was added up in another order, so both are rounded.
  return roundUsd(known) <= roundUsd(cost.total) ? parts : []
}

function addTo({ counts, money }: OpenLine, { usage, cost }: Generation): void {
  const byok = Math.min(cost.total, cost.byok ?? 0)
  counts.calls++
  counts.inputTokens += usage.inputTokens
  counts.cachedTokens += usage.cachedTokens
  counts.outputTokens += usage.outputTokens
  counts.reasoningTokens += usage.reasoningTokens
  money.usd.add(cost.total - byok)
  money.ownKeysUsd.add(byok)
  for (const usd of Object.values(cost.extras ?? {})) money.extrasUsd.add(usd)
  if (cost.source === 'upstream') counts.reported++
  if (cost.source === 'unknown' && usage.totalTokens > 0) counts.unpriced++
  if (usage.estimated !== true) return
  counts.estimated++
  money.estimatedUsd.add(cost.total)
}

const openLine = (provider: string, model: string): OpenLine => ({
  counts: emptyLine(provider, model),
  money: { usd: new ExactSum(), ownKeysUsd: new ExactSum(), extrasUsd: new ExactSum(), estimatedUsd: new ExactSum() },
})

const closed = ({ counts, money: { usd, ownKeysUsd, extrasUsd, estimatedUsd } }: OpenLine): CostLine => ({
  ...counts,
  usd: usd.value,
  ownKeysUsd: ownKeysUsd.value,
  extrasUsd: extrasUsd.value,
  estimatedUsd: estimatedUsd.value,
})

export const emptyLine = (provider: string, model: string): CostLine => ({
  provider,
  model,
  calls: 0,
  inputTokens: 0,
  cachedTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  usd: 0,
  ownKeysUsd: 0,
  extrasUsd: 0,
  reported: 0,
  unpriced: 0,
  estimated: 0,
  estimatedUsd: 0,
  broken: 0,
})
