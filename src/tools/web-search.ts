import { z } from 'zod'
import { GatewayError } from '../core/error.ts'
import type { ServerTool, ToolContext, ToolResult } from '../core/extension.ts'
import type { JsonObject, OtherTool } from '../core/item.ts'
import type { SearchHit } from '../core/web.ts'
import type { Egress } from '../lib/egress.ts'
import type { ReadyEngine } from './shared/dependencies.ts'
import type { SearchQuery } from './shared/search-engine.ts'
import { priceOf, searchWith } from './shared/web-access.ts'
import { UNTRUSTED } from './shared/untrusted.ts'
import { cutText } from '../lib/cut-text.ts'
import { MAX_DOMAIN_LENGTH, MAX_DOMAINS, plainDomain } from '../lib/domains.ts'

const domains = z.array(z.string().max(MAX_DOMAIN_LENGTH)).max(MAX_DOMAINS).optional()
const settings = z.object({
  engine: z.string().default('auto'),
  allowed_domains: domains,
  excluded_domains: domains,
  max_characters: z.int().min(1).max(100_000).optional(),
  max_results: z.int().min(1).max(25).default(5),
  max_total_results: z.int().min(1).optional(),
  max_uses: z.int().min(1).optional(),
  mode: z.string().optional(),
  search_context_size: z.enum(['low', 'medium', 'high']).optional(),
  user_location: z.looseObject({}).nullish(),
})
const parameters = z.object({ query: z.string().min(1).max(2_000).describe('What to look for, as one would type it into a search engine.') })

type Settings = z.infer<typeof settings>
type Arguments = z.infer<typeof parameters>

const CITED_CHARACTERS = 2_000
/** Limit for all searches of a request, unless it sets another. */
const TOTAL_RESULTS = 50
const NATIVE = 'web_search'
const ITEM = 'web_search_call'
const SPELLINGS = { web_search: ITEM, web_search_2025_08_26: ITEM, web_search_preview: ITEM, web_search_preview_2025_03_11: ITEM }

export interface WebSearchOptions {
  /** The fully configured engines, the operator's choice first. */
  readonly engines: readonly ReadyEngine[]
  readonly egress: Egress
}

/** Searches with the operator's first engine, or the one that the caller names; if all endpoints have a search of their own, with that. */
export function createWebSearch({ engines, egress }: WebSearchOptions): ServerTool<Settings, Arguments> {
  const chosen = ({ engine }: Settings): ReadyEngine | undefined => {
    if (engine === 'auto' || engine === 'native') return engines[0]
    return engines.find((ready) => ready.engine.name === engine)
  }
  return {
    name: 'web_search',
    description:
      'Searches the web and gives back pages with their addresses and excerpts. Use it for anything recent or that you are not sure of. ' +
      'When a statement of your answer rests on a page, link it right there in Markdown: [title](address).',
    settings,
    parameters,
    timeoutMs: 45_000,
    spellings: SPELLINGS,
    readNative,
    hosted: (own, type) => {
      // Few providers count searches and none counts results, so the gateway searches itself if a limit is set and it has an engine. A vendor's own
      // spelling always asks for that vendor's search.
      const counts = !(type in SPELLINGS) && (own.max_uses !== undefined || own.max_total_results !== undefined)
      const native = own.engine === 'native' || (own.engine === 'auto' && !(counts && engines.length > 0))
      return native ? nativeTool(own) : undefined
    },
    available: (own) => chosen(own) !== undefined,
    check(own) {
      if (chosen(own) !== undefined) return
      const named = own.engine === 'auto' || own.engine === 'native' ? 'a search engine' : `the engine "${own.engine}"`
      throw new GatewayError(
        'invalid_request',
        `web_search needs ${named}, which this gateway has no key for: its operator sets one under tools.web_search.engines`,
      )
    },
    begin: (args) => ({ action: { type: 'search', query: args?.query ?? '' } }),
    execute: (args, context) => search(args, context, chosen(context.settings)!, egress),
    replay: (item) => {
      const { query, sources } = (item['action'] ?? {}) as { readonly query?: unknown; readonly sources?: unknown }
      return { arguments: JSON.stringify({ query: query ?? '' }), output: JSON.stringify({ results: sources ?? [] }) }
    },
  }
}

