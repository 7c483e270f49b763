import { describe, expect, it } from 'vitest'
import type { Endpoint } from '../core/endpoint.ts'
import type { ModelRequest, ProviderPreferences } from '../core/request.ts'
import { testCatalog, testEndpoint } from '../testing/endpoints.ts'
import type { EndpointHealth, HealthView } from './health.ts'
import { planRoute } from './plan.ts'
import type { Plan, PlanInput } from './plan.ts'

const NOW = 1_700_000_000_000
const HELLO: ModelRequest = { model: 'acme/small', input: [{ type: 'message', role: 'user', content: 'hello' }] }

function healthOf(states: { readonly [tag: string]: Partial<EndpointHealth> }, endpoints: readonly Endpoint[]): HealthView {
  const byId = new Map<string, EndpointHealth>()
  for (const endpoint of endpoints) {
    const given = states[endpoint.tag]
    if (given !== undefined) byId.set(endpoint.id, { state: 'healthy', benchedUntil: 0, lastOutageAt: 0, ...given })
  }
  return { get: (id) => byId.get(id) }
}

function plan(endpoints: readonly Endpoint[], request: Partial<ModelRequest> = {}, more: Partial<PlanInput> = {}): Plan {
  return planRoute({ request: { ...HELLO, ...request }, catalog: testCatalog(endpoints), random: () => 0, now: NOW, ...more })
}
const tags = (result: Plan): readonly string[] => result.attempts.map(({ endpoint }) => endpoint.tag)
const reason = (result: Plan, tag: string): string | undefined =>
  result.rejected.get(result.candidates.find((endpoint) => endpoint.tag === tag)?.id ?? '')
const flat = (value: number): EndpointHealth['latency'] => ({ p50: value, p75: value, p90: value, p99: value })

const cheap = testEndpoint({ tag: 'cheap', pricing: { input: 1, output: 1 } })
const middle = testEndpoint({ tag: 'middle', pricing: { input: 2, output: 2 } })
const dear = testEndpoint({ tag: 'dear', pricing: { input: 3, output: 3 } })
const free = testEndpoint({ tag: 'free', pricing: { input: 0, output: 0 } })
const three = [dear, cheap, middle]

