import { describe, expect, it } from 'vitest'
import { minimalGeneration } from '../testing/sample-generations.ts'
import { isSampled, samplingKey, sampleValue } from './sampling.ts'

const { generation } = minimalGeneration()

describe('sampling', () => {
  it('hashes destination and key with a zero byte between them: the number never changes', () => {
    expect(sampleValue('destination-1', 'session-9')).toBe(0.8045756643865704)
    expect(sampleValue('destination-1s', 'ession-9')).not.toBe(sampleValue('destination-1', 'session-9'))
  })

  it('keeps values below the rate, and not the rate itself', () => {
    const one = { ...generation, sessionId: 'session-9' }
    expect(isSampled('destination-1', 0.8045756643865704, one)).toBe(false)
    expect(isSampled('destination-1', 0.8045756643865705, one)).toBe(true)
    expect(isSampled('destination-1', 1, one)).toBe(true)
  })

  it('keeps a session together, else the trace of the caller, else nothing', () => {
    const trace = { trace_id: 'order-1' }
    expect(samplingKey({ ...generation, sessionId: 's', trace })).toBe('s')
    expect(samplingKey({ ...generation, trace })).toBe('order-1')
    for (const trace_id of ['', ' \t', 7, null]) expect(samplingKey({ ...generation, trace: { trace_id } })).toBe(generation.id)
  })
})
