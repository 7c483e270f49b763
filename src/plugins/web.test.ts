import { describe, expect, it } from 'vitest'
import type { Endpoint } from '../core/endpoint.ts'
import { GatewayError } from '../core/error.ts'
import type { ModelRequest } from '../core/request.ts'
import type { SearchHit, SearchQuery, WebSearch } from '../core/web.ts'
import { testEndpoint } from '../testing/endpoints.ts'
import { testContext, type ContextParts } from '../testing/plugin-context.ts'
import { describePluginContract, SECRET_WORD } from '../testing/plugin-contract.ts'
import { createWeb } from './web.ts'

const HITS: readonly SearchHit[] = [
  { url: 'https://example.com/moon', title: 'The Moon', content: 'It is far away.' },
  { url: 'https://example.org/cheese', title: 'Cheese', content: 'Not what it is made of.' },
]

/** A search with these results, which records its queries. */
function searching(found: readonly SearchHit[] | Error = HITS, engines: readonly string[] = ['hound', 'seeker']) {
  const asked: (SearchQuery & { readonly engine: string })[] = []
  const search: WebSearch = {
    price: () => 0.007,
    engine: (name) => (name === undefined ? engines[0] : engines.find((engine) => engine === name)),
    search: async (engine, query) => {
      asked.push({ engine, ...query })
      if (found instanceof Error) throw found
      return { hits: found, cost: 0.007 }
    },
  }
  return { asked, search }
}

/** An endpoint whose provider searches itself, but cannot restrict domains. */
function hosting(): Endpoint {
  const endpoint = testEndpoint({ provider: 'native' })
  const dialect = {
    ...endpoint.connection.dialect,
    hosts: (tool: { readonly type: string; readonly filters?: unknown }) => tool.type === 'web_search' && tool.filters === undefined,
  }
  return { ...endpoint, connection: { ...endpoint.connection, dialect } }
}

const ask = (text: string): ModelRequest => ({ model: 'acme/small', input: [{ type: 'message', role: 'user', content: text }] })

async function prepare(
  request: ModelRequest,
  given: object = {},
  { found, engines, ...parts }: ContextParts & { found?: readonly SearchHit[] | Error; engines?: readonly string[] } = {},
) {
  const { asked, search } = searching(found, engines)
  const plugin = createWeb(search)
  const { context, reported } = testContext(plugin.settings.parse(given), { ...parts, request })
  const prepared = await plugin.prepare!(request, context)
  const texts = (prepared?.input.flatMap((item) => (item.type === 'message' && Array.isArray(item['content']) ? item['content'] : [])) ?? []).map(
    (part: { readonly text?: string }) => part.text ?? '',
  )
  return { asked, prepared, reported, texts }
}

describePluginContract({
  plugin: createWeb(searching().search),
  accepts: [{}, { user_location: null }, { engine: 'hound', max_results: 3, include_domains: ['example.com'], search_prompt: 'Look:' }],
  refuses: [
    { max_results: 0 },
    { max_results: 26 },
    { include_domains: 'example.com' },
    { include_domains: Array.from({ length: 1_025 }, () => 'a.test') },
  ],
  untouched: [{ request: { input: [] } }, { request: { input: [{ type: 'message', role: 'system', content: 'be brief' }] } }],
  touched: [{ request: ask(`who is the best ${SECRET_WORD}?`) }, { request: ask(SECRET_WORD), endpoints: [hosting()] }],
})

