import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createHttpClient, type Exchange, type HttpClientOptions } from './http-client.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

function caller(options?: HttpClientOptions): (url: string) => Exchange {
  const client = createHttpClient(options)
  cleanups.push(() => client.close())
  return (url) => client.send({ url, method: 'POST', headers: {}, body: '{}', connectTimeoutMs: 1000 })
}

async function text(exchange: Exchange): Promise<string> {
  const chunks: Buffer[] = []
  for (let read = await exchange.read(); read !== undefined; read = await exchange.read()) chunks.push(...read)
  return Buffer.concat(chunks).toString()
}

describe('kept-alive connections', () => {
  /** A server that can forget its connections and then handles whatever arrives over them with `how`. */
  async function forgetful(how: (socket: Socket) => unknown) {
    const forgotten = new WeakSet<Socket>()
    const open = new Set<Socket>()
    let asked = 0
    let forgetsNew = false
    const server = createServer((socket) => {
      open.add(socket)
      socket.on('close', () => open.delete(socket))
      if (forgetsNew) forgotten.add(socket)
      socket.on('error', () => undefined)
      socket.on('data', () => {
        asked++
        if (forgotten.has(socket)) how(socket)
        else setTimeout(() => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'), 20)
      })
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    cleanups.push(() => (open.forEach((socket) => socket.destroy()), server.close()))
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      /** Forgets all open connections, after finished calls have returned theirs. */
      forget: async (andNewOnes = false) => {
        await new Promise((resolve) => setTimeout(resolve, 10))
        open.forEach((socket) => forgotten.add(socket))
        forgetsNew = andNewOnes
      },
      asked: () => asked,
    }
  }

  it.each<[string, (socket: Socket) => unknown]>([
    ['reset', (socket) => socket.resetAndDestroy()],
    ['closed', (socket) => socket.end()],
  ])('that turn out to be dead (%s) fail no request, however many they are', async (_how, how) => {
    const { url, forget } = await forgetful(how)
    const call = caller()
    const rush = (): Promise<string[]> => Promise.all(Array.from({ length: 12 }, () => text(call(url))))
    await rush()
    await forget()
    expect(await rush()).toEqual(Array.from({ length: 12 }, () => 'ok'))
  })

  it('that break a second time, or once the answer has begun, are the server’s fault', async () => {
    const gone = await forgetful((socket) => socket.resetAndDestroy())
    const call = caller()
    expect(await text(call(gone.url))).toBe('ok')
    await gone.forget(true)
    await expect(call(gone.url).head).rejects.toMatchObject({ kind: 'reset', sent: true, twice: true })
    expect(gone.asked()).toBe(3)
    const begun = await forgetful((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nbeg')
      setTimeout(() => socket.resetAndDestroy(), 20)
    })
    expect(await text(call(begun.url))).toBe('ok')
    await begun.forget()
    await expect(text(call(begun.url))).rejects.toMatchObject({ kind: 'reset', twice: false })
    expect(begun.asked()).toBe(2)
  })

  it('that break twice count as broken twice also if the second announced an answer', async () => {
    let broken = 0
    const { url, forget, asked } = await forgetful((socket) => {
      if (++broken === 1) return socket.resetAndDestroy()
      socket.write('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n')
      setTimeout(() => socket.resetAndDestroy(), 20)
    })
    const call = caller()
    expect(await text(call(url))).toBe('ok')
    await forget(true)
    await expect(call(url).head).rejects.toMatchObject({ kind: 'reset', sent: true, twice: true })
    expect(asked()).toBe(3)
  })

  it('that break after the server has had time to work on a request are the server’s fault, too', async () => {
    const { url, forget, asked } = await forgetful((socket) => setTimeout(() => socket.resetAndDestroy(), 100))
    const call = caller({ staleLossMs: 50 })
    expect(await text(call(url))).toBe('ok')
    await forget()
    await expect(call(url).head).rejects.toMatchObject({ kind: 'reset', sent: true })
    expect(asked()).toBe(2)
  })

  it('that turn out to be dead under an aborted request are not replaced', async () => {
    const { url, forget, asked } = await forgetful((socket) => setTimeout(() => socket.resetAndDestroy(), 60))
    const call = caller()
    expect(await text(call(url))).toBe('ok')
    await forget()
    const given = call(url)
    await vi.waitFor(() => expect(asked()).toBe(2), { interval: 1 })
    given.cancel()
    await expect(given.head).rejects.toMatchObject({ kind: 'cancelled' })
    await new Promise((resolve) => setTimeout(resolve, 120))
    expect(asked()).toBe(2)
  })
})
