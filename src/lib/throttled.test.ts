import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { throttled } from './throttled.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

it('runs at once if the last run is long enough ago, and once more for all requests in between', () => {
  const done: number[] = []
  const begun = performance.now()
  const work = throttled(() => done.push(performance.now() - begun), 500)
  for (let n = 0; n < 100; n++) {
    work.ask()
    vi.advanceTimersByTime(10)
  }
  expect(done).toEqual([0, 500, 1_000])
  vi.advanceTimersByTime(10_000)
  expect(done).toEqual([0, 500, 1_000])
  work.ask()
  expect(done).toEqual([0, 500, 1_000, 11_000])
})

it('does nothing once it has ended', () => {
  let done = 0
  const work = throttled(() => done++, 500)
  work.ask()
  work.ask()
  work.end()
  work.ask()
  vi.advanceTimersByTime(10_000)
  expect(done).toBe(1)
})
