import { expect, test } from 'vitest'
import type { Model } from '../core/endpoint.ts'
import { testEndpoint } from '../testing/endpoints.ts'
import { createShortNames } from './short-names.ts'

const model = (slug: string, ...upstream: readonly string[]): Model => ({
  slug,
  name: slug,
  created: 0,
  contextLength: 1_000,
  endpoints: upstream.map((upstreamModel) => ({ ...testEndpoint({ model: slug }), upstreamModel })),
})

const models = [
  model('acme/small', 'acme-small-001', 'org/small'),
  model('bolt/small'),
  model('acme/Large-3'),
  model('acme/one', 'shared'),
  model('bolt/two', 'shared', 'small-2'),
]
const find = createShortNames(models, (name) => (name.startsWith('small') ? 'bolt' : undefined))

test.each([
  ['what stands behind the author', 'one', 'acme/one'],
  ['the id a provider knows it by', 'acme-small-001', 'acme/small'],
  ['the name of several models is its author’s', 'small', 'bolt/small'],
  ['capitals as they are', 'Large-3', 'acme/Large-3'],
  ['capitals where the catalog has none', 'ONE', 'acme/one'],
  ['an id of several models is nobody’s', 'shared', undefined],
  ['an unknown one', 'none', undefined],
])('%s: %s', (_what, name, slug) => {
  expect(find(name)?.slug).toBe(slug)
})
