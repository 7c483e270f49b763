import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { configJsonSchema } from './schema.ts'

const validate = new Ajv2020({ strict: false }).compile(configJsonSchema())

test('the JSON Schema takes what the loader takes', () => {
  expect(validate({})).toBe(true)
  expect(
    validate({
      server: { port: 1, body_limit: '32MiB' },
      providers: [{ slug: 'acme', base_url: 'http://x/v1', api_keys: null, timeouts: { first_token: 'auto', idle: 30 } }],
      models: [{ slug: 'acme/small', endpoints: [{ provider: 'acme', upstream_model: 's', supports: ['tools', 'image'] }] }],
    }),
  ).toBe(true)
})

test.each([
  [{ sever: {} }],
  [{ providers: [{ name: 'x' }] }],
  [{ models: [{ slug: 'a/b', endpoints: [{ provider: 'a', tier: 'gold' }] }] }],
  [{ server: { prot: 1 } }],
])('the JSON Schema refuses %j', (document) => expect(validate(document)).toBe(false))
