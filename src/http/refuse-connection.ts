import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** The status line, and the message of the error envelope. */
export type Refusal = readonly [status: string, message: string]

/** Node's private field for the response whose turn it is on a connection. */
interface Connection extends Socket {
  readonly _httpMessage?: (ServerResponse & { readonly req: IncomingMessage }) | null
}

/** Time for the caller to read why, and to close the connection. */
const LINGER_MS = 2_000

/** Answers outside of any request; the connection is of no use afterwards. It is closed after a while, because Node would wait endlessly for the caller. */
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
 * The same for invalid bytes that may follow complete requests, whose answers come first: written at once, the refusal would be taken for the answer
 * to an earlier request, or end up in the middle of it.
 */
export function refuseInTurn(connection: Socket, refusal: Refusal): void {
  const { _httpMessage: answering, writable, readableEnded } = connection as Connection
  if (!writable) return void connection.destroy()
  if (!answering) return refuse(connection, refusal)
  // The invalid bytes are the rest of this very request.
  if (!answering.req.complete && !answering.headersSent) return refuse(connection, refusal)
  // A caller who has ended the connection is gone.
  if (!answering.req.complete || readableEnded) return void connection.destroy()
  const leave = (): void => void connection.destroy()
  connection.once('end', leave).resume()
  answering.once('close', () => {
    connection.off('end', leave)
    refuseInTurn(connection, refusal)
  })
}
