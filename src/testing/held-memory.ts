import { setTimeout as pause } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * The bytes this process really holds: heap and buffers after full collections. What the machine calls resident keeps garbage that no collection had a
 * reason to look at yet, tens of megabytes of it, and so says little of what is stored.
 */
export async function heldMemory(): Promise<number> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  // Buffers are given back by finalizers, which run in a turn of their own.
  collect()
  await pause(20)
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
