import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NeedleCounter } from './needle-counter.ts'

describe('NeedleCounter', () => {
  it('counts the same for any cut of the bytes', () => {
    const word = fc.constantFrom('"delta":"', '"delta', ':"', 'x', '')
    fc.assert(
      fc.property(fc.array(word, { maxLength: 40 }), fc.array(fc.nat(), { maxLength: 20 }), (words, cuts) => {
        const bytes = Buffer.from(words.join(''))
        const counter = new NeedleCounter('"delta":"')
        let from = 0
        for (const to of [...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]) {
          counter.push(bytes.subarray(from, to))
          from = to
        }
        expect(counter.count).toBe(bytes.toString().split('"delta":"').length - 1)
      }),
      { numRuns: 500 },
    )
  })

  it('starts from zero after reset', () => {
    const counter = new NeedleCounter('ab')
    counter.push(Buffer.from('aba'))
    counter.reset()
    counter.push(Buffer.from('b'))
    expect(counter.count).toBe(0)
  })
})
