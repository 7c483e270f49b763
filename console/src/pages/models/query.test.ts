import { describe, expect, it, test } from 'vitest'
import { PAGE, pageOf, partsOf, queryOf } from './query.ts'

const asked = (search: string) => {
  const params = new URLSearchParams(search)
  return Object.fromEntries(Object.entries(queryOf((name) => params.get(name) ?? undefined)).filter(([, value]) => value !== undefined))
}

describe('the query of the model list', () => {
  it('is a page of all models if the URL has no filters', () => {
    expect(asked('')).toEqual({ limit: PAGE, offset: 0, output_modalities: 'all' })
  })

  it('has the filters of the URL', () => {
    expect(
      asked('q=mini&provider=acme&input=image&output=embeddings&supports=tools,reasoning&context=128000&max_price=0.5&sort=newest&page=3'),
    ).toEqual({
      limit: PAGE,
      offset: 2 * PAGE,
      q: 'mini',
      providers: 'acme',
      input_modalities: 'image',
      output_modalities: 'embeddings',
      supported_parameters: 'tools,reasoning',
      context: 128_000,
      max_price: 0.5,
      sort: 'newest',
    })
  })

  it('leaves out unknown orders and invalid amounts', () => {
    expect(asked('sort=best&max_price=cheap&max_output_price=0,5&context=-1')).toEqual({ limit: PAGE, offset: 0, output_modalities: 'all' })
    expect(asked('max_price=.5&max_output_price=0')).toMatchObject({ max_price: 0.5, max_output_price: 0 })
  })
})

test.each([
  [undefined, 1],
  ['2', 2],
  ['0', 1],
  ['-3', 1],
  ['1.5', 1],
  ['last', 1],
])('page %s of an address is page %s', (text, page) => {
  expect(pageOf(() => text)).toBe(page)
})

test.each([
  ['acme/small', { author: 'acme', slug: 'small' }],
  ['acme/team/small:free', { author: 'acme', slug: 'team/small:free' }],
  ['~acme/small-latest', { author: '~acme', slug: 'small-latest' }],
  ['nothing', { author: 'nothing', slug: '' }],
])('the name %s has an author and a slug', (id, parts) => {
  expect(partsOf(id)).toEqual(parts)
})
