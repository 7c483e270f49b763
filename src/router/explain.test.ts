import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { AttemptRecord, CallTrace } from '../core/call.ts'
import type { ModelRequest } from '../core/request.ts'
import { testCatalog, testEndpoint } from '../testing/endpoints.ts'
import { explainPlan } from './explain.ts'
import { gatewayMetadata } from './metadata.ts'
import { planRoute, type PlanInput } from './plan.ts'

const cheap = testEndpoint({ tag: 'cheap', providerName: 'Cheap', pricing: { input: 1, output: 1 } })
const dear = testEndpoint({ tag: 'dear', providerName: 'Dear', pricing: { input: 2, output: 2 } })
const collector = testEndpoint({ tag: 'collector', providerName: 'Collector', policies: { dataCollection: 'allow' } })
const catalog = testCatalog([cheap, dear, collector])
const request: ModelRequest = {
  model: 'acme/small',
  input: [{ type: 'message', role: 'user', content: 'hi' }],
  provider: { data_collection: 'deny' },
}
const planOf = (more: Partial<ModelRequest> = {}) => planRoute({ request: { ...request, ...more }, catalog, random: () => 0, now: 0 })

describe('explainPlan', () => {
  it('counts in the share also those of equal rank that a plan has no place for', () => {
    const many = testCatalog(Array.from({ length: 20 }, (_, i) => testEndpoint({ tag: `t${i}`, pricing: { input: 1, output: 1 } })))
    const { attempts } = explainPlan(planRoute({ request, catalog: many, random: () => 0, now: 0 }), request)
    expect(attempts.length).toBeLessThan(20)
    expect(new Set(attempts.map(({ score }) => score.share))).toEqual(new Set([1 / 20]))
  })
  it('lists attempts with limits and figures, and all other endpoints with a reason', () => {
    const explained = explainPlan(planOf(), request)
    expect(explained).toMatchObject({ requested: 'acme/small', strategy: 'direct', order: 'balanced', error: null, params: {} })
    expect(explained.attempts[0]).toEqual({
      position: 1,
      endpoint: cheap.id,
      model: 'acme/small',
      provider: 'Cheap',
      tag: 'cheap',
      requested: 'acme/small',
      upstream_model: 'small-1',
      is_byok: false,
      state: 'healthy',
      notes: [],
      dropped_parameters: [],
      limits_ms: { connect: 5_000, first_token: 12_000, idle: 35_000, total: 900_000 },
      score: { price: 2, share: 0.8, latency_p50_ms: null, throughput_p50: null },
    })
    expect(explained.attempts[1]?.limits_ms.first_token).toBe(120_000)
    expect(explained.rejected).toEqual([
      {
        endpoint: collector.id,
        model: 'acme/small',
        provider: 'Collector',
        tag: 'collector',
        reason: 'provider.data_collection is deny and it collects data',
      },
    ])
    expect(JSON.parse(JSON.stringify(explained))).toEqual(explained)
  })
  it('explains fixed orders and refusals', () => {
    expect(explainPlan(planOf({ provider: { sort: 'price' } }), { ...request, provider: { sort: 'price' } })).toMatchObject({
      order: 'price',
      attempts: [{ score: { share: null } }, {}, {}],
    })
    const refused = explainPlan(planOf({ provider: { only: ['nobody'] } }), request)
    expect(refused.attempts).toEqual([])
    expect(refused.rejected.length).toBe(3)
    expect(refused.error).toMatchObject({ code: 404, error_type: 'not_found' })
  })
  it('shows the shares of first tries that plans actually have', () => {
    const states = ['healthy', 'healthy', 'outage', 'probe', 'benched'] as const
    let seed = 7
    const random = (): number => (seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0) / 4_294_967_296
    const drawn = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
    for (let n = 0; n < 40; n++) {
      const endpoints = ['acme/small', 'beta/large'].flatMap((model) =>
        ['a', 'b', 'c'].map((tag) => testEndpoint({ tag, model, pricing: { input: drawn([0.5, 1, 2]), output: 1 } })),
      )
      const known = new Map(
        endpoints.map(({ id }) => [
          id,
          { state: drawn(states), benchedUntil: 0, lastOutageAt: 0, latency: drawn([undefined, { p50: 3_000, p75: 1, p90: 1, p99: 1 }]) },
        ]),
      )
      const asked: ModelRequest = {
        models: [drawn(['acme/small', 'acme/small:floor']), 'beta/large'],
        input: [],
        provider: drawn([{}, {}, { preferred_max_latency: 1 }, { order: ['b'] }, { sort: 'price' as const }]),
      }
      const session = drawn([
        undefined,
        undefined,
        { explicit: true, seed: n, pinned: () => undefined },
        { explicit: false, seed: n, pinned: () => endpoints[1]!.id },
      ])
      const input: PlanInput = { request: asked, catalog: testCatalog(endpoints), health: { get: (id) => known.get(id) }, random, now: 0 }
      const plan = () => planRoute({ ...input, ...(session === undefined ? {} : { session }) })
      const first = new Map<string, number>()
      for (let i = 0; i < 800; i++) {
        for (const model of ['acme/small', 'beta/large']) {
          const { id } = plan().attempts.find(({ endpoint }) => endpoint.model === model)!.endpoint
          first.set(id, (first.get(id) ?? 0) + 1 / 800)
        }
      }
      for (const { endpoint, score } of explainPlan(plan(), asked).attempts) {
        const share = first.get(endpoint) ?? 0
        if (score.share === null) expect([0, 1]).toContain(Math.round(share * 1e6) / 1e6)
        else expect(Math.abs(score.share - share)).toBeLessThan(0.08)
      }
    }
  })
  it('gives a reason to endpoints beyond the places of a plan', () => {
    const many = Array.from({ length: 40 }, (_, i) => testEndpoint({ tag: `p${i}` }))
    const explained = explainPlan(planRoute({ request, catalog: testCatalog(many), random: () => 0, now: 0 }), request)
    expect(explained.attempts.length + explained.rejected.length).toBe(40)
    expect(explained.rejected.every(({ reason }) => reason.startsWith('usable'))).toBe(true)
  })
})

