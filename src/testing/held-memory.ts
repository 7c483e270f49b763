import { setTimeout as pause } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * The bytes that this process really holds: heap and buffers after full collections. Resident memory includes tens of megabytes of garbage that no
 * collection has had a reason to look at yet, so it says little about what is stored.
 */
export async function heldMemory(): Promise<number> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  // Buffers are released by finalizers, which run in a later turn.
  collect()
  await pause(20)
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
