import { describe, expect, it } from 'vitest'
import { withinTime } from './within-time.ts'

describe('work with a limit', () => {
  it('returns its result', () => {
    expect(withinTime(1_000, () => ({ a: 1 }))).toEqual({ a: 1 })
  })
  it('throws its error', () => {
    const failure = new RangeError('too deep')
    const fail = (): never => {
      throw failure
    }
    expect(() => withinTime(1_000, fail)).toThrow(failure)
  })
  it('is stopped when it takes too long, and the next is not', () => {
    const started = performance.now()
    const forever = (): never => {
      for (;;);
    }
    expect(withinTime(20, forever)).toBeUndefined()
    expect(performance.now() - started).toBeLessThan(1_000)
    expect(withinTime(1_000, () => 'well')).toBe('well')
  })
  it('cannot catch its own timeout', () => {
    const stubborn = (): never => {
      for (;;) {
        try {
          for (;;);
        } catch {
          // The work ignores the error and continues.
        }
      }
    }
    expect(withinTime(20, stubborn)).toBeUndefined()
  })
})
