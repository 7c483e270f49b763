import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { AttemptTimer } from './attempt-timer.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const LIMITS = { firstToken: 12_000, idle: 35_000, longestIdle: 120_000, total: 900_000 }

function scene(limits: Partial<typeof LIMITS> = {}) {
  const expired: number[] = []
  const timer = new AttemptTimer({ ...LIMITS, ...limits }, { monotonic: () => performance.now() }, () => expired.push(performance.now()))
  return { timer, expired, after: (ms: number): void => void vi.advanceTimersByTime(ms) }
}

describe('the limits of an attempt', () => {
  it('are first token, then silence, then everything', () => {
    const first = scene()
    first.after(12_000)
    expect([first.timer.expired, first.expired.length]).toEqual(['first_token', 1])

    const idle = scene()
    idle.timer.content()
    idle.after(34_999)
    expect(idle.timer.expired).toBeUndefined()
    idle.after(1)
    expect(idle.timer.expired).toBe('idle')

    const total = scene()
    total.timer.content()
    for (let n = 0; n < 90; n++) {
      total.after(10_000)
      total.timer.progress()
    }
    expect([total.timer.expired, total.expired.length]).toEqual(['total', 1])
  })

  it('count no silence before the first token, whatever bytes arrive', () => {
    const { timer, after } = scene({ firstToken: 100_000 })
    after(60_000)
    timer.progress()
    after(39_999)
    expect(timer.expired).toBeUndefined()
    after(1)
    expect(timer.expired).toBe('first_token')
  })

  it('let a stream that makes pauses be silent for four times its longest one', () => {
    const { timer, after } = scene()
    timer.content()
    after(20_000)
    timer.progress()
    after(100)
    timer.progress()
    after(79_999)
    expect(timer.expired).toBeUndefined()
    after(1)
    expect(timer.expired).toBe('idle')
  })

  it('let no stream be silent for longer than the longest silence', () => {
    const { timer, after } = scene()
    timer.content()
    after(34_000)
    timer.progress()
    after(119_999)
    expect(timer.expired).toBeUndefined()
    after(1)
    expect(timer.expired).toBe('idle')
  })

  it('keep what a model that has stopped is left with', () => {
    const { timer, after } = scene()
    timer.content()
    timer.limitIdle(2_000)
    after(1_900)
    timer.progress()
    after(2_000)
    expect(timer.expired).toBe('idle')
  })

  it('leave no timer behind', () => {
    const { timer } = scene()
    timer.content()
    timer.stop()
    expect(vi.getTimerCount()).toBe(0)
  })
})
