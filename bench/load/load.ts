import { setTimeout as sleep } from 'node:timers/promises'
import { Connection, type Result, type Shot } from './connection.ts'

export interface LoadResult {
  readonly completed: number
  readonly failed: number
  /** The most frequent problems with their counts. */
  readonly problems: { readonly [problem: string]: number }
  readonly seconds: number
  /** Milliseconds per complete answer, unsorted. */
  readonly latencies: readonly number[]
  readonly firstPieces: readonly number[]
  /** Requests that an open loop could not send on time because no connection was free. */
  readonly late: number
}

class Tally {
  completed = 0
  failed = 0
  late = 0
  readonly problems: { [problem: string]: number } = {}
  readonly latencies: number[] = []
  readonly firstPieces: number[] = []
  readonly #started = performance.now()

  add({ problem, ms, firstPieceMs }: Result): void {
    if (problem === undefined) {
      this.completed++
      this.latencies.push(ms)
      if (!Number.isNaN(firstPieceMs)) this.firstPieces.push(firstPieceMs)
    } else {
      this.failed++
      this.problems[problem] = (this.problems[problem] ?? 0) + 1
    }
  }

  result(): LoadResult {
    const { completed, failed, late, problems, latencies, firstPieces } = this
    return { completed, failed, late, problems, latencies, firstPieces, seconds: (performance.now() - this.#started) / 1000 }
  }
}

/** How long to wait for unfinished answers at the end. */
const GRACE_MS = 5_000
const REOPEN_PAUSE_MS = 20

/** N callers, each sending its next request once the last answer is complete: measures capacity. */
export async function runClosedLoop(shot: Shot, connections: number, durationMs: number): Promise<LoadResult> {
  const open = await Promise.all(Array.from({ length: connections }, () => Connection.open(shot)))
  const tally = new Tally()
  const until = performance.now() + durationMs
  await Promise.all(open.map((connection) => runCaller(connection, shot, until, tally)))
  return tally.result()
}

/** One caller. Uses callbacks, because a promise per answer would cost more than the parser. */
function runCaller(first: Connection, shot: Shot, until: number, tally: Tally): Promise<void> {
  let connection = first
  return new Promise((resolve) => {
    const limit = setTimeout(() => finish(), until - performance.now() + GRACE_MS)
    const finish = (): void => {
      clearTimeout(limit)
      connection.close()
      resolve()
    }
    const next = (result: Result): void => {
      tally.add(result)
      if (performance.now() >= until) finish()
      else if (connection.usable) connection.send(next)
      else void reopen()
    }
    const reopen = async (): Promise<void> => {
      await sleep(REOPEN_PAUSE_MS)
      try {
        connection = await Connection.open(shot, 2_000)
        connection.send(next)
      } catch {
        next({ problem: 'cannot connect', ms: 0, firstPieceMs: Number.NaN })
      }
    }
    connection.send(next)
  })
}

/**
 * A constant rate, however long the answers take: measures latency as callers of a lightly loaded gateway experience it. Latency counts from the write; a
 * request that finds every connection busy is counted as late and skipped.
 */
export async function runOpenLoop(shot: Shot, perSecond: number, durationMs: number, connections = 16): Promise<LoadResult> {
  const free = await Promise.all(Array.from({ length: connections }, () => Connection.open(shot)))
  const all = [...free]
  const tally = new Tally()
  const started = performance.now()
  const total = Math.floor((durationMs / 1000) * perSecond)
  for (let sent = 0; sent < total; sent++) {
    // Timers have a resolution of a millisecond and drift, so each send aims at its own time.
    await sleep(Math.max(0, started + (sent * 1000) / perSecond - performance.now()))
    const connection = free.shift()
    if (connection === undefined) {
      tally.late++
      continue
    }
    connection.send((result) => {
      tally.add(result)
      free.push(connection)
    })
  }
  const limit = performance.now() + GRACE_MS
  while (free.length < all.length && performance.now() < limit) await sleep(5)
  for (const connection of all) connection.close()
  return tally.result()
}

/** Opens streams that stay open, each past its first piece of text. Rejects if one fails or the limit passes. */
export async function holdStreams(shot: Shot, count: number, limitMs: number): Promise<{ close(): void }> {
  const held: Connection[] = []
  const close = (): void => {
    for (const connection of held.splice(0)) connection.close()
  }
  const limit = AbortSignal.timeout(limitMs)
  try {
    // In batches, because no listener's backlog takes a thousand connections at once.
    for (let from = 0; from < count; from += 50) {
      limit.throwIfAborted()
      await Promise.all(Array.from({ length: Math.min(50, count - from) }, () => holdOne(shot, held, limit)))
    }
  } catch (error) {
    close()
    throw error
  }
  return { close }
}

async function holdOne(shot: Shot, held: Connection[], limit: AbortSignal): Promise<void> {
  const connection = await Connection.open(shot)
  held.push(connection)
  await new Promise<void>((resolve, reject) => {
    const expire = (): void => reject(new Error('a stream did not begin within the limit'))
    limit.addEventListener('abort', expire, { once: true })
    connection.send(
      ({ problem }) => reject(new Error(`a stream ended early: ${problem ?? 'complete'}`)),
      () => {
        limit.removeEventListener('abort', expire)
        resolve()
      },
    )
  })
}
