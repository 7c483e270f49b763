import { describe, expect, it } from 'vitest'
import { classifyOtlp } from './otlp-classify.ts'

describe('an OTLP answer that is not an acceptance', () => {
  const triesAfter = (status: number): unknown => {
    const outcome = classifyOtlp({ status, headers: {}, body: Buffer.alloc(0) })
    return outcome.kind === 'retry' ? (outcome.maxAttempts ?? 'any number') : outcome.kind
  }

  it.each([500, 501])('%i is tried a few times: the specification allows none', (status) => {
    expect(triesAfter(status)).toBe(10)
  })

  it.each([429, 502, 503, 504, 520, 521, 522, 523, 524, 525, 526, 527, 530, 599])('%i is an outage and tried until it is over', (status) => {
    expect(triesAfter(status)).toBe('any number')
  })
})

describe('an OTLP answer that accepts', () => {
  const outcomeOf = (answer: unknown, padding = '') =>
    classifyOtlp({ status: 200, headers: {}, body: Buffer.from(`${JSON.stringify(answer)}${padding}`) })

  it('is reported briefly, without credentials', () => {
    const outcome = outcomeOf({ partialSuccess: { rejectedSpans: '2', errorMessage: 'word '.repeat(200) } })
    expect(outcome).toMatchObject({ kind: 'partial', rejectedCount: 2 })
    expect(outcome.kind === 'partial' ? outcome.message.length : 0).toBe(300)
    expect(outcomeOf({ partialSuccess: { errorMessage: 'bad api_key=0123456789abcdef' } })).toEqual({
      kind: 'delivered',
      message: 'bad api_key=[redacted]',
    })
  })

  it('is not parsed when it is too large', () => {
    const refused = { partialSuccess: { rejectedSpans: 1 } }
    expect(outcomeOf(refused)).toMatchObject({ kind: 'partial' })
    expect(outcomeOf(refused, ' '.repeat(4 * 1024 * 1024))).toEqual({ kind: 'delivered' })
  })
})
