import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { send } from './send.ts'

let errors: string
let out: string
let isTTY: boolean
let server: Server | undefined
beforeEach(() => {
  errors = ''
  out = ''
  isTTY = false
  for (const name of ['SIGNALBOX_URL', 'SIGNALBOX_PORT']) vi.stubEnv(name, '')
})
afterEach(() => {
  vi.unstubAllEnvs()
  server?.close()
  server = undefined
})

const ask = (url?: string, options: { readonly key?: string; readonly stream?: boolean } = {}) =>
  send(
    'hi',
    { ...(url === undefined ? {} : { url }), key: 'k', model: 'demo/echo', stream: false, ...options },
    { isTTY, write: (text) => (out += text) },
    { isTTY, write: (text) => (errors += text) },
  )

async function gateway(answer: (response: ServerResponse) => void = (response) => response.end('{"output_text":"hi"}')): Promise<number> {
  server = createServer((_request, response) => answer(response)).listen(0, '127.0.0.1')
  await new Promise((resolve) => server?.once('listening', resolve))
  return (server.address() as AddressInfo).port
}

describe('signalbox send', () => {
  const SAID = 'one\n\ttwo\u001b]52;c;aGk=\u0007\u009b2J\rthree'
  const SHOWN = 'one\n\ttwo\\u001b]52;c;aGk=\\u0007\\u009b2J\\u000dthree'
  it.each([true, false])('sends no control codes to a terminal, whatever the model writes (streamed: %s)', async (stream) => {
    const events = [
      { type: 'response.output_text.delta', delta: SAID },
      { type: 'response.failed', response: { error: { message: SAID } } },
    ].map((event) => `data: ${JSON.stringify(event)}\n\n`)
    const port = await gateway((response) => response.end(stream ? events.join('') : JSON.stringify({ output_text: SAID })))
    isTTY = true
    await ask(`http://127.0.0.1:${port}`, { stream })
    expect(out).toBe(stream ? SHOWN : `${SHOWN}\n`)
    expect(errors).toBe(stream ? `\n${SHOWN}\n` : '')
  })

  it('shows a refusal as a text', async () => {
    const port = await gateway((response) => response.writeHead(400).end(JSON.stringify({ error: { message: SAID } })))
    isTTY = true
    await ask(`http://127.0.0.1:${port}`)
    expect(errors).toBe(`400: ${SHOWN}\n`)
  })

  it('writes the answer unchanged if the output is not a terminal', async () => {
    const port = await gateway((response) => response.end(JSON.stringify({ output_text: SAID })))
    await ask(`http://127.0.0.1:${port}`)
    expect(out).toBe(`${SAID}\n`)
  })

  it.each(['notaurl', '127.0.0.1:39611', 'localhost:8787', 'ftp://127.0.0.1'])('says that %s is no URL of a gateway', async (url) => {
    expect(await ask(url)).toBe(1)
    expect(errors).toMatch(/^\S+ is not the URL of a gateway; expected one such as http:\/\/127\.0\.0\.1:8787/)
  })

  it('says that nothing answers at a URL where nothing does', async () => {
    expect(await ask('http://127.0.0.1:1')).toBe(1)
    expect(errors).toContain('Nothing answers at http://127.0.0.1:1.')
  })

  it('says that a gateway speaks HTTP where it was asked by https', async () => {
    const port = await gateway()
    expect(await ask(`https://127.0.0.1:${port}`)).toBe(1)
    expect(errors).toBe(
      `https://127.0.0.1:${port} does not speak TLS. A gateway without a proxy in front is asked by http: http://127.0.0.1:${port}\n`,
    )
  })

  it('names the reason where a connection fails for another reason than that nothing listens', async () => {
    server = createServer((_request, response) => response.destroy()).listen(0, '127.0.0.1')
    await new Promise((resolve) => server?.once('listening', resolve))
    const { port } = server.address() as AddressInfo
    expect(await ask(`http://127.0.0.1:${port}`)).toBe(1)
    expect(errors).toMatch(/^http:\/\/127\.0\.0\.1:\d+ cannot be asked \(\w+\)\.\n$/)
  })

  it('finds the gateway of this machine at SIGNALBOX_PORT, unless SIGNALBOX_URL or --url say where', async () => {
    const port = await gateway()
    vi.stubEnv('SIGNALBOX_PORT', String(port))
    expect(await ask()).toBe(0)
    vi.stubEnv('SIGNALBOX_URL', 'http://127.0.0.1:1')
    expect(await ask()).toBe(1)
    expect(await ask(`http://127.0.0.1:${port}`)).toBe(0)
  })

  it.each(['', '/', '/api/v1', '/api/v1/', '/api/v1/responses', '/llm', '/llm/api/v1/responses', '/llm/', '/llm/api/v1?x=1#top'])(
    'appends the API path to the path of its URL: %j',
    async (path) => {
      const port = await gateway()
      let asked: string | undefined
      server?.prependListener('request', ({ url }) => (asked = url))
      expect(await ask(`http://127.0.0.1:${port}${path}`)).toBe(0)
      expect(asked).toBe(path.startsWith('/llm') ? '/llm/api/v1/responses' : '/api/v1/responses')
    },
  )

  it.each([false, true])('says in a sentence that the connection ended (stream: %s)', async (stream) => {
    const port = await gateway((response) => {
      response.write('data: {"type":"response.output_text.delta","delta":"half"}\n\n', () => response.destroy())
    })
    expect(await ask(`http://127.0.0.1:${port}`, { stream })).toBe(1)
    expect(errors.trim()).toBe(`The connection to http://127.0.0.1:${port} ended before the answer did.`)
  })

  it('shows for an answer in one piece what it shows for a stream: a refusal, and that it was cut off', async () => {
    const refused = { output_text: '', output: [{ type: 'reasoning' }, { type: 'message', content: [{ type: 'refusal', refusal: 'No.' }] }] }
    const port = await gateway((response) => response.end(JSON.stringify({ ...refused, status: 'incomplete' })))
    expect(await ask(`http://127.0.0.1:${port}`)).toBe(0)
    expect(out).toBe('No.\n(the answer was cut)\n')
  })

  it('does not take a foreign answer for that of a gateway', async () => {
    const port = await gateway((response) => response.end('{"ok":true}'))
    expect(await ask(`http://127.0.0.1:${port}`)).toBe(1)
    expect(errors.trim()).toBe(`What answers at http://127.0.0.1:${port} is no gateway.`)
  })

  it('says that another server answers where no gateway listens', async () => {
    const port = await gateway((response) => response.end('<h1>hello</h1>'))
    expect(await ask(`http://127.0.0.1:${port}`)).toBe(1)
    expect(errors.trim()).toBe(`What answers at http://127.0.0.1:${port} is no gateway.`)
    errors = ''
    expect(await ask(`http://127.0.0.1:${port}`, { stream: true })).toBe(1)
    expect(errors.trim()).toBe('The answer has no end: the stream stopped before it, or no gateway listens there.')
  })

  it.each(['sk-sb-v1-\u2026', 'two words'])('reports the impossible key %j as such, and not the gateway as unreachable', async (key) => {
    expect(await ask('http://127.0.0.1:1', { key })).toBe(1)
    expect(errors).toMatch(/^The key has characters that no key has/)
  })
})
