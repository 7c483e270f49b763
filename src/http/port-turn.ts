import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

const LOOK_MS = 50
/** Several processes take seconds from the look whether a port is free until the first of them listens. */
const LIMIT_MS = 30_000

/**
 * One gateway at a time opens a port: sockets that share one share it with whoever asks to, and of two gateways that are started at once both would
 * find it free. Told by a name among the abstract ones of unix sockets, which belong to the same network as the port and go with their process.
 * Returns what ends the turn. Where there are no such names, or a turn takes very long, nobody is waited for.
 */
export async function takeTurn(port: number, limitMs = LIMIT_MS): Promise<() => void> {
  const until = performance.now() + limitMs
  for (;;) {
    const name = createServer((socket) => socket.destroy()).unref()
    try {
      name.listen({ path: `\0signalbox-opens-${port}`, exclusive: true })
      await once(name, 'listening')
      return () => void name.close()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || performance.now() >= until) return () => undefined
    }
    await sleep(LOOK_MS)
  }
}
