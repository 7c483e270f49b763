import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

describe('the files of the console', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway()
  })
  afterAll(() => gateway.close())

  const get = (path: string, headers: { readonly [name: string]: string } = {}) => fetch(`${gateway.url}${path}`, { headers, redirect: 'manual' })

  it('redirect browsers from the root to the console, and other clients not', async () => {
    const browser = await get('/', { accept: 'text/html,application/xhtml+xml' })
    expect([browser.status, browser.headers.get('location')]).toEqual([302, '/console/'])
    expect((await get('/', { accept: 'application/json' })).status).toBe(404)
    expect((await get('/console')).headers.get('location')).toBe('/console/')
  })

  it('are one page for every address of it, which may run and reach nothing but its own gateway', async () => {
    const entry = await get('/console/')
    const deep = await get('/console/generations')
    expect([entry.status, deep.status]).toEqual([200, 200])
    expect(await deep.text()).toBe(await entry.text())
    const policy = entry.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("script-src 'self';")
    expect(policy).toContain("connect-src 'self';")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(entry.headers.get('cache-control')).toBe('no-cache')
  })

  it('are compressed for whoever reads that, and kept for a year under names that change with them', async () => {
    const [script] = /\/console\/assets\/[^"]+\.js/.exec(await (await get('/console/')).text()) ?? []
    const sizes: { [encoding: string]: number } = {}
    for (const encoding of ['br', 'gzip', 'identity', 'br;q=0']) {
      const answer = await rawGet(`${gateway.url}${script}`, encoding)
      expect(answer.headers['content-type']).toContain('text/javascript')
      expect(answer.headers['cache-control']).toContain('immutable')
      expect(answer.headers['content-encoding']).toBe(encoding === 'br' || encoding === 'gzip' ? encoding : undefined)
      sizes[encoding] = answer.bytes
    }
    expect(sizes['br']).toBeLessThan(sizes['gzip']!)
    expect(sizes['gzip']! * 2).toBeLessThan(sizes['identity']!)
    expect(sizes['br;q=0']).toBe(sizes['identity'])
  })

  it('are a production build, whoever built them: without React’s development code', async () => {
    const entry = await (await get('/console/')).text()
    const scripts = [...entry.matchAll(/\/console\/assets\/[^"]+\.js/g)].map(([path]) => path)
    const texts = await Promise.all(scripts.map(async (path) => (await get(path)).text()))
    expect(texts.join('').length).toBeGreaterThan(100_000)
    // Reports only the match, because the scripts are long.
    expect(/jsxDEV|react-dom-client\.development|React DevTools/.exec(texts.join(''))?.[0]).toBeUndefined()
  })

  it('are not sent again to browsers that have them cached', async () => {
    const tag = (await get('/console/')).headers.get('etag') ?? ''
    const again = await get('/console/', { 'if-none-match': tag })
    expect([again.status, await again.text()]).toEqual([304, ''])
  })

  it('are only those that were built: no other path is read from the disk', async () => {
    for (const path of [
      '/console/nothing.js',
      '/console/files.json',
      '/console/..%2fpackage.json',
      '/console/%2e%2e/%2e%2e/package.json',
      '/console/index.html.br',
    ])
      expect([path, (await get(path)).status]).toEqual([path, 404])
  })

  it('are not served where the operator has switched the console off', async () => {
    const without = await startGateway({ server: { console: false } })
    try {
      expect((await fetch(`${without.url}/console/`)).status).toBe(404)
      expect((await fetch(`${without.url}/`, { headers: { accept: 'text/html' } })).status).toBe(404)
    } finally {
      await without.close()
    }
  })

  it('are no part of the documented API', async () => {
    const { paths } = (await (await get('/openapi.json')).json()) as { readonly paths: object }
    expect(Object.keys(paths).filter((path) => !path.startsWith('/api/'))).toEqual(['/healthz', '/readyz', '/metrics', '/openapi.json'])
  })
})

/** The bytes on the wire, without decompression. */
function rawGet(url: string, encoding: string): Promise<{ readonly headers: { readonly [name: string]: unknown }; readonly bytes: number }> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers: { 'accept-encoding': encoding } }, (response) => {
      let bytes = 0
      response.on('data', (chunk: Buffer) => (bytes += chunk.length))
      response.on('end', () => resolve({ headers: response.headers, bytes }))
    })
    sent.on('error', reject)
    sent.end()
  })
}
