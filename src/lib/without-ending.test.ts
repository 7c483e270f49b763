import { expect, it } from 'vitest'
import { withoutEnding } from './without-ending.ts'

it.each([
  ['see this.', 'see this'],
  ['what?!...', 'what'],
  ['a.b', 'a.b'],
  ['...', ''],
  ['', ''],
])('%j ends as %j', (text, rest) => {
  expect(withoutEnding(text, '.,;:!?')).toBe(rest)
})
