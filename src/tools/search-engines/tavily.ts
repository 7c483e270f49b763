import type { SearchEngine, SearchQuery } from '../shared/search-engine.ts'
import { cutText } from '../../lib/cut-text.ts'
import { bearer, domainHints, fieldsOf, listOf, textOf, toHit } from '../shared/search-engine.ts'

const MAX_RESULTS = 20
const MAX_QUERY_CHARS = 400

const MAX_DOMAINS = { allowed: 300, excluded: 150 }

function domainFields(query: SearchQuery): object {
  const { allowed, excluded } = domainHints(query, MAX_DOMAINS)
  return { ...(allowed.length > 0 ? { include_domains: allowed } : {}), ...(excluded.length > 0 ? { exclude_domains: excluded } : {}) }
}

export const tavily: SearchEngine = {
  name: 'tavily',
  env: { apiKey: ['TAVILY_API_KEY'] },
  baseUrl: 'https://api.tavily.com',
  authorize: bearer,
  price: ({ contextSize }) => (contextSize === 'high' ? 0.016 : 0.008),
  search: (query) => ({
    method: 'POST',
    path: '/search',
    body: {
      // Longer queries are refused.
      query: cutText(query.query, MAX_QUERY_CHARS),
      max_results: Math.min(query.maxResults, MAX_RESULTS),
      search_depth: query.contextSize === 'high' ? 'advanced' : 'basic',
      ...domainFields(query),
    },
  }),
  readHits: (body) =>
    listOf(fieldsOf(body)['results']).flatMap((entry) => {
      const { url, title, content, published_date: published } = fieldsOf(entry)
      return toHit(url, title, textOf(content), published)
    }),
}
