import { describe, expect, it } from 'vitest'
import type { Call } from '../core/call.ts'
import type { Counter, Reservation, Settlement, Verdict } from '../core/counter.ts'
import type { Dialect } from '../core/dialect.ts'
import type { EndpointLimit } from '../core/endpoint.ts'
import { isGatewayError, type GatewayError } from '../core/error.ts'
import { manualClock } from '../testing/deterministic.ts'
import { testEndpoint } from '../testing/endpoints.ts'
import { createEndpointLimits } from './endpoint-limits.ts'

const OF_ENDPOINT: EndpointLimit = { subject: 'endpoint:a', requestsPerMinute: 60, tokensPerMinute: 1_000, concurrentRequests: 3 }
const OF_PROVIDER: EndpointLimit = { subject: 'provider:acme', requestsPerMinute: 600 }
const estimate = { inputTokens: 100, leastTokens: 50, inputs: 0 }

function scene(limits: readonly EndpointLimit[] | undefined, verdict: Verdict = { ok: true, grantedUsd: 0 }, dialect: Partial<Dialect> = {}) {
  const reserved: Reservation[] = []
  const settled: Settlement[] = []
  const paused: (readonly [string, number])[] = []
  const counter: Counter = {
    reserve: (reservation) => Promise.resolve((reserved.push(reservation), verdict)),
    settle: (settlement) => Promise.resolve(void settled.push(settlement)),
    close: () => Promise.resolve(),
  }
  const full: (readonly [string, string])[] = []
  const onFull = (provider: string, limit: string) => void full.push([provider, limit])
  const takeShare = createEndpointLimits({ counter, policy: () => ({ expectedOutputTokens: 1_024 }), onFull })
  const call = { id: 'call', clock: manualClock(), request: { input: [] }, trace: { params: {} } } as unknown as Call
  const plain = testEndpoint()
  const connection = { ...plain.connection, dialect: { ...plain.connection.dialect, ...dialect } }
  const endpoint = testEndpoint({ providerName: 'Acme', connection, ...(limits === undefined ? {} : { limits }) })
  const health = { pause: (id: string, ms: number) => void paused.push([id, ms]) }
  const take = (request: object = {}, isByok = false) =>
    takeShare({ ...call, request: { ...call.request, ...request } }, { endpoint, isByok }, { estimate, health })
  return { take, reserved, settled, paused, full, call, endpoint }
}

