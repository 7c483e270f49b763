import { describe, expect, it } from 'vitest'
import { createBreaker } from './breaker.ts'
import { retryAt } from './backoff.ts'

const options = { threshold: 3, openMs: 1000, maxOpenMs: 3000, unauthorizedMs: 500 }

describe('breaker', () => {
  it('opens after failures in a row, then lets one trial through, and waits longer after each failed one', () => {
    const breaker = createBreaker(options)
    breaker.failed(0)
    breaker.succeeded()
    breaker.failed(0)
    breaker.failed(0)
    expect(breaker.allows(0)).toBe('all')
    breaker.failed(0)
    expect([breaker.allows(0), breaker.state(0), breaker.waitsUntil(0)]).toEqual(['none', 'open', 1000])
    expect([breaker.allows(1000), breaker.state(1000), breaker.waitsUntil(1000)]).toEqual(['trial', 'half-open', undefined])
    breaker.failed(1000)
    expect(breaker.waitsUntil(1000)).toBe(3000)
    breaker.failed(3000)
    expect(breaker.waitsUntil(3000)).toBe(6000)
    breaker.succeeded()
    expect([breaker.allows(3000), breaker.state(3000)]).toEqual(['all', 'closed'])
  })

  it('does not count late failures of batches sent before it opened', () => {
    const breaker = createBreaker(options)
    for (let i = 0; i < 5; i++) breaker.failed(i)
    expect(breaker.waitsUntil(4)).toBe(1002)
  })

  it('pauses when unauthorized, tries again now and then, and resumes at once when reset', () => {
    const breaker = createBreaker(options)
    breaker.unauthorized(0)
    expect([breaker.state(0), breaker.allows(499), breaker.allows(500)]).toEqual(['unauthorized', 'none', 'trial'])
    breaker.unauthorized(500)
    expect(breaker.waitsUntil(500)).toBe(1000)
    breaker.reset()
    expect(breaker.allows(500)).toBe('all')
  })

  it('keeps the pause that the platform asked for even when another batch succeeds', () => {
    const breaker = createBreaker(options)
    breaker.hold(700)
    breaker.succeeded()
    expect([breaker.allows(699), breaker.allows(700)]).toEqual(['none', 'all'])
  })

  it('keeps the longest pause, until it is reset', () => {
    const breaker = createBreaker(options)
    breaker.hold(700)
    breaker.hold(300)
    expect([breaker.allows(500), breaker.waitsUntil(500)]).toEqual(['none', 700])
    breaker.reset()
    expect(breaker.allows(500)).toBe('all')
  })
})

describe('retryAt', () => {
  it('never comes before the hint', () => {
    const backoff = { baseMs: 100, maxMs: 1000 }
    expect(retryAt(0, 2, undefined, backoff, () => 0.5)).toBe(200)
    expect(retryAt(0, 2, 5000, backoff, () => 0.5)).toBe(5000)
    expect(retryAt(0, 9, 10, backoff, () => 0.5)).toBe(500)
  })
})
