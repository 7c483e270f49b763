import { expect, it } from 'vitest'
import { ConfigError } from '../core/config-error.ts'
import { describeProxies, proxiesOf } from './proxies.ts'

it('describes the proxies and what bypasses them, without passwords', () => {
  const env = { HTTPS_PROXY: 'http://user:hidden@proxy.test:3128', http_proxy: 'https://other.test', NO_PROXY: '.svc,10.0.0.0/8' }
  expect(describeProxies(proxiesOf(env)!)).toBe('https through http://proxy.test:3128, http through https://other.test:443, but for .svc 10.0.0.0/8')
  expect(describeProxies(proxiesOf({ HTTPS_PROXY: 'proxy.test:3128' })!)).toBe('https through http://proxy.test:3128')
  expect(proxiesOf({})).toBeUndefined()
})

it('reports an invalid proxy variable as a problem of the configuration', () => {
  expect(() => proxiesOf({ HTTPS_PROXY: 'socks5://user:hidden@proxy.test:1080' })).toThrow(ConfigError)
  expect(() => proxiesOf({ HTTPS_PROXY: 'socks5://user:hidden@proxy.test:1080' })).toThrow(/HTTPS_PROXY: not the address of a proxy/)
})
