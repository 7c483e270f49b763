import { expect, it } from 'vitest'
import type { Catalog } from '../core/endpoint.ts'
import { testCatalog, testEndpoint } from '../testing/endpoints.ts'
import { namedButOff, unknownModel } from './refuse.ts'

const catalog: Catalog = {
  ...testCatalog(['demo/echo', 'demo/slow', 'acme/small-1', 'acme/large-1'].map((model) => testEndpoint({ model }))),
  off: (name) => (name === 'bolt' ? ['bolt is known but off: set BOLT_API_KEY.'] : []),
}
const said = (...names: string[]): string => unknownModel(names, 0, catalog).message

it('the error suggests the model that was probably meant', () => {
  expect(said('demo/ecco')).toBe('No endpoint serves the model "demo/ecco". Did you mean demo/echo?')
  expect(said('acmee/smal-1')).toContain('Did you mean acme/small-1?')
  expect(said('small-1')).toContain('Did you mean acme/small-1?')
  expect(said('~Demo/Ecco:free')).toContain('Did you mean demo/echo?')
  expect(said('other/thing')).toBe('No endpoint serves the model "other/thing". GET /api/v1/models lists what is served.')
  expect(said(`demo/${'ecco'.repeat(100)}`)).not.toContain('Did you mean')
})

it('the error says how to switch on the provider that would serve it', () => {
  expect(said('bolt/fast-9')).toBe('No endpoint serves the model "bolt/fast-9". bolt is known but off: set BOLT_API_KEY.')
  expect(said('demo/ecco', 'bolt/a', 'bolt/b')).toMatch(/Did you mean demo\/echo\? bolt is known but off: set BOLT_API_KEY\.$/)
  expect(namedButOff({ only: ['bolt/turbo'], order: ['acme'] }, catalog)).toEqual(['bolt is known but off: set BOLT_API_KEY.'])
})