describe('provider preferences', () => {
  const turbo = testEndpoint({ tag: 'infra/turbo', pricing: { input: 2, output: 2 }, quantization: 'fp8' })
  const plain = testEndpoint({ tag: 'infra', pricing: { input: 3, output: 3 }, quantization: 'bf16', providerName: 'Infra Cloud' })
  const other = testEndpoint({
    tag: 'other',
    policies: { dataCollection: 'allow', zdr: false, distillable: false },
    supports: ['tools'],
    pricing: { input: 1, output: 1 },
    maxOutputTokens: 1_000,
  })
  const unpriced = testEndpoint({ tag: 'unpriced', pricing: {} })
  const all = [turbo, plain, other, unpriced]

  const table: readonly (readonly [
    name: string,
    provider: ProviderPreferences,
    expected: readonly string[],
    rejected?: readonly [tag: string, reason: string],
  ])[] = [
    ['a base slug in only matches all variants', { only: ['infra'] }, ['infra/turbo', 'infra'], ['other', 'provider.only does not name it']],
    ['a variant slug matches one endpoint', { only: ['infra/turbo'] }, ['infra/turbo'], ['infra', 'provider.only does not name it']],
    ['a display name works as a slug', { only: ['Infra Cloud'] }, ['infra']],
    ['and so does a display name written like one', { only: ['infra-cloud'] }, ['infra'], ['other', 'provider.only does not name it']],
    ['also in ignore', { ignore: ['infra-cloud'], only: ['infra'] }, ['infra/turbo'], ['infra', 'provider.ignore names it']],
    ['and in order', { order: ['infra-cloud'] }, ['infra', 'other', 'infra/turbo', 'unpriced']],
    ['ignore excludes all variants', { ignore: ['infra'] }, ['other', 'unpriced'], ['infra/turbo', 'provider.ignore names it']],
    ['ignore of a variant leaves the rest', { ignore: ['infra/turbo'], only: ['infra'] }, ['infra']],
    ['order goes first, the rest follows from cheap to dear', { order: ['unpriced', 'infra'] }, ['unpriced', 'infra/turbo', 'infra', 'other']],
    ['order of a variant before its base', { order: ['infra/turbo', 'other', 'infra'] }, ['infra/turbo', 'other', 'infra', 'unpriced']],
    [
      'order without fallbacks tries the listed only',
      { order: ['other', 'infra/turbo'], allow_fallbacks: false },
      ['other', 'infra/turbo'],
      ['infra', 'provider.order does not name it and provider.allow_fallbacks is false'],
    ],
    ['unlisted slugs in order are skipped', { order: ['nobody', 'other'], allow_fallbacks: false }, ['other']],
    [
      'no fallbacks without order tries the first only',
      { allow_fallbacks: false, sort: 'price' },
      ['other'],
      ['infra', 'provider.allow_fallbacks is false and another endpoint goes first'],
    ],
    [
      'data_collection deny excludes collectors',
      { data_collection: 'deny', sort: 'price' },
      ['infra/turbo', 'infra', 'unpriced'],
      ['other', 'provider.data_collection is deny and it collects data'],
    ],
    ['data_collection allow excludes nobody', { data_collection: 'allow', sort: 'price' }, ['other', 'infra/turbo', 'infra', 'unpriced']],
    ['zdr', { zdr: true, sort: 'price' }, ['infra/turbo', 'infra', 'unpriced'], ['other', 'provider.zdr is set and it retains data']],
    [
      'enforce_distillable_text',
      { enforce_distillable_text: true, sort: 'price' },
      ['infra/turbo', 'infra', 'unpriced'],
      ['other', 'provider.enforce_distillable_text is set and its terms forbid distillation'],
    ],
    ['quantizations', { quantizations: ['fp8', 'fp16'] }, ['infra/turbo'], ['infra', 'provider.quantizations does not list its "bf16"']],
    ['quantizations unknown', { quantizations: ['unknown'], sort: 'price' }, ['other', 'unpriced']],
    [
      'max_price excludes the dearer and the unknown',
      { max_price: { prompt: '2', completion: 2 }, sort: 'price' },
      ['other', 'infra/turbo'],
      ['unpriced', 'provider.max_price.prompt is 2 USD and its price is unknown'],
    ],
    [
      'max_price names the price',
      { max_price: { prompt: 2.5 }, sort: 'price' },
      ['other', 'infra/turbo'],
      ['infra', 'provider.max_price.prompt is 2.5 USD and its price is 3 USD'],
    ],
    [
      'require_parameters',
      { require_parameters: true, sort: 'price' },
      ['infra/turbo', 'infra', 'unpriced'],
      ['other', 'provider.require_parameters is set and it lacks temperature'],
    ],
    ['sort by price puts unknown prices with the dearest', { sort: 'price' }, ['other', 'infra/turbo', 'infra', 'unpriced']],
  ]
  for (const [name, provider, expected, rejected] of table) {
    it(name, () => {
      const result = plan(all, { provider, temperature: 1 })
      expect(tags(result)).toEqual(expected)
      expect(result.error).toBeUndefined()
      if (rejected !== undefined) expect(reason(result, rejected[0])).toBe(rejected[1])
    })
  }

  it('excludes by price per request and per image only where such a price exists', () => {
    const perRequest = testEndpoint({ tag: 'per-request', pricing: { input: 1, output: 1, request: 0.02, image: 0.5 } })
    expect(tags(plan([perRequest, cheap], { provider: { max_price: { request: '0.01' } } }))).toEqual(['cheap'])
    expect(tags(plan([perRequest, cheap], { provider: { max_price: { image: 0.1 } } }))).toEqual(['cheap'])
    expect(tags(plan([perRequest, cheap], { provider: { max_price: { request: 0.02 } } })).length).toBe(2)
  })

  it('excludes by what the service tier and the speed that are asked for cost, at a vendor who charges a multiple for them', () => {
    const { connection } = testEndpoint({ tag: 'vendor' })
    const dialect = {
      ...connection.dialect,
      tierFactor: (tier: string) => (tier === 'priority' ? 1.75 : tier === 'flex' ? 0.5 : 1),
      priceFactor: ({ speed }: ModelRequest) => (speed === 'fast' ? 6 : 1),
    }
    const vendor = testEndpoint({ tag: 'vendor', pricing: { input: 0.4, output: 4 }, connection: { ...connection, dialect } })
    const within = (prompt: number, request: Partial<ModelRequest>): Plan => plan([vendor, free], { provider: { max_price: { prompt } }, ...request })
    expect(tags(within(0.4, {}))).toContain('vendor')
    expect(reason(within(0.4, { service_tier: 'priority' }), 'vendor')).toBe('provider.max_price.prompt is 0.4 USD and its price is 0.7 USD')
    expect(tags(within(0.7, { service_tier: 'priority' }))).toContain('vendor')
    expect(reason(within(2, { speed: 'fast' }), 'vendor')).toBe('provider.max_price.prompt is 2 USD and its price is 2.4 USD')
    // It may be served at the list price after all.
    expect(tags(within(0.2, { service_tier: 'flex' }))).toEqual(['free'])
  })

  it('does not apply a limit on token prices to endpoints that are priced per request', () => {
    const search = testEndpoint({ tag: 'search', pricing: { request: 0.02 } })
    const unpriced = testEndpoint({ tag: 'unpriced', pricing: {} })
    const provider = { max_price: { prompt: 1, completion: 1, audio: 1 } }
    expect(tags(plan([search, unpriced], { provider }))).toEqual(['search'])
    expect(plan([search], { provider: { max_price: { ...provider.max_price, request: 0.01 } } }).attempts).toEqual([])
  })
  it('excludes by the price of sound, which is that of text where it has none of its own', () => {
    const text = testEndpoint({ tag: 'text', pricing: { input: 3, output: 1 } })
    const sound = testEndpoint({ tag: 'sound', pricing: { input: 3, output: 1, inputAudio: 0.5 } })
    const dear = testEndpoint({ tag: 'dear', pricing: { input: 0.1, output: 0.1, inputAudio: 9 } })
    const provider = { max_price: { audio: '1' } }
    const input = [{ type: 'message', role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }] }] as const
    expect(tags(plan([text, sound, dear], { provider })).toSorted()).toEqual(['sound', 'text'])
    const heard = plan([text, sound, dear], { provider, input })
    expect(tags(heard)).toEqual(['sound'])
    expect(reason(heard, 'text')).toBe('provider.max_price.audio is 1 USD and its price is 3 USD')
    const unpriced = testEndpoint({ tag: 'unpriced', pricing: {} })
    expect(reason(plan([unpriced, sound], { provider, input }), 'unpriced')).toBe('provider.max_price.audio is 1 USD and its price is unknown')
    expect(tags(plan([sound], { provider: { max_price: { audio: 0.5 } }, input }))).toEqual(['sound'])
    expect(tags(plan([unpriced], { provider: { max_price: { request: 1 } }, input }))).toEqual(['unpriced'])
  })
  it('requires support for one call at a time if requested, and nothing if several are allowed', () => {
    const several = testEndpoint({ tag: 'several', supports: ['tools'] })
    const tools = [{ type: 'function', name: 'f', parameters: {} }] as const
    const asked = (parallel: boolean) => plan([several], { provider: { require_parameters: true }, tools, parallel_tool_calls: parallel })
    expect(tags(asked(true))).toEqual(['several'])
    expect(asked(false).error?.message).toContain('parallel_tool_calls')
  })
  it('requires what chooses among the tools, and JSON of any shape', () => {
    const tools = [{ type: 'function', name: 'f', parameters: {} }] as const
    const required = (supports: Endpoint['supports'], request: Partial<ModelRequest>) =>
      plan([testEndpoint({ tag: 'a', supports })], { provider: { require_parameters: true }, ...request }).error?.message
    expect(required(new Set(['tools']), { tools, tool_choice: 'auto' })).toBeUndefined()
    expect(required(new Set(['tools']), { tools, tool_choice: 'required' })).toContain('lacks tool_choice')
    expect(required(new Set(['tools', 'tool_choice']), { tools, tool_choice: 'required' })).toBeUndefined()
    const text = { format: { type: 'json_object' as const } }
    expect(required(new Set(['tools']), { text })).toContain('lacks response_format')
    expect(required(new Set(['response_format']), { text })).toBeUndefined()
  })
  it('requires probabilities of tokens however they were asked for', () => {
    const [bare, probable] = [testEndpoint({ tag: 'bare', supports: [] }), testEndpoint({ tag: 'probable', supports: ['logprobs'] })]
    const include = ['message.output_text.logprobs']
    expect(tags(plan([bare, probable], { provider: { require_parameters: true }, include }))).toEqual(['probable'])
    expect(plan([bare], { include }).params).toEqual({ dropped_parameters: ['logprobs'] })
    expect(plan([probable], { include, top_logprobs: 2 }).params).toEqual({})
  })
  it('requires nothing for fields that ask for nothing', () => {
    const bare = testEndpoint({ tag: 'bare', supports: [] })
    const required = (request: Partial<ModelRequest>) => plan([bare], { provider: { require_parameters: true }, ...request }).error?.message
    for (const reasoning of [{}, { effort: null, summary: null, max_tokens: null, enabled: null }]) {
      expect(required({ reasoning })).toBeUndefined()
      expect(plan([bare], { reasoning }).params).toEqual({})
    }
    expect(required({ top_logprobs: 0 })).toBeUndefined()
    expect(plan([bare], { top_logprobs: 0 }).params).toEqual({})
    expect(required({ reasoning: { summary: 'auto' } })).toContain('lacks reasoning')
    expect(required({ top_logprobs: 0, include: ['message.output_text.logprobs'] })).toContain('lacks logprobs')
  })
  it('treats a price with an unknown half as unknown', () => {
    const half = testEndpoint({ tag: 'half', pricing: { output: 0.5 } })
    expect(tags(plan([half, cheap, middle], { provider: { sort: 'price' } }))).toEqual(['cheap', 'half', 'middle'])
    expect(tags(plan([half, middle], {}, { random: () => 0.4 }))).toEqual(['half', 'middle'])
    expect(tags(plan([half, middle], {}, { random: () => 0.6 }))).toEqual(['middle', 'half'])
  })

  it('sorts and balances by the prices in force: those of long prompts, and of the time of day', () => {
    const input: ModelRequest['input'] = [{ type: 'message', role: 'user', content: 'word '.repeat(5_000) }]
    const tiered = testEndpoint({ tag: 'tiered', pricing: { input: 1, output: 1, tiers: [{ fromInputTokens: 1_000, input: 5, output: 5 }] } })
    expect(tags(plan([tiered, middle], { provider: { sort: 'price' } }))).toEqual(['tiered', 'middle'])
    expect(tags(plan([tiered, middle], { provider: { sort: 'price' }, input }))).toEqual(['middle', 'tiered'])
    expect(plan([tiered, middle], { input }).attempts.map(({ price }) => price)).toEqual([10, 4])
    const hourly = testEndpoint({ tag: 'hourly', pricing: { input: 1, output: 1, windows: [{ from: 3_600, to: 7_200, input: 5, output: 5 }] } })
    const at = (time: string) => tags(plan([hourly, middle], { model: 'acme/small:floor' }, { now: Date.parse(`2026-01-01T${time}Z`) }))
    expect([at('00:30:00'), at('01:30:00')]).toEqual([
      ['hourly', 'middle'],
      ['middle', 'hourly'],
    ])
  })

  it('prices a long prompt by the tier it reaches', () => {
    const tiered = testEndpoint({ tag: 'tiered', pricing: { input: 1, output: 1, tiers: [{ fromInputTokens: 1_000, input: 5 }] } })
    const long: ModelRequest['input'] = [{ type: 'message', role: 'user', content: 'word '.repeat(5_000) }]
    expect(tags(plan([tiered], { provider: { max_price: { prompt: 2 } } }))).toEqual(['tiered'])
    expect(plan([tiered], { input: long, provider: { max_price: { prompt: 2 } } }).error?.errorType).toBe('not_found')
  })
  it('prices a call by the time of day where prices depend on it', () => {
    const night = testEndpoint({ tag: 'night', pricing: { input: 4, output: 4, windows: [{ from: 82_800, to: 3_600, input: 1, output: 1 }] } })
    const at = (hour: number): number =>
      plan([night], { provider: { max_price: { prompt: 2 } } }, { now: Date.UTC(2026, 0, 1, hour) }).attempts.length
    expect([at(23), at(0), at(1), at(12)]).toEqual([1, 1, 0, 0])
  })
  it('refuses a price that is no number instead of relaxing it', () => {
    for (const prompt of ['cheap', '', ' ', -1, '-0.5']) {
      const { error } = plan(all, { provider: { max_price: { prompt } } })
      expect({ prompt, type: error?.errorType, path: error?.details.path }).toEqual({
        prompt,
        type: 'invalid_request',
        path: 'provider.max_price.prompt',
      })
    }
    expect(tags(plan([cheap, free], { provider: { max_price: { prompt: 0 } } }))).toEqual(['free'])
  })
  it('adds the restrictions of workspace and key to the caller’s, and lets the caller replace the rest', () => {
    const defaults = { provider: { only: ['infra'], ignore: ['infra/turbo'], zdr: true, sort: 'price' as const } }
    expect(tags(plan(all, {}, { defaults }))).toEqual(['infra'])
    expect(plan(all, { provider: { only: ['other'], zdr: false } }, { defaults }).error?.errorType).toBe('not_found')
    expect(tags(plan(three, { provider: { order: ['dear'] } }, { defaults: { provider: { sort: 'price' } } }))).toEqual(['dear', 'cheap', 'middle'])
  })

  it('lets no caller relax what workspace and key forbid', () => {
    const restrictions: readonly ProviderPreferences[] = [{ data_collection: 'deny' }, { zdr: true }, { enforce_distillable_text: true }]
    for (const restriction of restrictions) {
      const relaxed = { data_collection: 'allow', zdr: false, enforce_distillable_text: false, only: ['infra', 'other'], sort: 'price' } as const
      expect(tags(plan(all, { provider: relaxed }))).toContain('other')
      expect(tags(plan(all, { provider: relaxed }, { defaults: { provider: restriction } }))).toEqual(['infra/turbo', 'infra'])
    }
  })

  it('without fallbacks, all turns of an answer use the endpoint of the first turn, whichever the balance would draw', () => {
    const drawn = (random: number, served?: string) => tags(plan(three, { provider: { allow_fallbacks: false } }, { random: () => random, served }))
    expect(drawn(0)).toEqual(['dear'])
    expect(drawn(0.99)).toEqual(['middle'])
    expect(drawn(0.99, dear.id)).toEqual(['dear'])
    expect(drawn(0.99, 'gone')).toEqual(['middle'])
  })
})

