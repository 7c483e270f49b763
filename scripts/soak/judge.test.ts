import { expect, it } from 'vitest'
import { judgeGrowth, judgeLeftOver, slopePerHour } from './judge.ts'
import { seeded } from '../../src/testing/replay-server.ts'
import { ownMemory, type Sample } from './vitals.ts'

const MB = 1024 * 1024
const sample = (at: number, changes: Partial<Sample> = {}): Sample => ({
  at,
  rss: 150 * MB,
  own: 110 * MB,
  heap: 40 * MB,
  threadHeap: 20 * MB,
  resources: { Timeout: 4 },
  files: 30,
  sockets: 10,
  calls: at * 100,
  ...changes,
})
const minutes = Array.from({ length: 20 }, (_, i) => i * 60)

it('measures a slope', () => {
  expect(slopePerHour(minutes.map((at) => ({ at, value: 7 + at / 60 }))).value).toBeCloseTo(60)
  expect(slopePerHour([{ at: 0, value: 1 }])).toEqual({ value: 0, from: 0, to: 0 })
})

it('gives a confidence range for a slope', () => {
  const random = seeded(7)
  const noisy = (perHour: number) => slopePerHour(minutes.map((at) => ({ at, value: (at / 3_600) * perHour + random() * 5 })))
  const { from, to } = noisy(0)
  expect(from).toBeLessThan(0)
  expect(to).toBeGreaterThan(0)
  expect(noisy(60).from).toBeGreaterThan(0)
})

it('has the true slope in its range 95% of the time', () => {
  const random = seeded(11)
  const hits = Array.from({ length: 400 }, () => slopePerHour(minutes.map((at) => ({ at, value: at / 360 + random() * 5 })))).filter(
    ({ from, to }) => from <= 10 && to >= 10,
  )
  expect(hits.length / 400).toBeGreaterThan(0.92)
  expect(hits.length / 400).toBeLessThan(0.99)
})

it('is not led astray by a few high points at the end', () => {
  const points = minutes.map((at) => ({ at, value: 7 + at / 60 + (at > 1_000 ? 50 : 0) }))
  expect(slopePerHour(points).value).toBeCloseTo(60)
})

it('ignores growth during warm-up', () => {
  const samples = minutes.map((at) => sample(at, { heap: Math.min(at, 300) * MB }))
  for (const { first, last, allowedMb } of judgeGrowth(samples, 300)) expect(last - first).toBeLessThanOrEqual(allowedMb)
})

it('finds a leak of a megabyte a minute', () => {
  const samples = minutes.map((at) => sample(at, { heap: (40 + at / 60) * MB }))
  const [heap] = judgeGrowth(samples, 300)
  expect(heap!.last - heap!.first).toBeGreaterThan(heap!.allowedMb)
  expect(heap!.slopeMbPerHour.value).toBeCloseTo(60)
})

it('separates memory of the process from reclaimable file pages', () => {
  const samples = minutes.map((at) => sample(at, { rss: (150 + at / 30) * MB }))
  const grown = judgeGrowth(samples, 300).filter(({ first, last, allowedMb }) => last - first > allowedMb)
  expect(grown.map(({ name }) => name)).toEqual(['resident memory'])
  const held = minutes.map((at) => sample(at, { rss: (150 + at / 60) * MB, own: (110 + at / 60) * MB }))
  const [, , resident, own] = judgeGrowth(held, 300)
  expect(own!.slopeMbPerHour.value).toBeCloseTo(resident!.slopeMbPerHour.value)
})

it.runIf(process.platform === 'linux')('reads what a process holds itself', () => {
  const own = ownMemory(process.pid)
  expect(own).toBeGreaterThan(5 * MB)
  expect(own).toBeLessThan(process.memoryUsage().rss)
  expect(ownMemory(0)).toBe(0)
})

it('names resources that are left over', () => {
  const before = sample(0)
  expect(judgeLeftOver(before, sample(1200, { sockets: 12 }), 3)).toEqual([])
  expect(judgeLeftOver(before, sample(1200, { sockets: 25, resources: { Timeout: 40 } }), 3)).toEqual([
    'sockets: 10 before, 25 after',
    'Timeout: 4 before, 40 after',
  ])
})
