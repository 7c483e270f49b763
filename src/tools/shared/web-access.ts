import type { SearchHit, SearchQuery, SearchResult, WebSearch } from '../../core/web.ts'
import type { Egress } from '../../lib/egress.ts'
import type { ReadyEngine } from './dependencies.ts'
import { matchesDomain, plainDomain } from '../../lib/domains.ts'
import { callEngine } from './engine-call.ts'
import { cutText } from '../../lib/cut-text.ts'

/** Default limit on the characters of a result: engines differ by orders of magnitude. */
const DEFAULT_CHARACTERS = 10_000
/** No engine is asked for more than a few dozen. */
const MAX_HITS = 200

/** Web search for the rest of the gateway, with the operator's engines. */
export function createWebSearchAccess(engines: readonly ReadyEngine[], egress: Egress): WebSearch {
  const named = (name: string | undefined): ReadyEngine | undefined =>
    name === undefined ? engines[0] : engines.find(({ engine }) => engine.name === name)
  return {
    engine: (name) => named(name)?.engine.name,
    price: (engine, query) => priceOf(named(engine)!, query),
    search: (engine, query, signal) => searchWith(named(engine)!, query, egress, signal),
  }
}

/** USD per search: the operator's price, or else the list price. */
export const priceOf = ({ price, engine }: ReadyEngine, query: SearchQuery): number => price ?? engine.price(query)

/** One search, with its results limited as the caller asked. Throws GatewayError. */
export async function searchWith(ready: ReadyEngine, query: SearchQuery, egress: Egress, signal: AbortSignal): Promise<SearchResult> {
  const body = await callEngine(egress, ready, ready.engine.search(asEnginesRead(query)), signal)
  return { hits: fit(ready.engine.readHits(body), query), cost: priceOf(ready, query) }
}

/** Domains in plain form, whatever form callers use. A wildcard for all domains is no hint. */
function asEnginesRead({ allowedDomains, excludedDomains, ...query }: SearchQuery): SearchQuery {
  const [allowed, excluded] = [allowedDomains, excludedDomains].map((list) => list.map(plainDomain).filter((domain) => domain !== ''))
  return { ...query, allowedDomains: allowed!.includes('*') ? [] : allowed!, excludedDomains: excluded!.filter((domain) => domain !== '*') }
}

/** Engines treat domains as hints and return as much as they like: the caller's limits are enforced here. */
function fit(
  hits: readonly SearchHit[],
  { allowedDomains, excludedDomains, maxResults, maxCharacters = DEFAULT_CHARACTERS }: SearchQuery,
): readonly SearchHit[] {
  const seen = new Set<string>()
  return hits
    .slice(0, MAX_HITS)
    .filter(({ url }) => {
      const parsed = URL.parse(url)
      if (parsed === null || seen.has(url)) return false
      seen.add(url)
      return (allowedDomains.length === 0 || matchesDomain(parsed, allowedDomains, 'every')) && !matchesDomain(parsed, excludedDomains)
    })
    .slice(0, maxResults)
    .map((hit) => (hit.content.length > maxCharacters ? { ...hit, content: cutText(hit.content, maxCharacters) } : hit))
}
