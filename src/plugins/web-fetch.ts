import { z } from 'zod'
import { isGatewayError, type GatewayError } from '../core/error.ts'
import type { Plugin } from '../core/extension.ts'
import { UNTRUSTED } from '../core/untrusted.ts'
import type { WebPage, WebPages } from '../core/web.ts'
import { SENTENCE_ENDS, UNSPACED_PUNCTUATION } from '../lib/address-ends.ts'
import { domainRefusal, MAX_DOMAIN_LENGTH, MAX_DOMAINS } from '../lib/domains.ts'
import { ownQuestion, withContext } from './shared/question.ts'
import { cutText } from '../lib/cut-text.ts'
import { withoutEnding } from '../lib/without-ending.ts'

const domains = z.array(z.string().max(MAX_DOMAIN_LENGTH)).max(MAX_DOMAINS).default([])
const settings = z.object({
  allowed_domains: domains,
  blocked_domains: domains,
  max_content_tokens: z.int().min(1).max(200_000).default(10_000),
  max_uses: z.int().min(1).default(5),
})

const MAX_PAGES = 20
const MAX_LOOKED_AT = 10_000
const CHARS_PER_TOKEN = 4
const CITED_CHARACTERS = 2_000
/** Balanced parentheses belong to a URL, others to the sentence around it. */
const LETTER = `[^\\s<>"'\`()\\]}|\\\\^${UNSPACED_PUNCTUATION}]`
const ADDRESS = new RegExp(`https?://(?:${LETTER}|\\(${LETTER}{0,500}\\)|\\(){1,2000}`, 'gi')

/** What is wrong with the page itself. */
const LASTING: ReadonlySet<string> = new Set(['not_found', 'unprocessable'])

interface Fetched {
  readonly url: string
  readonly page?: WebPage
  readonly error?: GatewayError
}

/**
 * Reads the pages whose URLs the user wrote, before the model is called. Only those: URLs in a page, a tool result or an earlier answer never make the
 * gateway fetch anything.
 */
export function createWebFetch(pages: WebPages): Plugin<z.infer<typeof settings>> {
  return {
    id: 'web-fetch',
    settings,
    timeoutMs: 45_000,
    async prepare(request, { settings: own, call, signal, report }) {
      const question = ownQuestion(call.request)
      const urls = question === undefined ? [] : addressesIn(question.text, Math.min(own.max_uses, MAX_PAGES))
      if (question === undefined || urls.length === 0) return undefined
      const refuse = (url: string): string | undefined => domainRefusal(url, own.allowed_domains, own.blocked_domains)
      const fetched = await Promise.all(urls.map((url) => tryFetch(pages, url, refuse, signal)))
      const found = fetched.flatMap(({ page }) => page ?? [])
      // An answer is not kept if a page may be readable the next time: not if the caller excludes it, or it does not exist.
      const failure = fetched.find(({ url, error }) => error !== undefined && !LASTING.has(error.errorType) && refuse(url) === undefined)?.error
      report({
        stage: {
          type: 'plugin',
          name: 'web-fetch',
          summary: `${found.length} of ${urls.length} ${urls.length === 1 ? 'page' : 'pages'} read`,
          data: {
            pages: found.length,
            failed: urls.length - found.length,
            ...(failure === undefined ? {} : { error: failure.errorType }),
          },
        },
        usage: { web_fetch: found.length },
        sources: found.map(({ url, title, text }) => ({ url, title: title ?? url, content: cutText(text, CITED_CHARACTERS) })),
      })
      const shown = fetched.map((one) => present(one, own.max_content_tokens * CHARS_PER_TOKEN))
      const prompt = 'The pages named in the message before were fetched. Where the answer rests on one, link it there in Markdown: [title](address).'
      return withContext(request, question.index, [`${prompt}\n${UNTRUSTED}`, JSON.stringify({ pages: shown })])
    },
  }
}

/** The first URLs in order of appearance, each once, without the punctuation of the sentence around them. */
export function addressesIn(text: string, most: number): readonly string[] {
  const found = new Set<string>()
  let looked = 0
  for (const [match] of text.matchAll(ADDRESS)) {
    const url = withoutEnding(match, SENTENCE_ENDS)
    if (URL.canParse(url)) found.add(url)
    // A text may contain millions of URLs.
    if (found.size >= most || ++looked >= MAX_LOOKED_AT) break
  }
  return [...found]
}

async function tryFetch(pages: WebPages, url: string, refuse: (url: string) => string | undefined, signal: AbortSignal): Promise<Fetched> {
  try {
    return { url, page: await pages.fetch({ url, refuse, signal }) }
  } catch (error) {
    if (signal.aborted || !isGatewayError(error)) throw error
    return { url, error }
  }
}

function present({ url, page, error }: Fetched, maxChars: number): object {
  if (page === undefined) return { url, error: error?.message }
  const cut = page.text.length > maxChars
  const content = cut ? `${cutText(page.text, maxChars)}\n[cut]` : page.text
  return { url: page.url, ...(page.title === undefined ? {} : { title: page.title }), content }
}
