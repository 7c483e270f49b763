import { describe, expect, it } from 'vitest'
import type { ToolsConfig } from '../../core/config.ts'
import { Secret } from '../../lib/secret.ts'
import { readyEngines } from '../shared/dependencies.ts'
import type { SearchQuery } from '../shared/search-engine.ts'
import { searchEngines } from './index.ts'

/** What each service is sent and how its answer is read, according to its public documentation. */
const plain: SearchQuery = { query: 'moon', maxResults: 5, allowedDomains: [], excludedDomains: [] }
const narrow: SearchQuery = { query: 'moon', maxResults: 3, allowedDomains: ['a.test'], excludedDomains: [], contextSize: 'high' }
const engine = (name: string) => searchEngines.find((each) => each.name === name)!

describe('requests', () => {
  it.each([
    ['exa', narrow, { query: 'moon', type: 'auto', numResults: 3, includeDomains: ['a.test'], contents: { highlights: { maxCharacters: 30_000 } } }],
    [
      'exa',
      { ...plain, mode: 'deep', excludedDomains: ['b.test'] },
      { query: 'moon', type: 'deep', numResults: 5, excludeDomains: ['b.test'], contents: { highlights: true } },
    ],
    [
      'parallel',
      { ...plain, maxCharacters: 700 },
      {
        objective: 'moon',
        search_queries: ['moon'],
        mode: 'basic',
        advanced_settings: { max_results: 5, excerpt_settings: { max_chars_per_result: 700 } },
      },
    ],
    [
      'parallel',
      narrow,
      {
        objective: 'moon',
        search_queries: ['moon'],
        mode: 'basic',
        max_chars_total: 30_000,
        advanced_settings: { max_results: 3, excerpt_settings: { max_chars_per_result: 1_500 }, source_policy: { include_domains: ['a.test'] } },
      },
    ],
    ['firecrawl', narrow, { query: 'moon site:a.test', limit: 3, sources: ['web'] }],
    ['perplexity', narrow, { query: 'moon', max_results: 3, search_domain_filter: ['a.test'], search_context_size: 'high' }],
    [
      'perplexity',
      { ...plain, excludedDomains: ['b.test'], maxCharacters: 401 },
      { query: 'moon', max_results: 5, search_domain_filter: ['-b.test'], max_tokens_per_page: 101 },
    ],
    ['tavily', { ...plain, query: 'm'.repeat(1_000) }, { query: 'm'.repeat(400) }],
    [
      'firecrawl',
      { ...plain, query: 'm'.repeat(1_000), allowedDomains: ['a.test'] },
      { query: `${'m'.repeat(488)} site:a.test`, limit: 5, sources: ['web'] },
    ],
    ['tavily', narrow, { query: 'moon', max_results: 3, search_depth: 'advanced', include_domains: ['a.test'] }],
  ] as const)('%s', (name, query, body) => expect(engine(name).search(query)).toMatchObject({ method: 'POST', body }))

  it.each([
    ['brave', 'count'],
    ['searxng', 'format'],
  ])('%s by its address', (name, parameter) => {
    const { method, path } = engine(name).search(narrow)
    const { searchParams } = new URL(path, 'https://engine.test')
    expect(method).toBe('GET')
    expect(searchParams.get('q')).toBe('moon site:a.test')
    expect(searchParams.get(parameter)).toBe(parameter === 'count' ? '3' : 'json')
  })

  it.each([
    ['exa', { maxResults: 10 }, 0.007],
    ['exa', { maxResults: 25 }, 0.022],
    ['exa', { maxResults: 12, mode: 'deep' }, 0.014],
    ['parallel', { maxResults: 25 }, 0.02],
  ] as const)('%s costs more where it is asked for more than ten results: %o', (name, wanted, usd) =>
    expect(engine(name).price({ ...plain, ...wanted })).toBeCloseTo(usd, 9),
  )

  const asked = (query: Partial<SearchQuery>) =>
    new URL(engine('brave').search({ ...plain, ...query }).path, 'https://engine.test').searchParams.get('q')
  it('cut the words of a long query and keep its domains', () => {
    const query = asked({ query: 'm'.repeat(1_000), allowedDomains: ['a.test', 'b.test'], excludedDomains: ['c.a.test'] })
    expect(query).toMatch(/^m{350,} \(site:a\.test OR site:b\.test\) -site:c\.a\.test$/)
    expect(query).toHaveLength(400)
  })
  it('have no more words than are taken, those of the domains included', () => {
    const words = Array.from({ length: 80 }, (_, n) => `w${n}`)
    expect(asked({ query: words.join(' ') })).toBe(words.slice(0, 50).join(' '))
    expect(asked({ query: words.slice(0, 50).join('  ') })).toBe(words.slice(0, 50).join('  '))
    expect(asked({ query: words.join('\n'), allowedDomains: ['a.test', 'b.test'], excludedDomains: ['c.a.test'] })).toBe(
      `${words.slice(0, 46).join(' ')} (site:a.test OR site:b.test) -site:c.a.test`,
    )
    const many = Array.from({ length: 14 }, (_, n) => `d${n}.test`)
    expect(asked({ query: words.join(' '), allowedDomains: many })).toBe(words.slice(0, 50).join(' '))
  })
  it.each([
    ['parallel', 10, 10],
    ['perplexity', 20, 20],
    ['tavily', 300, 150],
  ])('of %s name no more domains than it accepts: %i, or %i that are excluded', (name, allowed, excluded) => {
    const many = Array.from({ length: 1_000 }, (_, n) => `domain-${n}.test`)
    const named = (query: Partial<SearchQuery>) =>
      JSON.stringify(engine(name).search({ ...plain, ...query }).body).match(/domain-\d+\.test/g)?.length ?? 0
    expect(named({ allowedDomains: many.slice(0, allowed) })).toBe(allowed)
    expect(named({ allowedDomains: many.slice(0, allowed + 1) })).toBe(0)
    expect(named({ excludedDomains: many })).toBe(excluded)
  })
  it('leave out domains that would leave no room for the words', () => {
    const many = Array.from({ length: 30 }, (_, n) => `domain-${n}.test`)
    expect(asked({ allowedDomains: many, excludedDomains: ['a.test'] })).toBe('moon -site:a.test')
  })
  it('never end with half a character', () => {
    expect(engine('parallel').search({ ...plain, query: `${'m'.repeat(199)}\u{1f600}` }).body).toMatchObject({ search_queries: ['m'.repeat(199)] })
    expect(asked({ query: `${'m'.repeat(399)}\u{1f600}` })).toBe('m'.repeat(399))
  })
})

