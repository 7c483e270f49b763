import type { SearchEngine } from '../shared/search-engine.ts'
import { fieldsOf, listOf, textOf, toHit, withOperators } from '../shared/search-engine.ts'

/** The operator's own metasearch server, without an account. Its configuration must allow the format `json`. */
export const searxng: SearchEngine = {
  name: 'searxng',
  env: { baseUrl: ['SEARXNG_URL', 'SEARXNG_BASE_URL'] },
  authorize: (key) => ({ authorization: `Bearer ${key.reveal()}` }),
  price: () => 0,
  search: (query) => ({ method: 'GET', path: `/search?${new URLSearchParams({ q: withOperators(query), format: 'json' }).toString()}` }),
  readHits: (body) =>
    listOf(fieldsOf(body)['results']).flatMap((entry) => {
      const { url, title, content, publishedDate } = fieldsOf(entry)
      return toHit(url, title, textOf(content), publishedDate)
    }),
}
