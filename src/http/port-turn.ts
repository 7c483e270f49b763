import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

const LOOK_MS = 50
/** Several processes need seconds from the check that the port is free until the first of them listens. */
const LIMIT_MS = 30_000

/**
 * Lets one gateway at a time open a port. Sockets with a shared port share it with everybody who asks to, and two gateways that start at once would
 * both find it free. The turn is an abstract unix socket, which belongs to the same network namespace as the port and ends with its process. Returns
 * what ends the turn. Without abstract sockets, or if a turn takes very long, nobody waits.
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
