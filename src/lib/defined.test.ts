import { expect, test } from 'vitest'
import { defined } from './defined.ts'

test('keys without a value are gone, every other value stays', () => {
  const value = defined({ a: undefined, b: null, c: 0, d: '', e: false })
  expect(Object.keys(value)).toEqual(['b', 'c', 'd', 'e'])
})
