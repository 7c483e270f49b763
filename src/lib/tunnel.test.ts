import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { createServer as createTcpServer } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { TEST_CERTIFICATE } from '../testing/certificate.ts'
import { startFakeProxy, type FakeProxy, type FakeProxyOptions } from '../testing/fake-proxy.ts'
import { createEgress, type EgressOptions } from './egress.ts'
import { createHttpClient, type Exchange } from './http-client.ts'
import { readProxies } from './proxy.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const answer = (request: { readonly url?: string | undefined }, response: { end(text: string): unknown }): void =>
  void response.end(`you asked for ${request.url}`)

/** Starts a server, with or without TLS. */
async function serve(secure: boolean): Promise<() => number> {
  const server = (secure ? createSecureServer(TEST_CERTIFICATE, answer) : createServer(answer)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanups.push(() => (server.closeAllConnections(), server.close()))
  const { port } = server.address() as AddressInfo
  return () => port
}

async function proxy(options: FakeProxyOptions): Promise<FakeProxy> {
  const started = await startFakeProxy(options)
  cleanups.push(() => started.close())
  return started
}

function send(url: string, env: { readonly [name: string]: string }, connectTimeoutMs = 5_000): Exchange {
  const client = createHttpClient({ proxies: readProxies(env) })
  cleanups.push(() => client.close())
  return client.send({ url, method: 'GET', headers: {}, connectTimeoutMs })
}

async function text(exchange: Exchange): Promise<string> {
  const chunks: Buffer[] = []
  for (let read = await exchange.read(); read !== undefined; read = await exchange.read()) chunks.push(...read)
  return Buffer.concat(chunks).toString()
}

/** The result of one request through egress. */
async function fetchThrough(url: string, port: number, options: Partial<EgressOptions> = {}, scheme = 'http') {
  const egress = createEgress({
    allowPrivate: false,
    resolver: async () => Promise.reject(new Error('ENOTFOUND')),
    ca: TEST_CERTIFICATE.cert,
    proxies: readProxies({ ALL_PROXY: `${scheme}://127.0.0.1:${port}` }),
    ...options,
  })
  cleanups.push(() => egress.close())
  return egress.request({ method: 'GET', url })
}

describe('a provider behind a proxy', () => {
  it('is asked for by name, with its port, and reached through a tunnel', async () => {
    const { port, asked } = await proxy({ leadsTo: await serve(false) })
    const exchange = send('http://provider.test/v1?a=b', { HTTP_PROXY: `http://us%40er:pass@127.0.0.1:${port}` })
    expect(await exchange.head).toMatchObject({ status: 200 })
    expect(await text(exchange)).toBe('you asked for /v1?a=b')
    expect(asked).toMatchObject([
      {
        authority: 'provider.test:80',
        headers: { host: 'provider.test:80', 'proxy-authorization': `Basic ${Buffer.from('us@er:pass').toString('base64')}` },
      },
    ])
  })

  it('keeps its connections for the next requests', async () => {
    const { port, asked } = await proxy({ leadsTo: await serve(false) })
    const client = createHttpClient({ proxies: readProxies({ HTTP_PROXY: `127.0.0.1:${port}` }) })
    cleanups.push(() => client.close())
    for (let i = 0; i < 8; i++)
      expect(await text(client.send({ url: `http://provider.test/${i}`, method: 'GET', headers: {}, connectTimeoutMs: 5_000 }))).toBe(
        `you asked for /${i}`,
      )
    expect(asked.length).toBeLessThan(3)
  })

  it('is reached straight where the environment says so, and on this machine', async () => {
    const server = await serve(false)
    const { port, asked } = await proxy({ leadsTo: server })
    expect(await text(send(`http://127.0.0.1:${server()}/here`, { HTTP_PROXY: `http://127.0.0.1:${port}` }))).toBe('you asked for /here')
    expect(asked).toEqual([])
  })

  it.each([407, 403, 503])('cannot be reached where the proxy answers %i, and nothing was sent', async (status) => {
    const { port, open } = await proxy({ status })
    const exchange = send('https://provider.test/', { HTTPS_PROXY: `http://127.0.0.1:${port}` })
    await expect(exchange.head).rejects.toMatchObject({
      kind: 'connect',
      sent: false,
      message: `could not connect through the proxy (ERR_PROXY_${status})`,
    })
    await expect.poll(() => open.size).toBe(0)
  })

  it('cannot be reached where there is no proxy, or what is there is none', async () => {
    const closed = createTcpServer((socket) => socket.resume().end('SSH-2.0-nobody\r\n')).listen(0, '127.0.0.1')
    await once(closed, 'listening')
    const { port } = closed.address() as AddressInfo
    const env = { HTTPS_PROXY: `http://127.0.0.1:${port}` }
    await expect(send('https://provider.test/', env).head).rejects.toMatchObject({
      kind: 'connect',
      sent: false,
      message: expect.stringContaining('through the proxy') as string,
    })
    await new Promise((resolve) => closed.close(resolve))
    await expect(send('https://provider.test/', env).head).rejects.toMatchObject({
      kind: 'connect',
      message: 'could not connect through the proxy (ECONNREFUSED)',
    })
  })

  it('has its limit where the proxy says nothing, and leaves nothing behind', async () => {
    const { port, open } = await proxy({ status: 0 })
    const exchange = send('https://provider.test/', { HTTPS_PROXY: `http://127.0.0.1:${port}` }, 200)
    await expect(exchange.head).rejects.toMatchObject({ kind: 'connect-timeout', sent: false })
    await expect.poll(() => open.size).toBe(0)
  })
})

describe('an address of a user, behind a proxy', () => {
  it.each(['http', 'https'])('has TLS of its own within the tunnel of a proxy of %s', async (scheme) => {
    const { port, asked } = await proxy({ leadsTo: await serve(true), ...(scheme === 'https' ? { tls: TEST_CERTIFICATE } : {}) })
    const { body } = await fetchThrough('https://provider.test:8443/hook', port, {}, scheme)
    expect(body.toString()).toBe('you asked for /hook')
    expect(asked).toMatchObject([{ authority: 'provider.test:8443' }])
  })

  it('is trusted no more than without one: the certificate has to match its own name', async () => {
    const { port } = await proxy({ leadsTo: await serve(true) })
    await expect(fetchThrough('https://other.test/', port)).rejects.toMatchObject({ kind: 'connect' })
  })

  it.each([
    ['leads to the private network', 'https://inner.example/', '10.1.2.3', {}],
    ['leads to metadata of a cloud', 'https://meta.example/', '169.254.169.254', { allowPrivate: true }],
    ['leads to the public network without TLS', 'http://plain.example/', '8.8.8.8', {}],
  ])('is refused without a lookup where its name %s', async (_, url, address, more) => {
    const { port, asked } = await proxy({ leadsTo: await serve(true) })
    await expect(fetchThrough(url, port, { resolver: async () => [{ address, family: 4 }], ...more })).rejects.toMatchObject({ kind: 'refused' })
    expect(asked).toEqual([])
  })

  it.each([
    'https://gpu/',
    'https://vault.corp.internal/',
    'https://printer.local/',
    'https://router.home.arpa/',
    'https://10.0.0.1/',
    'https://[fd00::1]/',
  ])('is refused where it is private by its name alone: %s', async (url) => {
    const { port, asked } = await proxy({ leadsTo: await serve(true) })
    await expect(fetchThrough(url, port)).rejects.toMatchObject({ kind: 'refused' })
    expect(asked).toEqual([])
  })

  it('may be private where the operator allows it, and public without TLS', async () => {
    const { port, asked } = await proxy({ leadsTo: await serve(false) })
    await fetchThrough('http://collector.internal:4318/', port, { allowPrivate: true })
    await fetchThrough('http://pages.example/', port, { allowHttp: true })
    await expect(fetchThrough('http://pages.example/', port)).rejects.toMatchObject({ kind: 'refused' })
    expect(asked.map(({ authority }) => authority)).toEqual(['collector.internal:4318', 'pages.example:80'])
  })

  it('does not wait for a silent name server', async () => {
    const { port } = await proxy({ leadsTo: await serve(true) })
    const { status } = await fetchThrough('https://provider.test/', port, { resolver: () => new Promise(() => undefined) })
    expect(status).toBe(200)
  })

  it('reports that the proxy refused', async () => {
    const { port } = await proxy({ status: 403 })
    await expect(fetchThrough('https://provider.test/', port)).rejects.toMatchObject({
      kind: 'connect',
      message: 'provider.test cannot be reached through the proxy (ERR_PROXY_403)',
    })
  })
})