/** The contract's `GatewayMetadata`, transcribed by hand. */
const contract = z.strictObject({
  requested: z.string(),
  strategy: z.enum(['direct', 'auto', 'free', 'latest', 'alias', 'fallback', 'pareto', 'bodybuilder', 'fusion']),
  region: z.string().nullable(),
  summary: z.string(),
  attempt: z.int(),
  is_byok: z.boolean(),
  endpoints: z.strictObject({
    total: z.int(),
    available: z.array(z.strictObject({ provider: z.string(), model: z.string(), selected: z.boolean() })),
  }),
  attempts: z.array(z.strictObject({ provider: z.string(), model: z.string(), status: z.int(), error_type: z.string().optional() })).optional(),
  params: z.record(z.string(), z.unknown()).optional(),
  pipeline: z.array(z.looseObject({ type: z.string(), name: z.string() })).optional(),
})

describe('gatewayMetadata', () => {
  const traceOf = (more: Partial<CallTrace> = {}): CallTrace => {
    const plan = planOf()
    return { strategy: plan.strategy, candidates: plan.candidates, rejected: plan.rejected, attempts: [], pipeline: [], params: {}, ...more }
  }
  const attempt = (endpoint: typeof cheap, status: number, more: Partial<AttemptRecord> = {}): AttemptRecord => ({
    endpoint,
    status,
    startedAt: 0,
    ...more,
  })

  it('shows which endpoint served after which failures', () => {
    const attempts = [attempt(cheap, 503), attempt(dear, 200, { isByok: true, dropped: ['seed'] })]
    const metadata = gatewayMetadata(
      traceOf({ attempts, ...(attempts[1] === undefined ? {} : { served: attempts[1] }), params: { session_pinned: true } }),
      { requested: 'small', region: 'eu' },
    )
    expect(contract.parse(metadata)).toEqual({
      requested: 'small',
      strategy: 'direct',
      region: 'eu',
      summary: 'available=2, rejected=1, selected=Dear, failed=1',
      attempt: 2,
      is_byok: true,
      endpoints: {
        total: 3,
        available: [
          { provider: 'Cheap', model: 'acme/small', selected: false },
          { provider: 'Dear', model: 'acme/small', selected: true },
        ],
      },
      attempts: [
        { provider: 'Cheap', model: 'acme/small', status: 503 },
        { provider: 'Dear', model: 'acme/small', status: 200 },
      ],
      params: { session_pinned: true, dropped_parameters: ['seed'] },
    })
  })
  it('counts as failed what failed, not what served an earlier turn of a loop', () => {
    const error = { type: 'provider_unavailable', message: 'gone' } as const
    const attempts = [attempt(cheap, 200), attempt(cheap, 200, { error }), attempt(cheap, 0), attempt(dear, 200)]
    const served = attempts.at(-1)!
    expect(gatewayMetadata(traceOf({ attempts, served }), { requested: 'small' })).toMatchObject({
      summary: 'available=2, rejected=1, selected=Dear, failed=2',
      attempt: 4,
    })
  })
  it('has 0 attempts when no endpoint was reached, and lists the candidates when none was usable', () => {
    const plan = planOf({ provider: { only: ['nobody'] } })
    const metadata = gatewayMetadata(traceOf({ candidates: plan.candidates, rejected: plan.rejected }), { requested: 'acme/small' })
    expect(contract.parse(metadata)).toMatchObject({ attempt: 0, is_byok: false, region: null, summary: 'available=0, rejected=3' })
    expect(metadata.endpoints.available.map(({ selected }) => selected)).toEqual([false, false, false])
    expect('attempts' in metadata || 'params' in metadata || 'pipeline' in metadata).toBe(false)
  })
  it('marks no endpoint on failure and keeps stages', () => {
    const metadata = gatewayMetadata(traceOf({ attempts: [attempt(cheap, 0)], pipeline: [{ type: 'guardrail', name: 'moderation' }] }), {
      requested: 'acme/small',
    })
    expect(contract.parse(metadata)).toMatchObject({ attempt: 1, pipeline: [{ type: 'guardrail', name: 'moderation' }] })
    expect(metadata.endpoints.available.some(({ selected }) => selected)).toBe(false)
  })
  it('stays small for large catalogs, the one that served included', () => {
    const many = Array.from({ length: 500 }, (_, i) => testEndpoint({ tag: `p${i}` }))
    const served = attempt(many[499]!, 200)
    const metadata = gatewayMetadata(traceOf({ candidates: many, rejected: new Map(), attempts: [served], served }), { requested: 'acme/small' })
    expect(metadata.endpoints.total).toBe(500)
    expect(metadata.endpoints.available.length).toBe(64)
    expect(metadata.endpoints.available.at(-1)).toEqual({ provider: 'p499', model: 'acme/small', selected: true })
  })
})
