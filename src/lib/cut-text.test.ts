import { expect, it } from 'vitest'
import { cutText } from './cut-text.ts'

it.each([
  ['abc', 3, 'abc'],
  ['abcd', 3, 'abc'],
  ['ab😀', 3, 'ab'],
  ['ab😀', 4, 'ab😀'],
  ['ab😀d', 4, 'ab😀'],
  ['a', 0, ''],
])('cuts %s to %i', (text, max, expected) => {
  expect(cutText(text, max)).toBe(expected)
})