describe('what an attempt uses of the limits', () => {
  it('costs nothing where there are no limits, and where the caller brought the key', () => {
    const free = scene(undefined)
    expect(free.take()).toBeUndefined()
    const own = scene([OF_ENDPOINT])
    expect(own.take({}, true)).toBeUndefined()
    expect([...free.reserved, ...own.reserved]).toEqual([])
  })

  it('is taken from all limits in one step: a request, a place, the prompt and the possible output', async () => {
    const { take, reserved } = scene([OF_ENDPOINT, OF_PROVIDER])
    await take({ max_output_tokens: 200 })
    expect(reserved[0]!.charges).toEqual([
      {
        subject: 'endpoint:a',
        revision: 0,
        rates: [
          { name: 'requests', limit: 60, cost: 1 },
          { name: 'tokens', limit: 1_000, cost: 300 },
        ],
        budgets: [],
        maxOpen: 3,
      },
      { subject: 'provider:acme', revision: 0, rates: [{ name: 'requests', limit: 600, cost: 1 }], budgets: [] },
    ])
    expect(reserved[0]).not.toHaveProperty('amountUsd')
  })

  it('has an id of its own, because several attempts of a call may be in flight', async () => {
    const { take, reserved } = scene([OF_ENDPOINT])
    await take()
    await take()
    expect(new Set(reserved.map(({ id }) => id)).size).toBe(2)
  })

  it.each([
    ['what was used', 40, 40 - 1_124],
    ['nothing where nothing was', 0, -1_124],
    ['what was expected where nobody counted', undefined, 0],
  ])('is %s', async (_what, used, correction) => {
    const { take, settled, reserved } = scene([OF_ENDPOINT, OF_PROVIDER])
    const share = await take()
    share!.settle({ tokens: used })
    expect(settled).toEqual([
      {
        id: reserved[0]!.id,
        now: expect.any(Number),
        payments: [
          { subject: 'endpoint:a', spentUsd: 0, rates: correction === 0 ? [] : [{ name: 'tokens', limit: 1_000, cost: correction }] },
          { subject: 'provider:acme', spentUsd: 0, rates: [] },
        ],
      },
    ])
  })

  it.each([
    ['nothing where nothing was sent', 0, -1],
    ['as many as were sent, where one part was asked for again', 2, 1],
  ])('is this number of requests: %s', async (_what, requests, correction) => {
    const { take, settled } = scene([{ subject: 'endpoint:a', requestsPerMinute: 60 }])
    const share = await take()
    share!.settle({ requests })
    expect(settled[0]!.payments[0]!.rates).toEqual([{ name: 'requests', limit: 60, cost: correction }])
  })

  it('includes reasoning on top of the answer where the vendor adds it', async () => {
    const thinks = scene([OF_ENDPOINT], undefined, { mostOutput: () => 700 })
    await thinks.take({ max_output_tokens: 200 })
    expect(thinks.reserved[0]!.charges[0]!.rates[1]).toMatchObject({ name: 'tokens', cost: 800 })
  })

  it('is as many requests as the vendor takes its inputs in', async () => {
    const { take, reserved } = scene([OF_ENDPOINT], undefined, { batch: () => ({ inputs: 2 }) })
    await take({ input: ['1', '2', '3', '4', '5'].map((content) => ({ type: 'message', role: 'user', content })) })
    expect(reserved[0]!.charges[0]!.rates[0]).toEqual({ name: 'requests', limit: 60, cost: 3 })
  })
})

describe('an endpoint that is full', () => {
  const state = { limit: 60, remaining: 0, resetAt: 5_000 }
  const refused = async (verdict: Verdict): Promise<ReturnType<typeof scene> & { readonly error: GatewayError }> => {
    const stage = scene([OF_ENDPOINT], verdict)
    const error: unknown = await stage.take()!.then(
      () => undefined,
      (reason: unknown) => reason,
    )
    if (!isGatewayError(error)) throw new Error('it was not refused')
    return { ...stage, error }
  }

  it('is skipped, reports for how long, and is ranked behind others meanwhile', async () => {
    const { error, paused, full, endpoint, call } = await refused({
      ok: false,
      reason: 'rate',
      subject: 'endpoint:a',
      rate: 'requests',
      state,
      retryAfterMs: 700,
    })
    expect(error).toMatchObject({ errorType: 'rate_limit_exceeded', failover: 'next', message: expect.stringContaining('Acme') })
    expect(error.details).toMatchObject({ source: 'gateway', retryAfterMs: 700, metadata: { limit: 'requests', limit_source: 'endpoint' } })
    expect(paused).toEqual([[endpoint.id, 700]])
    expect(full).toEqual([[endpoint.provider, 'requests']])
    expect(call.trace.params['endpoint_limits']).toContain('60 requests per minute')
  })

  it('for lack of tokens may take a smaller call at once', async () => {
    const { error, paused } = await refused({ ok: false, reason: 'rate', subject: 'endpoint:a', rate: 'tokens', state, retryAfterMs: 30_000 })
    expect(error.details).toMatchObject({ retryAfterMs: 30_000, metadata: { limit: 'tokens' } })
    expect(paused).toEqual([])
  })

  it('for lack of places reports no time, because none is known', async () => {
    const { error, paused } = await refused({ ok: false, reason: 'open', subject: 'endpoint:a', limit: 3 })
    expect(error.details.retryAfterMs).toBeUndefined()
    expect(error.details.metadata).toMatchObject({ limit: 'concurrent_requests' })
    expect(error.message).toContain('3 requests')
    expect(paused).toEqual([])
  })
})
