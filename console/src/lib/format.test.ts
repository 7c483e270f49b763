import { expect, it, test } from 'vitest'
import { ago, briefUsd, bytes, count, duration, gauge, moment, NOTHING, percent, short, usd } from './format.ts'

test.each([
  [0, '$0'],
  [0.0000123456, '$0.000012'],
  [1.5e-9, '$1.5e-9'],
  [0.000456, '$0.00046'],
  [0.25, '$0.25'],
  [0.999, '$1'],
  [1.005, '$1.00'],
  [12.3, '$12.30'],
  [1234.5, '$1,234.50'],
  [12_345_678.9, '$12,345,678.90'],
  [-0.02, '$-0.02'],
  [null, NOTHING],
  [Number.NaN, NOTHING],
])('%s USD are shown as %s', (value, shown) => {
  expect(usd(value)).toBe(shown)
})

it('amounts are short where there is little room', () => expect([999, 12_345.6, null].map(briefUsd)).toEqual(['$999.00', '$12.3K', NOTHING]))

test.each([
  [0, '0 ms'],
  [840.4, '840 ms'],
  [1_300, '1.3 s'],
  [59_400, '59 s'],
  [59_999, '60 s'],
  [125_000, '2 min 5 s'],
  [119_700, '2 min 0 s'],
  [undefined, NOTHING],
])('%s milliseconds are shown as %s', (value, shown) => {
  expect(duration(value)).toBe(shown)
})

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1_000, '1 KB'],
  [1_234_567, '1.2 MB'],
  [5e12, '5,000 GB'],
])('%s bytes are shown as %s', (value, shown) => {
  expect(bytes(value)).toBe(shown)
})

it('counts are grouped, or cut to three figures', () => {
  expect([count(1234567), short(1234567), short(999), short(1_500)]).toEqual(['1,234,567', '1.23M', '999', '1.5K'])
  expect([count(null), short(undefined)]).toEqual([NOTHING, NOTHING])
})

it('small percentages keep one digit more', () => {
  expect([percent(0), percent(0.004), percent(0.5), percent(1), percent(null)]).toEqual(['0 %', '0.4 %', '50 %', '100 %', NOTHING])
})

it('a time is shown to the second, in the time zone of the reader', () => {
  const date = new Date(2026, 0, 5, 7, 8, 9)
  expect(moment(date.toISOString())).toBe('2026-01-05 07:08:09')
  expect(moment(null)).toBe(NOTHING)
})

test.each([
  [-5_000, 'now'],
  [400, 'now'],
  [12_000, '12 s ago'],
  [61_000, '1 min ago'],
  [3_600_000, '1 h ago'],
  [26 * 3_600_000, '26 h ago'],
  [50 * 3_600_000, '2 d ago'],
])('%s milliseconds ago is %s', (before, shown) => {
  const now = Date.parse('2026-01-05T00:00:00Z')
  expect(ago(new Date(now - before).toISOString(), now)).toBe(shown)
})

it('a gauge has no digits that nobody sees, such as those of a rounding error', () => {
  expect([1.1e-16, 0.123456, 2e-9, 1].map(gauge)).toEqual([0, 12.3, 0, 100])
})
