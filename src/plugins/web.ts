import { z } from 'zod'
import { GatewayError, isGatewayError } from '../core/error.ts'
import type { Plugin, PluginContext } from '../core/extension.ts'
import type { OtherTool } from '../core/item.ts'
import { ownName } from '../core/own-names.ts'
import type { ModelRequest } from '../core/request.ts'
import { UNTRUSTED } from '../core/untrusted.ts'
import type { SearchQuery, SearchResult, WebSearch } from '../core/web.ts'
import { ownQuestion, withContext } from './shared/question.ts'
import { cutText } from '../lib/cut-text.ts'
import { MAX_DOMAIN_LENGTH, MAX_DOMAINS, plainDomain } from '../lib/domains.ts'

const domains = z.array(z.string().max(MAX_DOMAIN_LENGTH)).max(MAX_DOMAINS).default([])
const settings = z.object({
  engine: z.string().optional(),
  include_domains: domains,
  exclude_domains: domains,
  max_results: z.int().min(1).max(25).default(5),
  max_uses: z.int().min(1).optional(),
  mode: z.string().optional(),
  search_prompt: z.string().max(10_000).optional(),
  user_location: z.looseObject({}).nullish(),
})

type Settings = z.infer<typeof settings>

const NATIVE = 'native'
/** A search among the caller's tools, in any spelling, since a provider should not be asked for two. */
const SEARCH = /^web_search(?:_|$)/
const MAX_QUERY_CHARS = 1_000
const CITED_CHARACTERS = 2_000

/** Searches the web for the question and gives the model the results; if the provider has a search of its own, that is used. */
export function createWeb(search: WebSearch): Plugin<Settings> {
  return {
    id: 'web',
    settings,
    suffix: 'online',
    timeoutMs: 45_000,
    check({ engine }) {
      if (engine !== undefined && engine !== NATIVE && search.engine(engine) === undefined) throw missing(engine)
    },
    async prepare(request, context) {
      const { engine: wanted } = context.settings
      const native = wanted === undefined || wanted === NATIVE ? nativeSearch(request, context) : undefined
      if (native !== undefined) return native
      const engine = search.engine(wanted)
      if (engine === undefined) throw missing(wanted)
      const question = ownQuestion(context.call.request)
      if (question === undefined) return undefined
      const query = queryFor(question.text, context.settings)
      await context.afford(search.price(engine, query))
      const found = await trySearch(search, engine, query, context.signal)
      reportSearch(engine, found, context)
      return withContext(request, question.index, contextOf(found, context))
    },
  }
}

function missing(wanted: string | undefined): GatewayError {
  if (wanted === NATIVE) {
    return new GatewayError('invalid_request', 'The plugin web cannot search natively: no endpoint of this model has a search of its own', {
      path: 'plugins',
    })
  }
  const what = wanted === undefined ? 'a search engine' : `the engine "${wanted}"`
  return new GatewayError(
    'invalid_request',
    `The plugin web needs ${what}, which this gateway has no key for: its operator sets one under tools.web_search.engines`,
    { path: 'plugins' },
  )
}

/** Adds the provider's own search to the tools, if every endpoint has one and obeys the caller's domains; for `native`, if any does. */
function nativeSearch(request: ModelRequest, { settings: own, endpointsOf, report }: PluginContext<Settings>): ModelRequest | undefined {
  const tools = request.tools ?? []
  const tool = nativeTool(own)
  const endpoints = endpointsOf(request)
  const hosting = endpoints.filter(({ connection: { dialect, options }, upstreamModel }) => {
    return dialect.hosts?.(tool, tools, { options, upstreamModel }) === true
  })
  if (hosting.length === 0 || (own.engine !== NATIVE && hosting.length < endpoints.length)) return undefined
  report({ stage: { type: 'plugin', name: 'web-search', summary: 'left to the search of the provider', data: { engine: NATIVE } } })
  return tools.some(({ type }) => SEARCH.test(ownName(type) ?? type)) ? undefined : { ...request, tools: [...tools, tool] }
}

/** In the contract's terms: a dialect leaves out fields that its vendor would refuse. */
function nativeTool({ include_domains: included, exclude_domains: excluded, max_uses: uses, user_location: location }: Settings): OtherTool {
  const filters = {
    ...(included.length === 0 ? {} : { allowed_domains: included.map(plainDomain) }),
    ...(excluded.length === 0 ? {} : { blocked_domains: excluded.map(plainDomain) }),
  }
  return {
    type: 'web_search',
    ...(Object.keys(filters).length === 0 ? {} : { filters }),
    ...(uses === undefined ? {} : { max_uses: uses }),
    ...(location == null ? {} : { user_location: { type: 'approximate', ...location } }),
  }
}

/** In a long message, the question is usually at the start or at the end. */
function queryFor(text: string, own: Settings): SearchQuery {
  const line = text.replace(/\s+/g, ' ')
  const half = MAX_QUERY_CHARS / 2
  return {
    query: line.length <= MAX_QUERY_CHARS ? line : `${line.slice(0, half)} ${line.slice(-half)}`.toWellFormed(),
    maxResults: own.max_results,
    allowedDomains: own.include_domains,
    excludedDomains: own.exclude_domains,
    ...(own.mode === undefined ? {} : { mode: own.mode }),
  }
}

interface Failed {
  readonly failed: GatewayError
}

/** A failed engine does not fail the call: the model is told, and answers without results. */
async function trySearch(search: WebSearch, engine: string, query: SearchQuery, signal: AbortSignal): Promise<SearchResult | Failed> {
  try {
    return await search.search(engine, query, signal)
  } catch (error) {
    if (signal.aborted || !isGatewayError(error)) throw error
    return { failed: error }
  }
}

function reportSearch(engine: string, found: SearchResult | Failed, { report }: PluginContext<Settings>): void {
  if ('failed' in found) {
    const { errorType } = found.failed
    report({
      stage: { type: 'plugin', name: 'web-search', summary: `the search failed (${errorType})`, data: { engine, results: 0, error: errorType } },
    })
    return
  }
  const { hits, cost } = found
  report({
    stage: {
      type: 'plugin',
      name: 'web-search',
      summary: `${hits.length} ${hits.length === 1 ? 'result' : 'results'} of ${engine}`,
      data: { engine, results: hits.length },
      cost_usd: cost,
    },
    cost,
    usage: { web_search: 1 },
    sources: hits.map(({ url, title, content }) => ({ url, title, content: cutText(content, CITED_CHARACTERS) })),
  })
}

/** First the operator's or caller's own text, then the text of third parties as JSON, so that no text in it can end it. */
function contextOf(found: SearchResult | Failed, { settings: own, call }: PluginContext<Settings>): readonly string[] {
  const date = new Date(call.clock.now()).toISOString().slice(0, 10)
  if ('failed' in found)
    return [`A web search was tried on ${date} and failed. Where the answer depends on recent facts, say that you could not look them up.`]
  if (found.hits.length === 0) return [`A web search on ${date} found nothing.`]
  const prompt =
    own.search_prompt ??
    `A web search on ${date} gave the results below. Use them for the answer where they help. ` +
      'Link each page you rely on right where you do, in Markdown, named after its site: [example.com](https://example.com/page).'
  return [`${prompt}\n${UNTRUSTED}`, JSON.stringify({ results: found.hits })]
}
