import { cutText } from '../../lib/cut-text.ts'
import type { SearchEngine, SearchQuery } from '../shared/search-engine.ts'
import { domainHints, fieldsOf, listOf, textOf, textsOf, toHit } from '../shared/search-engine.ts'

const TOTAL = { low: 5_000, medium: 15_000, high: 30_000 }
const MODES: ReadonlySet<string> = new Set(['turbo', 'fast', 'basic', 'advanced'])
const CHEAP: ReadonlySet<string> = new Set(['turbo', 'fast'])
const INCLUDED_RESULTS = 10
const MAX_QUERY_CHARS = 200

const MAX_DOMAINS = { allowed: 10, excluded: 10 }

/** Only one of the two lists is accepted: the allow-list is the stricter one. */
function sourcePolicy(query: SearchQuery): object {
  const { allowed, excluded } = domainHints(query, MAX_DOMAINS)
  if (allowed.length > 0) return { source_policy: { include_domains: allowed } }
  return excluded.length > 0 ? { source_policy: { exclude_domains: excluded } } : {}
}

export const parallel: SearchEngine = {
  name: 'parallel',
  env: { apiKey: ['PARALLEL_API_KEY'] },
  baseUrl: 'https://api.parallel.ai',
  authorize: (key) => ({ 'x-api-key': key.reveal() }),
  price: ({ mode, maxResults }) => (CHEAP.has(mode ?? '') ? 0.001 : 0.005) + Math.max(0, maxResults - INCLUDED_RESULTS) * 0.001,
  search: (query) => ({
    method: 'POST',
    path: '/v1/search',
    body: {
      objective: query.query,
      search_queries: [cutText(query.query, MAX_QUERY_CHARS)],
      mode: query.mode !== undefined && MODES.has(query.mode) ? query.mode : 'basic',
      ...(query.maxCharacters === undefined ? { max_chars_total: TOTAL[query.contextSize ?? 'medium'] } : {}),
      advanced_settings: {
        max_results: query.maxResults,
        excerpt_settings: { max_chars_per_result: query.maxCharacters ?? 1_500 },
        ...sourcePolicy(query),
      },
    },
  }),
  readHits: (body) =>
    listOf(fieldsOf(body)['results']).flatMap((entry) => {
      const { url, title, excerpts, publish_date: published } = fieldsOf(entry)
      return toHit(url, title, textsOf(excerpts), published)
    }),
  pages: {
    price: 0.001,
    fetch: (url, maxCharacters) => ({
      method: 'POST',
      path: '/v1/extract',
      body: { urls: [url], advanced_settings: { full_content: maxCharacters === undefined ? true : { max_chars_per_result: maxCharacters } } },
    }),
    read: (body) => {
      const { title, full_content: fullContent, excerpts } = fieldsOf(listOf(fieldsOf(body)['results'])[0])
      const content = textOf(fullContent) || textsOf(excerpts)
      return content === '' ? undefined : { content, ...(typeof title === 'string' ? { title } : {}) }
    },
  },
}