describe('models', () => {
  const b = testEndpoint({ model: 'beta/large', tag: 'beta', pricing: { input: 0.5, output: 0.5 } })
  it('goes through model, then models, once each', () => {
    const result = plan([cheap, dear, b], { models: ['acme/small', 'beta/large', 'beta/large:nitro'] })
    expect(result.attempts.map(({ model }) => model)).toEqual(['acme/small', 'acme/small', 'beta/large'])
    expect(result.strategy).toBe('fallback')
    expect(result.requested).toBe('acme/small')
  })
  it('takes the first of models when model is missing', () => {
    const result = plan([cheap, b], { model: '', models: ['beta/large', 'acme/small'] })
    expect(result.requested).toBe('beta/large')
    expect(tags(result)).toEqual(['beta', 'cheap'])
  })
  it('falls back to the default model, and is invalid without one', () => {
    expect(tags(plan([cheap, b], { model: '' }, { defaults: { model: 'beta/large' } }))).toEqual(['beta'])
    const both = { model: 'acme/small', imageModel: 'beta/large' }
    expect(plan([cheap, b], { model: '' }, { defaults: both }).requested).toBe('acme/small')
    expect(plan([cheap, b], { model: '', modalities: ['image', 'text'] }, { defaults: both }).requested).toBe('beta/large')
    expect(plan([cheap, b], { modalities: ['image'] }, { defaults: both }).requested).toBe('acme/small')
    const none = plan([cheap], { model: '' })
    expect(none.error?.errorType).toBe('invalid_request')
    expect(none.attempts).toEqual([])
  })
  it('serves the known models when some are unknown, and says so', () => {
    const result = plan([b], { models: ['beta/large'] })
    expect(tags(result)).toEqual(['beta'])
    expect(result.params).toEqual({ unknown_models: ['acme/small'] })
  })
  it('says how many models it has left out', () => {
    const others = Array.from({ length: 70 }, (_, n) => `acme/other-${n}`)
    expect(plan(three, { models: others }).params).toMatchObject({ models_left_out: 7 })
    expect(plan(three, { models: others.slice(0, 63) }).params).not.toHaveProperty('models_left_out')
    const sixtyFour = others.slice(0, 63)
    expect(plan(three, { models: [...sixtyFour, 'acme/small', '', ...sixtyFour] }).params).not.toHaveProperty('models_left_out')
    expect(plan(three, { models: [...others, ...others] }).params).toMatchObject({ models_left_out: 7 })
    expect(plan(three, { model: 'acme/other', models: others }).error?.message).toMatch(/Only the first 64 models of a request are tried/)
  })
  it('answers 404 with a hint for a model nobody serves', () => {
    const result = plan([cheap], { model: 'other/small' })
    expect(result.error?.status).toBe(404)
    expect(result.error?.message).toContain('"other/small"')
    expect(result.error?.message).toContain('acme/small')
  })
  it('lists the endpoints of the model and the preference that excluded each', () => {
    const { error } = plan(three, { provider: { only: ['cheap'], max_price: { prompt: 0.5 } } })
    expect(error?.errorType).toBe('not_found')
    expect(error?.message).toContain('dear: provider.only does not name it')
    expect(error?.message).toContain('cheap: provider.max_price.prompt is 0.5 USD and its price is 1 USD')
    const many = Array.from({ length: 300 }, (_, i) => testEndpoint({ tag: `provider-${i}` }))
    expect(plan(many, { provider: { only: ['x'] } }).error?.message.length).toBeLessThan(1_000)
  })
  it('sorts across models with partition none, and groups by model otherwise', () => {
    const models = ['acme/small', 'beta/large']
    expect(tags(plan([dear, b], { models, provider: { sort: { by: 'price', partition: 'none' } } }))).toEqual(['beta', 'dear'])
    expect(tags(plan([dear, b], { models, provider: { sort: { by: 'price', partition: 'model' } } }))).toEqual(['dear', 'beta'])
    expect(tags(plan([dear, b], { models, provider: { sort: { partition: 'none' } } }))).toEqual(['beta', 'dear'])
  })
})

