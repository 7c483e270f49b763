import { expect, it } from 'vitest'
import { threadTime } from '../testing/thread-time.ts'
import { blankTexts } from './blank-texts.ts'

it('removes a secret that begins like another completely, in whatever order they are given', () => {
  for (const hidden of [
    ['token-1', 'token-1-long'],
    ['token-1-long', 'token-1'],
  ])
    expect(blankTexts('a token-1-long and a token-1', hidden)).toBe('a [redacted] and a [redacted]')
})

it('leaves a text without secrets unchanged', () => {
  expect(blankTexts('nothing $& here', [])).toBe('nothing $& here')
  expect(blankTexts('nothing here', ['else'])).toBe('nothing here')
})

it('takes linear time for any text and secret, because a caller’s own server can choose both', () => {
  const secret = `${'a'.repeat(2_000)}b${'a'.repeat(1_999)}`
  const text = `${'a'.repeat(3_000_000)}${secret}`
  const began = threadTime()
  expect(blankTexts(text, [secret])).toBe(`${'a'.repeat(3_000_000)}[redacted]`)
  expect(threadTime() - began).toBeLessThan(700)
})
