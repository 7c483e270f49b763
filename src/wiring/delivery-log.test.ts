import { describe, expect, it } from 'vitest'
import type { DeliveryEvent } from '../delivery/worker-options.ts'
import { silentLogger } from '../lib/logger.ts'
import { manualClock } from '../testing/deterministic.ts'
import { createDeliveryLog } from './delivery-log.ts'

type Batch = Extract<DeliveryEvent, { readonly kind: 'batch' }>

const stage = () => {
  const lines: { readonly [field: string]: unknown }[] = []
  const clock = manualClock()
  const tell = createDeliveryLog({ ...silentLogger, warn: (fields: object, msg: string) => void lines.push({ ...fields, msg }) }, clock)
  const batch = (fields: Partial<Batch>): void =>
    tell({
      kind: 'batch',
      destinationId: 'd',
      type: 'webhook',
      counts: { delivered: 0, retry: 0, dead: 0, released: 0 },
      rejected: 0,
      status: 200,
      verdict: 'ok',
      durationMs: 5,
      ...fields,
    })
  return { lines, clock, tell, batch }
}
const counts = (dead: number) => ({ delivered: 1, retry: 0, dead, released: 0 })

describe('the log of deliveries', () => {
  it('contains nothing about deliveries that succeeded, or were returned at a stop', () => {
    const { lines, batch } = stage()
    batch({ counts: counts(0) })
    batch({ verdict: 'aborted' })
    expect(lines).toEqual([])
  })

  it('has a line for failures, once a minute, with texts of the gateway only', () => {
    const { lines, clock, batch } = stage()
    batch({ verdict: 'failed', status: 503, message: 'you said: secret words' })
    batch({ verdict: 'failed', status: 503 })
    expect(lines).toEqual([{ destination: 'd', type: 'webhook', status: 503, verdict: 'failed', msg: 'delivery failed' }])
    clock.advance(61_000)
    batch({ verdict: 'failed', status: 0, message: 'nobody answered' })
    expect(lines[1]).toMatchObject({ verdict: 'failed', error: 'nobody answered' })
  })

  it('has a line for deliveries that were given up, even if the platform answered, once a minute', () => {
    const { lines, batch } = stage()
    batch({ status: 404, message: 'you said: secret words', counts: counts(3) })
    batch({ status: 404, counts: counts(2) })
    expect(lines).toEqual([{ destination: 'd', type: 'webhook', status: 404, dead: 3, msg: 'deliveries were given up' }])
  })

  it('has lines for full queues, for expired deliveries and for problems', () => {
    const { lines, tell } = stage()
    tell({ kind: 'trimmed', destinationId: 'd', type: 'webhook', bodies: 2, deliveries: 1 })
    tell({ kind: 'expired', destinationId: 'd', type: 'webhook', deliveries: 4 })
    tell({ kind: 'problem', destinationId: 'd', message: 'cannot be read' })
    expect(lines).toEqual([
      { destination: 'd', bodies: 2, deliveries: 1, msg: 'a queue was full' },
      { destination: 'd', type: 'webhook', dead: 4, msg: 'deliveries waited too long and were given up' },
      { destination: 'd', error: 'cannot be read', msg: 'delivery' },
    ])
  })
})
