/** A gateway that can be asked how it is: memory after a full collection, what it holds open. Started by the soak only. */
import { enableCompileCache } from 'node:module'
import type { Vitals } from './vitals.ts'

async function vitals(): Promise<Vitals> {
  globalThis.gc?.()
  const { rss, heapUsed, external } = process.memoryUsage()
  const resources: Record<string, number> = {}
  for (const name of process.getActiveResourcesInfo()) resources[name] = (resources[name] ?? 0) + 1
  const { threads } = await import('../../src/delivery-host.ts')
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
