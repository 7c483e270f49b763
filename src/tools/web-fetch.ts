import { z } from 'zod'
import { GatewayError } from '../core/error.ts'
import type { ServerTool, ToolContext, ToolResult } from '../core/extension.ts'
import type { WebPage } from '../core/web.ts'
import type { Egress } from '../lib/egress.ts'
import type { ReadyEngine } from './shared/dependencies.ts'
import { domainRefusal, MAX_DOMAIN_LENGTH, MAX_DOMAINS } from '../lib/domains.ts'
import { callEngine } from './shared/engine-call.ts'
import { MAX_TITLE_CHARS } from './shared/search-engine.ts'
import type { PageFetcher } from './shared/page-fetcher.ts'
import { UNTRUSTED } from './shared/untrusted.ts'
import { cutText } from '../lib/cut-text.ts'

const domains = z.array(z.string().max(MAX_DOMAIN_LENGTH)).max(MAX_DOMAINS).optional()
const settings = z.object({
  engine: z.string().default('auto'),
  allowed_domains: domains,
  blocked_domains: domains,
  max_content_tokens: z.int().min(1).optional(),
  max_uses: z.int().min(1).optional(),
})
const parameters = z.object({ url: z.string().min(1).max(4_000).describe('The complete address, beginning with https://') })

type Settings = z.infer<typeof settings>
type Arguments = z.infer<typeof parameters>

const CHARS_PER_TOKEN = 4
const DEFAULT_TOKENS = 25_000
const MAX_FETCHES = 50
const CITED_CHARACTERS = 2_000

export interface WebFetchOptions {
  readonly engines: readonly ReadyEngine[]
  /** Names of all engines, including those without a key. */
  readonly known: ReadonlySet<string>
  readonly engineEgress: Egress
  readonly fetcher: PageFetcher
}

/** Reads one page or PDF as text, with the gateway's own fetcher or the engine that the caller names. */
export function createWebFetch({ engines, known, engineEgress, fetcher }: WebFetchOptions): ServerTool<Settings, Arguments> {
  const named = ({ engine }: Settings): ReadyEngine | undefined =>
    engines.find((ready) => ready.engine.name === engine && ready.engine.pages !== undefined)
  return {
    name: 'web_fetch',
    description:
      'Fetches a web page or PDF by its address and gives back its text. When a statement of your answer rests on it, link it in Markdown: [title](address).',
    settings,
    parameters,
    timeoutMs: 45_000,
    showsError: true,
    check(own) {
      // Any value that is no engine's name (auto, native, the gateway itself in either spelling) means the gateway's own fetcher.
      if (!known.has(own.engine) || named(own) !== undefined) return
      throw new GatewayError(
        'invalid_request',
        `web_fetch by "${own.engine}" needs a key this gateway does not have: leave "engine" out, or have its operator set one under tools.web_search.engines`,
      )
    },
    begin: (args) => (args === undefined ? {} : { url: args.url }),
    async execute(args, context) {
      const refusal = tooOften(context)
      if (refusal !== undefined) return failed(args.url, 'max_uses', refusal)
      const { settings: own } = context
      const maxChars = (own.max_content_tokens ?? DEFAULT_TOKENS) * CHARS_PER_TOKEN
      const refuse = (url: string): string | undefined => domainRefusal(url, own.allowed_domains ?? [], own.blocked_domains ?? [])
      const engine = named(own)
      try {
        if (engine === undefined) return found(args.url, await fetcher.fetch({ url: args.url, refuse, signal: context.signal }), maxChars, context, 0)
        const denied = refuse(args.url)
        if (denied !== undefined) return failed(args.url, 'permission_denied', denied)
        return await byEngine(engine, args.url, maxChars, context, engineEgress)
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error
        return failed(args.url, error.errorType, error.message, error.details.upstreamStatus)
      }
    },
    replay: (item) => ({
      arguments: JSON.stringify({ url: item['url'] ?? '' }),
      output: JSON.stringify({ notice: UNTRUSTED, url: item['url'], title: item['title'], content: item['content'], error: item['error'] }),
    }),
  }
}

function tooOften({ settings: own, uses }: ToolContext<Settings>): string | undefined {
  const limit = Math.min(own.max_uses ?? MAX_FETCHES, MAX_FETCHES)
  return uses > limit ? `Only ${limit} pages may be fetched in this request. Answer with what you have.` : undefined
}

async function byEngine(ready: ReadyEngine, url: string, maxChars: number, context: ToolContext<Settings>, egress: Egress): Promise<ToolResult> {
  const pages = ready.engine.pages!
  await context.afford(pages.price)
  const page = pages.read(await callEngine(egress, ready, pages.fetch(url, maxChars), context.signal))
  if (page === undefined) return failed(url, 'not_found', 'The engine found nothing at this address')
  return found(
    url,
    { url, status: 200, text: page.content, ...(page.title === undefined ? {} : { title: page.title }) },
    maxChars,
    context,
    pages.price,
  )
}

function found(url: string, page: WebPage, maxChars: number, { call }: ToolContext<Settings>, cost: number): ToolResult {
  const cut = page.text.length > maxChars
  const content = cut ? `${cutText(page.text, maxChars)}\n[cut]` : page.text
  const title = cutText(page.title ?? page.url, MAX_TITLE_CHARS)
  return {
    output: JSON.stringify({
      notice: UNTRUSTED,
      url: page.url,
      title,
      content,
      status: 'completed',
      retrieved_at: new Date(call.clock.now()).toISOString(),
    }),
    item: { url, title, content, httpStatus: page.status },
    sources: [{ url: page.url, title, content: cutText(page.text, CITED_CHARACTERS) }],
    usage: { web_fetch: 1 },
    cost,
  }
}

/** What is wrong with the page itself. Refusals may be those of a site that is down: then nobody knows its rules. */
const LASTING: ReadonlySet<string> = new Set(['max_uses', 'not_found', 'unprocessable'])

function failed(url: string, type: string, message: string, status?: number): ToolResult {
  return {
    output: JSON.stringify({ url, status: 'failed', error: message }),
    item: { url, error: message, ...(status === undefined ? {} : { httpStatus: status }) },
    error: { type, message, lasting: LASTING.has(type) },
  }
}
