import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { whenLate } from './late.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate'] }))
afterEach(() => void vi.useRealTimers())

it('waits one turn of the event loop more than the time', () => {
  const isLate = vi.fn()
  whenLate(100, isLate)
  vi.advanceTimersByTime(99)
  vi.advanceTimersToNextTimer()
  expect(isLate).not.toHaveBeenCalled()
  vi.advanceTimersToNextTimer()
  expect(isLate).toHaveBeenCalledOnce()
})

it.each([
  ['before the time is over', 50],
  ['within the last turn', 100],
])('can be called off %s', (_when, afterMs) => {
  const isLate = vi.fn()
  const callOff = whenLate(100, isLate)
  if (afterMs < 100) vi.advanceTimersByTime(afterMs)
  else vi.advanceTimersToNextTimer()
  callOff()
  vi.runAllTimers()
  expect(isLate).not.toHaveBeenCalled()
})
