import { describe, expect, it } from 'vitest'
import type { Endpoint } from '../core/endpoint.ts'
import type { ModelRequest } from '../core/request.ts'
import { testCatalog, testEndpoint } from '../testing/endpoints.ts'
import { testContext } from '../testing/plugin-context.ts'
import { describePluginContract, SECRET_WORD } from '../testing/plugin-contract.ts'
import { createAutoBetaRouter } from './auto-beta-router.ts'
import { createAutoRouter } from './auto-router.ts'
import { autoRouteSettings } from './shared/auto-route.ts'

/** Ten models, each a dollar more expensive and newer than the one before. */
const endpoints: readonly Endpoint[] = Array.from({ length: 10 }, (_, n) =>
  testEndpoint({ model: `a/m${n}`, pricing: { input: n + 1, output: n + 1 } }),
)
const catalog = testCatalog(endpoints, Object.fromEntries(endpoints.map(({ model }, n) => [model, { created: n }])))
const options = { catalog: () => catalog, tokensOf: () => 100 }
const ask = (text: string, model = 'gateway/auto'): ModelRequest => ({ model, input: [{ type: 'message', role: 'user', content: text }] })

function chosen(request: ModelRequest, settings: object = {}): readonly string[] | undefined {
  const { context } = testContext(autoRouteSettings.parse(settings), { request })
  const choice = createAutoRouter(options).choose!(request, context) as { readonly models: readonly string[] } | undefined
  return choice?.models
}

for (const plugin of [createAutoRouter(options), createAutoBetaRouter(options)]) {
  const name = plugin.id === 'auto-router' ? 'gateway/auto' : 'openrouter/auto-beta'
  describePluginContract({
    plugin,
    accepts: [{}, { allowed_models: ['a/*'], excluded_models: [], cost_tier: 'max', cost_quality_tradeoff: 10 }],
    refuses: [
      { cost_tier: 'free' },
      { cost_quality_tradeoff: 11 },
      { allowed_models: 'a/*' },
      { allowed_models: Array.from({ length: 70 }, () => 'x'.repeat(1_000)) },
    ],
    untouched: [{ request: ask(SECRET_WORD, 'acme/small') }],
    touched: [
      { request: ask(`hello ${SECRET_WORD}`, name) },
      { request: ask(`fix the exception in this function: ${SECRET_WORD}`, name), settings: { cost_tier: 'high' } },
    ],
  })
}

describe('price bands', () => {
  it.each([
    ['low', ['a/m1', 'a/m0']],
    ['medium', ['a/m3', 'a/m2']],
    ['high', ['a/m5', 'a/m4']],
    ['xhigh', ['a/m7', 'a/m6']],
    ['max', ['a/m9', 'a/m8']],
  ])('%s is a fifth of the models, and neither cheaper nor dearer ones', (cost_tier, models) => {
    expect(chosen(ask('hello'), { cost_tier })).toEqual(models)
  })

  it('follow from the task if none is requested', () => {
    expect(chosen(ask('hello'))).toEqual(['a/m1', 'a/m0'])
    expect(chosen(ask('compare and contrast'))).toEqual(['a/m3', 'a/m2'])
    expect(chosen(ask('prove it, step by step'))).toEqual(['a/m5', 'a/m4'])
  })

  it('are ceilings in the older parameter: 10 is the cheapest tenth, 0 all but the most expensive tenth', () => {
    expect(chosen(ask('hello'), { cost_quality_tradeoff: 10 })).toEqual(['a/m0'])
    expect(chosen(ask('hello'), { cost_quality_tradeoff: 0 })).toEqual(['a/m8', 'a/m7', 'a/m6'])
    expect(chosen(ask('hello'), { cost_quality_tradeoff: 0, cost_tier: 'max' })).toEqual(['a/m9', 'a/m8'])
  })

  it('of a small catalog fall back to the cheaper one', () => {
    expect(chosen(ask('hello'), { cost_tier: 'max', allowed_models: ['a/m0', 'a/m1'] })).toEqual(['a/m1'])
    expect(chosen(ask('hello'), { cost_tier: 'medium', allowed_models: ['a/m7'] })).toEqual(['a/m7'])
  })
})

it('the router keeps variants and the caller’s own fallbacks', () => {
  expect(chosen({ ...ask('hello', 'gateway/auto:nitro'), models: ['acme/last'] }, { allowed_models: ['a/m4'] })).toEqual(['a/m4:nitro', 'acme/last'])
})

it('a catalog model of the same name takes precedence over the router', () => {
  const request = ask('hello')
  const { context } = testContext(autoRouteSettings.parse({}), { request, endpoints: [testEndpoint({ model: 'gateway/auto' })] })
  expect(createAutoRouter(options).choose!(request, context)).toBeUndefined()
})
