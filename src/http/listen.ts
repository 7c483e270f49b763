import cluster from 'node:cluster'
import { once } from 'node:events'
import type { Server } from 'node:http'
import { createServer, type AddressInfo, type Server as Listener, type Socket } from 'node:net'
import { takeTurn } from './port-turn.ts'

/**
 * Connections that can be accepted per turn of the event loop. libuv (1.52) accepts one per turn and listening socket. Under load, with turns of 30
 * ms, only 33 new callers a second got in; all others waited in the kernel's queue, endlessly and unseen by admission. Several sockets on one port
 * accept as many per turn.
 */
const SOCKETS = 32
/** Between checking that the port is free and taking it, somebody else may take it. */
const TRIES = 5

export interface Address {
  /** 0: any free port. */
  readonly port: number
  readonly host: string
}

export interface ListenOptions {
  readonly sockets?: number
  /** Other processes listen there, too, or will. Their supervisor has checked that the port belongs to nobody else. */
  readonly shared?: boolean
}

/** Whether the system distributes connections among all sockets that listen on a port, even those of several processes. */
export const canSharePorts = process.platform === 'linux'

const others = new WeakMap<Server, readonly Listener[]>()

/**
 * Opens the port, with several sockets if the system can share it among them. Rejects with the system's error if somebody else listens on the port,
 * as a single socket would.
 */
export async function listen(
  server: Server,
  { port, host }: Address,
  { sockets = SOCKETS, shared = false }: ListenOptions = {},
): Promise<AddressInfo> {
  // The master process of a process manager listens for all its workers, so the port is not free for the second one.
  const isHandedConnections = cluster.isWorker && !shared
  if (!canSharePorts || sockets === 1 || isHandedConnections) return open(server, { port, host })
  const address = shared ? await open(server, { port, host, reusePort: true }) : await take(server, { port, host }, TRIES)
  await openMore(server, { port: address.port, host: address.address }, sockets - 1)
  return address
}

/** Further listeners, which pass their connections to the server. */
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
  // The event that the server's own socket emits for connections it drops.
  const drop = (socket: Socket): void => {
    socket.destroy()
    server.emit('drop')
  }
  const listeners: Listener[] = []
  others.set(server, listeners)
  for (let i = 0; i < sockets; i++) {
    // The options an HTTP server uses for its own socket.
    const listener = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      if (server.maxConnections === undefined) return forward(socket)
      server.getConnections((error, own) => (error === null && own >= server.maxConnections ? drop(socket) : forward(socket)))
    })
    try {
      await open(listener, { ...address, reusePort: true })
    } catch {
      // Fewer sockets will do.
      break
    }
    listeners.push(listener)
  }
}

/** Stops accepting; `onClosed` when no connection is left either. */
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
  /** To be called once others listen there. */
  release(): void
}

/**
 * For processes that will share a port: checks that nobody has it. A port that was chosen here is held until they listen, because nobody knows it
 * yet. A port that callers know is not held: connections accepted here would be lost. Rejects with the system's error.
 */
export async function holdPort(address: Address): Promise<HeldPort> {
  const { port: known } = address
  if (known !== 0) return lookFirst(address, (release) => ({ port: known, release }))
  const holder = createServer((socket) => socket.destroy())
  const { port } = await take(holder, address, TRIES)
  return { port, release: () => void holder.close() }
}

/**
 * Opens the port with a shareable socket. The system would let anybody else with such a socket share it, so it is first checked that nobody has the
 * port. A port chosen here might be chosen by another gateway at the same moment, so it is checked again when it is this one's turn.
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

/** `then` has the port to itself until it calls `release`: no other gateway that starts meanwhile takes it for free. */
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

/** Rejects if somebody listens there already. */
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
