import type { SearchEngine, SearchQuery } from '../shared/search-engine.ts'
import { bearer, domainHints, fieldsOf, listOf, textOf, toHit } from '../shared/search-engine.ts'

const MAX_RESULTS = 20
const CHARS_PER_TOKEN = 4

const MAX_DOMAINS = { allowed: 20, excluded: 20 }

/** A single list, with minus signs for excluded domains; the service refuses a mix of both. */
function domainFilter(query: SearchQuery): readonly string[] {
  const { allowed, excluded } = domainHints(query, MAX_DOMAINS)
  return allowed.length > 0 ? allowed : excluded.map((domain) => `-${domain}`)
}

export const perplexity: SearchEngine = {
  name: 'perplexity',
  env: { apiKey: ['PERPLEXITY_API_KEY'] },
  baseUrl: 'https://api.perplexity.ai',
  authorize: bearer,
  price: () => 0.005,
  search: (query) => {
    const domains = domainFilter(query)
    return {
      method: 'POST',
      path: '/search',
      body: {
        query: query.query,
        max_results: Math.min(query.maxResults, MAX_RESULTS),
        ...(domains.length > 0 ? { search_domain_filter: domains } : {}),
        ...(query.maxCharacters === undefined ? {} : { max_tokens_per_page: Math.ceil(query.maxCharacters / CHARS_PER_TOKEN) }),
        ...(query.contextSize === undefined || query.maxCharacters !== undefined ? {} : { search_context_size: query.contextSize }),
      },
    }
  },
  readHits: (body) =>
    listOf(fieldsOf(body)['results']).flatMap((entry) => {
      const { url, title, snippet, date } = fieldsOf(entry)
      return toHit(url, title, textOf(snippet), date)
    }),
}
