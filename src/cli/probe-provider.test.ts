import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { createHttpClient } from '../lib/http-client.ts'
import { probeProvider } from './probe-provider.ts'

async function probing(answer: string | undefined, limitMs: number) {
  const server = createServer((socket) => void socket.on('error', () => undefined).once('data', () => answer !== undefined && socket.end(answer)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const http = createHttpClient()
  onTestFinished(async () => {
    await http.close()
    server.close()
  })
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  const timeouts = { connect: 5_000, idle: 5_000, total: 5_000 }
  return { baseUrl, finding: await probeProvider(http, { baseUrl, credentials: [], timeouts, transport: undefined } as never, limitMs) }
}

it('says of a provider that takes a connection and stays silent for how long it did', async () => {
  const { baseUrl, finding } = await probing(undefined, 50)
  expect(finding).toEqual({ fault: true, text: `${baseUrl} not reachable: no answer within 0.05 s` })
})

it('says what one answers', async () => {
  const { baseUrl, finding } = await probing('HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n', 5_000)
  expect(finding).toEqual({ fault: false, text: `${baseUrl} reachable (HTTP 401 without credentials), 0 credential(s)` })
})

it('says what breaks', async () => {
  const { baseUrl, finding } = await probing('SSH-2.0-OpenSSH_9\r\n', 5_000)
  expect(finding).toEqual({ fault: true, text: `${baseUrl} not reachable: the answer breaks HTTP` })
})
