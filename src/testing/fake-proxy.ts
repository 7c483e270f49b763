import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { connect, type AddressInfo, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'

export interface FakeProxyOptions {
  /** The status for tunnel requests; default: 200; 0: no answer at all. */
  readonly status?: number
  /** The local port that a tunnel to `name:port` leads to. */
  readonly leadsTo?: (authority: string) => number
  /** Makes the proxy itself use TLS. */
  readonly tls?: { readonly key: string; readonly cert: string }
}

export interface FakeProxy {
  readonly port: number
  /** The tunnels that were requested. */
  readonly asked: readonly { readonly authority: string; readonly headers: IncomingHttpHeaders }[]
  readonly open: ReadonlySet<Socket>
  close(): Promise<void>
}

/** A forward proxy whose tunnels lead to local ports. */
export async function startFakeProxy({ status = 200, leadsTo = () => 0, tls }: FakeProxyOptions): Promise<FakeProxy> {
  const asked: FakeProxy['asked'][number][] = []
  const open = new Set<Socket>()
  const server = tls === undefined ? createServer() : createSecureServer(tls)
  const keep = (socket: Socket): void => {
    open.add(socket)
    socket.on('error', () => undefined).on('close', () => open.delete(socket))
  }
  server.on('connection', keep)
  server.on('connect', ({ url = '', headers }, socket: Duplex, head: Buffer) => {
    asked.push({ authority: url, headers })
    if (status === 0) return void socket.resume().on('end', () => socket.end())
    if (status !== 200) return void socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\n\r\n`)
    const target = connect(leadsTo(url), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
      target.write(head)
      target.pipe(socket).pipe(target)
    })
    keep(target)
    socket.on('error', () => target.destroy()).on('close', () => target.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    asked,
    open,
    async close() {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
