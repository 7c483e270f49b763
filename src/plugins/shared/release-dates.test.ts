import { expect, it } from 'vitest'
import { testCatalog } from '../../testing/endpoints.ts'
import { releaseDates } from './release-dates.ts'

const dates = (models: { readonly [slug: string]: number }): { readonly [slug: string]: number } =>
  Object.fromEntries(releaseDates(testCatalog([], Object.fromEntries(Object.entries(models).map(([slug, created]) => [slug, { created }])))))

it('release dates are those of the catalog, where it has them', () => {
  expect(dates({ 'a/m-1': 100, 'a/m-2': 50 })).toEqual({ 'a/m-1': 100, 'a/m-2': 50 })
})

it('release dates follow from the version, where the catalog has none', () => {
  expect(dates({ 'a/big-4-1': 0, 'a/big-4': 100, 'a/big-4.5': 200, 'a/big-5.5': 0, 'a/big-5': 0 })).toEqual({
    'a/big-4': 100,
    'a/big-4-1': 101,
    'a/big-4.5': 200,
    'a/big-5': 201,
    'a/big-5.5': 202,
  })
})

it('release dates are not taken from other families, sizes or dates', () => {
  expect(dates({ 'a/m-1-mini': 0, 'a/m-2': 100, 'a/m-70b': 0, 'b/m-3': 0, 'a/m-2-20250101': 0, 'a/4o': 5 })).toEqual({
    'a/m-1-mini': 0,
    'a/m-2': 100,
    'a/m-70b': 0,
    'b/m-3': 0,
    'a/m-2-20250101': 0,
    'a/4o': 5,
  })
})
