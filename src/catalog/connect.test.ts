import { expect, test } from 'vitest'
import { z } from 'zod'
import type { Dialect } from '../core/dialect.ts'
import type { Provider, SignableRequest } from '../core/provider.ts'
import type { ProviderConfig } from '../core/config.ts'
import { Secret } from '../lib/secret.ts'
import { connectProvider } from './connect.ts'

const unused = (): never => {
  throw new Error('not used here')
}
const dialect = (name: string): Dialect => ({
  name,
  framing: 'sse',
  options: z.strictObject({}),
  supports: [],
  encodeRequest: unused,
  decoder: unused,
  decodeError: unused,
})
const dialects = new Map(['main', 'other'].map((name) => [name, dialect(name)]))

const acme: Provider = {
  slug: 'acme',
  name: 'Acme',
  env: { apiKey: ['ACME_KEY'], baseUrl: ['ACME_URL'] },
  basePath: '/v1',
  dialect: 'main',
  dialectFor: (model) => (model.startsWith('other') ? 'other' : undefined),
  connect: ({ baseUrl }) => ({ baseUrls: { main: 'http://never.test', other: `${baseUrl ?? 'http://unknown.test'}/other` } }),
}

test('the dialect of some models may have another URL, the main one has that of the provider', () => {
  const connected = connectProvider({ provider: acme, config: undefined, env: { ACME_KEY: 'k', ACME_URL: 'http://acme.test' } }, dialects, unused)
  expect(connected?.connectionFor('model', {}, unused)?.baseUrl).toBe('http://acme.test/v1')
  expect(connected?.connectionFor('other-model', {}, unused)?.baseUrl).toBe('http://acme.test/v1/other')
})

test.each(['http://acme.test', 'http://acme.test/'])('a URL without a path is completed wherever it is set: %s', (address) => {
  const urlOf = (baseUrl: string): string | undefined => {
    const config = { slug: 'acme', baseUrl } as unknown as ProviderConfig
    return connectProvider({ provider: acme, config, env: { ACME_KEY: 'k' } }, dialects, unused)?.connectionFor('model', {}, unused)?.baseUrl
  }
  expect(urlOf(address)).toBe('http://acme.test/v1')
  expect(urlOf('http://acme.test/v2')).toBe('http://acme.test/v2')
})

test('a model may have a URL of its own, whatever its dialect', () => {
  const provider: Provider = {
    ...acme,
    baseUrl: 'http://acme.test/v1',
    connect: () => ({
      baseUrls: { other: 'http://acme.test/other' },
      baseUrlFor: (model) => (model.endsWith('far') ? 'http://far.test' : undefined),
    }),
  }
  const connected = connectProvider({ provider, config: undefined, env: { ACME_KEY: 'k' } }, dialects, unused)
  const urlOf = (model: string): string | undefined => connected?.connectionFor(model, {}, unused)?.baseUrl
  expect(['near', 'far', 'other-near', 'other-far', 'near'].map(urlOf)).toEqual([
    'http://acme.test/v1',
    'http://far.test',
    'http://acme.test/other',
    'http://far.test',
    'http://acme.test/v1',
  ])
})

test.each(['http://169.254.169.254/v1', 'https://[fe80::1]:8443/v1', 'http://2852039166/v1', 'http://[::ffff:169.254.169.254]/v1'])(
  'no provider may have the metadata address %s, wherever it is configured: the cloud would get credentials and prompts',
  (url) => {
    const reports: (readonly [string, string])[] = []
    const report = (path: string, message: string) => void reports.push([path, message])
    const env = { ACME_KEY: 'k', ACME_URL: url }
    expect(connectProvider({ provider: acme, config: undefined, env }, dialects, report)).toBeUndefined()
    const elsewhere = { ...acme, baseUrl: 'http://acme.test/v1', connect: () => ({ baseUrls: { other: url } }) }
    expect(connectProvider({ provider: elsewhere, config: undefined, env: { ACME_KEY: 'k' } }, dialects, report)).toBeUndefined()
    expect(reports).toHaveLength(2)
    for (const [path, message] of reports) {
      expect(path).toBe('base_url')
      expect(message).toMatch(/^".*" is a link-local or cloud metadata address, which is never allowed; expected the address of the provider$/)
    }
  },
)

test.each(['sk-\u2026', 'sk-1\nsk-2', 'sk-\u200b1', '\u201csk-1\u201d'])(
  'a key that no header carries is refused, %j for one, and not shown',
  (key) => {
    const reports: (readonly [string, string])[] = []
    const report = (path: string, message: string) => void reports.push([path, message])
    const config = { slug: 'acme', apiKeys: [new Secret('sk-1'), new Secret(key)] } as unknown as ProviderConfig
    const baseUrl = { ACME_URL: 'http://acme.test' }
    expect(connectProvider({ provider: acme, config: undefined, env: { ...baseUrl, ACME_KEY: key } }, dialects, report)).toBeUndefined()
    expect(connectProvider({ provider: acme, config, env: baseUrl }, dialects, report)).toBeUndefined()
    const message = '[hidden]; expected visible ASCII characters in one line, or the JSON file of a cloud account'
    expect(reports).toEqual([
      ['ACME_KEY', message],
      ['api_keys', message],
    ])
  },
)

test('headers of the operator replace those of the same name, however they are spelled', () => {
  const config = { slug: 'acme', headers: { 'X-Team': 'b', Authorization: 'c' } } as unknown as ProviderConfig
  const provider = { ...acme, headers: { 'x-team': 'a' } }
  const connected = connectProvider({ provider, config, env: { ACME_KEY: 'k', ACME_URL: 'http://acme.test' } }, dialects, unused)
  expect(connected?.connectionFor('model', {}, unused)?.headers).toEqual({ 'x-team': 'b', authorization: 'c' })
})

test.each([
  [{ apiKeys: [], headers: { 'X-Api-Key': 'operator' } }, true],
  [{ apiKeys: [], headers: { 'proxy-authorization': 'operator' } }, true],
  [{ apiKeys: [], headers: { 'x-team': 'a', authorization: 'operator' } }, undefined],
  [{ apiKeys: [new Secret('k')], headers: { 'x-api-key': 'operator' } }, undefined],
])('a provider whose account is named by a header pays whatever key is sent: %#', (given, expected) => {
  const config = { slug: 'acme', ...given } as unknown as ProviderConfig
  const connected = connectProvider({ provider: acme, config, env: { ACME_URL: 'http://acme.test' } }, dialects, unused)
  expect(connected?.connectionFor('model', {}, unused)?.operatorPays).toBe(expected)
})

test('so does one whose keys go elsewhere than into `authorization`, if that names the account', () => {
  const config = { slug: 'acme', apiKeys: [], headers: { Authorization: 'operator' } } as unknown as ProviderConfig
  const provider = { ...acme, connect: () => ({ sign: (request: SignableRequest) => request }) }
  const connected = connectProvider({ provider, config, env: { ACME_URL: 'http://acme.test' } }, dialects, unused)
  expect(connected?.connectionFor('model', {}, unused)?.operatorPays).toBe(true)
})
