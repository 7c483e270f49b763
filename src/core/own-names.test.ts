import { expect, it } from 'vitest'
import { canonicalType, isOwnModel, ownName, ownTypes } from './own-names.ts'

it('a tool of the gateway has the same name in both spellings', () => {
  expect(ownTypes('datetime')).toEqual(['gateway:datetime', 'openrouter:datetime'])
  expect(ownTypes('datetime').map(ownName)).toEqual(['datetime', 'datetime'])
  expect(ownTypes('datetime').map(canonicalType)).toEqual(['gateway:datetime', 'gateway:datetime'])
})

it.each(['web_search', 'datetime', 'gateway', 'gatewayed:datetime'])('%s is none of them', (type) => {
  expect([ownName(type), canonicalType(type)]).toEqual([undefined, type])
})

it('a model of the gateway has an author of its own', () => {
  expect(['gateway/auto', 'openrouter/auto', 'acme/auto', 'gateway', 'gatewayed/auto'].filter(isOwnModel)).toEqual([
    'gateway/auto',
    'openrouter/auto',
  ])
})
