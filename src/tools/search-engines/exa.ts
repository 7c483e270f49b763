import type { SearchEngine, SearchQuery } from '../shared/search-engine.ts'
import { fieldsOf, listOf, textOf, textsOf, toHit } from '../shared/search-engine.ts'

const CONTEXT = { low: 5_000, medium: 15_000, high: 30_000 }
const DEAR: { readonly [mode: string]: number } = { 'deep-lite': 0.012, deep: 0.012, 'deep-reasoning': 0.015 }
/** The number of results that the price of a search includes; each further one costs extra. */
const INCLUDED_RESULTS = 10
const MODES: ReadonlySet<string> = new Set(['instant', 'fast', 'auto', 'deep-lite', 'deep', 'deep-reasoning'])

function highlights({ maxCharacters, contextSize }: SearchQuery): unknown {
  const limit = maxCharacters ?? (contextSize === undefined ? undefined : CONTEXT[contextSize])
  return limit === undefined ? true : { maxCharacters: limit }
}

export const exa: SearchEngine = {
  name: 'exa',
  env: { apiKey: ['EXA_API_KEY'] },
  baseUrl: 'https://api.exa.ai',
  authorize: (key) => ({ 'x-api-key': key.reveal() }),
  price: ({ mode, maxResults }) => (DEAR[mode ?? ''] ?? 0.007) + Math.max(0, maxResults - INCLUDED_RESULTS) * 0.001,
  search: (query) => ({
    method: 'POST',
    path: '/search',
    body: {
      query: query.query,
      type: query.mode !== undefined && MODES.has(query.mode) ? query.mode : 'auto',
      numResults: query.maxResults,
      ...(query.allowedDomains.length > 0 ? { includeDomains: query.allowedDomains } : {}),
      ...(query.excludedDomains.length > 0 ? { excludeDomains: query.excludedDomains } : {}),
      contents: { highlights: highlights(query) },
    },
  }),
  readHits: (body) =>
    listOf(fieldsOf(body)['results']).flatMap((entry) => {
      const { url, title, highlights: excerpts, text, publishedDate } = fieldsOf(entry)
      return toHit(url, title, textsOf(excerpts) || textOf(text), publishedDate)
    }),
  pages: {
    price: 0.001,
    fetch: (url, maxCharacters) => ({
      method: 'POST',
      path: '/contents',
      body: { urls: [url], text: maxCharacters === undefined ? true : { maxCharacters } },
    }),
    read: (body) => {
      const { title, text } = fieldsOf(listOf(fieldsOf(body)['results'])[0])
      return typeof text === 'string' ? { content: text, ...(typeof title === 'string' ? { title } : {}) } : undefined
    },
  },
}
