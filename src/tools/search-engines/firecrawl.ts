import type { SearchEngine } from '../shared/search-engine.ts'
import { bearer, fieldsOf, listOf, textOf, toHit, withOperators } from '../shared/search-engine.ts'

/** Limit on a query, which is refused if it is longer. */
const MOST = { chars: 500 }

export const firecrawl: SearchEngine = {
  name: 'firecrawl',
  env: { apiKey: ['FIRECRAWL_API_KEY'] },
  baseUrl: 'https://api.firecrawl.dev/v2',
  authorize: bearer,
  // Paid in credits of the operator's plan, whose value is unknown here.
  price: () => 0,
  search: (query) => ({
    method: 'POST',
    path: '/search',
    body: { query: withOperators(query, MOST), limit: query.maxResults, sources: ['web'] },
  }),
  readHits: (body) =>
    listOf(fieldsOf(fieldsOf(body)['data'])['web']).flatMap((entry) => {
      const { url, title, description } = fieldsOf(entry)
      return toHit(url, title, textOf(description))
    }),
  pages: {
    price: 0,
    fetch: (url) => ({ method: 'POST', path: '/scrape', body: { url, formats: ['markdown'], onlyMainContent: true } }),
    read: (body) => {
      const { markdown, metadata } = fieldsOf(fieldsOf(body)['data'])
      const { title } = fieldsOf(metadata)
      return typeof markdown === 'string' ? { content: markdown, ...(typeof title === 'string' ? { title } : {}) } : undefined
    },
  },
}
