/** The parts of an answer as the parser reports them: its head, its body in slices of the bytes read, its end. */
export interface AnswerListener {
  head(status: number): void
  body(chunk: Buffer): void
  end(): void
}

const CR = 13
const LF = 10
const HEAD_END = Buffer.from('\r\n\r\n')
const MAX_HEAD = 64 * 1024

type State = 'head' | 'length' | 'chunk-size' | 'chunk-data' | 'chunk-end' | 'trailer'

/**
 * Parses HTTP/1.1 answers of one keep-alive connection, cut at any byte: `content-length` and chunked bodies. Knows just enough to load gateways without
 * becoming the bottleneck; throws on anything else.
 */
export class AnswerParser {
  readonly #listener: AnswerListener
  #state: State = 'head'
  #head: Buffer | undefined
  #remaining = 0
  #size = 0
  #sizeDigits = 0
  #extension = false
  #lineLength = 0

  constructor(listener: AnswerListener) {
    this.#listener = listener
  }

  /** True between answers: nothing is lost if the connection closes now. */
  get idle(): boolean {
    return this.#state === 'head' && this.#head === undefined
  }

  push(chunk: Buffer): void {
    let at = 0
    while (at < chunk.length) {
      switch (this.#state) {
        case 'head':
          at = this.#readHead(chunk, at)
          break
        case 'length':
        case 'chunk-data':
          at = this.#readData(chunk, at)
          break
        case 'chunk-size':
          at = this.#readSize(chunk, at)
          break
        case 'chunk-end':
          if (chunk[at] === LF) this.#state = 'chunk-size'
          else if (chunk[at] !== CR) throw new Error('a chunk is longer than it says')
          at++
          break
        case 'trailer':
          at = this.#readTrailer(chunk, at)
          break
      }
    }
  }

  #readHead(chunk: Buffer, at: number): number {
    const before = this.#head?.length ?? 0
    const text = this.#head === undefined ? chunk.subarray(at) : Buffer.concat([this.#head, chunk.subarray(at)])
    const end = text.indexOf(HEAD_END)
    if (end === -1) {
      if (text.length > MAX_HEAD) throw new Error('the head of an answer does not end')
      this.#head = Buffer.from(text)
      return chunk.length
    }
    this.#head = undefined
    this.#startBody(text.toString('latin1', 0, end + 2))
    return at + end + HEAD_END.length - before
  }

  #startBody(head: string): void {
    const status = Number(head.slice(9, 12))
    if (!head.startsWith('HTTP/1.1 ') || !(status >= 200)) throw new Error(`not an answer: ${head.slice(0, 40)}`)
    this.#listener.head(status)
    const lower = head.toLowerCase()
    if (lower.includes('\r\ntransfer-encoding: chunked\r\n')) {
      this.#startSize()
      return
    }
    const length = /\r\ncontent-length: *(\d+)\r\n/.exec(lower)
    if (length === null) throw new Error('an answer without a length')
    this.#remaining = Number(length[1])
    this.#state = 'length'
    if (this.#remaining === 0) this.#finish()
  }

  #readData(chunk: Buffer, at: number): number {
    const end = Math.min(chunk.length, at + this.#remaining)
    this.#listener.body(at === 0 && end === chunk.length ? chunk : chunk.subarray(at, end))
    this.#remaining -= end - at
    if (this.#remaining === 0) {
      if (this.#state === 'length') this.#finish()
      else this.#state = 'chunk-end'
    }
    return end
  }

  #startSize(): void {
    this.#state = 'chunk-size'
    this.#size = 0
    this.#sizeDigits = 0
    this.#extension = false
  }

  #readSize(chunk: Buffer, from: number): number {
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at]!
      if (byte === LF) {
        if (this.#sizeDigits === 0) throw new Error('a chunk without a size')
        this.#remaining = this.#size
        this.#lineLength = 0
        this.#state = this.#size === 0 ? 'trailer' : 'chunk-data'
        this.#size = 0
        this.#sizeDigits = 0
        this.#extension = false
        return at + 1
      }
      if (byte === CR || this.#extension) continue
      const digit = hexDigit(byte)
      if (digit === -1) this.#extension = true
      else {
        this.#size = this.#size * 16 + digit
        this.#sizeDigits++
      }
    }
    return chunk.length
  }

  #readTrailer(chunk: Buffer, from: number): number {
    for (let at = from; at < chunk.length; at++) {
      if (chunk[at] === LF) {
        if (this.#lineLength === 0) {
          this.#finish()
          return at + 1
        }
        this.#lineLength = 0
      } else if (chunk[at] !== CR) this.#lineLength++
    }
    return chunk.length
  }

  #finish(): void {
    this.#state = 'head'
    this.#listener.end()
  }
}

function hexDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48
  const lower = byte | 32
  return lower >= 97 && lower <= 102 ? lower - 87 : -1
}
