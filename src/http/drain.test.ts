import { once } from 'node:events'
import { Agent, createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { drainServer, rememberConnections } from './drain.ts'
import { verifies } from '../../e2e/requirements.ts'

let server: Server
let port: number
let agent: Agent
let work: PromiseWithResolvers<void>
const inFlight = new Set<AbortController>()

beforeEach(async () => {
  work = Promise.withResolvers()
  agent = new Agent({ keepAlive: true })
  const answer = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const call = new AbortController()
    inFlight.add(call)
    if (incoming.url === '/slow') {
      response.flushHeaders()
      await Promise.race([work.promise, once(call.signal, 'abort')])
    }
    inFlight.delete(call)
    response.end(call.signal.aborted ? 'aborted' : 'ok')
  }
  server = createServer((incoming, response) => void answer(incoming, response))
  rememberConnections(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  ;({ port } = server.address() as AddressInfo)
})
afterEach(() => {
  agent.destroy()
  server.closeAllConnections()
  server.close()
  inFlight.clear()
})

function get(path: string): Promise<{ readonly text: string; readonly connection: string | undefined }> {
  return new Promise((resolve, reject) => {
    request({ port, host: '127.0.0.1', path, agent }, (response: IncomingMessage) => {
      let text = ''
      response.on('data', (chunk: Buffer) => (text += chunk.toString()))
      response.on('end', () => resolve({ text, connection: response.headers.connection }))
    })
      .on('error', reject)
      .end()
  })
}
const drain = (delayMs: number, graceMs: number, onGraceOver: () => void = () => undefined): Promise<void> =>
  drainServer(server, { inFlight, delayMs, graceMs, onGraceOver })

it('waits a second for connections that never sent anything, not the grace period', async () => {
  const silent = connect(port, '127.0.0.1')
  const late = connect(port, '127.0.0.1')
  await Promise.all([once(silent, 'connect'), once(late, 'connect')])
  await sleep(50)
  const started = performance.now()
  const drained = drain(0, 10_000)
  late.write('GET / HTTP/1.1\r\nhost: gateway\r\n\r\n')
  const [answer] = (await once(late, 'data')) as [Buffer]
  expect(answer.toString()).toContain('200 OK')
  await drained
  expect(performance.now() - started).toBeGreaterThan(900)
  expect(performance.now() - started).toBeLessThan(5_000)
})

it('serves during the delay and tells every client to reconnect', async () => {
  expect((await get('/')).connection).toBe('keep-alive')
  const drained = drain(1_000, 1_000)
  expect(await get('/')).toEqual({ text: 'ok', connection: 'close' })
  await sleep(20)
  expect(await get('/')).toEqual({ text: 'ok', connection: 'close' })
  await drained
  await expect(get('/')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
})

it('ends as soon as no call is in flight, not after the grace period', async () => {
  await get('/')
  const started = performance.now()
  const slow = get('/slow')
  await expect.poll(() => inFlight.size).toBe(1)
  const drained = drain(0, 60_000)
  await sleep(50)
  work.resolve()
  expect((await slow).text).toBe('ok')
  await drained
  expect(performance.now() - started).toBeLessThan(10_000)
})

it(verifies('I5', 'aborts calls that outlive the grace period'), async () => {
  let over = 0
  const slow = get('/slow')
  await expect.poll(() => inFlight.size).toBe(1)
  await drain(0, 60, () => over++)
  expect((await slow).text).toBe('aborted')
  expect(over).toBe(1)
})
