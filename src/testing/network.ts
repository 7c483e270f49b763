import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { Secret } from '../lib/secret.ts'

/** A network between a process and a service that can be cut, silenced and repaired. */
export interface Network {
  readonly url: Secret
  /** No more bytes pass, but connections stay open. After the repair, what was sent meanwhile arrives, as after the loss of a route. */
  silence(): void
  /** Behaves like a firewall that has lost its state: existing connections are dead for good, new ones work. */
  forget(): void
  cut(): void
  repair(): void
  close(): Promise<void>
}

/** `target` is a URL with host and port; connections through `url` reach it while the network works. */
export async function createNetwork(target: Secret): Promise<Network> {
  const url = new URL(target.reveal())
  const port = Number(url.port || (url.protocol.startsWith('postgres') ? 5432 : 6379))
  let state: 'open' | 'silent' | 'cut' = 'open'
  const sockets = new Set<Socket>()
  const forgotten = new WeakSet<Socket>()
  const server: Server = createServer((inbound) => {
    if (state === 'cut') {
      inbound.destroy()
      return
    }
    const outbound = connect(port, url.hostname)
    for (const [from, to] of [
      [inbound, outbound],
      [outbound, inbound],
    ] as const) {
      sockets.add(from)
      from.on('data', (bytes) => !forgotten.has(from) && to.write(bytes))
      if (state === 'silent') from.pause()
      from.on('error', () => undefined)
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const through = new URL(url)
  through.hostname = '127.0.0.1'
  through.port = String((server.address() as AddressInfo).port)
  const destroyAll = () => sockets.forEach((socket) => socket.destroy())
  return {
    url: new Secret(through.toString()),
    silence: () => {
      state = 'silent'
      sockets.forEach((socket) => socket.pause())
    },
    forget: () => sockets.forEach((socket) => forgotten.add(socket)),
    cut: () => {
      state = 'cut'
      destroyAll()
    },
    repair: () => {
      state = 'open'
      sockets.forEach((socket) => socket.resume())
    },
    close: async () => {
      destroyAll()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
