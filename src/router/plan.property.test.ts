import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Endpoint, Parameter } from '../core/endpoint.ts'
import type { ModelRequest, ProviderPreferences } from '../core/request.ts'
import { testCatalog, testEndpoint } from '../testing/endpoints.ts'
import type { EndpointHealth, HealthView } from './health.ts'
import { planRoute } from './plan.ts'
import type { Plan, PlanInput } from './plan.ts'

const NOW = 1_700_000_000_000
const TAGS = ['a', 'a/turbo', 'a/flex', 'b', 'b/fast', 'c', 'd', 'd/eu']

const endpointOf = fc.record({
  tag: fc.constantFrom(...TAGS),
  model: fc.constantFrom('m/one', 'm/two'),
  input: fc.option(fc.constantFrom(0, 0.5, 1, 2, 8), { nil: undefined }),
  output: fc.constantFrom(0.5, 2, 4),
  quantization: fc.constantFrom('fp8', 'bf16', 'unknown'),
  collects: fc.boolean(),
  zdr: fc.boolean(),
  maxOutputTokens: fc.constantFrom(100, 1_000, 8_000),
  contextLength: fc.constantFrom(500, 4_000, 128_000),
  supports: fc.subarray<Parameter>(['temperature', 'tools', 'structured_outputs', 'verbosity', 'max_tokens']),
})
const endpointsOf = fc.uniqueArray(endpointOf, { selector: ({ tag, model }) => `${model}@${tag}`, minLength: 1, maxLength: 12 }).map((list) =>
  list.map(({ input, output, collects, zdr, ...parts }) =>
    testEndpoint({
      ...parts,
      pricing: { output, ...(input === undefined ? {} : { input }) },
      policies: { dataCollection: collects ? 'allow' : 'deny', zdr },
      ...(parts.tag === 'a/flex' ? { tier: 'flex' as const } : parts.tag === 'b/fast' ? { tier: 'priority' as const } : {}),
    }),
  ),
)
const slugsOf = fc.option(fc.subarray([...TAGS, 'b/priority', 'nobody'], { minLength: 1 }), { nil: null })
const preferencesOf: fc.Arbitrary<ProviderPreferences> = fc.record(
  {
    order: slugsOf,
    only: slugsOf,
    ignore: slugsOf,
    allow_fallbacks: fc.boolean(),
    require_parameters: fc.boolean(),
    data_collection: fc.constantFrom('allow' as const, 'deny' as const),
    zdr: fc.boolean(),
    quantizations: fc.constantFrom(['fp8'], ['bf16', 'unknown'], null),
    max_price: fc.constantFrom({ prompt: '1' }, { completion: 2 }, null),
    sort: fc.constantFrom('price' as const, 'latency' as const, { by: 'price' as const, partition: 'none' as const }, null),
    preferred_max_latency: fc.constantFrom(1, null),
  },
  { requiredKeys: [] },
)
const requestOf: fc.Arbitrary<ModelRequest> = fc.record({
  models: fc.constantFrom(['m/one'], ['m/one', 'm/two'], ['m/two:nitro', 'm/one'], ['m/one:floor']),
  input: fc.constantFrom([], [{ type: 'message' as const, role: 'user' as const, content: 'text '.repeat(3_000) }]),
  temperature: fc.constantFrom(null, 1),
  tools: fc.constantFrom([], [{ type: 'function', name: 'f' }]),
  max_output_tokens: fc.constantFrom(null, 50, 500, 5_000),
  service_tier: fc.constantFrom('auto' as const, 'flex' as const, 'priority' as const, 'default' as const),
  provider: preferencesOf,
})
const healthOf = fc.dictionary(fc.constantFrom(...TAGS), fc.constantFrom('healthy' as const, 'outage' as const, 'benched' as const, 'probe' as const))

