import type { CitableSource } from '../core/extension.ts'
import type { UrlCitation } from '../core/item.ts'
import { SENTENCE_ENDS, UNSPACED_PUNCTUATION } from '../lib/address-ends.ts'
import { withoutEnding } from '../lib/without-ending.ts'

/** A link in Markdown, or a bare address; balanced parentheses belong to either. */
const LETTER = `[^\\s<>"'\`()\\]}${UNSPACED_PUNCTUATION}]`
const LINK = new RegExp(
  `\\[[^\\][]{1,300}\\]\\((https?://(?:[^\\s()]|\\([^\\s()]{0,500}\\)){1,2000})\\)|https?://(?:${LETTER}|\\(${LETTER}{0,500}\\)|\\(){1,2000}`,
  'g',
)
const MAX_CITATIONS = 200

/** Fragments, trailing slashes, punctuation and escapes may differ between what a search returned and what a model writes. */
function normalise(url: string): string {
  const plain = withoutEnding(url.split('#', 1)[0]!, SENTENCE_ENDS)
  return (URL.parse(plain)?.href ?? plain)
    .replace(/\/$/, '')
    .replace(/^https?:\/\/(?:www\.)?/, '')
    .toLowerCase()
}

export class SourceBook {
  readonly #byUrl = new Map<string, CitableSource>()

  add(sources: readonly CitableSource[]): void {
    for (const source of sources) if (!this.#byUrl.has(normalise(source.url))) this.#byUrl.set(normalise(source.url), source)
  }

  get isEmpty(): boolean {
    return this.#byUrl.size === 0
  }

  /** Citations of known sources whose addresses a text contains; offsets in UTF-16 code units. */
  cite(text: string): UrlCitation[] {
    const citations: UrlCitation[] = []
    for (const match of text.matchAll(LINK)) {
      const [matched, linked] = match
      const source = this.#byUrl.get(normalise(linked ?? matched))
      if (source === undefined) continue
      citations.push({
        type: 'url_citation',
        url: source.url,
        title: source.title,
        start_index: match.index,
        // Punctuation that ends a sentence is not part of the address before it.
        end_index: match.index + (linked === undefined ? withoutEnding(matched, SENTENCE_ENDS) : matched).length,
        ...(source.content === undefined ? {} : { content: source.content }),
      })
      if (citations.length === MAX_CITATIONS) break
    }
    return citations
  }
}
