/** `tags`: reasoning is between tags at the start of the text. `open-omitted`: the template wrote the opening tag, so the text starts inside. */
export type ThinkTags = 'none' | 'tags' | 'open-omitted'

export type ThinkSink = (kind: 'text' | 'reasoning', text: string) => void

/** The tags of families of open models, for servers without a parser for them. */
const CLOSE_OF: { readonly [open: string]: string } = {
  '<think>': '</think>',
  '<thinking>': '</thinking>',
  '<thought>': '</thought>',
  '<seed:think>': '</seed:think>',
  '<longcat_think>': '</longcat_think>',
  '[THINK]': '[/THINK]',
  '◁think▷': '◁/think▷',
}
const OPEN_TAGS = Object.keys(CLOSE_OF)
const CLOSE_TAGS = Object.values(CLOSE_OF)
const ALL_TAGS = [...OPEN_TAGS, ...CLOSE_TAGS]

/** The length of the longest suffix of `text` that is a prefix of `tag`. */
function partialTag(text: string, tag: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(tag.slice(0, length))) return length
  }
  return 0
}

/**
 * Separates `<think>...</think>` and the like from streamed text. Tags count only before the answer has begun, because a model that writes about the
 * tag must not lose its text; white space around them belongs to neither side. What may still become a tag is held back. A class, because every
 * answer has one for its whole duration.
 */
export class ThinkSplitter {
  #state: 'before' | 'inside' | 'text'
  #closeTag = '</think>'
  #held = ''
  /** What is held is white space only. Models may write it without end, so it is not read again for each piece of it. */
  #isBlank = true
  #reasoned = false
  /** The opening tag may still come, although the template should have written it. */
  #mayOpen: boolean
  /** White space before anything is decided: part of the answer only if no tag comes. */
  #afterClose = false

  constructor(mode: ThinkTags) {
    this.#state = mode === 'none' ? 'text' : mode === 'tags' ? 'before' : 'inside'
    this.#mayOpen = mode === 'open-omitted'
  }

  /** True once the answer has begun: from then on text passes unchanged. */
  get passing(): boolean {
    return this.#state === 'text'
  }

  /** Something is held back that is text unless it turns out to be a tag. */
  get holdsText(): boolean {
    return this.#state === 'before' && (this.#afterClose ? !this.#isBlank : this.#held !== '')
  }

  push(text: string, sink: ThinkSink): void {
    if (this.#state === 'text') return sink('text', text)
    this.#held += text
    if (this.#isBlank && text.trim() === '') return
    let again = true
    while (again) again = this.#state === 'before' ? this.#before(sink) : this.#state === 'inside' ? this.#inside(sink) : this.#flush(sink)
    this.#isBlank = this.#held.trim() === ''
  }

  /** Releases what was held back. */
  end(sink: ThinkSink): void {
    const held = this.#held
    if (held === '') return
    this.#held = ''
    this.#isBlank = true
    if (this.#state === 'inside') this.#emitReasoning(held, sink)
    else if (!this.#afterClose || held.trim() !== '') sink('text', this.#afterClose ? held.trimStart() : held)
  }

  #before(sink: ThinkSink): boolean {
    const start = this.#held.trimStart()
    const open = OPEN_TAGS.find((tag) => start.startsWith(tag))
    if (open !== undefined) {
      this.#closeTag = CLOSE_OF[open]!
      this.#held = start.slice(open.length)
      this.#state = 'inside'
      this.#reasoned = false
      return true
    }
    // A closing tag without reasoning before it: the reasoning came elsewhere, or there was none, and the server left the end of the template's tag
    // in the answer.
    const close = CLOSE_TAGS.find((tag) => start.startsWith(tag))
    if (close !== undefined) {
      this.#held = start.slice(close.length)
      this.#afterClose = true
      return true
    }
    if (start === '' || ALL_TAGS.some((tag) => tag.startsWith(start))) return false
    this.#state = 'text'
    sink('text', this.#afterClose ? start : this.#held)
    this.#held = ''
    return false
  }

  /** What follows a closing tag in the same piece is text once the answer has begun. */
  #flush(sink: ThinkSink): boolean {
    if (this.#held !== '') sink('text', this.#held)
    this.#held = ''
    return false
  }

  #emitReasoning(text: string, sink: ThinkSink): void {
    const clean = this.#reasoned ? text : text.trimStart()
    if (clean === '') return
    this.#reasoned = true
    sink('reasoning', clean)
  }

  #inside(sink: ThinkSink): boolean {
    if (this.#mayOpen) {
      const start = this.#held.trimStart()
      const open = OPEN_TAGS.find((tag) => start.startsWith(tag))
      if (open === undefined && (start === '' || OPEN_TAGS.some((tag) => tag.startsWith(start)))) return false
      this.#mayOpen = false
      if (open !== undefined) {
        this.#closeTag = CLOSE_OF[open]!
        this.#held = start.slice(open.length)
      }
    }
    const held = this.#held
    const close = held.indexOf(this.#closeTag)
    if (close >= 0) {
      this.#emitReasoning(held.slice(0, close).trimEnd(), sink)
      this.#held = held.slice(close + this.#closeTag.length)
      this.#state = 'before'
      this.#afterClose = true
      return true
    }
    // Trailing white space waits, too: it is dropped if the tag follows.
    const keep = held.length - held.slice(0, held.length - partialTag(held, this.#closeTag)).trimEnd().length
    this.#emitReasoning(held.slice(0, held.length - keep), sink)
    this.#held = held.slice(held.length - keep)
    return false
  }
}
