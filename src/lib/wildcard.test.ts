import fc from 'fast-check'
import { expect, it } from 'vitest'
import { compileWildcards, matchesWildcard } from './wildcard.ts'

it.each([
  ['acme/*', 'acme/small', true],
  ['acme/gpt-5*', 'acme/gpt-5.1', true],
  ['acme/gpt-5', 'acme/gpt-5.1', false],
  ['*/claude-*', 'any/claude-x', true],
  ['*/claude-*', 'any/claude', false],
  ['*', '', true],
  ['a*a', 'a', false],
  ['a*b*c', 'a-b-b-c', true],
  ['a*bc*c', 'abc', false],
  ['Acme/*', 'ACME/x', true],
  ['', 'a', false],
])('%j on %j: %s', (pattern, text, expected) => {
  expect(matchesWildcard(pattern, text)).toBe(expected)
})

it('means what the regular expression would', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 })
  const patterns = fc.string({ unit: fc.constantFrom('a', 'B', '*'), maxLength: 6 })
  fc.assert(
    fc.property(
      patterns,
      letters,
      (pattern, text) => matchesWildcard(pattern, text) === new RegExp(`^${pattern.replaceAll('*', '.*')}$`, 'i').test(text),
    ),
  )
})

it('knows no sign but the star', () => expect(matchesWildcard('acme/(small|large).', 'acme/small')).toBe(false))

it('of several, one is enough', () => {
  const allowed = compileWildcards(['Acme/small', 'beta/*'])
  expect(['acme/small', 'acme/large', 'beta/x', 'alpha/x'].filter(allowed)).toEqual(['acme/small', 'beta/x'])
  expect(compileWildcards([])('acme/small')).toBe(false)
})