describe('variants and tiers', () => {
  const standard = testEndpoint({ tag: 'vendor', pricing: { input: 4, output: 4 } })
  const flex = testEndpoint({ tag: 'vendor/flex', tier: 'flex', pricing: { input: 2, output: 2 } })
  const fast = testEndpoint({ tag: 'vendor/fast', tier: 'priority', pricing: { input: 8, output: 8 } })
  const rival = testEndpoint({ tag: 'rival', pricing: { input: 3, output: 3 } })
  const all = [standard, flex, fast, rival]
  const health = healthOf({ vendor: { throughput: flat(50) }, 'vendor/fast': { throughput: flat(200) }, rival: { throughput: flat(100) } }, all)

  const table: readonly (readonly [name: string, request: Partial<ModelRequest>, expected: readonly string[]])[] = [
    ['tiers need asking', { provider: { sort: 'price' } }, ['rival', 'vendor']],
    ['a base slug does not match tiers', { provider: { only: ['vendor'] } }, ['vendor']],
    ['a tier slug asks for the tier', { provider: { only: ['vendor/flex'] } }, ['vendor/flex']],
    ['fast and priority are one tier', { provider: { only: ['vendor/priority'] } }, ['vendor/fast']],
    ['under either name', { provider: { only: ['vendor/fast'] } }, ['vendor/fast']],
    ['a tier slug in order admits that endpoint', { provider: { order: ['vendor/priority'], sort: 'price' } }, ['vendor/fast', 'rival', 'vendor']],
    ['flex serves from flex only', { service_tier: 'flex' }, ['vendor/flex']],
    ['flex with a base slug in only', { service_tier: 'flex', provider: { only: ['vendor'] } }, ['vendor/flex']],
    ['flex without flex endpoints routes as usual', { service_tier: 'flex', provider: { only: ['rival'] } }, ['rival']],
    ['priority first, then the others by throughput', { service_tier: 'priority' }, ['vendor/fast', 'rival', 'vendor']],
    ['priority goes before an explicit sort', { service_tier: 'priority', provider: { sort: 'price' } }, ['vendor/fast', 'rival', 'vendor']],
    ['fast is priority', { service_tier: 'fast' }, ['vendor/fast', 'rival', 'vendor']],
    ['auto and default admit no tier', { service_tier: 'default', provider: { sort: 'price' } }, ['rival', 'vendor']],
    [':nitro sorts by throughput with priority', { model: 'acme/small:nitro' }, ['vendor/fast', 'rival', 'vendor']],
    [':floor sorts by price with flex', { model: 'acme/small:floor' }, ['vendor/flex', 'rival', 'vendor']],
    ['a default tier keeps the sort of :floor and drops its tier', { model: 'acme/small:floor', service_tier: 'default' }, ['rival', 'vendor']],
    ['a base slug in order stands for no tier', { provider: { order: ['vendor', 'rival', 'vendor/flex'] } }, ['vendor', 'rival', 'vendor/flex']],
    ['order switches the tier of a variant off', { model: 'acme/small:nitro', provider: { order: ['vendor'] } }, ['vendor', 'rival']],
    ['an explicit sort wins over the variant', { model: 'acme/small:nitro', provider: { sort: 'price' } }, ['rival', 'vendor', 'vendor/fast']],
    ['the last of several sorting suffixes counts', { model: 'acme/small:nitro:floor' }, ['vendor/flex', 'rival', 'vendor']],
    ['ignoring a provider includes its tiers', { service_tier: 'priority', provider: { ignore: ['vendor'] } }, ['rival']],
  ]
  it.each(table)('%s', (_name, request, expected) => {
    expect(tags(plan(all, request, { health }))).toEqual(expected)
  })

  it('balances as usual where a tier is asked of a model without it', () => {
    expect(tags(plan([standard, rival], { service_tier: 'flex' }, { health }))).toEqual(['vendor', 'rival'])
    expect(tags(plan([standard, rival], { service_tier: 'priority' }, { health }))).toEqual(['vendor', 'rival'])
  })
  it('marks :online', () => {
    expect(plan(all, { model: 'acme/small:online' }).attempts[0]?.online).toBe(true)
    expect(plan(all).attempts[0]?.online).toBe(false)
  })
  it('serves :free from free endpoints only, and free endpoints only for :free', () => {
    const free = testEndpoint({ tag: 'gift', variant: 'free', pricing: { input: 0, output: 0 } })
    expect(tags(plan([standard, free], { model: 'acme/small:free' }))).toEqual(['gift'])
    expect(tags(plan([standard, free]))).toEqual(['vendor'])
    expect(tags(plan([standard, free], { model: 'acme/small:free:nitro' }))).toEqual(['gift'])
    expect(plan([standard], { model: 'acme/small:thinking' }).error?.message).toContain('does not serve the variant ":thinking"')
  })
  it('serves a model that is a variant by its own slug', () => {
    const free = testEndpoint({ model: 'acme/small:free', tag: 'gift', variant: 'free' })
    expect(tags(plan([standard, free], { model: 'acme/small:free' }))).toEqual(['gift'])
  })
  it('names the strategy', () => {
    const catalog = testCatalog([standard, testEndpoint({ model: 'acme/medium-2', tag: 'vendor' })], {
      'acme/small': { aliases: ['small'] },
      'acme/medium-2': { aliases: ['~acme/medium-latest'] },
    })
    const strategy = (model: string): string => planRoute({ request: { ...HELLO, model }, catalog, random: Math.random, now: NOW }).strategy
    expect(strategy('acme/small')).toBe('direct')
    expect(strategy('acme/small:nitro')).toBe('direct')
    expect(strategy('small')).toBe('alias')
    expect(strategy('~acme/medium-latest')).toBe('latest')
  })
})

