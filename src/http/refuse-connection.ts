import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** The status line, and what the error envelope says. */
export type Refusal = readonly [status: string, message: string]

/** Node's own note of whose turn it is on a connection. */
interface Connection extends Socket {
  readonly _httpMessage?: (ServerResponse & { readonly req: IncomingMessage }) | null
}

/** For a caller to read why, and to close the connection himself. */
const LINGER_MS = 2_000

/** Answers outside of any request: the connection is of no more use. A caller who leaves it open would have it for ever: Node waits without end. */
export function refuse(socket: Socket, [status, message]: Refusal, header = ''): void {
  const body = JSON.stringify({
    error: { code: Number(status.slice(0, 3)), message, metadata: { error_type: 'invalid_request', source: 'gateway' } },
  })
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n${header}connection: close\r\n\r\n${body}`,
  )
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref()
  socket.once('close', () => clearTimeout(timer))
}

/**
 * The same for bytes that may have come behind whole requests: those have their answers first. Written at once, the refusal would be taken for
 * the answer to the first of them, or stand in the midst of it.
 */
export function refuseInTurn(connection: Socket, refusal: Refusal): void {
  const { _httpMessage: answering, writable, readableEnded } = connection as Connection
  if (!writable) return void connection.destroy()
  if (!answering) return refuse(connection, refusal)
  // What is refused is the rest of a request, whose answer this is.
  if (!answering.req.complete && !answering.headersSent) return refuse(connection, refusal)
  // Who sends no more is gone.
  if (!answering.req.complete || readableEnded) return void connection.destroy()
  const leave = (): void => void connection.destroy()
  connection.once('end', leave).resume()
  answering.once('close', () => {
    connection.off('end', leave)
    refuseInTurn(connection, refusal)
  })
}
