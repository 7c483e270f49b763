import cluster from 'node:cluster'
import { once } from 'node:events'
import type { Server } from 'node:http'
import { createServer, type AddressInfo, type Server as Listener, type Socket } from 'node:net'
import { takeTurn } from './port-turn.ts'

/**
 * Connections one turn of the event loop can accept. libuv (1.52) accepts one per turn and socket that listens: under load, when a turn takes
 * 30 ms for what those who are connected want, 33 new callers a second got in, and all others waited in the kernel's queue without an end, unseen by
 * whatever sheds calls. Several sockets on one port have as many.
 */
const SOCKETS = 32
/** Between a look whether the port is free and taking it, somebody else may have it. */
const TRIES = 5

export interface Address {
  /** 0: any that is free. */
  readonly port: number
  readonly host: string
}

export interface ListenOptions {
  readonly sockets?: number
  /** Other processes listen there, too, or will: whoever started all of them has looked whether the port was anybody else's. */
  readonly shared?: boolean
}

/** Whether the system deals the connections of a port among all sockets that listen there, also those of several processes. */
export const canSharePorts = process.platform === 'linux'

const others = new WeakMap<Server, readonly Listener[]>()

/**
 * Opens the port, with several sockets where the system shares one among them. Rejects with the system's error: a port that somebody else
 * listens on stays theirs, as with one socket.
 */
export async function listen(
  server: Server,
  { port, host }: Address,
  { sockets = SOCKETS, shared = false }: ListenOptions = {},
): Promise<AddressInfo> {
  // A process manager's own process listens for all it has started, and the port is not free for the second.
  const isHandedConnections = cluster.isWorker && !shared
  if (!canSharePorts || sockets === 1 || isHandedConnections) return open(server, { port, host })
  const address = shared ? await open(server, { port, host, reusePort: true }) : await take(server, { port, host }, TRIES)
  await openMore(server, { port: address.port, host: address.address }, sockets - 1)
  return address
}

/** They hand whom they let in to the server, as one of its own sockets would. */
async function openMore(server: Server, address: Address, sockets: number): Promise<void> {
  const { maxConnections } = server
  let taken = 0
  const forward = (socket: Socket): void => {
    taken++
    if (maxConnections !== undefined) server.maxConnections = maxConnections - taken
    socket.once('close', () => {
      taken--
      if (maxConnections !== undefined) server.maxConnections = maxConnections - taken
    })
    server.emit('connection', socket)
  }
  // As its own socket says of those it closes.
  const drop = (socket: Socket): void => {
    socket.destroy()
    server.emit('drop')
  }
  const listeners: Listener[] = []
  others.set(server, listeners)
  for (let i = 0; i < sockets; i++) {
    // As an HTTP server makes its own.
    const listener = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      if (server.maxConnections === undefined) return forward(socket)
      server.getConnections((error, own) => (error === null && own >= server.maxConnections ? drop(socket) : forward(socket)))
    })
    try {
      await open(listener, { ...address, reusePort: true })
    } catch {
      // Fewer do as well.
      break
    }
    listeners.push(listener)
  }
}

/** Lets nobody in any more; `onClosed` when nobody is connected either. */
export function closePort(server: Server, onClosed: () => void): void {
  let left = 1
  const closed = (): void => {
    if (--left === 0) onClosed()
  }
  for (const listener of others.get(server) ?? []) {
    left++
    listener.close(closed)
  }
  others.delete(server)
  server.close(closed)
}

export interface HeldPort {
  readonly port: number
  /** Once others listen there. */
  release(): void
}

/**
 * For processes that are to share a port: looks whether anybody has it. One that was chosen here, which nobody knows yet, is held until they
 * listen; one that callers know is not, as they would be let in here, but kept from other gateways. Rejects with the system's error.
 */
export async function holdPort(address: Address): Promise<HeldPort> {
  const { port: known } = address
  if (known !== 0) return lookFirst(address, (release) => ({ port: known, release }))
  const holder = createServer((socket) => socket.destroy())
  const { port } = await take(holder, address, TRIES)
  return { port, release: () => void holder.close() }
}

/**
 * Opens it with a socket that shares its port. Those share it with whoever asks to: it is looked first whether anybody has it. One that is chosen here
 * may be chosen by another gateway in the same moment, and is looked at again when it is this one's turn.
 */
async function take(server: Listener, { port, host }: Address, tries: number): Promise<AddressInfo> {
  if (port !== 0) {
    return lookFirst({ port, host }, async (release) => {
      const address = await open(server, { port, host, reusePort: true })
      release()
      return address
    })
  }
  const free = await look({ port, host })
  try {
    return await take(server, { port: free.port, host }, 1)
  } catch (error) {
    if (tries <= 1) throw error
    return take(server, { port, host }, tries - 1)
  }
}

/** `then` has the port to itself until it calls `release`: no other gateway that is started meanwhile takes it for free. */
async function lookFirst<T>(address: Address, then: (release: () => void) => T | Promise<T>): Promise<T> {
  const release = await takeTurn(address.port)
  try {
    await look(address)
    return await then(release)
  } catch (error) {
    release()
    throw error
  }
}

/** Rejects where somebody listens there already. */
async function look(address: Address): Promise<AddressInfo> {
  const plain = createServer()
  const free = await open(plain, address)
  plain.close()
  await once(plain, 'close')
  return free
}

async function open(server: Listener, address: Address & { readonly reusePort?: true }): Promise<AddressInfo> {
  server.listen(address)
  await once(server, 'listening')
  return server.address() as AddressInfo
}
