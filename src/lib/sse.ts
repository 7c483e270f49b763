import { StringDecoder } from 'node:string_decoder'

/**
 * Called for each event with its joined `data` lines and its `event` name. Comments, `id` and `retry` lines are ignored. A bare JSON object in place of an
 * event, without `data:`, counts as an event, because some servers report a failure this way in the middle of a stream.
 */
export type SseListener = (data: string, event: string | undefined) => void

export class SseLimitError extends Error {
  constructor(limit: number) {
    super(`a server-sent event is longer than ${limit} characters`)
    this.name = 'SseLimitError'
  }
}

export interface SseParser {
  /** Throws SseLimitError if an event exceeds the limit; the parser must not be used afterwards. */
  push(chunk: Buffer): void
  /** Ends the stream. An event without its final blank line is delivered, because many servers omit that line. */
  end(): void
}

const LF = 10
const BRACE = 123

/**
 * Parses server-sent events from arbitrarily cut chunks (WHATWG HTML, section 9.2): LF, CRLF and CR line ends, multi-line data, a leading BOM, split UTF-8
 * sequences. Memory is bounded by `maxEventChars`.
 */
export function createSseParser(listener: SseListener, maxEventChars = 16 * 1024 * 1024): SseParser {
  return new LineParser(listener, maxEventChars)
}

/** A class, because one is created for every upstream answer and closures would cost more. */
class LineParser implements SseParser {
  readonly #listener: SseListener
  readonly #maxEventChars: number
  /** Set only while a character is split between chunks; most chunks end with a line. */
  #decoder: StringDecoder | undefined
  #rest = ''
  /** Chunks after `#rest` that contain no line end; joined once, when the line ends. */
  #pieces: string[] = []
  #pieceChars = 0
  #data: string | undefined
  #eventName: string | undefined
  /** Whether the event is a JSON object without `data:`. */
  #isBare = false
  #first = true
  /** The last chunk ended with a CR; an LF at the start of the next belongs to it. */
  #skipLf = false

  constructor(listener: SseListener, maxEventChars: number) {
    this.#listener = listener
    this.#maxEventChars = maxEventChars
  }

  push(chunk: Buffer): void {
    if (this.#decoder === undefined && (chunk[chunk.length - 1] ?? 0) < 0x80) return this.#feed(chunk.toString())
    this.#decoder ??= new StringDecoder('utf8')
    this.#feed(this.#decoder.write(chunk))
    if ((chunk[chunk.length - 1] ?? 0x80) < 0x80) this.#decoder = undefined
  }

  end(): void {
    if (this.#decoder !== undefined) this.#feed(this.#decoder.end())
    const last = this.#joined()
    this.#rest = ''
    if (last !== '') this.#field(last, 0, last.length)
    this.#dispatch()
  }

  #dispatch(): void {
    const complete = this.#data
    const name = this.#eventName
    this.#data = undefined
    this.#eventName = undefined
    this.#isBare = false
    if (complete !== undefined) this.#listener(complete, name)
  }

  #field(text: string, from: number, to: number): void {
    if (from === to) return this.#dispatch()
    // Nearly every line is `data:`; all others are compared by their full name below.
    if (text.charCodeAt(from) === 100 && text.startsWith('data', from)) {
      const colon = from + 4
      if (colon === to) this.#append('')
      else if (text.charCodeAt(colon) === 58) {
        this.#append(text.slice(text.charCodeAt(colon + 1) === 32 && colon + 1 < to ? colon + 2 : colon + 1, to))
      }
    } else if (text.startsWith('event:', from)) {
      this.#eventName = text.slice(text.charCodeAt(from + 6) === 32 ? from + 7 : from + 6, to)
    } else if (this.#isBare || (this.#data === undefined && text.charCodeAt(from) === BRACE)) {
      this.#isBare = true
      this.#append(text.slice(from, to))
    }
  }

  #append(value: string): void {
    if (this.#data === undefined) this.#data = value
    else {
      if (this.#data.length + value.length > this.#maxEventChars) throw new SseLimitError(this.#maxEventChars)
      this.#data = `${this.#data}\n${value}`
    }
  }

  /** Processes complete lines and returns the rest. Each kind of line end is searched for only once, however many of the other kind come before it. */
  #lines(text: string): string {
    let start = 0
    let lf = text.indexOf('\n')
    let cr = text.indexOf('\r')
    while (lf !== -1 || cr !== -1) {
      let end = lf
      let next = lf + 1
      if (cr !== -1 && (lf === -1 || cr < lf)) {
        end = cr
        next = text.charCodeAt(cr + 1) === LF ? cr + 2 : cr + 1
        if (next === text.length && next === cr + 1) this.#skipLf = true
        cr = text.indexOf('\r', next)
      }
      if (lf !== -1 && lf < next) lf = text.indexOf('\n', next)
      this.#field(text, start, end)
      start = next
    }
    return start === 0 ? text : text.slice(start)
  }

  #feed(decoded: string): void {
    let text = decoded
    if (text === '') return
    if (this.#first) {
      this.#first = false
      if (text.charCodeAt(0) === 0xfeff) text = text.slice(1)
    }
    if (this.#skipLf) {
      this.#skipLf = false
      if (text.charCodeAt(0) === LF) text = text.slice(1)
    }
    // A line that spans several chunks is neither copied nor searched again for each chunk.
    if (this.#rest !== '' && !text.includes('\n') && !text.includes('\r')) {
      this.#pieces.push(text)
      this.#pieceChars += text.length
    } else this.#rest = this.#lines(this.#rest === '' ? text : this.#joined() + text)
    if (this.#rest.length + this.#pieceChars > this.#maxEventChars) throw new SseLimitError(this.#maxEventChars)
  }

  #joined(): string {
    if (this.#pieceChars === 0) return this.#rest
    const line = this.#rest + this.#pieces.join('')
    this.#pieces = []
    this.#pieceChars = 0
    return line
  }
}
