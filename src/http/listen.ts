import cluster from 'node:cluster'
import { once } from 'node:events'
import type { Server } from 'node:http'
import { createServer, type AddressInfo, type Server as Listener, type Socket } from 'node:net'

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

const others = new WeakMap<Server, readonly Listener[]>()

/**
 * Opens the port, with several sockets where the system shares one among them (Linux; a process among others gets its connections from the one
 * that started it). Rejects with the system's error: a port that somebody else listens on stays theirs, as with one socket.
 */
export async function listen(server: Server, { port, host }: Address, sockets = SOCKETS): Promise<AddressInfo> {
  if (process.platform !== 'linux' || cluster.isWorker || sockets === 1) return open(server, { port, host })
  const address = await share(server, { port, host }, TRIES)
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
  const listeners: Listener[] = []
  others.set(server, listeners)
  for (let i = 1; i < sockets; i++) {
    // As an HTTP server makes its own.
    const listener = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      if (server.maxConnections === undefined) return forward(socket)
      server.getConnections((error, own) => (error === null && own >= server.maxConnections ? socket.destroy() : forward(socket)))
    })
    try {
      await open(listener, { port: address.port, host: address.address, reusePort: true })
    } catch {
      // Fewer do as well.
      break
    }
    listeners.push(listener)
  }
  return address
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

/** With a socket that shares its port. Those that do share it with whoever asks to: it is looked first whether anybody has it. */
async function share(server: Server, { port, host }: Address, tries: number): Promise<AddressInfo> {
  const look = createServer()
  const free = await open(look, { port, host })
  look.close()
  await once(look, 'close')
  try {
    return await open(server, { port: free.port, host, reusePort: true })
  } catch (error) {
    if (port !== 0 || tries <= 1) throw error
    return share(server, { port, host }, tries - 1)
  }
}

async function open(server: Listener, address: Address & { readonly reusePort?: true }): Promise<AddressInfo> {
  server.listen(address)
  await once(server, 'listening')
  return server.address() as AddressInfo
}
