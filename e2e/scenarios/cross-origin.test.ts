import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { hasBrowser, withBrowser } from '../../src/testing/browser.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

/** Pages of other sites, whose requests browsers only allow if the gateway permits them. */
const CHAT = 'https://chat.example.com'

let gateway: TestGateway
afterEach(() => gateway.close())

const open = async (...allowed_origins: string[]): Promise<void> => {
  gateway = await startGateway({ server: { allowed_origins } })
}
const preflight = (origin: string, path = '/api/v1/responses', more: { readonly [name: string]: string } = {}) =>
  fetch(`${gateway.url}${path}`, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization,content-type,x-title', ...more },
  })
const corsOf = ({ headers }: Response) => Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-') || name === 'vary'))

describe('an origin that is allowed', () => {
  it('may ask, with whatever method and headers it needs', async () => {
    await open(CHAT, 'http://localhost:3000')
    for (const path of ['/api/v1/responses', '/api/v1/chat/completions', '/api/v1/messages', '/api/v1/models', '/api/v1/keys?limit=1']) {
      const answer = await preflight(CHAT, path)
      expect(answer.status).toBe(204)
      expect(corsOf(answer)).toEqual({
        'access-control-allow-origin': CHAT,
        'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
        'access-control-allow-headers': 'authorization,content-type,x-title',
        'access-control-expose-headers': '*',
        'access-control-max-age': '7200',
        vary: 'Origin',
      })
    }
  })

  it('reads answers, streams and errors alike', async () => {
    await open(CHAT)
    const headers = { origin: CHAT }
    const answers = await Promise.all([
      gateway.respond({ model: 'demo/echo', input: 'hi' }, { headers }),
      gateway.respond({ model: 'demo/echo', input: 'hi', stream: true }, { headers }),
      gateway.respond({ model: 'demo/none', input: 'hi' }, { headers }),
      gateway.respond({ model: 'demo/echo', input: 'hi' }, { headers, key: 'wrong' }),
      gateway.respond('{', { headers }),
      fetch(`${gateway.url}/api/v1/models`, { headers: { ...headers, authorization: `Bearer ${gateway.key}` } }),
      fetch(`${gateway.url}/api/v1/nothing`, { headers }),
    ])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 404, 401, 400, 200, 404])
    for (const answer of answers) {
      expect(corsOf(answer)).toMatchObject({ 'access-control-allow-origin': CHAT, 'access-control-expose-headers': '*', vary: 'Origin' })
      await answer.text()
    }
  })

  it('may be on the public internet when the gateway is on a private network', async () => {
    await open(CHAT)
    const answer = await preflight(CHAT, '/api/v1/responses', { 'access-control-request-private-network': 'true' })
    expect(corsOf(answer)).toMatchObject({ 'access-control-allow-private-network': 'true' })
  })

  it('may be any, where the operator says so', async () => {
    await open('*')
    for (const origin of [CHAT, 'null', 'app://obsidian.md']) expect(corsOf(await preflight(origin))['access-control-allow-origin']).toBe('*')
  })

  it('is written as browsers write it', async () => {
    await open('HTTPS://Chat.Example.com:443/', 'tauri://localhost')
    expect(corsOf(await preflight(CHAT))['access-control-allow-origin']).toBe(CHAT)
    expect(corsOf(await preflight('tauri://localhost'))['access-control-allow-origin']).toBe('tauri://localhost')
  })
})

describe('an origin that is not allowed', () => {
  it.each(['https://evil.test', 'https://chat.example.com.evil.test', 'http://chat.example.com', 'https://chat.example.com:8443', 'null'])(
    'gets no CORS header: %s',
    async (origin) => {
      await open(CHAT)
      expect(corsOf(await preflight(origin))).toEqual({ vary: 'Origin' })
      expect(corsOf(await gateway.respond({ model: 'demo/echo', input: 'hi' }, { headers: { origin } }))).toEqual({ vary: 'Origin' })
    },
  )

  it('is any origin outside of the API', async () => {
    await open('*')
    for (const path of ['/metrics', '/healthz', '/openapi.json', '/console/', '/apiary']) {
      expect(corsOf(await preflight(CHAT, path))).toEqual({})
    }
  })

  it('does not get unknown request headers echoed', async () => {
    await open(CHAT)
    const answer = await preflight(CHAT, '/api/v1/responses', { 'access-control-request-headers': 'a; b <c>' })
    expect(answer.status).toBe(204)
    expect(corsOf(answer)).not.toHaveProperty('access-control-allow-headers')
  })
})

describe.skipIf(!hasBrowser)('a page of another site, in a real browser', () => {
  const browser = withBrowser()

  it.each([true, false])('streams an answer, where it is allowed (%s)', async (allowed) => {
    const site = createServer((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<title>chat</title>')).listen(
      0,
      '127.0.0.1',
    )
    await once(site, 'listening')
    const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
    await open(...(allowed ? [origin] : []))
    const { page } = await browser.open(origin)
    const seen = await page.evaluate(
      async ([url, key]) => {
        const ask = fetch(`${url}/api/v1/responses`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, 'x-title': 'Chat' },
          body: JSON.stringify({ model: 'demo/echo', input: 'hello', stream: true }),
        })
        return ask.then(
          async (answer) => ({ text: await answer.text(), id: answer.headers.get('x-request-id') }),
          (error: unknown) => ({ text: String(error), id: null }),
        )
      },
      [gateway.url, gateway.key] as const,
    )
    site.close()
    if (!allowed) return expect(seen.text).toContain('Failed to fetch')
    expect(seen.text).toContain('response.completed')
    expect(seen.id).not.toBeNull()
  })
})
