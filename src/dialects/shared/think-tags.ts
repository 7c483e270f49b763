/** `tags`: reasoning stands between tags at the start of the text. `open-omitted`: the template wrote the opening tag, the text starts inside. */
export type ThinkTags = 'none' | 'tags' | 'open-omitted'

export type ThinkSink = (kind: 'text' | 'reasoning', text: string) => void

/**
 * Splits `<think>...</think>` out of streamed text. Tags count only before the answer has begun (a model that writes about the tag must
 * not lose its text); whitespace around them belongs to neither side. What could still become a tag is held back.
 */
export interface ThinkSplitter {
  push(text: string, sink: ThinkSink): void
  /** Releases what was held back. */
  end(sink: ThinkSink): void
  /** True once the answer has begun: from here on text passes unchanged. */
  readonly passing: boolean
}

const OPEN_TAGS = ['<think>', '<thinking>'] as const
const CLOSE_OF: { readonly [open: string]: string } = { '<think>': '</think>', '<thinking>': '</thinking>' }

/** Length of the longest end of `text` that begins `tag`. */
function partialTag(text: string, tag: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(tag.slice(0, length))) return length
  }
  return 0
}

export function createThinkSplitter(mode: ThinkTags): ThinkSplitter {
  let state: 'before' | 'inside' | 'text' = mode === 'none' ? 'text' : mode === 'tags' ? 'before' : 'inside'
  let closeTag = '</think>'
  let held = ''
  let reasoned = false
  /** The opening tag may still come although the template should have written it. */
  let mayOpen = mode === 'open-omitted'
  /** Whitespace seen before anything was decided: part of the answer only when no tag comes. */
  let afterClose = false

  const before = (sink: ThinkSink): boolean => {
    const start = held.trimStart()
    const open = OPEN_TAGS.find((tag) => start.startsWith(tag))
    if (open !== undefined) {
      closeTag = CLOSE_OF[open]!
      held = start.slice(open.length)
      state = 'inside'
      reasoned = false
      return true
    }
    if (start === '' || OPEN_TAGS.some((tag) => tag.startsWith(start))) return false
    state = 'text'
    sink('text', afterClose ? start : held)
    held = ''
    return false
  }

  /** What follows a tag that closed in the same piece is text once the answer has begun. */
  const flush = (sink: ThinkSink): boolean => {
    if (held !== '') sink('text', held)
    held = ''
    return false
  }

  const emitReasoning = (text: string, sink: ThinkSink): void => {
    const clean = reasoned ? text : text.trimStart()
    if (clean === '') return
    reasoned = true
    sink('reasoning', clean)
  }

  const inside = (sink: ThinkSink): boolean => {
    if (mayOpen) {
      const start = held.trimStart()
      const open = OPEN_TAGS.find((tag) => start.startsWith(tag))
      if (open === undefined && (start === '' || OPEN_TAGS.some((tag) => tag.startsWith(start)))) return false
      mayOpen = false
      if (open !== undefined) {
        closeTag = CLOSE_OF[open]!
        held = start.slice(open.length)
      }
    }
    const close = held.indexOf(closeTag)
    if (close >= 0) {
      emitReasoning(held.slice(0, close).trimEnd(), sink)
      held = held.slice(close + closeTag.length)
      state = 'before'
      afterClose = true
      return true
    }
    // Whitespace at the end waits too: it is dropped when the tag follows.
    const keep = held.length - held.slice(0, held.length - partialTag(held, closeTag)).trimEnd().length
    emitReasoning(held.slice(0, held.length - keep), sink)
    held = held.slice(held.length - keep)
    return false
  }

  return {
    get passing() {
      return state === 'text'
    },
    push(text, sink) {
      if (state === 'text') return sink('text', text)
      held += text
      let again = true
      while (again) again = state === 'before' ? before(sink) : state === 'inside' ? inside(sink) : flush(sink)
    },
    end(sink) {
      if (held !== '') {
        if (state === 'inside') emitReasoning(held, sink)
        else if (!afterClose || held.trim() !== '') sink('text', afterClose ? held.trimStart() : held)
      }
      held = ''
    },
  }
}
