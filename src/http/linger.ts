import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'

const LOOK_MS = 2_000
const LOOKS = 15

/**
 * Lets a caller who is still sending read why the request is refused. If the connection were closed at once, the rest of the body would be answered
 * with a reset, and clients that send everything before they read would never see the answer. So it is closed for writing only, and incoming data is
 * discarded until the body ends, the caller goes silent, or half a minute has passed. Must be called before an answer that closes the connection.
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
