import { expect, it, test } from 'vitest'
import { NOTHING } from '../../lib/format.ts'
import { contextShown, measuresOf, percentShown, speedShown } from './measures.ts'

test.each([
  [100, '100 %'],
  [99.99, '99.9 %'],
  [98.76, '98.8 %'],
  [0, '0 %'],
  [null, NOTHING],
])('an uptime of %s is shown as %s', (percent, shown) => {
  expect(percentShown(percent)).toBe(shown)
})

it('an unknown context length is not shown as a number', () => {
  expect([contextShown(128_000), contextShown(1_048_575)]).toEqual(['128,000 tokens', 'not known'])
})

it('speeds are in tokens per second', () => {
  expect([speedShown(7.25), speedShown(143.6)]).toEqual(['7.3 tok/s', '144 tok/s'])
})

it('measurements are shown as percentiles, and missing ones are left out', () => {
  const latency = { p50: 300, p75: 450, p90: 1_200, p99: 65_000 }
  expect(measuresOf(latency, null)).toEqual([{ name: 'First token', p50: '300 ms', p75: '450 ms', p90: '1.2 s', p99: '1 min 5 s' }])
  expect(measuresOf(null, { p50: 80, p75: 70, p90: 60, p99: 5 })).toEqual([
    { name: 'Throughput', p50: '80 tok/s', p75: '70 tok/s', p90: '60 tok/s', p99: '5.0 tok/s' },
  ])
})
