import { describe, expect, it } from 'vitest'
import type { PluginEffects } from '../core/extension.ts'
import type { ModelRequest } from '../core/request.ts'
import { testCatalog, testEndpoint } from '../testing/endpoints.ts'
import { testContext } from '../testing/plugin-context.ts'
import { describePluginContract, SECRET_WORD } from '../testing/plugin-contract.ts'
import { createParetoRouter } from './pareto-router.ts'

const prices: { readonly [model: string]: readonly [input: number, output: number] } = {
  'a/tiny': [0.1, 0.1],
  'a/small': [1, 1],
  'b/odd': [3, 1],
  'b/good': [2, 8],
  'c/best': [10, 40],
}
const catalog = testCatalog(Object.entries(prices).map(([model, [input, output]]) => testEndpoint({ model, pricing: { input, output } })))
const scores = { 'a/tiny': 0.1, 'a/small': 0.5, 'b/odd': 0.4, 'b/good': 0.8, 'c/best': 0.9 }
const plugin = (known: { readonly [model: string]: number } = scores) =>
  createParetoRouter({ catalog: () => catalog, tokensOf: () => 100, scores: known })
const ask = (text: string, model = 'gateway/pareto-code'): ModelRequest => ({ model, input: [{ type: 'message', role: 'user', content: text }] })

function route(
  settings: object = {},
  known = scores as { readonly [model: string]: number },
): { readonly models: readonly string[]; readonly data: PluginEffects['stage'] } {
  const router = plugin(known)
  const { context, reported } = testContext(router.settings.parse(settings), { request: ask('merge') })
  const choice = router.choose!(ask('merge'), context) as { readonly models: readonly string[] }
  return { models: choice.models, data: reported[0]?.stage }
}

describePluginContract({
  plugin: plugin(),
  accepts: [{}, { min_coding_score: 0.5, price_source: 'weighted_avg' }, { max_price: 0 }],
  refuses: [{ min_coding_score: 1.1 }, { max_price: -1 }, { price_source: 'list' }],
  untouched: [{ request: ask(SECRET_WORD, 'acme/small') }],
  touched: [{ request: ask(SECRET_WORD) }, { request: ask(SECRET_WORD, 'openrouter/pareto-code:nitro'), settings: { max_price: 3 } }],
})

describe('with scores of the operator', () => {
  it.each([
    [undefined, ['b/good', 'c/best']],
    [0.66, ['b/good', 'c/best']],
    [0.5, ['a/small', 'b/odd']],
    [0.1, ['a/tiny']],
  ])('a score of %s asks for a tier, and its cheapest serves', (min_coding_score, models) => {
    expect(route({ min_coding_score }).models).toEqual(models)
  })

  it('an empty tier is replaced by its neighbour, which is reported', () => {
    const { models, data } = route({ min_coding_score: 0.5 }, { 'a/tiny': 0.1, 'c/best': 0.9 })
    expect(models).toEqual(['c/best'])
    expect(data).toMatchObject({ data: { tier: 'high', tier_wanted: 'medium', score_source: 'configured', considered: 2 } })
  })

  it('a price limit takes the best models that no cheaper one beats, then the rest', () => {
    const { models, data } = route({ max_price: 3 })
    expect(models).toEqual(['b/good', 'a/small', 'a/tiny'])
    expect(data).toMatchObject({ data: { frontier: ['b/good', 'a/small', 'a/tiny'] } })
    expect(() => route({ max_price: 0.01 })).toThrow('0.01 USD')
  })

  it('prices are those of the prompt, or of prompt and answer together', () => {
    expect(route({ max_price: 2, price_source: 'weighted_avg' }).models[0]).toBe('a/small')
    expect(route({ max_price: 2 }).models[0]).toBe('b/good')
  })
})

describe('without scores', () => {
  it('goes by price alone and says so', () => {
    const { models, data } = route({}, {})
    expect(models).toEqual(['b/good', 'c/best'])
    expect(data).toMatchObject({ summary: expect.stringContaining('scores by price') as string, data: { score_source: 'price' } })
  })
})
