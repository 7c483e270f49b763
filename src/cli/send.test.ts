import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { send } from './send.ts'

let errors: string
let server: Server | undefined
beforeEach(() => {
  errors = ''
  for (const name of ['SIGNALBOX_URL', 'SIGNALBOX_PORT']) vi.stubEnv(name, '')
})
afterEach(() => {
  vi.unstubAllEnvs()
  server?.close()
  server = undefined
})

const ask = (url?: string) =>
  send(
    'hi',
    { ...(url === undefined ? {} : { url }), key: 'k', model: 'demo/echo', stream: false },
    { write: () => true },
    { write: (text) => (errors += text) },
  )

async function gateway(): Promise<number> {
  server = createServer((_request, response) => response.end('{"output_text":"hi"}')).listen(0, '127.0.0.1')
  await new Promise((resolve) => server?.once('listening', resolve))
  return (server.address() as AddressInfo).port
}

describe('signalbox send', () => {
  it.each(['notaurl', '127.0.0.1:39611', 'localhost:8787', 'ftp://127.0.0.1'])('says that %s is no URL of a gateway', async (url) => {
    expect(await ask(url)).toBe(1)
    expect(errors).toMatch(/^\S+ is not the URL of a gateway; expected one such as http:\/\/127\.0\.0\.1:8787/)
  })

  it('says that nothing answers at a URL where nothing does', async () => {
    expect(await ask('http://127.0.0.1:1')).toBe(1)
    expect(errors).toContain('Nothing answers at http://127.0.0.1:1.')
  })

  it('finds the gateway of this machine at SIGNALBOX_PORT, unless SIGNALBOX_URL or --url say where', async () => {
    const port = await gateway()
    vi.stubEnv('SIGNALBOX_PORT', String(port))
    expect(await ask()).toBe(0)
    vi.stubEnv('SIGNALBOX_URL', 'http://127.0.0.1:1')
    expect(await ask()).toBe(1)
    expect(await ask(`http://127.0.0.1:${port}`)).toBe(0)
  })
})
