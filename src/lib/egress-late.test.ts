import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { createEgress } from './egress.ts'

/** A server in a thread of its own, which answers while this one stands still. The end of /slow comes much later. */
const SERVER = `
const { parentPort } = require('node:worker_threads')
const server = require('node:http').createServer((request, response) => {
  request.resume().on('end', () => {
    parentPort.postMessage('asked')
    if (request.url === '/slow') {
      setTimeout(() => response.write('ta'), 20)
      setTimeout(() => response.end('ken'), 1_500)
    } else setTimeout(() => response.end('taken'), 20)
  })
})
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))`

/** Right before the timers of this turn: those that are due then come before what arrived. */
async function standStill(ms: number): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

it('an answer that arrived while the process stood still is read, though its time is over', async () => {
  const server = new Worker(SERVER, { eval: true })
  const egress = createEgress({ allowPrivate: true })
  try {
    const [port] = (await once(server, 'message')) as [number]
    const asked: unknown[] = []
    server.on('message', (message) => asked.push(message))
    const url = `http://127.0.0.1:${port}/`
    const answers = Promise.all([
      egress.request({ method: 'POST', url, body: 'x', timeoutMs: 1_000 }),
      egress.open({ method: 'GET', url, headersTimeoutMs: 1_000 }),
      egress.open({ method: 'GET', url: `${url}slow`, headersTimeoutMs: 1_000 }),
    ])
    await expect.poll(() => asked.length, { interval: 5 }).toBe(3)
    await standStill(1_200)
    const [whole, ...streams] = await answers
    expect(String(whole.body)).toBe('taken')
    for (const { status, body } of streams) {
      let text = ''
      for await (const chunk of body) text += String(chunk)
      expect([status, text]).toEqual([200, 'taken'])
    }
  } finally {
    await egress.close()
    await server.terminate()
  }
})