describe('the default order', () => {
  it('draws one endpoint by the inverse square of its price; the others follow from cheap to expensive', () => {
    expect(tags(plan(three, {}, { random: () => 0 }))).toEqual(['dear', 'cheap', 'middle'])
    // Weights 1/36, 1/4, 1/16 in the order given: the shares end at 0.08, 0.82 and 1.
    expect(tags(plan(three, {}, { random: () => 0.5 }))).toEqual(['cheap', 'middle', 'dear'])
    expect(tags(plan(three, {}, { random: () => 0.99 }))).toEqual(['middle', 'cheap', 'dear'])
  })
  it('puts endpoints that failed in the last 30 s behind the others, and cooling ones last', () => {
    const health = healthOf({ cheap: { state: 'outage' }, middle: { state: 'benched', benchedUntil: NOW + 1 } }, three)
    expect(tags(plan(three, {}, { health }))).toEqual(['dear', 'cheap', 'middle'])
    expect(tags(plan(three, { provider: { order: ['middle', 'cheap'] } }, { health }))).toEqual(['cheap', 'dear', 'middle'])
  })
  it('does not let outages reorder an explicit order or sort', () => {
    const health = healthOf({ cheap: { state: 'outage' } }, three)
    expect(tags(plan(three, { provider: { order: ['cheap'] } }, { health }))[0]).toBe('cheap')
    expect(tags(plan(three, { provider: { sort: 'price' } }, { health }))[0]).toBe('cheap')
    const turbo = testEndpoint({ tag: 'cheap/turbo', pricing: { input: 9, output: 9 } })
    expect(tags(plan([turbo, cheap], { provider: { order: ['cheap'] } }, { health }))).toEqual(['cheap', 'cheap/turbo'])
  })
  it('keeps a benched endpoint when nothing else is left', () => {
    const health = healthOf({ cheap: { state: 'benched', benchedUntil: NOW + 9_000 } }, [cheap])
    expect(plan([cheap], {}, { health }).attempts.map(({ state, notes }) => [state, notes])).toEqual([['benched', ['cooling down']]])
  })
  it('puts benched endpoints behind the next model', () => {
    const b = testEndpoint({ model: 'beta/large', tag: 'beta' })
    const health = healthOf({ cheap: { state: 'benched', benchedUntil: NOW + 1 } }, [cheap, b])
    expect(tags(plan([cheap, b], { models: ['acme/small', 'beta/large'] }, { health }))).toEqual(['beta', 'cheap'])
  })
  it('plans as if nothing were known when cooldowns are switched off', () => {
    const health = healthOf({ cheap: { state: 'benched', benchedUntil: NOW + 1 } }, [cheap, dear])
    expect(tags(plan([cheap, dear], { provider: { sort: 'price' } }, { health, defaults: { cooldown: false } }))).toEqual(['cheap', 'dear'])
  })
  it('gives an endpoint whose probe is due its ordinary place', () => {
    const health = healthOf({ cheap: { state: 'probe' } }, three)
    const first = plan(three, {}, { health, random: () => 0.5 }).attempts[0]
    expect([first?.endpoint.tag, first?.state]).toEqual(['cheap', 'probe'])
  })
})

