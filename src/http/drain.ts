import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { GatewayError } from '../core/error.ts'
import { LiveSet } from '../lib/live-map.ts'
import { closePort } from './listen.ts'

/** The abort controllers of the calls. */
export interface CallsUnderWay extends Iterable<AbortController> {
  readonly size: number
}

export interface DrainOptions {
  readonly inFlight: CallsUnderWay
  /** How long to go on serving as before while `readyz` says no, because load balancers need a moment to notice. Milliseconds. */
  readonly delayMs: number
  /** How long calls under way may then take. */
  readonly graceMs: number
  /** From now on requests on open connections are refused. */
  readonly onGraceOver: () => void
}

const POLL_MS = 20
/** Time for a connection that was opened before the port closed to send its request. */
const FIRST_WORDS_MS = 1_000
/** Time for callers to read the end of aborted answers. */
const LAST_WORDS_MS = 1_000

const connections = new WeakMap<Server, LiveSet<Socket>>()

/** Tracks the connections of a server from now on, so that a drain knows those that never sent anything. */
export function rememberConnections(server: Server): void {
  const open = new LiveSet<Socket>()
  connections.set(server, open)
  server.on('connection', (socket: Socket) => {
    const place = open.add(socket)
    socket.once('close', () => open.delete(place, socket))
  })
}

/** Clients connect in advance. Node counts such connections as busy until their headers are overdue. */
function closeSilent(server: Server): void {
  for (const socket of connections.get(server) ?? []) if (socket.bytesRead === 0) socket.destroy()
}

/**
 * Stops a server so that no request fails because of it: answers tell clients to reconnect, then the port closes, accepted requests are served, and
 * only what outlives the grace period is ended, in-band. Resolves when no connection is left.
 */
export async function drainServer(server: Server, { inFlight, delayMs, graceMs, onGraceOver }: DrainOptions): Promise<void> {
  server.prependListener('request', closeConnection)
  if (delayMs > 0 && server.listening) await sleep(delayMs)
  let open = server.listening
  // Also closes connections that are idle now; those that become idle later are closed below.
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
