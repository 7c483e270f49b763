import type { Server, Socket } from 'node:net'

const LOOKS = 6

/** What a connection had given away when it was last seen to move, and when that was. */
interface Progress {
  taken: number
  since: number
}

/**
 * Closes connections whose peer reads nothing of the bytes that wait for it: after `limitMs`, and the time that what waits
 * takes on the slowest line worth serving. Node waits without end, so that callers who never read (a key is not needed for every answer)
 * could keep answers and descriptors for ever. One timer looks at all connections a few times per limit; it does not keep the process alive.
 */
export function cutSlowReaders(server: Server, limitMs: number, minBytesPerSecond: number): void {
  const waiting = new Map<Socket, Progress>()
  const open = new Set<Socket>()
  const look = (): void => {
    const now = performance.now()
    for (const socket of open) {
      const queued = socket.writableLength
      if (queued === 0) {
        waiting.delete(socket)
        continue
      }
      const taken = socket.bytesWritten - queued
      const seen = waiting.get(socket)
      if (seen === undefined || seen.taken !== taken) waiting.set(socket, { taken, since: now })
      else if (now - seen.since > limitMs + (queued / minBytesPerSecond) * 1_000) socket.destroy()
    }
  }
  let timer: NodeJS.Timeout | undefined
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    timer ??= setInterval(look, limitMs / LOOKS).unref()
    socket.once('close', () => {
      open.delete(socket)
      waiting.delete(socket)
      if (open.size > 0) return
      clearInterval(timer)
      timer = undefined
    })
  })
}
