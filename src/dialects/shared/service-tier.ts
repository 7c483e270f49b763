import { z } from 'zod'
import type { Target } from '../../core/dialect.ts'
import type { ModelRequest } from '../../core/request.ts'
import { tierAsked } from '../../core/service-tier.ts'
import { compiled, pattern } from './pattern.ts'

/** A vendor's words for the tiers of the contract; a tier without a word cannot be requested there. */
export type TierWords = { readonly [tier in NonNullable<ReturnType<typeof tierAsked>>]?: string }

/** For servers that know the field but not all of its values. */
export const serviceTiers = z
  .array(z.enum(['auto', 'default', 'flex', 'priority', 'scale']))
  .optional()
  .describe('Service tiers that this server accepts; others are not requested. Default: all.')

/** For servers that charge a multiple of their list price in a tier. */
export const tierFactors = z
  .array(z.strictObject({ tier: z.enum(['flex', 'priority']), match: pattern.optional(), factor: z.number().positive() }))
  .default([])
  .describe(
    'What tokens cost in a service tier, as a multiple of the list price: of the entries for the tier, the first one whose `match` fits the upstream id counts. Endpoints with a `tier` have its price already.',
  )

/** The multiple of the list price in this tier; 1 if none is declared. */
export function tierFactor(
  tier: string,
  { options, upstreamModel }: { readonly options: { readonly tier_factors: z.output<typeof tierFactors> }; readonly upstreamModel: string },
): number {
  const entry = options.tier_factors.find(({ tier: named, match }) => named === tier && (match === undefined || compiled(match).test(upstreamModel)))
  return entry?.factor ?? 1
}

/** Those of the values that a server accepts. */
export const wordsTaken = (words: TierWords, taken: z.output<typeof serviceTiers>): TierWords =>
  taken === undefined ? words : Object.fromEntries(taken.map((tier) => [tier, words[tier]]))

/**
 * The tier as the upstream is told it, in its own word; undefined: nothing. An endpoint that stands for a tier requests it whatever the caller wrote,
 * because its price is charged; only `scale`, which is capacity the account bought in advance, is the caller's choice at a default endpoint. `known`:
 * whether the server accepts the field from callers; an endpoint for flex or priority implies that it does.
 */
export function serviceTierWord(
  request: ModelRequest,
  target: Pick<Target, 'tier'>,
  { known, words }: { readonly known: boolean; readonly words: TierWords },
): { readonly word: string | undefined; /** A tier was asked for that the upstream is not told of. */ readonly dropped: boolean } {
  const requested = tierAsked(request)
  const tier = target.tier === undefined || (target.tier === 'default' && requested === 'scale') ? requested : target.tier
  const word = tier !== undefined && (known || isOwn(target.tier)) ? words[tier] : undefined
  return { word, dropped: (isSpecial(tier) && word === undefined) || (isSpecial(requested) && requested !== tier) }
}

const isOwn = (tier: Target['tier']): boolean => tier === 'flex' || tier === 'priority'

/** `auto` and `default` are what an upstream does without the field. */
const isSpecial = (tier: string | undefined): boolean => tier !== undefined && tier !== 'auto' && tier !== 'default'
