import { connect, type Socket } from 'node:net'

/** Requests as an attacker writes them: bytes on a socket, which no HTTP library has corrected. */

export interface RawAnswer {
  /** All received bytes, as latin1. */
  readonly text: string
  /** Status codes of the answers, in order; informational ones included. */
  readonly statuses: readonly number[]
  /** The server closed the connection before the limit. */
  readonly closed: boolean
}

/**
 * Sends bytes and reads until the server closes, until the limit in milliseconds has passed, or, if given, until nothing has arrived for `idleMs` after
 * the first bytes.
 */
export function exchange(port: number, bytes: string | Buffer, limitMs = 10_000, idleMs?: number): Promise<RawAnswer> {
  return new Promise((resolve) => {
    let text = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes))
    const finish = (closed: boolean): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve({ text, statuses: [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, code]) => Number(code)), closed })
    }
    let timer = setTimeout(() => finish(false), limitMs)
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1')
      if (idleMs === undefined) return
      clearTimeout(timer)
      timer = setTimeout(() => finish(false), idleMs)
    })
    // Some refusals end with a reset after the answer.
    socket.on('error', () => finish(true))
    socket.on('close', () => finish(true))
  })
}

/** An open connection that has sent these bytes. */
export function open(port: number, bytes: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.off('error', reject)
      socket.on('error', () => undefined)
      socket.write(bytes)
      resolve(socket)
    })
    socket.on('error', reject)
  })
}

/** One request in plain HTTP/1.1; the length of the body is declared unless the headers say how it is framed. */
export function request(
  method: string,
  target: string,
  headers: readonly string[] = [],
  body = '',
  options: { readonly keep?: boolean; readonly framed?: boolean } = {},
): string {
  const length = options.framed === true || body === '' ? [] : [`content-length: ${Buffer.byteLength(body)}`]
  const close = options.keep === true ? [] : ['connection: close']
  return `${[`${method} ${target} HTTP/1.1`, 'host: gateway.test', ...headers, ...length, ...close].join('\r\n')}\r\n\r\n${body}`
}

export const bearer = (key: string): string => `authorization: Bearer ${key}`
export const portOf = (url: string): number => Number(new URL(url).port)
