import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { GatewayError } from '../core/error.ts'
import { LiveSet } from '../lib/live-map.ts'
import { closePort } from './listen.ts'

/** What ends each call. */
export interface CallsUnderWay extends Iterable<AbortController> {
  readonly size: number
}

export interface DrainOptions {
  readonly inFlight: CallsUnderWay
  /** How long it goes on serving as before, while `readyz` says no: load balancers need a moment to notice. Milliseconds. */
  readonly delayMs: number
  /** How long what is under way may take from then on. */
  readonly graceMs: number
  /** From here on requests of connections that are still open are refused. */
  readonly onGraceOver: () => void
}

const POLL_MS = 20
/** For a connection that was made before the port closed to say what it wants. */
const FIRST_WORDS_MS = 1_000
/** For callers to read the end of what was aborted. */
const LAST_WORDS_MS = 1_000

const connections = new WeakMap<Server, LiveSet<Socket>>()

/** Remembers the connections of a server from now on, so that a drain knows those that never said a word. */
export function rememberConnections(server: Server): void {
  const open = new LiveSet<Socket>()
  connections.set(server, open)
  server.on('connection', (socket: Socket) => {
    const place = open.add(socket)
    socket.once('close', () => open.delete(place, socket))
  })
}

/** Clients connect in advance; Node counts such connections as busy until their headers are late. */
function closeSilent(server: Server): void {
  for (const socket of connections.get(server) ?? []) if (socket.bytesRead === 0) socket.destroy()
}

/**
 * Stops a server so that no request fails for it: answers tell clients to connect anew, then the port closes, what was accepted is served,
 * and only what outlives the grace period is ended, in-band. Resolves when no connection is left.
 */
export async function drainServer(server: Server, { inFlight, delayMs, graceMs, onGraceOver }: DrainOptions): Promise<void> {
  server.prependListener('request', closeConnection)
  if (delayMs > 0 && server.listening) await sleep(delayMs)
  let open = server.listening
  // Closes idle connections, too; those that become idle later are looked for below.
  closePort(server, () => (open = false))
  const silentUntil = performance.now() + FIRST_WORDS_MS
  await until(
    () => !open,
    graceMs,
    () => {
      server.closeIdleConnections()
      if (performance.now() >= silentUntil) closeSilent(server)
    },
  )
  onGraceOver()
  const reason = new GatewayError('provider_overloaded', 'The gateway is shutting down', { retryAfterMs: 1_000 })
  for (const call of inFlight) call.abort(reason)
  await until(() => inFlight.size === 0, LAST_WORDS_MS)
  server.closeAllConnections()
}

function closeConnection(_request: IncomingMessage, response: ServerResponse): void {
  response.shouldKeepAlive = false
}

async function until(done: () => boolean, limitMs: number, meanwhile: () => void = () => undefined): Promise<void> {
  const end = performance.now() + limitMs
  while (!done() && performance.now() < end) {
    await sleep(POLL_MS)
    meanwhile()
  }
}
