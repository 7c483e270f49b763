import fc from 'fast-check'
import { expect, it } from 'vitest'
import { verifies } from '../../e2e/requirements.ts'
import { threadTime } from '../testing/thread-time.ts'
import { findText, replaceText } from './find-text.ts'

/** Few letters, so that much of one stands in the other. */
const word = (least: number, most: number) => fc.string({ unit: fc.constantFrom('a', 'b'), minLength: least, maxLength: most })

it('finds what the engine finds', () => {
  fc.assert(
    fc.property(word(1, 6), fc.nat(400), fc.nat(400), word(0, 3), (piece, times, more, end) => {
      const text = `${piece.repeat(times)}b${piece.repeat(more)}a`
      for (const wanted of [piece, piece.repeat(260) + end, text.slice(-300), text.slice(40, 340), `${text}a`]) {
        if (wanted === '') continue
        expect([findText(text, wanted), findText(text, wanted, 7)]).toEqual([text.indexOf(wanted), text.indexOf(wanted, 7)])
        expect(replaceText(text, wanted, '[$&]')).toBe(text.split(wanted).join('[$&]'))
      }
    }),
    { numRuns: 200 },
  )
})

it(verifies('B1', 'takes no longer for texts that were made to take long'), () => {
  const text = 'a'.repeat(1_000_000)
  const began = threadTime()
  for (const place of [0, 400, 2_000, 3_600, 3_999]) {
    const wanted = `${'a'.repeat(place)}b${'a'.repeat(3_999 - place)}`
    expect([findText(text, wanted), replaceText(text, wanted, '') === text]).toEqual([-1, true])
  }
  expect(threadTime() - began).toBeLessThan(1_000)
})
