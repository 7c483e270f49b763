import { EventEmitter } from 'node:events'
import { createServer, type AddressInfo, type LookupFunction, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { finding, ONE_WORKS } from '../testing/lookups.ts'
import { createConnector, firstToConnect } from './connector.ts'

const v4 = (last: number) => ({ address: `192.0.2.${last}`, family: 4 })
const v6 = (last: number) => ({ address: `2001:db8::${last}`, family: 6 })

describe('the first of several addresses', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  function race(addresses: readonly ReturnType<typeof v4>[]) {
    const sockets = new Map<string, EventEmitter & { destroyed: boolean; destroy(): void }>()
    const results: unknown[] = []
    const open = ({ address }: { readonly address: string }): Socket => {
      const socket = Object.assign(new EventEmitter(), { destroyed: false, destroy: () => void (socket.destroyed = true) })
      sockets.set(address, socket)
      return socket as unknown as Socket
    }
    const stop = firstToConnect(addresses, open, (...result) => void results.push(result))
    const at = (address: string) => sockets.get(address)!
    return {
      stop,
      results,
      tried: () => [...sockets.keys()],
      open: () => [...sockets].filter(([, { destroyed }]) => !destroyed).map(([address]) => address),
      connects: (address: string) => (at(address).emit('connect'), at(address)),
      fails: (address: string, code: string) => void at(address).emit('error', Object.assign(new Error(code), { code })),
    }
  }

  it('is waited for while others are tried beside it', () => {
    const { results, tried, open, connects, fails } = race([v4(1), v6(1)])
    vi.advanceTimersByTime(249)
    expect(tried()).toEqual(['192.0.2.1'])
    vi.advanceTimersByTime(1)
    expect(tried()).toEqual(['192.0.2.1', '2001:db8::1'])
    fails('2001:db8::1', 'ENETUNREACH')
    vi.advanceTimersByTime(2_000)
    expect(results).toEqual([])
    const socket = connects('192.0.2.1')
    expect(results).toEqual([[null, socket]])
    expect(open()).toContain('192.0.2.1')
  })

  it('is whichever connects first; the others are closed', () => {
    const { results, open, connects } = race([v4(1), v6(1), v4(2)])
    vi.advanceTimersByTime(250)
    const socket = connects('2001:db8::1')
    expect(results).toEqual([[null, socket]])
    expect(open()).toEqual(['2001:db8::1'])
    vi.advanceTimersByTime(5_000)
    expect(results).toHaveLength(1)
    expect(open()).toEqual(['2001:db8::1'])
  })

  it('makes room for the next at once when it fails; families take turns', () => {
    const { results, tried, fails } = race([v6(1), v6(2), v4(1)])
    fails('2001:db8::1', 'ENETUNREACH')
    expect(tried()).toEqual(['2001:db8::1', '192.0.2.1'])
    fails('192.0.2.1', 'ECONNREFUSED')
    expect(tried()).toEqual(['2001:db8::1', '192.0.2.1', '2001:db8::2'])
    expect(results).toEqual([])
    fails('2001:db8::2', 'ENETUNREACH')
    expect(results).toMatchObject([[{ code: 'ENETUNREACH', errors: { length: 3 } }]])
  })

  it('is the error of the only one, as it is', () => {
    const { results, fails } = race([v4(1)])
    vi.advanceTimersByTime(5_000)
    fails('192.0.2.1', 'ECONNREFUSED')
    expect(results).toMatchObject([[{ message: 'ECONNREFUSED', code: 'ECONNREFUSED' }]])
  })

  it('is none where the connection was aborted, and an error where there is no address', () => {
    const { results, stop, open } = race([v4(1), v6(1)])
    stop()
    vi.advanceTimersByTime(5_000)
    expect([results, open()]).toEqual([[], []])
    expect(race([]).results).toMatchObject([[{ message: 'the name has no address' }]])
  })
})

describe('a connection', () => {
  const sockets = new Set<Socket>()
  let server: Server
  let port: number
  beforeEach(async () => {
    server = createServer((socket) => {
      sockets.add(socket)
      socket
        .resume()
        .on('error', () => undefined)
        .on('close', () => sockets.delete(socket))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    port = (server.address() as AddressInfo).port
  })
  afterEach(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  const connectTo = (protocol: string, lookup: LookupFunction, timeoutMs: number): Promise<Socket> =>
    new Promise((resolve, reject) =>
      createConnector({ lookup, timeoutMs })(
        { protocol, hostname: 'provider.test', host: `provider.test:${port}`, port: String(port) },
        (error, socket) => (error === null ? resolve(socket) : reject(error)),
      ),
    )
  it('is not given up for the time this process was busy', async () => {
    const socket = await connectTo('http:', finding(ONE_WORKS, 400), 5_000)
    expect(socket.remoteAddress).toBe('127.0.0.1')
    socket.destroy()
  })

  it('has its limit for TLS, too, and leaves nothing behind', async () => {
    const failed = connectTo('https:', finding(['127.0.0.1']), 200)
    await expect.poll(() => sockets.size).toBe(1)
    await expect(failed).rejects.toMatchObject({ code: 'UND_ERR_CONNECT_TIMEOUT' })
    await expect.poll(() => sockets.size).toBe(0)
  })

  it('has its limit while a name is looked up', async () => {
    await expect(connectTo('http:', () => undefined, 50)).rejects.toMatchObject({ code: 'UND_ERR_CONNECT_TIMEOUT' })
  })

  it('that breaks within TLS says how', async () => {
    server.once('connection', (socket: Socket) => socket.once('data', () => socket.resetAndDestroy()))
    await expect(connectTo('https:', finding(['127.0.0.1']), 5_000)).rejects.toMatchObject({ code: 'ECONNRESET' })
  })
})
