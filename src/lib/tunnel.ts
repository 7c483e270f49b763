import { isIP, type Socket } from 'node:net'
import { request } from './node-http.ts'
import { portOf, type ConnectionTarget, type Proxy } from './proxy.ts'
import type { buildConnector } from './undici.ts'

export interface TunnelOptions {
  readonly target: ConnectionTarget
  /** Starts TLS on a socket. */
  readonly secure: buildConnector.connector
  /** Reports the socket that must be destroyed to end the connection from now on. */
  readonly holds: (socket: Socket) => void
}

type Opened = (...result: [error: null, socket: Socket] | [error: Error]) => void

/**
 * Asks a proxy, over an existing connection, for a tunnel to the target (RFC 9110, section 9.3.6); plain HTTP uses a tunnel as well. Afterwards the socket
 * leads to the target. The error code is `ERR_PROXY_<status>` if the proxy refuses. The caller enforces limits.
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

/** Marks an error that happened on the way to a proxy and says nothing about the target. */
export const ofProxy = (error: Error): Error => Object.assign(error, { ofProxy: true })

export const isOfProxy = (error: Error): boolean => 'ofProxy' in error

function ask(connection: Socket, { authorization }: Proxy, { protocol, hostname, port }: ConnectionTarget, opened: Opened): void {
  const authority = authorityOf(hostname, portOf(protocol, port))
  const connectRequest = request({
    method: 'CONNECT',
    path: authority,
    setHost: false,
    headers: { host: authority, ...(authorization === undefined ? {} : { 'proxy-authorization': authorization }) },
    createConnection: () => connection,
  })
  // After the first error nobody listens to this socket any more, but an error event without a listener would end the process.
  connectRequest.on('error', opened)
  connectRequest.once('connect', ({ statusCode = 0 }, socket: Socket, head: Buffer) => {
    if (statusCode < 200 || statusCode > 299) {
      socket.destroy()
      return opened(Object.assign(new Error(`the proxy answers ${statusCode}`), { code: `ERR_PROXY_${statusCode}` }))
    }
    if (head.length > 0) socket.unshift(head)
    opened(null, socket)
  })
  connectRequest.end()
}

const authorityOf = (host: string, port: number): string => `${isIP(host) === 6 ? `[${host}]` : host}:${port}`