describe('measured speed', () => {
  const health = healthOf({ cheap: { latency: flat(3_000), throughput: flat(20) }, middle: { latency: flat(500), throughput: flat(80) } }, three)
  const table: readonly (readonly [name: string, provider: ProviderPreferences, expected: readonly string[]])[] = [
    ['sort latency; the unmeasured last', { sort: 'latency' }, ['middle', 'cheap', 'dear']],
    ['sort throughput', { sort: { by: 'throughput' } }, ['middle', 'cheap', 'dear']],
    ['preferred_max_latency as a number is the median in seconds', { sort: 'price', preferred_max_latency: 1 }, ['middle', 'dear', 'cheap']],
    ['a threshold met by all changes nothing', { sort: 'price', preferred_max_latency: 3 }, ['cheap', 'middle', 'dear']],
    ['preferred_min_throughput by percentile', { sort: 'price', preferred_min_throughput: { p90: 50 } }, ['middle', 'dear', 'cheap']],
    ['so do the others count', { sort: 'price', preferred_max_latency: { p75: 1 } }, ['middle', 'dear', 'cheap']],
    ['however few are slow', { sort: 'price', preferred_max_latency: { p99: 1 } }, ['middle', 'dear', 'cheap']],
    ['all cutoffs must hold', { sort: 'price', preferred_max_latency: { p50: 4, p99: 2.9 } }, ['middle', 'dear', 'cheap']],
    [
      'null cutoffs do not count',
      { sort: 'price', preferred_max_latency: { p50: null }, preferred_min_throughput: null },
      ['cheap', 'middle', 'dear'],
    ],
    ['the slow stay, at the back', { preferred_max_latency: 0.001, sort: 'price' }, ['dear', 'cheap', 'middle']],
  ]
  it.each(table)('%s', (_name, provider, expected) => {
    expect(tags(plan(three, { provider }, { health }))).toEqual(expected)
  })
  it('sorts exacto by quality: proven, little known, poor', () => {
    const quality = healthOf({ cheap: { quality: 0.5 }, middle: { quality: 0.99 } }, three)
    expect(tags(plan(three, { model: 'acme/small:exacto' }, { health: quality }))).toEqual(['middle', 'dear', 'cheap'])
    expect(tags(plan(three, { provider: { sort: 'exacto' } }, { health: quality }))).toEqual(['middle', 'dear', 'cheap'])
  })
})

