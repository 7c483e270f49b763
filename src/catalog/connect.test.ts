import { expect, test } from 'vitest'
import { z } from 'zod'
import type { Dialect } from '../core/dialect.ts'
import type { Provider } from '../core/provider.ts'
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

test('a dialect of some models may live at another address, the main one lives where the provider does', () => {
  const connected = connectProvider({ provider: acme, config: undefined, env: { ACME_KEY: 'k', ACME_URL: 'http://acme.test' } }, dialects, unused)
  expect(connected?.connectionFor('model', {}, unused)?.baseUrl).toBe('http://acme.test/v1')
  expect(connected?.connectionFor('other-model', {}, unused)?.baseUrl).toBe('http://acme.test/v1/other')
})