/** Fields of the vendors' own search tool, which has them at its top level, and its domains under `filters`. */
function readNative(tool: OtherTool): unknown {
  const filters = (tool['filters'] ?? {}) as JsonObject
  const fields: readonly (readonly [string, unknown])[] = [
    ['engine', tool['engine']],
    ['allowed_domains', filters['allowed_domains']],
    ['excluded_domains', filters['excluded_domains'] ?? filters['blocked_domains']],
    ['max_results', tool['max_results']],
    ['max_uses', tool['max_uses']],
    ['mode', tool['mode']],
    ['search_context_size', tool['search_context_size']],
    ['user_location', tool['user_location']],
  ]
  return Object.fromEntries(fields.filter(([, value]) => value != null))
}

function nativeTool(own: Settings): OtherTool {
  const filters = {
    ...(own.allowed_domains === undefined ? {} : { allowed_domains: own.allowed_domains.map(plainDomain) }),
    ...(own.excluded_domains === undefined ? {} : { blocked_domains: own.excluded_domains.map(plainDomain) }),
  }
  return {
    type: NATIVE,
    ...(Object.keys(filters).length === 0 ? {} : { filters }),
    ...(own.max_uses === undefined ? {} : { max_uses: own.max_uses }),
    ...(own.search_context_size === undefined ? {} : { search_context_size: own.search_context_size }),
    ...(own.user_location == null ? {} : { user_location: { type: 'approximate', ...own.user_location } }),
  }
}

async function search({ query }: Arguments, context: ToolContext<Settings>, ready: ReadyEngine, egress: Egress): Promise<ToolResult> {
  const { settings: own, tally } = context
  if (own.max_uses !== undefined && context.uses > own.max_uses)
    return refusal('max_uses', `Only ${own.max_uses} searches are allowed in this request. Answer with what you have.`)
  const left = (own.max_total_results ?? TOTAL_RESULTS) - (tally.get('results') ?? 0)
  if (left <= 0) return refusal('max_total_results', 'This request may see no further search results. Answer with what you have.')
  const wanted: SearchQuery = {
    query,
    maxResults: Math.min(own.max_results, left),
    allowedDomains: own.allowed_domains ?? [],
    excludedDomains: own.excluded_domains ?? [],
    ...(own.search_context_size === undefined ? {} : { contextSize: own.search_context_size }),
    ...(own.max_characters === undefined ? {} : { maxCharacters: own.max_characters }),
    ...(own.mode === undefined ? {} : { mode: own.mode }),
  }
  context.emit('web_search_call.in_progress')
  context.emit('web_search_call.searching')
  // Searches of one turn run in parallel: each reserves its results before it starts, and returns what it did not find.
  const take = (n: number): unknown => tally.set('results', (tally.get('results') ?? 0) + n)
  take(wanted.maxResults)
  let unused = wanted.maxResults
  try {
    await context.afford(priceOf(ready, wanted))
    const { hits, cost } = await searchWith(ready, wanted, egress, context.signal)
    unused -= hits.length
    context.emit('web_search_call.completed')
    return toResult(query, hits, cost)
  } finally {
    take(-unused)
  }
}

function toResult(query: string, hits: readonly SearchHit[], cost: number): ToolResult {
  const results = hits.map(({ url, title, content, published }) => ({ url, title, content, ...(published === undefined ? {} : { published }) }))
  return {
    output: JSON.stringify({ notice: UNTRUSTED, results }),
    item: { action: { type: 'search', query, sources: hits.map(({ url }) => ({ type: 'url', url })) } },
    sources: hits.map(({ url, title, content }) => ({ url, title, content: cutText(content, CITED_CHARACTERS) })),
    usage: { web_search: 1 },
    cost,
  }
}

function refusal(type: string, message: string): ToolResult {
  return { output: JSON.stringify({ status: 'error', error: message }), error: { type, message, lasting: type === 'max_uses' } }
}