function viewOf(states: { readonly [tag: string]: EndpointHealth['state'] }): HealthView {
  return {
    get: (id) => {
      const tag = /@(.*)#/.exec(id)?.[1] ?? ''
      const state = Object.hasOwn(states, tag) ? states[tag] : undefined
      return state === undefined ? undefined : { state, benchedUntil: state === 'benched' ? NOW + 1 : 0, lastOutageAt: 0 }
    },
  }
}

interface Case {
  readonly endpoints: readonly Endpoint[]
  readonly request: ModelRequest
  readonly health: HealthView
  readonly seed: number
  readonly pin: string | undefined
}
const caseOf: fc.Arbitrary<Case> = fc
  .record({
    endpoints: endpointsOf,
    request: requestOf,
    health: healthOf.map(viewOf),
    seed: fc.double({ min: 0, max: 0.999, noNaN: true }),
    pinned: fc.nat(11),
    hasPin: fc.boolean(),
  })
  .map(({ pinned, hasPin, ...rest }) => ({ ...rest, pin: hasPin ? rest.endpoints[pinned % rest.endpoints.length]?.id : undefined }))

function inputOf({ endpoints, request, health, seed, pin }: Case): PlanInput {
  return { request, catalog: testCatalog(endpoints), health, random: () => seed, now: NOW, session: { explicit: false, seed: 1, pinned: () => pin } }
}
const ids = (plan: Plan): readonly string[] => plan.attempts.map(({ endpoint }) => endpoint.id)
const matches = (slugs: readonly string[], { tag, provider }: Endpoint): boolean =>
  slugs.includes(tag) || slugs.includes(provider) || (tag === 'b/fast' && slugs.includes('b/priority'))

