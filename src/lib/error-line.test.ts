import { expect, it } from 'vitest'
import { errorLine } from './error-line.ts'

it.each([
  [new Error('it cannot be used', { cause: new Error('53300: too many connections') }), 'it cannot be used: 53300: too many connections'],
  [new Error('alone'), 'alone'],
  [new Error('the same', { cause: new Error('the same') }), 'the same'],
  [new Error('of no error', { cause: { code: 1 } }), 'of no error'],
  ['a word', 'a word'],
])('describes %s with its cause', (error, text) => {
  expect(errorLine(error)).toBe(text)
})
