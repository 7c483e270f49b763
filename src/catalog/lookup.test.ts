import { expect, it } from 'vitest'
import { createLookup } from './lookup.ts'

it('a name with any number of suffixes is looked up without them', () => {
  const asked: string[] = []
  const catalog = createLookup({ models: [], openModel: (name) => void asked.push(name) })
  expect(catalog.find(`acme/small${':nitro:floor'.repeat(100_000)}`)).toBeUndefined()
  expect(asked).toEqual(['acme/small'])
})
