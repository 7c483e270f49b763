import { expect, it } from 'vitest'
import { isoOf, localOf } from './local-time.ts'

it('a time that is read back from a date field is the one that was written to it, to the second', () => {
  for (const iso of ['2026-01-31T12:00:00.000Z', '2026-07-31T23:59:58.000Z', '0987-07-31T23:00:00.000Z']) expect(isoOf(localOf(iso))).toBe(iso)
})

it('an invalid time is undefined', () => {
  expect([localOf(undefined), localOf('yesterday')]).toEqual(['', ''])
  expect([isoOf(''), isoOf('2026-02')?.slice(0, 4), isoOf('soon')]).toEqual([undefined, '2026', undefined])
})