describe('what the request needs', () => {
  const full = testEndpoint({ tag: 'full', pricing: { input: 9, output: 9 } })
  const noTools = testEndpoint({ tag: 'no-tools', supports: ['temperature', 'structured_outputs'] })
  const bare = testEndpoint({ tag: 'bare', supports: [] })
  const tools: ModelRequest['tools'] = [{ type: 'function', name: 'f' }]

  it('prefers endpoints that support tools, structured output and verbosity', () => {
    const result = plan([bare, noTools, full], { tools })
    expect(tags(result)).toEqual(['full'])
    expect(reason(result, 'bare')).toBe('it lacks tools, which other endpoints of the model support')
    const schema = { format: { type: 'json_schema' as const, name: 'x', schema: {} } }
    expect(tags(plan([bare, noTools], { text: schema }))).toEqual(['no-tools'])
    expect(tags(plan([bare, full], { text: { verbosity: 'low' } }))).toEqual(['full'])
  })
  it('prefers endpoints that support tools when they stand in the input', () => {
    const input: ModelRequest['input'] = [
      { type: 'additional_tools', tools },
      { type: 'message', role: 'user', content: 'Hi' },
    ]
    expect(tags(plan([bare, noTools, full], { input }))).toEqual(['full'])
    expect(plan([bare], { input }).params).toEqual({ dropped_parameters: ['tools'] })
    expect(tags(plan([noTools, full], { input, provider: { require_parameters: true } }))).toEqual(['full'])
    expect(plan([bare], { input: [{ type: 'additional_tools', tools: [] }] }).attempts[0]?.dropped).toEqual([])
  })
  it('drops the parameter and says so when none of the model’s endpoints supports it', () => {
    const result = plan([bare], { tools, text: { verbosity: 'low' } })
    expect(tags(result)).toEqual(['bare'])
    expect(result.params).toEqual({ dropped_parameters: ['tools', 'verbosity'] })
  })
  it('lets tools decide when no endpoint has everything', () => {
    const onlyTools = testEndpoint({ tag: 'only-tools', supports: ['tools'] })
    expect(tags(plan([noTools, onlyTools], { tools, text: { format: { type: 'json_schema', name: 'x', schema: {} } } }))).toEqual(['only-tools'])
  })
  describe('tools of a vendor', () => {
    const knowing = (parts: Parameters<typeof testEndpoint>[0], ...known: readonly string[]): Endpoint => {
      const endpoint = testEndpoint(parts)
      const { connection } = endpoint
      return { ...endpoint, connection: { ...connection, dialect: { ...connection.dialect, hosts: ({ type }) => known.includes(type) } } }
    }
    const native = knowing({ tag: 'native', pricing: { input: 50, output: 50 } }, 'code_interpreter', 'web_search')
    const code = [...tools, { type: 'code_interpreter', container: { type: 'auto' } }]

    it('prefer endpoints that support them, and are left out only at others', () => {
      const result = plan([cheap, native], { tools: code })
      expect(tags(result)).toEqual(['native', 'cheap'])
      expect(result.attempts.map(({ notes }) => notes)).toEqual([[], ['does not know the tool code_interpreter']])
      expect(tags(plan([cheap, native], { tools: code, provider: { sort: 'price' } }))).toEqual(['native', 'cheap'])
      expect(tags(plan([cheap, native], { tools: code }, { health: healthOf({ native: { state: 'benched' } }, [native]) }))).toEqual([
        'cheap',
        'native',
      ])
    })
    it('change nothing where all endpoints support them, or none does', () => {
      const bargain = knowing({ tag: 'bargain' }, 'code_interpreter')
      expect(tags(plan([native, bargain], { tools: code, provider: { sort: 'price' } }))).toEqual(['bargain', 'native'])
      expect(tags(plan([dear, cheap], { tools: code, provider: { sort: 'price' } }))).toEqual(['cheap', 'dear'])
    })
    it('yield to an order the caller gave', () => {
      expect(tags(plan([cheap, native], { tools: code, provider: { order: ['cheap'] } }))).toEqual(['cheap', 'native'])
    })
    it('exclude endpoints that would leave one out when parameters are required', () => {
      const result = plan([cheap, native], { tools: code, provider: { require_parameters: true } })
      expect(tags(result)).toEqual(['native'])
      expect(reason(result, 'cheap')).toBe('provider.require_parameters is set and it lacks the tool code_interpreter')
    })
    it('do not include tools that every format has or the gateway runs', () => {
      const own = [...tools, { type: 'custom', name: 'c' }, { type: 'namespace', name: 'n', tools: [] }, { type: 'gateway:datetime' }]
      const offered = [...own, { type: 'tool_search', execution: 'client' }]
      expect(tags(plan([cheap, native], { tools: offered, provider: { require_parameters: true } }))).toEqual(['cheap', 'native'])
    })
  })
  it('lists unsupported parameters per attempt', () => {
    const result = plan([bare], { temperature: 1, seed: 7, max_output_tokens: 5, top_k: null })
    expect(result.attempts[0]?.dropped).toEqual(['temperature', 'max_tokens', 'seed'])
  })
  it('excludes endpoints that do not take the input’s media', () => {
    const blind = testEndpoint({ tag: 'blind', inputModalities: ['text'] })
    const part = (type: string, fields: object): ModelRequest['input'] => [{ type: 'message', role: 'user', content: [{ type, ...fields } as never] }]
    for (const [input, name] of [
      [part('input_image', { image_url: 'data:image/png;base64,AAAA' }), 'image'],
      [part('input_file', { file_url: 'https://x/y.pdf' }), 'file'],
      [part('input_audio', { input_audio: { data: 'AAAA', format: 'wav' } }), 'audio'],
      [part('input_video', { video_url: 'https://x/y.mp4' }), 'video'],
    ] as const) {
      const result = plan([blind, full], { input })
      expect(tags(result)).toEqual(['full'])
      expect(reason(result, 'blind')).toBe(`it does not take ${name} input`)
    }
    const inTool: ModelRequest['input'] = [{ type: 'function_call_output', call_id: 'c', output: [{ type: 'input_image', image_url: 'x' }] }]
    expect(tags(plan([blind, full], { input: inTool }))).toEqual(['full'])
    expect(plan([full], { modalities: ['image', 'text'] }).error?.message).toContain('does not produce image output')
  })
  it('excludes endpoints whose output limit is lower', () => {
    const short = testEndpoint({ tag: 'short', maxOutputTokens: 100 })
    const result = plan([short, full], { max_output_tokens: 101 })
    expect(tags(result)).toEqual(['full'])
    expect(reason(result, 'short')).toBe('max_output_tokens is 101 and its limit is 100')
    expect(tags(plan([short], { max_output_tokens: 100 }))).toEqual(['short'])
    expect(plan([short], { max_output_tokens: 101 }).error?.errorType).toBe('not_found')
  })
  it('excludes endpoints whose window is missed by more than an estimate errs, the whole of the answer counted', () => {
    const narrow = testEndpoint({ tag: 'narrow', contextLength: 10_000 })
    const wide = testEndpoint({ tag: 'wide', contextLength: 100_000 })
    const served = (promptTokens: number, answerTokens: number) => {
      const input: ModelRequest['input'] = [{ type: 'message', role: 'user', content: 'wor '.repeat(promptTokens) }]
      return tags(plan([narrow, wide], { input, max_output_tokens: answerTokens, provider: { sort: 'price', require_parameters: true } }))
    }
    expect(served(11_000, 1)).toEqual(['narrow', 'wide'])
    expect(served(13_000, 1)).toEqual(['wide'])
    expect(served(5_000, 5_000)).toEqual(['narrow', 'wide'])
    expect(served(5_000, 7_000)).toEqual(['wide'])
  })
  describe('a stored prompt without a message', () => {
    const { connection } = testEndpoint({ tag: 'vault' })
    const vault = testEndpoint({ tag: 'vault', connection: { ...connection, dialect: { ...connection.dialect, storedPrompts: () => true } } })
    const asked = { input: [], prompt: { id: 'pmpt_1' } }

    it('is served only by endpoints that keep prompts', () => {
      const result = plan([cheap, vault], asked)
      expect(tags(result)).toEqual(['vault'])
      expect(reason(result, 'cheap')).toContain('keeps no prompts')
    })
    it('is still so when tools have answered', () => {
      const input = [{ type: 'function_call_output' as const, call_id: 'c', output: 'x' }]
      expect(tags(plan([cheap, vault], { ...asked, input }))).toEqual(['vault'])
    })
    it('is a fault of the request when none of those left keeps prompts', () => {
      const { error } = plan([cheap, vault], { ...asked, provider: { ignore: ['vault'] } })
      expect(error).toMatchObject({ errorType: 'invalid_prompt', status: 400, details: { path: 'prompt' } })
      expect(error?.message).toMatch(/"prompt".*cheap: it keeps no prompts.*vault: provider.ignore names it/)
    })
    it('excludes no endpoint if there is a message', () => {
      expect(tags(plan([cheap, vault], { prompt: { id: 'pmpt_1' } }))).toEqual(['cheap', 'vault'])
    })
  })

  describe('a request to compact the conversation', () => {
    const { connection } = testEndpoint({ tag: 'vault' })
    const vault = testEndpoint({ tag: 'vault', connection: { ...connection, dialect: { ...connection.dialect, compacts: () => true } } })
    const said = { type: 'message', role: 'user', content: 'Hi.' } as const
    const asked = { input: [said, { type: 'compaction_trigger' }] }

    it('is served only by endpoints that compact', () => {
      const result = plan([cheap, vault], asked)
      expect(tags(result)).toEqual(['vault'])
      expect(reason(result, 'cheap')).toContain('does not compact conversations')
    })
    it('is a fault of the request when none of those left compacts', () => {
      const { error } = plan([cheap], asked)
      expect(error).toMatchObject({ errorType: 'invalid_prompt', status: 400, details: { path: 'input' } })
      expect(error?.message).toMatch(/"compaction_trigger".*cheap: it does not compact/)
    })
    it('excludes no endpoint once the conversation has gone on', () => {
      expect(tags(plan([cheap, vault], { input: [...asked.input, said] }))).toEqual(['cheap', 'vault'])
    })
  })

  it('excludes windows that are too short by the estimate while others fit', () => {
    const input: ModelRequest['input'] = [{ type: 'message', role: 'user', content: 'four words make text '.repeat(2_000) }] // about 10,000 tokens
    const small = testEndpoint({ tag: 'small', contextLength: 6_000, pricing: { input: 0.1, output: 0.1 } })
    expect(tags(plan([small, full], { input }))).toEqual(['full'])
    // The estimate alone never causes a refusal: the only endpoint left is asked.
    const alone = plan([small], { input })
    expect(tags(alone)).toEqual(['small'])
    expect(alone.params).toEqual({ context_length: 'probably too short' })
    const tiny = plan([testEndpoint({ tag: 'tiny', contextLength: 1_000 })], { input })
    expect(tiny.error?.errorType).toBe('context_length_exceeded')
    // Vendors use these words: agents that recognise the refusal by them shorten the conversation and continue.
    expect(tiny.error?.message).toMatch(/maximum context length is 1000 tokens/)
  })
})

