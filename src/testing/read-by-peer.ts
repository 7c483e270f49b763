import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'

const LOOK_MS = 5
const LONGEST_MS = 10_000

/** `127.0.0.1:port` as written in the kernel's list: address and port in hexadecimal, the address in the machine's byte order. */
const inList = (port: number): string => `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`

/**
 * Waits until the other end of a loopback connection has read everything written to this one. A reset discards what the other end has not read yet, so on
 * a busy machine it would never have seen the answer that is to be interrupted. Source of the figures: proc(5), /proc/net/tcp, `tx_queue:rx_queue`.
 * Without such a list (macOS) it only waits a moment.
 */
export async function readByPeer(socket: Socket): Promise<void> {
  const ends = [inList(socket.remotePort ?? 0), inList(socket.localPort ?? 0)]
  const until = performance.now() + LONGEST_MS
  while (performance.now() < until && !socket.destroyed) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    if (socket.writableLength > 0) continue
    const list = await readFile('/proc/net/tcp', 'utf8').catch(() => undefined)
    if (list === undefined) return
    const rows = list
      .split('\n')
      .map((row) => row.trim().split(/\s+/))
      .filter(([, from, to]) => ends.includes(from ?? '') && ends.includes(to ?? ''))
    if (rows.every((row) => row[4] === '00000000:00000000')) return
  }
}
