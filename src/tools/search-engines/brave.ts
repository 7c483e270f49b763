import type { SearchEngine } from '../shared/search-engine.ts'
import { fieldsOf, listOf, textOf, textsOf, toHit, withOperators } from '../shared/search-engine.ts'

const MAX_RESULTS = 20
/** Limits on a query, which is refused if it exceeds either. */
const MOST = { chars: 400, words: 50 }

export const brave: SearchEngine = {
  name: 'brave',
  env: { apiKey: ['BRAVE_SEARCH_API_KEY', 'BRAVE_API_KEY'] },
  baseUrl: 'https://api.search.brave.com/res/v1',
  authorize: (key) => ({ 'x-subscription-token': key.reveal() }),
  price: () => 0.005,
  search: (query) => ({
    method: 'GET',
    path: `/web/search?${new URLSearchParams({ q: withOperators(query, MOST), count: String(Math.min(query.maxResults, MAX_RESULTS)), text_decorations: 'false', extra_snippets: 'true' }).toString()}`,
  }),
  readHits: (body) =>
    listOf(fieldsOf(fieldsOf(body)['web'])['results']).flatMap((entry) => {
      const { url, title, description, extra_snippets: more, age } = fieldsOf(entry)
      return toHit(url, title, [textOf(description), textsOf(more)].filter((part) => part !== '').join('\n[...]\n'), age)
    }),
}
