import fc from 'fast-check'
import { expect, it } from 'vitest'
import { countCharacters } from './count-characters.ts'

it('counts characters, not the units they take', () => {
  expect(['', 'a', 'é', '😀', 'a😀b', '😀😀', '\ud83d', '\ude00', '\ud83d\ud83d\ude00', '\ude00\ud83d'].map(countCharacters)).toEqual([
    0, 1, 1, 1, 3, 2, 1, 1, 2, 2,
  ])
})

it('agrees with the language for any text', () => {
  fc.assert(fc.property(fc.string({ unit: fc.constantFrom('a', '😀', '\ud83d', '\ude00') }), (text) => countCharacters(text) === [...text].length))
})
