import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'

const LOOK_MS = 2_000
const LOOKS = 15

/**
 * Lets a caller who is still sending read why he is refused. Closed at once, the connection would answer the rest of his body with a reset, and
 * clients that send all before they read never see the answer. So it is closed for writing only, and what comes is thrown away until he has sent
 * it, goes silent, or half a minute has passed. To be called before an answer that closes the connection.
 */
export function lingerAfter(request: IncomingMessage, lookMs = LOOK_MS): void {
  const { socket } = request
  const close = (): void => Socket.prototype.destroySoon.call(socket)
  socket.destroySoon = () => {
    if (request.complete) return close()
    socket.end()
    let read = socket.bytesRead
    let looks = LOOKS
    const timer = setInterval(() => {
      if (socket.bytesRead === read || --looks === 0) socket.destroy()
      read = socket.bytesRead
    }, lookMs).unref()
    socket.once('close', () => clearInterval(timer))
    request.once('end', close)
  }
}
