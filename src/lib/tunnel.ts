import { isIP, type Socket } from 'node:net'
import { request } from './node-http.ts'
import { portOf, type ConnectionTarget, type Proxy } from './proxy.ts'
import type { buildConnector } from './undici.ts'

export interface TunnelOptions {
  readonly target: ConnectionTarget
  /** Begins TLS on a socket. */
  readonly secure: buildConnector.connector
  /** What has to be destroyed to end it from here on. */
  readonly holds: (socket: Socket) => void
}

type Opened = (...result: [error: null, socket: Socket] | [error: Error]) => void

/**
 * Asks a proxy, over a connection to it, for a tunnel to the target (RFC 9110, 9.3.6); plain HTTP goes through one as well. The socket is the target's
 * from then on. The code is `ERR_PROXY_<status>` where the proxy refuses. Limits are the caller's.
 */
export function openTunnel(connection: Socket, proxy: Proxy, { target, secure, holds }: TunnelOptions, opened: Opened): void {
  holds(connection)
  if (!proxy.secure) return ask(connection, proxy, target, opened)
  const { host, port } = proxy
  secure({ protocol: 'https:', hostname: host, host: authorityOf(host, port), port: String(port), httpSocket: connection }, (...[error, socket]) => {
    if (error !== null) return opened(error)
    holds(socket)
    ask(socket, proxy, target, opened)
  })
}

/** An error that happened on the way to a proxy, and says nothing of the target. */
export const ofProxy = (error: Error): Error => Object.assign(error, { ofProxy: true })

export const isOfProxy = (error: Error): boolean => 'ofProxy' in error

function ask(connection: Socket, { authorization }: Proxy, { protocol, hostname, port }: ConnectionTarget, opened: Opened): void {
  const authority = authorityOf(hostname, portOf(protocol, port))
  const asked = request({
    method: 'CONNECT',
    path: authority,
    setHost: false,
    headers: { host: authority, ...(authorization === undefined ? {} : { 'proxy-authorization': authorization }) },
    createConnection: () => connection,
  })
  // After the first error nobody listens to this socket any more, but an error event needs a listener.
  asked.on('error', opened)
  asked.once('connect', ({ statusCode = 0 }, socket: Socket, head: Buffer) => {
    if (statusCode < 200 || statusCode > 299) {
      socket.destroy()
      return opened(Object.assign(new Error(`the proxy answers ${statusCode}`), { code: `ERR_PROXY_${statusCode}` }))
    }
    if (head.length > 0) socket.unshift(head)
    opened(null, socket)
  })
  asked.end()
}

const authorityOf = (host: string, port: number): string => `${isIP(host) === 6 ? `[${host}]` : host}:${port}`
