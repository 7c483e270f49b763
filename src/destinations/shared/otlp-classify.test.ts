import { describe, expect, it } from 'vitest'
import { classifyOtlp } from './otlp-classify.ts'

describe('an OTLP answer that is no acceptance', () => {
  const triesAfter = (status: number): unknown => {
    const outcome = classifyOtlp({ status, headers: {}, body: Buffer.alloc(0) })
    return outcome.kind === 'retry' ? (outcome.maxAttempts ?? 'any number') : outcome.kind
  }

  it.each([500, 501])('%i is tried a few times: the specification allows none', (status) => {
    expect(triesAfter(status)).toBe(5)
  })

  it.each([429, 502, 503, 504, 520, 521, 522, 523, 524, 525, 526, 527, 530, 599])('%i is an outage and tried until it is over', (status) => {
    expect(triesAfter(status)).toBe('any number')
  })
})
