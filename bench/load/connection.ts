import { connect, type Socket } from 'node:net'
import { AnswerCheck, type CallerFormat } from './answer-check.ts'
import { AnswerParser } from './answer-parser.ts'

/** One kind of request: its bytes and how to judge the answer. */
export interface Shot {
  readonly port: number
  readonly bytes: Buffer
  readonly format: CallerFormat
  readonly stream: boolean
  /** The number of text pieces in a streamed answer; 0 if unknown. */
  readonly pieces: number
}

export interface Result {
  /** Undefined for a complete answer, otherwise what was wrong. */
  readonly problem: string | undefined
  /** Milliseconds from writing the request to the last byte. */
  readonly ms: number
  /** Milliseconds to the first piece of text of a stream; NaN for JSON. */
  readonly firstPieceMs: number
}

/** One keep-alive connection that sends one request at a time. */
export class Connection {
  readonly #socket: Socket
  readonly #shot: Shot
  readonly #check: AnswerCheck
  #sentAt = 0
  #firstPieceMs = Number.NaN
  #done: ((result: Result) => void) | undefined
  #firstPiece: (() => void) | undefined
  #closed: string | undefined

  private constructor(socket: Socket, shot: Shot) {
    this.#socket = socket
    this.#shot = shot
    this.#check = new AnswerCheck(shot.format, shot.stream)
    const parser = new AnswerParser({
      head: (status) => this.#check.start(status),
      body: (chunk) => this.#body(chunk),
      end: () => this.#finish(this.#check.verdict(shot.pieces)),
    })
    socket.on('data', (chunk: Buffer) => {
      try {
        parser.push(chunk)
      } catch (error) {
        this.#fail(error instanceof Error ? error.message : String(error))
      }
    })
    socket.on('error', (error) => this.#fail(error.message))
    socket.on('close', () => this.#fail('connection closed'))
  }

  /** Connects; rejects if the target does not accept within the limit. */
  static open(shot: Shot, limitMs = 10_000): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port: shot.port, host: '127.0.0.1', noDelay: true })
      const timer = setTimeout(() => socket.destroy(new Error('no connection within the limit')), limitMs)
      const refuse = (error: Error): void => {
        clearTimeout(timer)
        reject(error)
      }
      socket.once('error', refuse)
      socket.once('connect', () => {
        clearTimeout(timer)
        socket.off('error', refuse)
        resolve(new Connection(socket, shot))
      })
    })
  }

  get usable(): boolean {
    return this.#closed === undefined
  }

  /** Sends the request; calls `done` exactly once, and `firstPiece` at the first piece of a stream. */
  send(done: (result: Result) => void, firstPiece?: () => void): void {
    this.#sentAt = performance.now()
    this.#firstPieceMs = Number.NaN
    if (this.#closed !== undefined) return done({ problem: this.#closed, ms: 0, firstPieceMs: Number.NaN })
    this.#done = done
    this.#firstPiece = firstPiece
    this.#socket.write(this.#shot.bytes)
  }

  close(): void {
    this.#done = undefined
    this.#closed ??= 'closed'
    this.#socket.destroy()
  }

  #body(chunk: Buffer): void {
    this.#check.body(chunk)
    if (this.#shot.stream && Number.isNaN(this.#firstPieceMs) && this.#check.pieces > 0) {
      this.#firstPieceMs = performance.now() - this.#sentAt
      this.#firstPiece?.()
    }
  }

  #finish(problem: string | undefined): void {
    const done = this.#done
    this.#done = undefined
    done?.({ problem, ms: performance.now() - this.#sentAt, firstPieceMs: this.#firstPieceMs })
  }

  #fail(reason: string): void {
    this.#closed ??= reason
    this.#socket.destroy()
    this.#finish(reason)
  }
}
