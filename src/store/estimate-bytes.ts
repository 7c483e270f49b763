import type { RecordedGeneration } from '../core/store.ts'

/** Values visited before the rest is guessed: an ordinary request is counted completely, a huge one costs half a millisecond. */
const MAX_VISITS = 20_000
const VALUE_BYTES = 16
const UNSEEN_BYTES = 64
/** The fixed fields of a record: about forty short ones. Visiting them would cost more than the rest of recording. */
const RECORD_BYTES = 2_000
const ATTEMPT_BYTES = 500

/** Roughly how many bytes a record occupies in memory. Good enough to bound a queue, not to bill by. */
export function estimateRecordBytes({ generation, content }: RecordedGeneration): number {
  const { attempts, pipeline, trace, metadata, parameters, usage } = generation
  // Only fields that callers and upstreams fill can be large.
  const open = estimateBytes(trace) + estimateBytes(metadata) + estimateBytes(parameters) + estimateBytes(pipeline) + estimateBytes(usage.raw)
  return RECORD_BYTES + attempts.length * ATTEMPT_BYTES + open + (content ? estimateBytes(content) : 0)
}

/**
 * The same for any JSON value; texts count by their length, without being read. Extrapolating from averages would be cheaper but wrong: a nested
 * value of a few kilobytes can make them astronomic, and one caller's record would push all others out of the queue.
 */
export function estimateBytes(value: unknown): number {
  if (value === undefined) return 0
  let bytes = 0
  let visits = 0
  // An explicit stack, because callers decide how deep a value nests.
  const stack: unknown[] = [value]
  while (stack.length > 0) {
    if (++visits > MAX_VISITS) return bytes + stack.length * UNSEEN_BYTES
    const current = stack.pop()
    bytes += VALUE_BYTES
    if (typeof current === 'string') {
      bytes += current.length
    } else if (Array.isArray(current)) {
      for (const child of current as readonly unknown[]) stack.push(child)
    } else if (typeof current === 'object' && current !== null) {
      for (const [key, child] of Object.entries(current)) {
        bytes += key.length
        stack.push(child)
      }
    }
  }
  return bytes
}