describe('answers', () => {
  const url = 'https://a.test/1'
  it.each([
    ['exa', { results: [{ url, title: 'T', highlights: ['one', 'two'], publishedDate: '2026' }] }, { content: 'one\n[...]\ntwo', published: '2026' }],
    ['parallel', { results: [{ url, title: 'T', excerpts: ['one'], publish_date: '2026' }] }, { content: 'one', published: '2026' }],
    ['firecrawl', { success: true, data: { web: [{ url, title: 'T', description: 'one' }] } }, { content: 'one' }],
    ['perplexity', { results: [{ url, title: 'T', snippet: 'one', date: '2026' }] }, { content: 'one', published: '2026' }],
    ['brave', { web: { results: [{ url, title: 'T', description: 'one', extra_snippets: ['two'] }] } }, { content: 'one\n[...]\ntwo' }],
    ['tavily', { results: [{ url, title: 'T', content: 'one' }] }, { content: 'one' }],
    ['searxng', { results: [{ url, title: 'T', content: 'one', publishedDate: null }] }, { content: 'one' }],
  ])('of %s', (name, body, hit) => expect(engine(name).readHits(body)).toEqual([{ url, title: 'T', ...hit }]))

  it('have titles of a line', () => {
    const [hit] = engine('tavily').readHits({ results: [{ url, title: 'T'.repeat(1_000_000), content: 'one' }] })
    expect(hit!.title).toBe('T'.repeat(500))
  })

  it.each(searchEngines.map(({ name }) => name))('of %s with another format give no results', (name) => {
    for (const body of [null, 1, 'x', [], {}, { results: 5 }, { results: [null, { url: 7 }, { url: 'ftp://x' }] }])
      expect(engine(name).readHits(body)).toEqual([])
  })
})

describe('the choice of an engine', () => {
  const config = (engines: ToolsConfig['webSearch']['engines'], chosen = 'auto'): ToolsConfig => ({
    webSearch: { engine: chosen, engines },
    webFetch: { robots: true },
    mcp: { progressEvents: true },
    limits: { wallMs: 1, parallel: 1 },
  })
  const names = (given: ReturnType<typeof config>, env: { readonly [name: string]: string } = {}) =>
    readyEngines(searchEngines, { config: given, env }).map((ready) => ready.engine.name)

  it('takes configured engines, in order', () => {
    expect(names(config({}))).toEqual([])
    expect(names(config({}), { TAVILY_API_KEY: 'k', EXA_API_KEY: 'k', SEARXNG_URL: 'http://127.0.0.1:8888/' })).toEqual(['exa', 'tavily', 'searxng'])
    expect(names(config({ searxng: { baseUrl: 'http://127.0.0.1:1' } }))).toEqual(['searxng'])
  })
  it('takes a variable without the blanks around it, as files of secrets have them, and one of blanks for none', () => {
    const [exa, searxng] = readyEngines(searchEngines, { config: config({}), env: { EXA_API_KEY: ' k\n', SEARXNG_URL: 'http://127.0.0.1:8888/\n' } })
    expect([exa!.headers, searxng!.baseUrl]).toEqual([{ 'x-api-key': 'k' }, 'http://127.0.0.1:8888'])
    expect(names(config({}), { EXA_API_KEY: '\n' })).toEqual([])
  })
  it('prefers the operator’s choice', () =>
    expect(names(config({ brave: { apiKey: new Secret('k') } }, 'brave'), { EXA_API_KEY: 'k' })).toEqual(['brave', 'exa']))
  it('puts keys into headers only', () => {
    const [ready] = readyEngines(searchEngines, { config: config({ exa: { apiKey: new Secret('canary') } }), env: {} })
    expect(ready!.headers).toEqual({ 'x-api-key': 'canary' })
    expect(JSON.stringify(ready!.engine.search(plain)) + ready!.baseUrl).not.toContain('canary')
  })
})
