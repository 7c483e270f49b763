import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { startGatewayProcess, type GatewayProcess } from '../../src/testing/processes.ts'
import { TEST_KEY } from '../../src/testing/start-gateway.ts'
import { verifies } from '../requirements.ts'
import { bearer, exchange, request } from './raw-client.ts'

const ANSWER = 'data: {"id":"x","choices":[{"index":0,"delta":{"content":"served"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'

/** Together more than the heap below, for the texts alone. */
const CALLS = 16

let directory: string
let upstream: Server
let asked: number
let release: PromiseWithResolvers<void>
let gateway: GatewayProcess
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'signalbox-large-'))
  asked = 0
  release = Promise.withResolvers()
  upstream = createServer((incoming, response) => {
    asked++
    incoming.resume().once('end', () => void release.promise.then(() => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(ANSWER)))
  }).listen(0, '127.0.0.1')
  await once(upstream, 'listening')
})
afterEach(async () => {
  await gateway.end('SIGKILL')
  upstream.closeAllConnections()
  upstream.close()
  await rm(directory, { recursive: true, force: true })
})

/** A gateway with a heap of at most this size. */
async function start(heapMb: number): Promise<number> {
  const config = {
    providers: [
      { slug: 'acme', dialect: 'openai-chat', base_url: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`, api_keys: ['sk-x'] },
    ],
    models: [{ slug: 'acme/small', context_length: 100_000_000, endpoints: [{ provider: 'acme' }] }],
  }
  await writeFile(join(directory, 'signalbox.yaml'), JSON.stringify(config))
  gateway = await startGatewayProcess({ directory, nodeArgs: [`--max-old-space-size=${heapMb}`] })
  return Number(new URL(gateway.url).port)
}

it(
  verifies('I9', 'more large bodies at once than the heap has room for: some wait for their model, the others are told to retry later'),
  { timeout: 120_000 },
  async () => {
    const port = await start(112)
    const body = JSON.stringify({ model: 'acme/small', stream: true, input: 'x'.repeat(8 * 1024 * 1024) })
    let refused = 0
    const calls = Array.from({ length: CALLS }, async () => {
      const { statuses } = await exchange(port, request('POST', '/api/v1/responses', [bearer(TEST_KEY)], body), 40_000)
      if (statuses[0] === 503) refused++
      return statuses[0]
    })
    await expect.poll(() => refused + asked, { timeout: 40_000 }).toBe(CALLS)
    release.resolve()
    const statuses = await Promise.all(calls)
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(0)
    expect(new Set(statuses)).toEqual(new Set([200, 503]))
    expect(gateway.child.exitCode).toBeNull()
    const again = await exchange(port, request('POST', '/api/v1/responses', [bearer(TEST_KEY)], body), 40_000)
    expect(again.statuses[0]).toBe(200)
  },
)
