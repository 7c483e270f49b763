import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { textSteps } from '../testing/text-steps.ts'
import { Overlap } from './overlap.ts'

const run = (text: string, pieces: readonly string[]): string => {
  const overlap = new Overlap(text)
  return pieces.map((piece) => overlap.take(piece)).join('') + overlap.flush()
}

describe('the text of a continuation', () => {
  it('is unchanged when it continues', () => expect(run('Once upon a time there', [' was', ' a king'])).toBe(' was a king'))
  it('loses the white space the caller has', () => expect(run('Once upon a time there ', [' ', 'was'])).toBe('was'))
  it('keeps other white space', () => expect(run('Once ', ['\n\nThen'])).toBe('\n\nThen'))
  it('loses a beginning that is repeated as a whole', () => expect(run('Once upon a time there ', ['Once upon', ' a time there was'])).toBe('was'))
  it('keeps a beginning that only looks repeated', () => expect(run('Once upon a time there', ['Once upon', ' another'])).toBe('Once upon another'))
  it('passes on held text when it ends', () => expect(run('Once upon a time there', ['Once'])).toBe('Once'))
  it('may repeat a short beginning', () => expect(run('ha', ['ha', 'ha'])).toBe('haha'))
  it('is compared once, however small the pieces of a long repetition are', () => {
    const stepsFor = (count: number): number => textSteps(() => run('abcd'.repeat(count), Array<string>(count).fill('abcd')))
    expect(stepsFor(2_000)).toBeLessThan(5 * stepsFor(500))
  })
  it('does not depend on how it is cut', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', 'b', ' ') }),
        fc.array(fc.string({ unit: fc.constantFrom('a', 'b', ' ') })),
        fc.boolean(),
        (text, pieces, echo) => {
          const all = echo ? [text, ...pieces] : pieces
          expect(run(text, all)).toBe(run(text, [all.join('')]))
        },
      ),
    )
  })
})
