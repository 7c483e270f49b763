import { beforeEach, describe, expect, it } from 'vitest'
import { verifies } from '../../e2e/requirements.ts'
import { manualClock } from '../testing/deterministic.ts'
import { GuessGuard } from './guess-guard.ts'

const A = '198.51.100.7'
const B = '198.51.100.8'
let clock: ReturnType<typeof manualClock>
let limit: number | null
let guard: GuessGuard

beforeEach(() => {
  clock = manualClock()
  limit = 5
  guard = new GuessGuard({ clock, wrongKeysPerMinute: () => limit })
})
const guess = (address: string, times = 1): void => {
  for (let n = 0; n < times; n++) guard.wrong(address)
}
const refused = expect.objectContaining({ errorType: 'rate_limit_exceeded' })

describe('an address that guesses', () => {
  it(verifies('F5', 'is refused after too many wrong keys, until the minute is over, with the remaining time'), () => {
    guess(A, 5)
    clock.advance(20_000)
    expect(() => guess(A)).toThrow(expect.objectContaining({ details: { retryAfterMs: 40_000 } }))
    clock.advance(40_000)
    expect(() => guess(A, 5)).not.toThrow()
    expect(() => guess(A)).toThrow(refused)
  })

  it(verifies('F5', 'learns nothing from a right guess while it is refused'), () => {
    guess(A, 5)
    expect(() => guard.right(A, 'guessed')).toThrow(refused)
    clock.advance(60_000)
    expect(() => guard.right(A, 'guessed')).not.toThrow()
  })

  it('is refused before any lookup, and without counting another guess', () => {
    guess(A, 4)
    expect(() => guard.admit(A)).not.toThrow()
    guess(A)
    expect(() => guard.admit(A)).toThrow(refused)
    expect(() => guard.admit(B)).not.toThrow()
    clock.advance(60_000)
    expect(() => guard.admit(A)).not.toThrow()
  })

  it(verifies('F5', 'does not affect other addresses'), () => {
    guess(A, 5)
    expect(() => guard.right(B, 'other')).not.toThrow()
    expect(() => guess(B)).not.toThrow()
  })

  it(verifies('F5', 'does not lock out valid keys that were used there before, for many minutes'), () => {
    guess(A)
    guard.right(A, 'colleague')
    for (let minute = 0; minute < 5; minute++) {
      expect(() => guess(A, 6)).toThrow(refused)
      expect(() => guard.right(A, 'colleague')).not.toThrow()
      clock.advance(60_000)
    }
  })

  it(verifies('F5', 'does not lock out keys that were in use there before anybody guessed'), () => {
    for (const key of ['one', 'two', 'three']) guard.right(A, key)
    guard.right(B, 'four')
    expect(() => guess(A, 6)).toThrow(refused)
    for (const key of ['one', 'two', 'three']) expect(() => guard.right(A, key)).not.toThrow()
    // A key of another place may be a guess.
    expect(() => guard.right(A, 'four')).toThrow(refused)
  })

  it(verifies('F5', 'does not lock out a key that was in use at another address of its network, or at several'), () => {
    guard.right('2001:db8:1:2::1', 'laptop')
    for (let n = 0; n < 4; n++) guard.right(`198.51.100.${n}`, 'laptop')
    guess('2001:db8:1:2::2', 5)
    guess('198.51.100.1', 5)
    expect(() => guard.right('2001:db8:1:2::3', 'laptop')).not.toThrow()
    expect(() => guard.right('198.51.100.1', 'laptop')).not.toThrow()
    expect(() => guard.right('2001:db8:1:2::3', 'another')).toThrow(refused)
  })

  it.each([
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9', true],
    ['2001:db8:1:2::1', '2001:db8:1:3::1', false],
    ['::1', '::2', true],
    ['fe80::1%eth0', 'fe80::2', true],
    ['::ffff:198.51.100.7', '::ffff:198.51.100.8', false],
    // Node leaves the longest run of zeros out, wherever it is.
    ['2001:db8::1', '2001:db8::5:6:7:8', true],
    ['2001:db8::1', '2001:db8:1::1', false],
    ['2001:db8:0:1::', '2001:db8:0:1:5:6:7:8', true],
    ['::1:5:6:7:8', '::1:0:0:7:8', true],
    ['::1:5:6:7:8', '::2:5:6:7:8', false],
    ['1:2:3:4:5:6:7:8', '1:2:3:4:9:9:9:9', true],
  ])(verifies('F5', '%s and %s are one: %s'), (one, other, same) => {
    guess(one, 5)
    if (same) expect(() => guess(other)).toThrow(refused)
    else expect(() => guess(other)).not.toThrow()
  })
})

describe('the guard', () => {
  it('does nothing where any number of wrong keys is allowed', () => {
    expect(guard.watching).toBe(true)
    limit = null
    expect(guard.watching).toBe(false)
  })

  it('remembers a bounded number of keys, and those that are in use longest', () => {
    for (let n = 0; n < 30_000; n++) {
      guard.right(A, `key ${n}`)
      if (n % 1_000 === 0) guard.right(A, 'busy')
    }
    guess(A, 5)
    for (const key of ['busy', 'key 29999']) expect(() => guard.right(A, key)).not.toThrow()
    expect(() => guard.right(A, 'key 0')).toThrow(refused)
  })

  it('forgets a key that is no longer used while others guess', () => {
    guard.right(A, 'gone')
    guard.right(A, 'busy')
    for (let hours = 0; hours < 60; hours += 12) {
      expect(() => guess(A, 6)).toThrow(refused)
      expect(() => guard.right(A, 'busy')).not.toThrow()
      clock.advance(12 * 3_600_000)
    }
    guess(A, 5)
    expect(() => guard.right(A, 'gone')).toThrow(refused)
  })

  it('can be switched off, and on again', () => {
    limit = null
    guess(A, 100)
    expect(guard.watching).toBe(false)
    limit = 1
    guess(A)
    expect(() => guess(A)).toThrow(refused)
  })

  it('remembers a bounded number of addresses', () => {
    for (let n = 0; n < 5_000; n++) guess(`10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`, 5)
    // Those that came last are still refused, the first are forgotten.
    expect(() => guess('10.0.19.135')).toThrow(refused)
    expect(() => guess('10.0.0.0')).not.toThrow()
  })
  it('forgets quiet addresses before one that still guesses, whichever came first', () => {
    guess(A)
    for (let n = 0; n < 1_999; n++) guess(`10.0.${n >> 8}.${n & 255}`)
    clock.advance(10 * 60_000 + 1)
    guess(A, 5)
    guess('10.1.0.0')
    expect(() => guess(A)).toThrow(refused)
  })
})