describe('the search', () => {
  it('asks the first engine for the last question, with the caller’s numbers and domains', async () => {
    const request: ModelRequest = {
      input: [...ask('first').input, { type: 'message', role: 'assistant', content: 'yes?' }, ...ask('how far\nis the moon').input],
    }
    const { asked } = await prepare(request, { max_results: 3, include_domains: ['example.com'], exclude_domains: ['spam.test'], mode: 'deep' })
    expect(asked).toEqual([
      { engine: 'hound', query: 'how far is the moon', maxResults: 3, allowedDomains: ['example.com'], excludedDomains: ['spam.test'], mode: 'deep' },
    ])
  })
  it('asks the engine the caller names', async () => {
    expect((await prepare(ask('x'), { engine: 'seeker' })).asked[0]?.engine).toBe('seeker')
  })
  it('uses both ends of a long message', async () => {
    const { asked } = await prepare(ask(`begin ${'lorem '.repeat(1_000)} end?`))
    expect(asked[0]?.query).toMatch(/^begin .* end\?$/)
    expect(asked[0]!.query.length).toBeLessThan(1_010)
  })
  it.each([
    [{ engine: 'unknown' }, 'needs the engine "unknown"', ['hound']],
    [{}, 'needs a search engine', []],
    [{ engine: 'native' }, 'cannot search natively', ['hound']],
  ])('says what is missing: %j', async (given, message, engines) => {
    await expect(prepare(ask('x'), given, { engines, endpoints: [testEndpoint()] })).rejects.toMatchObject({
      errorType: 'invalid_request',
      message: expect.stringContaining(message),
    })
  })
})

describe('what the model gets', () => {
  it('comes behind the question, as a message of its own: prompt, warning, results as JSON', async () => {
    const request = ask('how far is the moon')
    const { prepared, texts } = await prepare(request)
    expect(prepared?.input[0]).toBe(request.input[0])
    expect(prepared?.input[1]).toMatchObject({ type: 'message', role: 'user' })
    expect(texts[0]).toMatch(/2026-01-15[\s\S]*written by third parties/)
    expect(JSON.parse(texts[1]!)).toEqual({ results: HITS })
  })
  it('begins with the caller’s own prompt, and the warning stays', async () => {
    const { texts } = await prepare(ask('x'), { search_prompt: 'Some results:' })
    expect(texts[0]).toMatch(/^Some results:\n.*written by third parties/)
  })
  it('says that nothing was found', async () => {
    expect((await prepare(ask('x'), {}, { found: [] })).texts).toEqual(['A web search on 2026-01-15 found nothing.'])
  })
  it('says that the search failed, and the call goes on', async () => {
    const { texts, reported } = await prepare(ask('x'), {}, { found: new GatewayError('provider_unavailable', 'away') })
    expect(texts[0]).toContain('was tried on 2026-01-15 and failed')
    expect(reported).toEqual([{ stage: expect.objectContaining({ data: { engine: 'hound', results: 0, error: 'provider_unavailable' } }) }])
  })
  it('is recorded with its price, its count and the pages that may be cited', async () => {
    const { reported } = await prepare(ask('x'))
    expect(reported[0]).toMatchObject({
      stage: { type: 'plugin', name: 'web-search', data: { engine: 'hound', results: 2 }, cost_usd: 0.007 },
      cost: 0.007,
      usage: { web_search: 1 },
      sources: HITS,
    })
  })
})

describe('the provider’s own search', () => {
  const both = [hosting(), testEndpoint()]

  it.each([
    ['is used when every endpoint has one', {}, [hosting()], 'native'],
    ['is not when one has none', {}, both, 'own'],
    ['is not when an engine is named', { engine: 'hound' }, [hosting()], 'own'],
    ['is not when it cannot keep to the domains', { include_domains: ['example.com'] }, [hosting()], 'own'],
    ['is, if any has one, when the caller wants it', { engine: 'native' }, both, 'native'],
  ] as const)('%s', async (_what, given, endpoints, expected) => {
    const { prepared, asked } = await prepare(ask('x'), given, { endpoints })
    expect(prepared?.tools).toEqual(expected === 'native' ? [{ type: 'web_search' }] : undefined)
    expect(asked).toHaveLength(expected === 'native' ? 0 : 1)
  })
  it('gets the caller’s location and limit, and is added to the other tools', async () => {
    const request = { ...ask('x'), tools: [{ type: 'function', name: 'f' }] } as ModelRequest
    const { prepared } = await prepare(request, { user_location: { city: 'Bern' }, max_uses: 2 }, { endpoints: [hosting()] })
    expect(prepared?.tools).toEqual([
      { type: 'function', name: 'f' },
      { type: 'web_search', max_uses: 2, user_location: { type: 'approximate', city: 'Bern' } },
    ])
  })
})