describe('any plan', () => {
  it('attempts nothing it rejected, nothing twice, and accounts for every candidate', () => {
    fc.assert(
      fc.property(caseOf, (one) => {
        const plan = planRoute(inputOf(one))
        const attempted = ids(plan)
        expect(new Set(attempted).size).toBe(attempted.length)
        for (const id of attempted) expect(plan.rejected.has(id)).toBe(false)
        for (const { id } of plan.candidates) expect(attempted.includes(id) || plan.rejected.has(id)).toBe(true)
        expect(plan.error === undefined).toBe(attempted.length > 0)
      }),
      { numRuns: 400 },
    )
  })
  it('is the same when planned again', () => {
    fc.assert(
      fc.property(caseOf, (one) => {
        const [a, b] = [planRoute(inputOf(one)), planRoute(inputOf(one))]
        expect(ids(a)).toEqual(ids(b))
        expect([...a.rejected]).toEqual([...b.rejected])
      }),
    )
  })
  it('obeys every hard constraint', () => {
    fc.assert(
      fc.property(caseOf, (one) => {
        const { request } = one
        const wants = request.provider ?? {}
        for (const { endpoint, requested } of planRoute(inputOf(one)).attempts) {
          const asked =
            request.service_tier === endpoint.tier ||
            (endpoint.tier === 'flex' && requested.endsWith(':floor')) ||
            (endpoint.tier === 'priority' && requested.endsWith(':nitro'))
          const named = [...(wants.only ?? []), ...(wants.order ?? [])].some(
            (slug) => slug === endpoint.tag || (slug === 'b/priority' && endpoint.tag === 'b/fast'),
          )
          expect(endpoint.tier === undefined || asked || named).toBe(true)
          if (wants.only) expect(matches(wants.only, endpoint)).toBe(true)
          if (wants.ignore) expect(matches(wants.ignore, endpoint)).toBe(false)
          if (wants.order && wants.allow_fallbacks === false) expect(matches(wants.order, endpoint)).toBe(true)
          if (wants.data_collection === 'deny') expect(endpoint.policies.dataCollection).toBe('deny')
          if (wants.zdr === true) expect(endpoint.policies.zdr).toBe(true)
          if (wants.quantizations) expect(wants.quantizations).toContain(endpoint.quantization)
          if (wants.max_price?.prompt !== undefined) expect(endpoint.pricing.input ?? Infinity).toBeLessThanOrEqual(1)
          if (wants.max_price?.completion !== undefined) expect(endpoint.pricing.output ?? Infinity).toBeLessThanOrEqual(2)
          if (wants.require_parameters === true && request.tools?.length) expect(endpoint.supports.has('tools')).toBe(true)
          expect(request.max_output_tokens ?? 0).toBeLessThanOrEqual(endpoint.maxOutputTokens ?? Infinity)
        }
      }),
      { numRuns: 400 },
    )
  })
  it('lets soft preferences, health, sort and pins change the order and never the set', () => {
    fc.assert(
      fc.property(caseOf, (one) => {
        const { allow_fallbacks: _all, sort: _sort, preferred_max_latency: _slow, ...hard } = one.request.provider ?? {}
        const set = (more: ProviderPreferences, health?: HealthView): readonly string[] =>
          [
            ...ids(
              planRoute({
                ...inputOf({ ...one, request: { ...one.request, provider: { ...hard, ...more } } }),
                ...(health === undefined ? {} : { health }),
              }),
            ),
          ].sort()
        const plain = set({}, { get: () => undefined })
        expect(set({})).toEqual(plain)
        expect(set({ sort: 'latency' })).toEqual(plain)
        expect(set({ sort: { by: 'price', partition: 'none' } })).toEqual(plain)
        expect(set({ preferred_max_latency: 0.001, preferred_min_throughput: { p90: 1e6 } })).toEqual(plain)
      }),
    )
  })
  it('tries no benched endpoint while one that is not is left', () => {
    fc.assert(
      fc.property(caseOf, (one) => {
        const benched = planRoute(
          inputOf({ ...one, request: { ...one.request, provider: { ...one.request.provider, allow_fallbacks: true } } }),
        ).attempts.map(({ state }) => state === 'benched')
        expect(benched.slice(benched.indexOf(true)).every((value) => value) || !benched.includes(true)).toBe(true)
      }),
    )
  })
  it('follows provider.order exactly among endpoints that are not benched', () => {
    fc.assert(
      fc.property(caseOf, fc.subarray(['a', 'b', 'c', 'd'], { minLength: 1 }), (one, order) => {
        const request: ModelRequest = { ...one.request, models: ['m/one'], provider: { ...one.request.provider, order } }
        const positions = planRoute(inputOf({ ...one, request, health: { get: () => undefined } })).attempts.map(({ endpoint }) => {
          const found = endpoint.tier === undefined || endpoint.tier === request.service_tier ? order.indexOf(endpoint.provider) : -1
          return found === -1 ? order.length : found
        })
        expect(positions).toEqual([...positions].sort((x, y) => x - y))
      }),
    )
  })
  it('tries the pinned endpoint first when it may serve, is not benched and nothing manual stands against it', () => {
    fc.assert(
      fc.property(caseOf, (one) => {
        const { order: _order, allow_fallbacks: _all, ...provider } = one.request.provider ?? {}
        const plan = planRoute(inputOf({ ...one, request: { ...one.request, models: ['m/one'], service_tier: 'auto', provider } }))
        const pinned = plan.attempts.find(({ endpoint }) => endpoint.id === one.pin)
        if (pinned === undefined || pinned.state === 'benched') return
        expect(plan.attempts[0]?.endpoint.id).toBe(one.pin)
      }),
    )
  })
})

interface Asked extends Pick<ModelRequest, 'provider'> {
  readonly session?: PlanInput['session']
}

function planned(endpoints: readonly Endpoint[], { session, provider }: Asked = {}, draw = 0) {
  const request: ModelRequest = { model: 'acme/small', input: [], ...(provider === undefined ? {} : { provider }) }
  const known = session === undefined ? {} : { session }
  return planRoute({ request, catalog: testCatalog(endpoints), random: () => draw, now: NOW, ...known }).attempts
}
const tagsOf = (...asked: Parameters<typeof planned>) => planned(...asked).map(({ endpoint }) => endpoint.tag)
/** Rounded because a square root and its square lose precision. */
const rounded = (share = NaN): number => Math.round(share * 1e9) / 1e9
const sharesOf = (endpoints: readonly Endpoint[]) =>
  Object.fromEntries(planned(endpoints).map(({ endpoint, share }) => [endpoint.tag, rounded(share)]))

