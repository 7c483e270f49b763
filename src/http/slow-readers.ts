import type { Server, Socket } from 'node:net'
import { LiveSet } from '../lib/live-map.ts'

const LOOKS = 6

/** A connection, with the bytes it had sent when it last made progress, and when that was. Negative while nothing waits. */
interface Reader {
  readonly socket: Socket
  taken: number
  since: number
}

/**
 * Closes connections whose peer reads nothing of what waits for it, after `limitMs` plus the time that this takes on the slowest line worth serving.
 * Node waits endlessly, so callers who never read (some answers need no key) could hold answers and descriptors for ever. One timer looks at all
 * connections a few times per limit; it does not keep the process alive.
 */
export function cutSlowReaders(server: Server, limitMs: number, minBytesPerSecond: number): void {
  const open = new LiveSet<Reader>()
  const look = (): void => {
    const now = performance.now()
    for (const reader of open) {
      const { socket } = reader
      const queued = socket.writableLength
      const taken = queued === 0 ? -1 : socket.bytesWritten - queued
      if (queued === 0 || reader.taken !== taken) {
        reader.taken = taken
        reader.since = now
      } else if (now - reader.since > limitMs + (queued / minBytesPerSecond) * 1_000) socket.destroy()
    }
  }
  let timer: NodeJS.Timeout | undefined
  server.on('connection', (socket: Socket) => {
    const reader = { socket, taken: -1, since: 0 }
    const place = open.add(reader)
    timer ??= setInterval(look, limitMs / LOOKS).unref()
    socket.once('close', () => {
      open.delete(place, reader)
      if (open.size > 0) return
      clearInterval(timer)
      timer = undefined
    })
  })
}