describe('own keys', () => {
  it('tries own keys first, then the same endpoint with the gateway’s credentials', () => {
    const result = plan(three, { provider: { sort: 'price' } }, { ownKeys: ({ tag }) => (tag === 'dear' ? 'first' : undefined) })
    expect(result.attempts.map(({ endpoint, isByok }) => [endpoint.tag, isByok])).toEqual([
      ['dear', true],
      ['cheap', false],
      ['middle', false],
      ['dear', false],
    ])
  })
  it('overrides provider.order, as documented', () => {
    const result = plan(three, { provider: { order: ['cheap', 'dear'] } }, { ownKeys: ({ tag }) => (tag === 'dear' ? 'first' : undefined) })
    expect(result.attempts.map(({ endpoint, isByok }) => [endpoint.tag, isByok])).toEqual([
      ['dear', true],
      ['cheap', false],
      ['dear', false],
      ['middle', false],
    ])
  })
  it('orders the own keys among themselves as it does the rest', () => {
    const result = plan(three, { provider: { order: ['dear', 'cheap'] } }, { ownKeys: ({ tag }) => (tag === 'middle' ? undefined : 'first') })
    expect(result.attempts.map(({ endpoint, isByok }) => [endpoint.tag, isByok])).toEqual([
      ['dear', true],
      ['cheap', true],
      ['dear', false],
      ['cheap', false],
      ['middle', false],
    ])
  })
  it('keeps shared capacity out, or the own key last', () => {
    expect(plan([cheap], {}, { ownKeys: () => 'only' }).attempts.map(({ isByok }) => isByok)).toEqual([true])
    expect(plan([cheap], {}, { ownKeys: () => 'last' }).attempts.map(({ isByok }) => isByok)).toEqual([false, true])
  })
  it('does not plan shared capacity where the gateway has no credential', () => {
    expect(plan([testEndpoint({ tag: 'x', credentials: 0 })], {}, { ownKeys: () => 'first' }).attempts.map(({ isByok }) => isByok)).toEqual([true])
  })
  it('puts own keys before other models with partition none', () => {
    const b = testEndpoint({ model: 'beta/large', tag: 'beta', pricing: { input: 50, output: 50 } })
    const result = plan(
      [cheap, b],
      { models: ['acme/small', 'beta/large'], provider: { sort: { by: 'price', partition: 'none' } } },
      { ownKeys: ({ tag }) => (tag === 'beta' ? 'first' : undefined) },
    )
    expect(tags(result)[0]).toBe('beta')
  })
})

describe('sessions', () => {
  const session = (pinned: string | undefined, explicit = false): NonNullable<PlanInput['session']> => ({ explicit, seed: 42, pinned: () => pinned })
  it('puts the pinned endpoint first across models, too, without changing the order of the others', () => {
    const beta = testEndpoint({ tag: 'beta', model: 'beta/large', pricing: { input: 1.5, output: 1.5 } })
    const request: Partial<ModelRequest> = { models: ['acme/small', 'beta/large'], provider: { sort: { by: 'price', partition: 'none' } } }
    const pinnedTo = (id: string): Partial<PlanInput> => ({
      session: { explicit: true, seed: 42, pinned: (model) => (model === 'acme/small' ? id : undefined) },
    })
    expect(tags(plan([...three, beta], request))).toEqual(['cheap', 'beta', 'middle', 'dear'])
    expect(tags(plan([...three, beta], request, pinnedTo(middle.id)))).toEqual(['middle', 'cheap', 'beta', 'dear'])
    // The pinned endpoint no longer exists, or may not serve this request.
    expect(tags(plan([...three, beta], request, pinnedTo('another')))).toEqual(['cheap', 'beta', 'middle', 'dear'])
  })
  it('puts the pinned endpoint first', () => {
    const result = plan(three, {}, { session: session(dear.id), random: () => 0.5 })
    expect(tags(result)).toEqual(['dear', 'cheap', 'middle'])
    expect(result.attempts[0]?.pinned).toBe(true)
    expect(result.params).toEqual({ session_pinned: true })
  })
  it('keeps the pin through an outage and gives it up for a bench', () => {
    expect(tags(plan(three, {}, { session: session(dear.id), health: healthOf({ dear: { state: 'outage' } }, three) }))[0]).toBe('dear')
    expect(
      tags(plan(three, {}, { session: session(dear.id), health: healthOf({ dear: { state: 'benched', benchedUntil: NOW + 1 } }, three) })).at(-1),
    ).toBe('dear')
  })
  it('obeys a manual order before the pin', () => {
    expect(tags(plan(three, { provider: { order: ['middle'] } }, { session: session(dear.id) }))[0]).toBe('middle')
  })
  it('never brings back a rejected endpoint', () => {
    expect(tags(plan(three, { provider: { ignore: ['dear'] } }, { session: session(dear.id) }))).not.toContain('dear')
  })
  it('can be switched off', () => {
    expect(tags(plan(three, {}, { session: session(dear.id), random: () => 0.5, defaults: { sticky: false } }))[0]).toBe('cheap')
  })
  it('draws without a session key until a pin exists', () => {
    expect(tags(plan(three, {}, { session: session(undefined), random: () => 0.99 }))[0]).toBe('middle')
    const explicit = [0, 0.5, 0.99].map((r) => tags(plan(three, {}, { session: session(undefined, true), random: () => r })).join())
    expect(new Set(explicit).size).toBe(1)
  })
})
