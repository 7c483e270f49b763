import { expect, it } from 'vitest'
import { blankTexts } from './blank-texts.ts'

it('leaves nothing of a text that begins like another, in whatever order they are given', () => {
  for (const hidden of [
    ['token-1', 'token-1-long'],
    ['token-1-long', 'token-1'],
  ])
    expect(blankTexts('a token-1-long and a token-1', hidden)).toBe('a [redacted] and a [redacted]')
})

it('leaves a text as it is in which nothing is hidden', () => {
  expect(blankTexts('nothing $& here', [])).toBe('nothing $& here')
  expect(blankTexts('nothing here', ['else'])).toBe('nothing here')
})
