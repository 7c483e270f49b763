import { Fifo } from '../lib/fifo.ts'
import type { Lane } from './lane.ts'

/**
 * How many queues are trimmed at a time. Each takes a few statements, and the same few connections record generations: thousands of queues at once would
 * keep records waiting until they are given up.
 */
const AT_ONCE = 2

export interface LaneTrimsOptions {
  /** How often one queue is trimmed at most, in milliseconds. */
  readonly everyMs: number
  /** Never rejects. */
  readonly trim: (lane: Lane) => Promise<void>
  /** Called with work that goes on beside everything else: dropping one destination's backlog may take seconds, and must not hold up others. */
  readonly onWork: (work: Promise<void>) => void
}

/** Returns what has a queue trimmed when it is time and its turn. */
export function createLaneTrims({ everyMs, trim, onWork }: LaneTrimsOptions): (lane: Lane, now: number) => void {
  const waiting = new Fifo<Lane>()
  let working = 0
  const work = async (): Promise<void> => {
    for (let lane = waiting.shift(); lane !== undefined; lane = waiting.shift()) {
      await trim(lane)
      lane.isTrimming = false
    }
    working--
  }
  return (lane, now) => {
    if (lane.isTrimming || now - lane.lastTrimAt < everyMs) return
    lane.lastTrimAt = now
    lane.isTrimming = true
    waiting.push(lane)
    if (working === AT_ONCE) return
    working++
    onWork(work())
  }
}
