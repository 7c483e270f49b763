import type { ModelRequest } from './request.ts'

/** What an endpoint may stand for. */
export type EndpointTier = 'default' | 'flex' | 'priority'

/** Words in which an answer may name its tier. `auto` names none: it leaves the choice to the vendor. */
const NAMED: ReadonlySet<string> = new Set(['default', 'flex', 'priority', 'scale'])

/** The tier a request asks for. `fast` is the contract's other word for `priority`; requests know it, answers do not. */
export function tierAsked({
  service_tier: tier,
}: Pick<ModelRequest, 'service_tier'>): 'auto' | 'default' | 'flex' | 'priority' | 'scale' | undefined {
  return tier === 'fast' ? 'priority' : (tier ?? undefined)
}

/**
 * The tier that serves an answer, as answers and records name it: in the upstream's word, if it is one of the contract's; else the one the
 * endpoint stands for; else the one that was asked for, unless the upstream was never asked (`dropped`: what was not sent to it).
 */
export function tierServed(
  told: string | undefined,
  own: EndpointTier | undefined,
  request: Pick<ModelRequest, 'service_tier'>,
  dropped: readonly string[] = [],
): string {
  const words = [told, own, dropped.includes('service_tier') ? undefined : tierAsked(request)]
  return words.find((word) => word !== undefined && NAMED.has(word)) ?? 'default'
}
