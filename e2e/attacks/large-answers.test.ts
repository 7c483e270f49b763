import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { startGatewayProcess, type GatewayProcess } from '../../src/testing/processes.ts'
import { TEST_KEY } from '../../src/testing/start-gateway.ts'
import { verifies } from '../requirements.ts'
import { bearer } from './raw-client.ts'

const MB = 1024 * 1024
const USAGE = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
const PICTURE = `data:image/png;base64,${'A'.repeat(6 * MB)}`
const WORDS = 'word '.repeat(400)

/** Together several times the heap below. */
const CALLS = 16
const HEAP_MB = 128

let directory: string
let upstream: Server
let gateway: GatewayProcess
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'signalbox-answers-'))
  upstream = createServer((incoming, response) => void answer(incoming, response)).listen(0, '127.0.0.1')
  await once(upstream, 'listening')
})
afterEach(async () => {
  await gateway.end('SIGKILL')
  upstream.closeAllConnections()
  upstream.close()
  await rm(directory, { recursive: true, force: true })
})

/** A picture in one piece, or five megabytes of text, depending on the model. */
async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const { model } = JSON.parse(await text(incoming)) as { model: string }
  if (model === 'painter') {
    const message = { role: 'assistant', content: 'here', images: [{ type: 'image_url', image_url: { url: PICTURE } }] }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ id: 'x', choices: [{ index: 0, message, finish_reason: 'stop' }], usage: USAGE }))
    return
  }
  const chunk = (delta: object, reason: string | null): string =>
    `data: ${JSON.stringify({ id: 'x', choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const piece = chunk({ content: WORDS }, null).repeat(32)
  for (let sent = 0; sent < 5 * MB && !response.destroyed; sent += WORDS.length * 32) if (!response.write(piece)) await once(response, 'drain')
  response.end(`${chunk({}, 'stop')}data: ${JSON.stringify({ id: 'x', choices: [], usage: USAGE })}\n\ndata: [DONE]\n\n`)
}

async function start(): Promise<number> {
  const config = {
    providers: [
      { slug: 'acme', dialect: 'openai-chat', base_url: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`, api_keys: ['sk-x'] },
    ],
    models: ['painter', 'writer'].map((slug) => ({ slug: `acme/${slug}`, context_length: 100_000, endpoints: [{ provider: 'acme' }] })),
  }
  await writeFile(join(directory, 'signalbox.yaml'), JSON.stringify(config))
  gateway = await startGatewayProcess({ directory, nodeArgs: [`--max-old-space-size=${HEAP_MB}`] })
  return Number(new URL(gateway.url).port)
}

interface Got {
  readonly status: number | undefined
  readonly body: string
}

/** `restsMs`: the pause between the first read and the rest. */
async function ask(port: number, model: 'painter' | 'writer', stream: boolean, restsMs = 0): Promise<Got> {
  const [name, value] = bearer(TEST_KEY).split(': ') as [string, string]
  const headers = { [name]: value, 'content-type': 'application/json' }
  const call = request({ port, host: '127.0.0.1', method: 'POST', path: '/api/v1/responses', headers, agent: false })
  call.end(JSON.stringify({ model: `acme/${model}`, input: 'go on', stream }))
  const [incoming] = (await once(call, 'response')) as [IncomingMessage]
  if (restsMs > 0) await pause(restsMs)
  return { status: incoming.statusCode, body: await text(incoming) }
}

const isWhole = ({ status, body }: Got): boolean => status === 200 && (body.startsWith('{') || body.includes('event: response.completed'))
const isToldOver = ({ status, body }: Got): boolean => (status === 503 || body.includes('event: response.failed')) && body.includes('no memory left')

it(
  verifies('I9', 'large answers beyond the free memory come one after the other, each complete or with an error that says why'),
  { timeout: 180_000 },
  async () => {
    const port = await start()
    const got = await Promise.all(
      Array.from({ length: CALLS }, (_, n) => ask(port, n % 2 === 0 ? 'painter' : 'writer', n % 3 === 0, n % 5 === 0 ? 1_000 : 0)),
    )
    expect(gateway.child.exitCode).toBeNull()
    expect(got.filter((one) => !isWhole(one) && !isToldOver(one)).map(({ status, body }) => [status, body.slice(-200)])).toEqual([])
    expect(got.filter(isWhole).length).toBeGreaterThan(CALLS / 2)
    for (const { body } of got.filter((one) => isWhole(one) && one.body.startsWith('{')))
      expect(JSON.parse(body)).toMatchObject({ status: 'completed' })
    expect(isWhole(await ask(port, 'painter', false))).toBe(true)
  },
)
