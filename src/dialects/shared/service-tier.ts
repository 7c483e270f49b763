import { z } from 'zod'
import type { Target } from '../../core/dialect.ts'
import type { ModelRequest } from '../../core/request.ts'
import { tierAsked } from '../../core/service-tier.ts'

/** Words of a vendor for the tiers of the contract; a tier without one cannot be asked for there. */
export type TierWords = { readonly [tier in NonNullable<ReturnType<typeof tierAsked>>]?: string }

/** The option for servers that know the field and not every word of it. */
export const serviceTiers = z
  .array(z.enum(['auto', 'default', 'flex', 'priority', 'scale']))
  .optional()
  .describe('Service tiers that this server accepts; others are not requested. Default: all.')

/** Of these words the ones a server takes. */
export const wordsTaken = (words: TierWords, taken: z.output<typeof serviceTiers>): TierWords =>
  taken === undefined ? words : Object.fromEntries(taken.map((tier) => [tier, words[tier]]))

/**
 * What the upstream is told of the tier, in its own word; undefined: nothing. An endpoint that stands for a tier asks for this one whatever the
 * caller wrote, as its price is charged; only `scale`, capacity the account bought in advance, is left to the caller at a default endpoint.
 * `known` says whether the server takes such a field from callers; an endpoint of flex or priority is itself the word that it does.
 */
export function serviceTierWord(
  request: ModelRequest,
  target: Pick<Target, 'tier'>,
  { known, words }: { readonly known: boolean; readonly words: TierWords },
): { readonly word: string | undefined; /** A tier was asked for that the upstream is not told of. */ readonly dropped: boolean } {
  const asked = tierAsked(request)
  const tier = target.tier === undefined || (target.tier === 'default' && asked === 'scale') ? asked : target.tier
  const word = tier !== undefined && (known || isOwn(target.tier)) ? words[tier] : undefined
  return { word, dropped: (isSpecial(tier) && word === undefined) || (isSpecial(asked) && asked !== tier) }
}

const isOwn = (tier: Target['tier']): boolean => tier === 'flex' || tier === 'priority'

/** `auto` and `default` are what an upstream does that is told nothing. */
const isSpecial = (tier: string | undefined): boolean => tier !== undefined && tier !== 'auto' && tier !== 'default'