describe('the balance', () => {
  it('gives first tries by the inverse square of the price, within 2 % over 100,000 plans', () => {
    const prices = [1, 2, 3, 4]
    const endpoints = prices.map((price, i) => testEndpoint({ tag: `p${i}`, pricing: { input: price, output: price } }))
    const catalog = testCatalog(endpoints)
    const request: ModelRequest = { model: 'acme/small', input: [] }
    let state = 12345
    const random = (): number => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return state / 4_294_967_296
    }
    const first = new Map<string, number>()
    const plans = 100_000
    for (let n = 0; n < plans; n++) {
      const tag = planRoute({ request, catalog, random, now: NOW }).attempts[0]?.endpoint.tag ?? ''
      first.set(tag, (first.get(tag) ?? 0) + 1)
    }
    const total = prices.reduce((sum, price) => sum + 1 / price ** 2, 0)
    prices.forEach((price, i) => {
      const expected = 1 / price ** 2 / total
      expect(Math.abs((first.get(`p${i}`) ?? 0) / plans - expected)).toBeLessThan(0.02 * Math.max(expected, 0.25))
    })
  })
  it('gives a free endpoint no more than one that costs a cent', () => {
    const plan = sharesOf([
      testEndpoint({ tag: 'free', pricing: { input: 0, output: 0 } }),
      testEndpoint({ tag: 'cent', pricing: { input: 0.01, output: 0 } }),
    ])
    expect(plan).toEqual({ free: 0.5, cent: 0.5 })
  })

  describe('weights', () => {
    const weighted = (tag: string, weight: number | undefined, price = 1) =>
      testEndpoint({ tag, pricing: { input: price, output: price }, ...(weight === undefined ? {} : { weight }) })

    it('multiply the chance of a price, of free endpoints as well', () => {
      expect(sharesOf([weighted('a', 3), weighted('b', undefined)])).toEqual({ a: 0.75, b: 0.25 })
      expect(sharesOf([weighted('a', 3, 0), weighted('b', 1, 0)])).toEqual({ a: 0.75, b: 0.25 })
      expect(sharesOf([weighted('a', 4, 2), weighted('b', 1, 1)])).toEqual({ a: 0.5, b: 0.5 })
    })

    it('of 0 leave an endpoint to fall back on, behind all others', () => {
      expect(sharesOf([weighted('spare', 0, 0), weighted('dear', 1, 40)])).toEqual({ spare: 0, dear: 1 })
      for (const draw of [0, 0.5, 1 - 2 ** -32])
        expect(tagsOf([weighted('spare', 0, 0), weighted('dear', 1, 40)], {}, draw)).toEqual(['dear', 'spare'])
      expect(tagsOf([weighted('spare', 0, 2), weighted('cheaper', 0, 1)])).toEqual(['cheaper', 'spare'])
    })

    it('hold for sessions, and not for what is sorted or ordered', () => {
      const endpoints = [weighted('light', 1), weighted('heavy', 9)]
      const first = Array.from({ length: 2_000 }, (_, seed) => tagsOf(endpoints, { session: { explicit: true, seed, pinned: () => undefined } })[0])
      expect(first.filter((tag) => tag === 'heavy').length / first.length).toBeCloseTo(0.9, 1)
      expect(tagsOf([weighted('spare', 0, 1), weighted('dear', 1, 2)], { provider: { sort: 'price' } })).toEqual(['spare', 'dear'])
      expect(tagsOf([weighted('dear', 1, 2), weighted('spare', 0, 1)], { provider: { order: ['spare'] } })[0]).toBe('spare')
    })
  })
})
