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

/** A process that is stopped: time passes, and its timers are late by as much. */
function stoppable(limits: Partial<typeof LIMITS> = {}) {
  let stopped = 0
  const timer = new AttemptTimer({ ...LIMITS, ...limits }, { monotonic: () => performance.now() + stopped }, () => undefined)
  return { timer, stop: (ms: number): void => void (stopped += ms), after: (ms: number): void => void vi.advanceTimersByTime(ms) }
}

describe('limits that run out while the process is stopped or busy', () => {
  it('leave a second to process what has arrived meanwhile', () => {
    const { timer, stop, after } = stoppable()
    stop(60_000)
    after(12_000)
    expect(timer.expired).toBeUndefined()
    after(999)
    timer.content()
    after(34_999)
    stop(60_000)
    after(1)
    expect(timer.expired).toBeUndefined()
    timer.progress()
    after(119_999)
    expect(timer.expired).toBeUndefined()
    after(1)
    expect(timer.expired).toBe('idle')
  })

  it('fire when nothing has arrived', () => {
    const first = stoppable({ firstToken: 120_000 })
    first.after(10_000)
    first.timer.progress()
    first.stop(60_000)
    first.after(110_999)
    expect(first.timer.expired).toBeUndefined()
    first.after(1)
    expect(first.timer.expired).toBe('first_token')

    const idle = stoppable()
    idle.timer.content()
    idle.after(10_000)
    idle.timer.progress()
    idle.stop(60_000)
    idle.after(41_000)
    expect(idle.timer.expired).toBe('idle')
  })

  it('wait no longer than their delay', () => {
    const { timer, stop, after } = stoppable()
    stop(40)
    after(12_000)
    expect(timer.expired).toBeUndefined()
    after(40)
    expect(timer.expired).toBe('first_token')
  })

  it('do not fire for an answer that ends in that time', () => {
    const { timer, stop, after } = stoppable({ total: 20_000 })
    timer.content()
    stop(60_000)
    after(20_000)
    timer.progress()
    expect(timer.expired).toBeUndefined()
    after(1_000)
    expect(timer.expired).toBe('total')
  })

  it('leave no timer behind', () => {
    const { timer, stop, after } = stoppable()
    stop(60_000)
    after(12_000)
    timer.stop()
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('an answer that waits for memory before its first content', () => {
  it('does not time out because of the wait', () => {
    const { timer, after } = scene()
    after(10_000)
    timer.hold()
    after(60_000)
    expect(timer.expired).toBeUndefined()
    timer.release()
    after(1_999)
    expect(timer.expired).toBeUndefined()
    after(1)
    expect(timer.expired).toBe('first_token')
  })

  it('keeps the rest of its limit, if the wait was shorter', () => {
    const { timer, after } = scene()
    timer.hold()
    after(5_000)
    timer.release()
    after(11_999)
    expect(timer.expired).toBeUndefined()
    after(1)
    expect(timer.expired).toBe('first_token')
  })

  it('still ends at the total limit', () => {
    const { timer, after } = scene({ total: 20_000 })
    timer.hold()
    after(20_000)
    expect(timer.expired).toBe('total')
  })
})

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

  it('do not count silence before the first token, whatever bytes arrive', () => {
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

  it('keep the shorter limit for a model that has stopped', () => {
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

describe('a caller who reads slowly', () => {
  it('does not count as silence of the upstream, which starts again when the caller has read', () => {
    const { timer, after } = scene()
    timer.content()
    timer.hold()
    after(50_000)
    expect(timer.expired).toBeUndefined()
    timer.release()
    after(34_999)
    expect(timer.expired).toBeUndefined()
    after(1)
    expect(timer.expired).toBe('idle')
  })

  it('neither shortens nor extends the silence allowed afterwards', () => {
    const { timer, after } = scene()
    timer.content()
    timer.hold()
    after(34_000)
    timer.release()
    after(34_999)
    expect(timer.expired).toBeUndefined()
    after(1)
    expect(timer.expired).toBe('idle')
    const pause = scene()
    pause.timer.content()
    pause.timer.hold()
    pause.after(30_000)
    pause.timer.release()
    pause.timer.progress()
    pause.after(35_000)
    expect(pause.timer.expired).toBe('idle')
  })

  it('has until the total limit', () => {
    const { timer, expired, after } = scene({ total: 60_000 })
    timer.content()
    timer.hold()
    after(59_999)
    expect(timer.expired).toBeUndefined()
    after(1)
    expect([timer.expired, expired.length]).toEqual(['total', 1])
    timer.release()
    timer.stop()
    expect(vi.getTimerCount()).toBe(0)
  })
})
