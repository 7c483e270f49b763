import { Worker } from 'node:worker_threads'
import { GatewayError } from '../../core/error.ts'
import type { ReadableText } from './readable-text.ts'

const TIMEOUT_MS = 10_000
const MAX_MEMORY_MB = 256
const MAX_WORKERS = 2
/** How often a worker's buffers are measured: its own limits do not include them, and a small PDF may unpack to gigabytes. */
const LOOK_MS = 20
const IDLE_MS = 30_000

/** Next to this file under either name: sources run directly, builds are JavaScript. */
const ENTRY = new URL(import.meta.url.endsWith('.ts') ? './parse-worker.ts' : './parse-worker.js', import.meta.url)

export interface ParseTask {
  readonly bytes: Uint8Array
  readonly kind: 'html' | 'pdf'
  /** As declared by the server. */
  readonly charset?: string | undefined
}

/**
 * Reads documents in workers with limits on memory and time: a worker that loops or grows is ended together with its document, and nothing else. Throws
 * GatewayError `unprocessable` for documents that cannot be read within the limits, `server` when the signal fires.
 */
export class DocumentParser {
  readonly #idle: { readonly worker: Worker; readonly timer: NodeJS.Timeout }[] = []
  readonly #waiting: (() => void)[] = []
  #busy = 0

  async parse(task: ParseTask, signal: AbortSignal, timeoutMs = TIMEOUT_MS): Promise<ReadableText> {
    while (this.#busy >= MAX_WORKERS) await this.#turn(signal)
    if (signal.aborted) {
      // It may have been this call's turn: the next in line takes it.
      this.#waiting.shift()?.()
      throw givenUp()
    }
    this.#busy++
    try {
      const worker = this.#take()
      const result = await run(worker, task, signal, timeoutMs)
      this.#keep(worker)
      return result
    } finally {
      this.#busy--
      this.#waiting.shift()?.()
    }
  }

  /** Resolves when a worker may be free. A call that gives up leaves the line without taking another's turn. */
  #turn(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.reject(givenUp())
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(go), 1)
        reject(givenUp())
      }
      const go = (): void => {
        signal.removeEventListener('abort', onAbort)
        resolve()
      }
      signal.addEventListener('abort', onAbort, { once: true })
      this.#waiting.push(go)
    })
  }

  #take(): Worker {
    const idle = this.#idle.pop()
    if (idle === undefined) {
      const worker = new Worker(ENTRY, { resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB }, stdout: true, stderr: true })
      // A worker that fails while idle, or after its document was given up, must not end the process.
      worker.on('error', () => this.#forget(worker))
      return worker
    }
    clearTimeout(idle.timer)
    return idle.worker
  }

  #keep(worker: Worker): void {
    worker.unref()
    const timer = setTimeout(() => {
      this.#forget(worker)
      void worker.terminate()
    }, IDLE_MS)
    timer.unref()
    this.#idle.push({ worker, timer })
  }

  #forget(worker: Worker): void {
    const index = this.#idle.findIndex((idle) => idle.worker === worker)
    if (index === -1) return
    clearTimeout(this.#idle[index]!.timer)
    this.#idle.splice(index, 1)
  }
}

const givenUp = (): GatewayError => new GatewayError('server', 'The request was given up')

interface Reply {
  readonly result?: ReadableText
}

function run(worker: Worker, task: ParseTask, signal: AbortSignal, timeoutMs: number): Promise<ReadableText> {
  worker.ref()
  return new Promise((resolve, reject) => {
    let settled = false
    // A look may answer after the document: by then its worker is idle, or reads for another caller.
    const settle = (end: () => void): void => {
      if (settled) return
      settled = true
      clearTimeout(timer)
      clearInterval(look)
      signal.removeEventListener('abort', onAbort)
      worker.off('message', onMessage)
      worker.off('error', onDeath)
      worker.off('exit', onDeath)
      end()
    }
    const fail = (message: string): void =>
      settle(() => {
        void worker.terminate()
        reject(new GatewayError('unprocessable', message))
      })
    const onAbort = (): void => fail('The request was given up')
    const onDeath = (): void => fail('The document is too large to read')
    const onMessage = ({ result }: Reply): void => {
      if (result === undefined) fail('The document cannot be read: it is damaged or protected')
      else settle(() => resolve(result))
    }
    const timer = setTimeout(() => fail('The document takes too long to read'), timeoutMs)
    let looking = false
    const look = setInterval(() => {
      if (looking) return
      looking = true
      void buffersOf(worker).then((bytes) => {
        looking = false
        if (bytes > MAX_MEMORY_MB * 1024 * 1024) fail('The document is too large to read')
      })
    }, LOOK_MS)
    signal.addEventListener('abort', onAbort)
    worker.on('message', onMessage)
    worker.on('error', onDeath)
    worker.on('exit', onDeath)
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker's port has no origin
    worker.postMessage(task)
  })
}

/** Bytes that a worker holds outside of its heap; 0 for one that has ended. */
const buffersOf = (worker: Worker): Promise<number> =>
  worker.getHeapStatistics().then(
    ({ external_memory }) => external_memory,
    () => 0,
  )
