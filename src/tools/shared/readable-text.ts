import { Readability } from '@mozilla/readability'
import { parseHTML } from 'linkedom'
import { extractText, getDocumentProxy } from 'unpdf'
import { decodeText } from '../../lib/decode-text.ts'

export interface ReadableText {
  readonly title?: string
  readonly text: string
  /** For documents with pages. */
  readonly pages?: number
}

/** The text of a document as people read it. Runs in a worker, because parsers may loop or grow without end on untrusted bytes. */
export async function readDocument(bytes: Uint8Array, kind: 'html' | 'pdf', charset?: string): Promise<ReadableText> {
  return kind === 'pdf' ? readPdf(bytes) : readHtml(decodeText(bytes, charset ?? declaredCharset(bytes)))
}

/** How many bytes of a page browsers search for its charset. */
const DECLARED_WITHIN = 1_024
const DECLARED = /<meta\s[^>]{0,200}?charset\s{0,8}=\s{0,8}["']?\s{0,8}([\w:.-]{1,40})/i

/** The charset declared in the page, if its server declares none. If the declaration is readable as bytes, the page cannot be UTF-16. */
function declaredCharset(bytes: Uint8Array): string | undefined {
  const declared = DECLARED.exec(Buffer.from(bytes.subarray(0, DECLARED_WITHIN)).toString('latin1'))?.[1]
  return declared !== undefined && /^utf-?16/i.test(declared) ? 'utf-8' : declared
}

async function readPdf(bytes: Uint8Array): Promise<ReadableText> {
  const document = await getDocumentProxy(new Uint8Array(bytes))
  const { text } = await extractText(document, { mergePages: false })
  return {
    pages: text.length,
    text: text
      .map((page) => page.trim())
      .filter((page) => page !== '')
      .join('\n\n'),
  }
}

/** Elements that nobody reads, or that hide text from people but show it to machines. */
const UNSEEN = 'script, style, noscript, template, iframe, object, embed, svg, canvas, [hidden], [aria-hidden="true"]'
const HIDING = /display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0(?:\.0+)?\s*(?:;|$)/i

/** The part of a document's API that is used here: the parser's own types require those of a browser. */
interface Dom extends DomNode {
  readonly documentElement: DomNode | null
  querySelector(selector: string): DomNode | null
  querySelectorAll(selector: string): Iterable<DomNode & { remove(): void }>
}

function parse(html: string): Dom {
  return (parseHTML(html) as unknown as { readonly document: Dom }).document
}

function readHtml(html: string): ReadableText {
  const document = parse(html)
  for (const element of document.querySelectorAll(UNSEEN)) element.remove()
  for (const element of document.querySelectorAll('[style]')) if (HIDING.test(element.getAttribute?.('style') ?? '')) element.remove()
  const heading = document.querySelector('title')?.textContent?.trim()
  // The document and not its body: the parser creates no body if the tags of head and body are missing.
  const fallback = textOf(document)
  const article = articleOf(document)
  const title = article?.title?.trim() || heading
  const content = article?.content == null ? '' : textOf(parse(article.content))
  // An article much shorter than its page is a wrong guess, since lists and tables are not recognized as articles.
  const text = content.length >= fallback.length * 0.2 ? content : fallback
  return { text, ...(title ? { title } : {}) }
}

/** Private parts of the library. One that a later version has no more is not called, and nothing is saved. */
interface ReaderParts {
  readonly REGEXPS: { readonly byline: RegExp }
  readonly _isValidByline: (this: ReaderParts, element: DomNode, names: string) => boolean
}
const { _isValidByline: isByline } = Readability.prototype as unknown as ReaderParts

/**
 * The library looks at the text of each element to see whether it names the author: where elements are nested deep, at nearly the whole page each time.
 * The attributes are looked at first here: they say no for nearly all, and cost nothing.
 */
class ArticleReader extends Readability {
  _isValidByline(this: ArticleReader & ReaderParts, element: DomNode, names: string): boolean {
    const isMarked =
      element.getAttribute?.('rel') === 'author' || element.getAttribute?.('itemprop')?.includes('author') === true || this.REGEXPS.byline.test(names)
    return isMarked && isByline.call(this, element, names)
  }
}

/** The main content as guessed by the library; undefined for pages without elements or with far too many. */
function articleOf(document: Dom): { readonly title?: string | null | undefined; readonly content?: string | null | undefined } | undefined {
  if (document.documentElement == null) return undefined
  try {
    return new ArticleReader(document, { charThreshold: 200, maxElemsToParse: 50_000 }).parse() ?? undefined
  } catch {
    return undefined
  }
}

interface DomNode {
  readonly nodeType: number
  readonly nodeName: string
  readonly textContent: string | null
  readonly childNodes: ArrayLike<DomNode>
  getAttribute?(name: string): string | null
}

const BLOCKS = new Set([
  'P',
  'DIV',
  'SECTION',
  'ARTICLE',
  'HEADER',
  'FOOTER',
  'MAIN',
  'ASIDE',
  'NAV',
  'UL',
  'OL',
  'TABLE',
  'TR',
  'BLOCKQUOTE',
  'FIGURE',
  'FORM',
  'DL',
  'DT',
  'DD',
])
const TEXT_NODE = 3
const ELEMENT_NODE = 1
const DOCUMENT_NODE = 9

/** Text with headings, list marks, links and code in Markdown, one line per block. Iterative, because documents may nest deeper than the stack. */
function textOf(root: unknown): string {
  const done: string[] = []
  const out: string[] = []
  const stack: (DomNode | string)[] = [root as DomNode]
  const settle = (code: string): void => {
    const prose = tidied(out.splice(0).join(''))
    for (const block of [prose, code]) if (block !== '') done.push(block)
  }
  while (stack.length > 0) {
    const node = stack.pop()!
    if (typeof node === 'string') out.push(node)
    else if (node.nodeType === TEXT_NODE) out.push((node.textContent ?? '').replace(/\s+/g, ' '))
    else if (node.nodeName.toUpperCase() === 'PRE') settle(fenced(linesOf(node)))
    else if (node.nodeType === ELEMENT_NODE || node.nodeType === DOCUMENT_NODE) open(node, out, stack)
  }
  settle('')
  return done.join('\n\n')
}

/** Pushes the last child first. Reads the list only once, because the parser builds a new one each time. */
function pushChildren({ childNodes }: DomNode, stack: (DomNode | string)[]): void {
  for (let n = childNodes.length - 1; n >= 0; n--) stack.push(childNodes[n]!)
}

const tidied = (prose: string): string =>
  prose
    .replace(/[ \t]+\n/g, '\n')
    .replace(/\n[ \t]+/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()

/** Unchanged text: blanks and line breaks are significant in code. */
function linesOf(root: DomNode): string {
  let text = ''
  const stack = [root]
  while (stack.length > 0) {
    const node = stack.pop()!
    if (node.nodeType === TEXT_NODE) text += node.textContent ?? ''
    else if (node.nodeName.toUpperCase() === 'BR') text += '\n'
    else pushChildren(node, stack)
  }
  return text
}

const SHORTEST_FENCE = 3

/** Without empty lines around it, in a fence longer than any within it; empty if there is no code. */
function fenced(lines: string): string {
  const code = lines.replace(/^(?:[^\S\n]*\n)+/, '').trimEnd()
  if (code === '') return ''
  let length = SHORTEST_FENCE
  for (const [run] of code.matchAll(/`{3,}/g)) length = Math.max(length, run.length + 1)
  const fence = '`'.repeat(length)
  return `${fence}\n${code}\n${fence}`
}

function open(node: DomNode, out: string[], stack: (DomNode | string)[]): void {
  const name = node.nodeName.toUpperCase()
  const heading = /^H([1-6])$/.exec(name)
  const href = name === 'A' ? (node.getAttribute?.('href') ?? '') : ''
  if (name === 'TITLE') return
  if (name === 'BR') out.push('\n')
  else if (heading !== null) {
    out.push(`\n\n${'#'.repeat(Number(heading[1]))} `)
    stack.push('\n\n')
  } else if (name === 'LI') {
    out.push('\n- ')
    stack.push('\n')
  } else if (name === 'TD' || name === 'TH') stack.push(' | ')
  else if (/^https?:/.test(href)) {
    out.push('[')
    stack.push(`](${href})`)
  } else if (BLOCKS.has(name)) {
    out.push('\n')
    stack.push('\n')
  }
  pushChildren(node, stack)
}
