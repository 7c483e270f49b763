import { describe, expect, test } from 'vitest'
import { parseDuration, parseSize } from './units.ts'

describe('durations', () => {
  test.each([
    ['500ms', 500],
    ['5s', 5_000],
    ['1.5m', 90_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    [' 5 S ', 5_000],
    ['30', 30_000],
    [30, 30_000],
    [0.25, 250],
    [0, 0],
  ])('%j is %d ms', (text, ms) => expect(parseDuration(text)).toBe(ms))

  test.each(['', 's', '5 parsecs', '-5s', '5s5', '1e3s', 'auto', Number.NaN, Number.POSITIVE_INFINITY, -1, null, true])('%j is none', (text) => {
    expect(parseDuration(text)).toBeUndefined()
  })
})

describe('sizes', () => {
  test.each([
    ['32MiB', 33_554_432],
    ['64kB', 64_000],
    ['64KiB', 65_536],
    ['1.5 GiB', 1_610_612_736],
    ['10m', 10_000_000],
    ['512', 512],
    [512, 512],
    ['7b', 7],
  ])('%j is %d bytes', (text, bytes) => expect(parseSize(text)).toBe(bytes))

  test.each(['', 'MiB', '32 potatoes', '-1MiB', '99999999999GiB', null])('%j is none', (text) => {
    expect(parseSize(text)).toBeUndefined()
  })
})
