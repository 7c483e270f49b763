import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Destination } from '../core/destination.ts'
import { EgressError, type BegunAnswer } from '../lib/egress-policy.ts'
import { Exchange } from './exchange.ts'

const plain: Destination = {
  type: 'plain',
  name: 'Plain',
  settings: z.object({}),
  secrets: [],
  limits: { records: 10, bytes: 1_000 },
  encode: () => [],
  probe: () => [],
}

/** Asks a receiver whose answer begins like this and then breaks off. */
function ask(begun: BegunAnswer, type: Partial<Destination> = {}, signal = new AbortController().signal) {
  const exchange = new Exchange({
    type: { ...plain, ...type },
    settings: {},
    context: { destinationId: 'd', serviceName: 'signalbox', serviceVersion: '1', now: 0, attempt: 0 },
    transport: () => Promise.reject(new EgressError('network', 'the connection broke', undefined, begun)),
    signal,
    beforeRequest: () => Promise.resolve(),
    now: () => 0,
  })
  return exchange.ask({ method: 'POST', url: 'https://receiver.example/', headers: {} })
}

describe('an answer whose end never comes', () => {
  it.each([
    [200, 'delivered'],
    [401, 'unauthorized'],
    [413, 'split'],
    [503, 'retry'],
  ])('means what its status says: %i is %s', async (status, kind) => {
    expect(await ask({ status, headers: {} })).toMatchObject({ status, outcome: { kind } })
  })

  it('says when to come back', async () => {
    const { outcome } = await ask({ status: 429, headers: { 'retry-after': '120' } })
    expect(outcome).toMatchObject({ kind: 'retry', afterMs: 120_000, overload: true })
  })

  it('gives no record up, as the reasons of a refusal are missing', async () => {
    expect(await ask({ status: 400, headers: {} })).toMatchObject({ status: 0, outcome: { kind: 'retry', message: 'the connection broke' } })
  })

  it('is no acceptance where its body would name what was refused', async () => {
    expect(await ask({ status: 200, headers: {} }, { answersInBody: true })).toMatchObject({ status: 0, outcome: { kind: 'retry' } })
    expect(await ask({ status: 413, headers: {} }, { answersInBody: true })).toMatchObject({ outcome: { kind: 'split' } })
  })

  it('is judged by the rules of the platform', async () => {
    const classify = () => ({ kind: 'retry', message: 'busy', overload: true }) as const
    expect(await ask({ status: 403, headers: {} }, { classify })).toMatchObject({ outcome: { kind: 'retry', message: 'busy' } })
  })

  it('is an acceptance also for one who gave up, and nothing else', async () => {
    const gone = AbortSignal.abort()
    expect(await ask({ status: 200, headers: {} }, {}, gone)).toMatchObject({ outcome: { kind: 'delivered' } })
    expect(await ask({ status: 401, headers: {} }, {}, gone)).toMatchObject({ outcome: { kind: 'aborted' } })
  })
})
