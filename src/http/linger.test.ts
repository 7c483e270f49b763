import { once } from 'node:events'
import type { Server } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { verifies } from '../../e2e/requirements.ts'
import { readBody } from './body.ts'
import { lingerAfter } from './linger.ts'
import { createGatewayServer, type RouteHandler } from './server.ts'

let server: Server | undefined
let socket: Socket | undefined
afterEach(async () => {
  socket?.destroy()
  server?.closeAllConnections()
  server?.close()
  if (server !== undefined) await once(server, 'close')
  server = undefined
})

async function dial(handler: RouteHandler): Promise<Socket> {
  server = createGatewayServer({ routes: new Map(), fallback: handler })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  socket = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true })
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  return socket
}

const connections = (): Promise<number> => new Promise((resolve) => server!.getConnections((_error, count) => resolve(count)))

/** Everything is sent before anything is read. */
async function sendAll(to: Socket, head: string, pieces: readonly string[]): Promise<string> {
  to.pause()
  for (const piece of [head, ...pieces]) if (!to.write(piece)) await Promise.race([once(to, 'drain'), once(to, 'close')])
  let text = ''
  to.on('data', (chunk: Buffer) => (text += chunk.toString()))
  to.on('end', () => to.end())
  to.resume()
  if (!to.closed) await once(to, 'close')
  return text
}

describe('a caller who sends too much before he reads', () => {
  const limited: RouteHandler = (request, response) =>
    void readBody(request, { limitBytes: 1_000 }).then(
      () => response.end('fine'),
      (error: { status: number; message: string }) => response.writeHead(error.status, { connection: 'close' }).end(error.message),
    )
  const MEGABYTES = 24
  const megabyte = 'x'.repeat(1024 * 1024)
  const chunk = `100000\r\n${megabyte}\r\n`

  it.each([
    ['with its length', `content-length: ${MEGABYTES * megabyte.length}`, Array<string>(MEGABYTES).fill(megabyte)],
    ['in chunks', 'transfer-encoding: chunked', [...Array<string>(MEGABYTES).fill(chunk), '0\r\n\r\n']],
  ])(verifies('A3', 'can read the error, %s'), async (_name, header, pieces) => {
    const text = await sendAll(await dial(limited), `POST / HTTP/1.1\r\nhost: x\r\n${header}\r\n\r\n`, pieces)
    expect(text).toMatch(/^HTTP\/1\.1 413 [\s\S]*larger than the limit of 1000 bytes/)
  })
})

describe('a refused caller', () => {
  const refusing: RouteHandler = (request, response) => {
    lingerAfter(request, 100)
    response.writeHead(413, { connection: 'close' }).end()
  }
  const HEAD = 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000000\r\n\r\n'

  const left = (): Promise<void> => expect.poll(connections, { interval: 10, timeout: 5_000 }).toBe(0)

  it.each(['falls silent', 'goes on and on'])('who %s is disconnected', async (what) => {
    const caller = await dial(refusing)
    caller.resume().write(HEAD)
    await once(caller, 'end')
    const drip = what === 'falls silent' ? undefined : setInterval(() => caller.write('x'), 5)
    const at = performance.now()
    await left()
    clearInterval(drip)
    if (drip !== undefined) expect(performance.now() - at).toBeGreaterThan(500)
  })

  it('whose body has arrived is not waited for', async () => {
    const caller = await dial(refusing)
    caller.resume().write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}')
    await left()
  })
})
