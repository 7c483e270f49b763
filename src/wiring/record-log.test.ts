import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { GatewayError } from '../core/error.ts'
import { manualClock } from '../testing/deterministic.ts'
import { createRecordLog } from './record-log.ts'

const stage = () => {
  const lines: { readonly [field: string]: unknown }[] = []
  const clock = manualClock()
  const line = (level: string) => (fields: object, msg: string) => void lines.push({ level, ...fields, msg })
  const tell = createRecordLog({ info: line('info'), warn: line('warn') }, clock)
  const pass = (ms: number): void => {
    clock.advance(ms)
    vi.advanceTimersByTime(ms)
  }
  const error = new GatewayError('provider_overloaded', 'away')
  return { lines, pass, tell, error, fail: (failures: number) => tell({ type: 'insert-failed', error, records: 1, failures, waitMs: 250 }) }
}

describe('the log of records', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('reports that the store takes no writes at once, then once a minute, and its end', () => {
    const { lines, pass, tell, fail } = stage()
    for (let failures = 1; failures <= 480; failures++) {
      fail(failures)
      pass(250)
    }
    tell({ type: 'recovered', failures: 480, waiting: 3 })
    expect(lines).toMatchObject([
      { level: 'warn', type: 'insert-failed', failures: 1 },
      { level: 'warn', type: 'insert-failed', failures: 241 },
      { level: 'info', type: 'recovered', failures: 480, waiting: 3 },
    ])
  })

  it('reports a new outage at once', () => {
    const { lines, tell, fail } = stage()
    fail(1)
    tell({ type: 'recovered', failures: 1, waiting: 0 })
    fail(1)
    expect(lines).toHaveLength(3)
  })

  it('reports a loss at once, and the number of further single losses', () => {
    const { lines, pass, tell, error } = stage()
    for (let i = 0; i < 100; i++) {
      tell({ type: 'lost', reason: 'overflow', records: 1 })
      pass(100)
    }
    tell({ type: 'lost', reason: 'refused', records: 1, error })
    pass(5_000)
    const told = lines.map(({ reason, records }) => [reason, records])
    expect(told).toEqual([
      ['overflow', 1],
      ['overflow', 49],
      ['overflow', 50],
      ['refused', 1],
    ])
    expect(lines.at(-1)).toMatchObject({ level: 'warn', type: 'lost', error, msg: 'generation records' })
  })

  it('distinguishes records without their content from lost ones', () => {
    const { lines, pass, tell } = stage()
    tell({ type: 'content-lost', records: 2 })
    tell({ type: 'content-lost', records: 3 })
    tell({ type: 'lost', reason: 'overflow', records: 1 })
    pass(5_000)
    expect(lines.map(({ type, records }) => [type, records])).toEqual([
      ['content-lost', 2],
      ['content-lost', 3],
      ['lost', 1],
    ])
  })

  it('reports everything when the process ends, or the store is back', () => {
    const { lines, tell } = stage()
    const lose = (reason: 'overflow' | 'closed') => tell({ type: 'lost', reason, records: 2 })
    lose('overflow')
    lose('overflow')
    tell({ type: 'recovered', failures: 9, waiting: 0 })
    lose('overflow')
    lose('closed')
    expect(lines.map(({ type, reason }) => reason ?? type)).toEqual(['overflow', 'overflow', 'recovered', 'overflow', 'closed'])
  })
})
