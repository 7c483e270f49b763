import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Destination, OutgoingResponse } from '../core/destination.ts'
import { minimalGeneration } from '../testing/sample-generations.ts'
import { toDeliveryRecord } from './record.ts'
import type { BatchReport } from './batch-report.ts'
import { sendBatch } from './send-batch.ts'

const { generation, content } = minimalGeneration()
const request = { method: 'POST', url: 'https://example.com', headers: {} } as const
const accepted: OutgoingResponse = { status: 200, headers: {}, body: Buffer.alloc(0) }

const send = (
  changes: Partial<Destination>,
  count = 2,
  of = content,
  transport = (): Promise<OutgoingResponse> => Promise.resolve(accepted),
): Promise<BatchReport> =>
  sendBatch({
    type: {
      type: 'plain',
      name: 'Plain',
      settings: z.unknown(),
      secrets: [],
      limits: { records: 10, bytes: 10_000 },
      encode: () => [request],
      probe: () => [],
      ...changes,
    },
    settings: {},
    context: { destinationId: 'd', serviceName: 's', serviceVersion: '1', now: 0, attempt: 0 },
    records: Array.from({ length: count }, (_, i) =>
      toDeliveryRecord({ ...generation, id: `gen-${i}` }, of, {
        privacyMode: false,
        broadcast: { cost: false, identity: false, requestContext: false },
      }),
    ),
    transport,
    signal: new AbortController().signal,
    beforeRequest: () => Promise.resolve(),
    now: () => 0,
  })

describe('a batch', () => {
  it('counts no more refused than it carried, whatever the platform says', async () => {
    const report = await send({ classify: () => ({ kind: 'partial', message: 'm', rejectedCount: 5_000 }) })
    expect(report).toMatchObject({ rejected: 2, results: [{ kind: 'delivered' }, { kind: 'delivered' }] })
  })

  it('asks a platform that never finishes a bounded number of times, and tries again later', async () => {
    let asked = 0
    const report = await send({
      followUp: () => {
        asked++
        return { request, afterMs: 0 }
      },
    })
    expect(asked).toBe(121)
    expect(report.verdict).toMatchObject({ kind: 'failed', message: 'the platform did not finish in time' })
    expect(report.results.map(({ kind }) => kind)).toEqual(['retry', 'retry'])
  })

  it('reports why a record was refused, briefly and without credentials', async () => {
    const message = `bad api_key=0123456789abcdef ${'word '.repeat(500)}`
    const { results } = await send({
      classify: () => ({
        kind: 'partial',
        message: 'm',
        rejected: [
          { index: 1, message },
          { index: 9, message },
        ],
      }),
    })
    expect(results[0]).toEqual({ kind: 'delivered' })
    const [, refused] = results
    expect(refused).toMatchObject({ kind: 'dead', reason: 'rejected', error: expect.stringContaining('api_key=[redacted]') })
    expect(refused?.kind === 'dead' ? refused.error.length : 0).toBe(500)
  })

  it('sends again the records that the platform asks for, and no others of the batch', async () => {
    const { results } = await send({ classify: () => ({ kind: 'partial', message: 'm', retry: [1, 9] }) }, 3)
    expect(results).toEqual([{ kind: 'delivered' }, { kind: 'retry', status: 200, error: 'm' }, { kind: 'delivered' }])
  })

  it('has eight requests open at a time, and no more', async () => {
    let open = 0
    let most = 0
    const { results } = await send({ encode: (records) => records.map((_record, i) => ({ ...request, records: [i] })) }, 10, content, async () => {
      most = Math.max(most, ++open)
      await setImmediate()
      open--
      return accepted
    })
    expect(most).toBe(8)
    expect(results).toEqual(Array.from({ length: 10 }, () => ({ kind: 'delivered' })))
  })

  it('turns records the encoder left out into dead letters', async () => {
    const { results } = await send({ encode: () => [{ ...request, records: [1] }] })
    expect(results).toEqual([
      { kind: 'dead', reason: 'encode-failed', status: 0, error: 'the encoder made no request for it' },
      { kind: 'delivered' },
    ])
  })

  it('shrinks a record that is far too large without trying every size', async () => {
    for (const chars of [10_100, 25_000, 95_000, 3_000_000]) {
      const sizes: number[] = []
      const { results } = await send(
        {
          encode: (records) => {
            const body = JSON.stringify(records)
            sizes.push(body.length)
            return [{ ...request, body }]
          },
        },
        1,
        { ...content, instructions: 'w'.repeat(chars) },
      )
      expect(results).toEqual([{ kind: 'delivered' }])
      // Shortened twice at most, and no further than to half of what would have gone.
      expect(sizes.length).toBeLessThanOrEqual(3)
      expect(sizes.at(-1)).toBeGreaterThan(5_000)
    }
  })

  it('sends no part of a generation before all parts fit, because accepted parts would be sent again with each half', async () => {
    const first: number[] = []
    const { results } = await send({
      limits: { records: 10, bytes: 10_000 },
      encode: (records) => [
        { ...request, body: `first ${records.length}` },
        { ...request, body: 'x'.repeat(records.length * 6_000) },
      ],
      classify: (_response, { body }) => {
        const [, count] = /^first (\d)/.exec(String(body)) ?? []
        if (count !== undefined) first.push(Number(count))
        return { kind: 'delivered' }
      },
    })
    expect(results).toEqual([{ kind: 'delivered' }, { kind: 'delivered' }])
    expect(first).toEqual([1, 1])
  })

  it('sends a record without its content where even the shortest content is too large', async () => {
    const { results } = await send(
      { limits: { records: 10, bytes: 3_500 }, encode: (records) => [{ ...request, body: JSON.stringify(records).padEnd(3_400) }] },
      1,
      { ...content, instructions: 'w'.repeat(500_000) },
    )
    expect(results).toEqual([{ kind: 'delivered' }])
  })
})
