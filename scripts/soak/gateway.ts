/** A gateway that reports its state: memory after a full collection, and open resources. Only the soak starts it. */
import { Session } from 'node:inspector/promises'
import { enableCompileCache } from 'node:module'
import type { Vitals } from './vitals.ts'

/**
 * Runs a full collection in every other thread, because garbage there is not a leak and hides small ones. It uses the inspector, the only way to
 * reach these threads.
 */
class ThreadCollector {
  readonly #session = new Session()
  readonly #threads = new Set<string>()
  readonly #waiting = new Map<number, () => void>()
  #lastId = 0

  async open(): Promise<void> {
    this.#session.connect()
    this.#session.on('NodeWorker.attachedToWorker', ({ params }) => this.#threads.add(params.sessionId))
    this.#session.on('NodeWorker.detachedFromWorker', ({ params }) => this.#threads.delete(params.sessionId))
    this.#session.on('NodeWorker.receivedMessageFromWorker', ({ params }) => {
      const { id } = JSON.parse(params.message) as { readonly id?: number }
      if (id !== undefined) this.#waiting.get(id)?.()
    })
    await this.#session.post('NodeWorker.enable', { waitForDebuggerOnStart: false })
  }

  async collect(): Promise<void> {
    await Promise.all(
      [...this.#threads].map(async (sessionId) => {
        const id = ++this.#lastId
        const collected = new Promise<void>((resolve) => this.#waiting.set(id, resolve))
        const message = JSON.stringify({ id, method: 'HeapProfiler.collectGarbage' })
        await this.#session.post('NodeWorker.sendMessageToWorker', { sessionId, message })
        await collected
        this.#waiting.delete(id)
      }),
    )
  }
}

const others = new ThreadCollector()
let opened: Promise<void> | undefined

async function vitals(): Promise<Vitals> {
  await (opened ??= others.open())
  await others.collect()
  globalThis.gc?.()
  const { rss, heapUsed, external } = process.memoryUsage()
  const resources: Record<string, number> = {}
  for (const name of process.getActiveResourcesInfo()) resources[name] = (resources[name] ?? 0) + 1
  const { threads } = await import('../../src/wiring/delivery-host.ts')
  const [thread] = threads
  const threadHeap = (await thread?.getHeapStatistics())?.used_heap_size ?? 0
  return { rss, heap: heapUsed + external, threadHeap, resources }
}

process.on('message', () => {
  void vitals().then((answer) => process.send?.(answer))
})
process.channel?.unref()

// As main does.
enableCompileCache()
const { run } = await import('../../src/cli/run.ts')
await run(process.argv)
