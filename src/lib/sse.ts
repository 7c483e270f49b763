import { StringDecoder } from 'node:string_decoder'

/** Called per event with its joined `data` lines and its `event` name. Comments, `id` and `retry` lines are passed over. */
export type SseListener = (data: string, event: string | undefined) => void

export class SseLimitError extends Error {
  constructor(limit: number) {
    super(`a server-sent event is longer than ${limit} characters`)
    this.name = 'SseLimitError'
  }
}

export interface SseParser {
  /** Throws SseLimitError when one event outgrows the limit; the parser is then of no more use. */
  push(chunk: Buffer): void
  /** The stream closed: an event without its blank line is delivered, as many servers forget it. */
  end(): void
}

const LF = 10
const CR = 13

/**
 * Server-sent events from arbitrary cuts of bytes (WHATWG HTML, section 9.2): LF, CRLF and CR line ends, multi-line data, a leading BOM,
 * UTF-8 sequences split anywhere. Memory is bounded by `maxEventChars`.
 */
export function createSseParser(listener: SseListener, maxEventChars = 16 * 1024 * 1024): SseParser {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  let data: string | undefined
  let eventName: string | undefined
  let first = true
  /** A CR ended the last chunk: an LF at the start of the next belongs to it. */
  let skipLf = false

  const dispatch = (): void => {
    const complete = data
    const name = eventName
    data = undefined
    eventName = undefined
    if (complete !== undefined) listener(complete, name)
  }

  const field = (text: string, from: number, to: number): void => {
    if (from === to) return dispatch()
    // `data:` is nearly every line; the others are compared by their full name below.
    if (text.charCodeAt(from) === 100 && text.startsWith('data', from)) {
      const colon = from + 4
      if (colon === to) data = data === undefined ? '' : `${data}\n`
      else if (text.charCodeAt(colon) === 58) {
        const value = text.slice(text.charCodeAt(colon + 1) === 32 && colon + 1 < to ? colon + 2 : colon + 1, to)
        if (data === undefined) data = value
        else {
          if (data.length + value.length > maxEventChars) throw new SseLimitError(maxEventChars)
          data = `${data}\n${value}`
        }
      }
    } else if (text.startsWith('event:', from)) {
      eventName = text.slice(text.charCodeAt(from + 6) === 32 ? from + 7 : from + 6, to)
    }
  }

  /** Cuts complete lines; `hasCr` spares the search for CR in streams that have none. */
  const lines = (text: string): string => {
    let start = 0
    const hasCr = text.includes('\r')
    while (start < text.length) {
      let end = text.indexOf('\n', start)
      let next = end + 1
      if (hasCr) {
        const cr = text.indexOf('\r', start)
        if (cr !== -1 && (end === -1 || cr < end)) {
          end = cr
          next = text.charCodeAt(cr + 1) === LF ? cr + 2 : cr + 1
          if (cr + 1 === text.length) skipLf = true
        }
      }
      if (end === -1) break
      field(text, start, end)
      start = next
    }
    return start === 0 ? text : text.slice(start)
  }

  const feed = (decoded: string): void => {
    let text = decoded
    if (text === '') return
    if (first) {
      first = false
      if (text.charCodeAt(0) === 0xfeff) text = text.slice(1)
    }
    if (skipLf) {
      skipLf = false
      if (text.charCodeAt(0) === LF) text = text.slice(1)
    }
    rest = lines(rest === '' ? text : rest + text)
    if (rest.length > maxEventChars) throw new SseLimitError(maxEventChars)
  }

  return {
    push: (chunk) => feed(decoder.write(chunk)),
    end() {
      feed(decoder.end())
      if (rest !== '') {
        const last = rest.charCodeAt(rest.length - 1) === CR ? rest.slice(0, -1) : rest
        rest = ''
        field(last, 0, last.length)
      }
      dispatch()
    },
  }
}
