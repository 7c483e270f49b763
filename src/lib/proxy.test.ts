import { describe, expect, it } from 'vitest'
import { nameOfProxy, ProxyVariableError, readProxies } from './proxy.ts'

type Environment = Parameters<typeof readProxies>[0]

/** The proxy for an address, or `straight`. */
function way(env: Environment, address: string): string {
  const { protocol, hostname, port } = new URL(address)
  const proxy = readProxies(env)?.of({ protocol, hostname, port })
  return proxy === undefined ? 'straight' : nameOfProxy(proxy)
}

describe('the proxies of an environment', () => {
  it('are none by default', () => {
    expect(readProxies({})).toBeUndefined()
    expect(readProxies({ HTTPS_PROXY: ' ', http_proxy: '', NO_PROXY: '*' })).toBeUndefined()
  })

  it('are one for each protocol, or one for both', () => {
    const env = { HTTPS_PROXY: 'http://one.test:3128', HTTP_PROXY: 'http://two.test:3128' }
    expect(way(env, 'https://api.example/v1')).toBe('http://one.test:3128')
    expect(way(env, 'http://api.example/v1')).toBe('http://two.test:3128')
    expect(way({ HTTPS_PROXY: 'http://one.test:3128' }, 'http://api.example/v1')).toBe('straight')
    expect(way({ ...env, ALL_PROXY: 'http://all.test:1' }, 'https://api.example')).toBe('http://one.test:3128')
    expect(way({ ALL_PROXY: 'http://all.test:1' }, 'http://api.example')).toBe('http://all.test:1')
  })

  it('may be written in small letters, which come first', () => {
    expect(way({ https_proxy: 'http://small.test:1', HTTPS_PROXY: 'http://large.test:1' }, 'https://api.example')).toBe('http://small.test:1')
    expect(way({ https_proxy: 'http://p.test:1', no_proxy: 'api.example', NO_PROXY: 'other.example' }, 'https://api.example')).toBe('straight')
  })

  it.each([
    ['proxy.test:3128', 'http://proxy.test:3128'],
    ['http://proxy.test', 'http://proxy.test:80'],
    ['https://proxy.test', 'https://proxy.test:443'],
    ['http://[fd00::1]:3128/', 'http://[fd00::1]:3128'],
    ['http://user:secret@proxy.test:3128', 'http://proxy.test:3128'],
  ])('%s is shown as %s', (value, shown) => expect(way({ HTTPS_PROXY: value }, 'https://api.example')).toBe(shown))

  it('carry the name and the password of their address', () => {
    const proxies = readProxies({ HTTPS_PROXY: 'http://us%40er:p%3Ass@proxy.test:3128' })
    const proxy = proxies?.of({ protocol: 'https:', hostname: 'api.example', port: '' })
    expect(proxy?.authorization).toBe(`Basic ${Buffer.from('us@er:p:ss').toString('base64')}`)
  })

  it.each(['socks5://user:hidden@proxy.test:1080', 'http://user:hidden@', 'http://user:hidden%zz@proxy.test:1'])(
    'that are unusable are refused by the name of their variable: %s',
    (value) => {
      let error: unknown
      try {
        readProxies({ ALL_PROXY: value })
      } catch (thrown) {
        error = thrown
      }
      expect(error).toBeInstanceOf(ProxyVariableError)
      expect(error).toMatchObject({ variable: 'ALL_PROXY', message: expect.not.stringContaining('hidden') as string })
    },
  )
})

describe('targets that bypass the proxy', () => {
  it.each(['https://localhost:8080', 'http://a.localhost', 'https://127.0.0.1:1', 'https://127.9.9.9', 'https://[::1]:4318', 'https://LOCALHOST.'])(
    'include this machine, whatever the variables say: %s',
    (address) => expect(way({ ALL_PROXY: 'http://proxy.test:1' }, address)).toBe('straight'),
  )

  it.each([
    ['*', 'https://anything.example', 'straight'],
    ['example.com', 'https://example.com', 'straight'],
    ['example.com', 'https://api.example.com', 'straight'],
    ['.example.com', 'https://api.example.com', 'straight'],
    ['.example.com', 'https://example.com', 'straight'],
    ['*.example.com', 'https://api.example.com', 'straight'],
    ['Example.COM.', 'https://API.example.com.', 'straight'],
    ['example.com', 'https://notexample.com', 'http://proxy.test:1'],
    ['example.com', 'https://example.com.evil.test', 'http://proxy.test:1'],
    ['example.com:8443', 'https://example.com:8443', 'straight'],
    ['example.com:8443', 'https://example.com', 'http://proxy.test:1'],
    ['example.com:443', 'https://example.com', 'straight'],
    ['10.1.2.3', 'https://10.1.2.3', 'straight'],
    ['2.3', 'https://10.1.2.3', 'http://proxy.test:1'],
    ['10.0.0.0/8', 'https://10.200.3.4:9000', 'straight'],
    ['10.0.0.0/8', 'https://11.0.0.1', 'http://proxy.test:1'],
    ['10.0.0.0/8', 'https://gpu.internal', 'http://proxy.test:1'],
    ['fd00::/8', 'https://[fd12::1]', 'straight'],
    ['[fd12::1]:8443', 'https://[fd12::1]:8443', 'straight'],
    ['fd12::1', 'https://[fd12::1]', 'straight'],
    ['10.0.0.0/99, nonsense/8', 'https://10.0.0.1', 'http://proxy.test:1'],
    ['a.test,b.test  c.test', 'https://c.test', 'straight'],
    ['', 'https://example.com', 'http://proxy.test:1'],
  ])('NO_PROXY=%s: %s goes %s', (list, address, expected) =>
    expect(way({ ALL_PROXY: 'http://proxy.test:1', NO_PROXY: list }, address)).toBe(expected),
  )
})
