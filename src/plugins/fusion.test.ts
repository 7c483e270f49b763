import { describe, expect, it } from 'vitest'
import type { ModelRequest } from '../core/request.ts'
import { testCatalog, testEndpoint } from '../testing/endpoints.ts'
import { testContext } from '../testing/plugin-context.ts'
import { describePluginContract, SECRET_WORD } from '../testing/plugin-contract.ts'
import { createFusionPlugin } from './fusion.ts'

const prices = { 'a/tiny': 0.1, 'a/small': 1, 'b/mid': 2, 'b/thinking': 3, 'c/large': 10, 'd/huge': 30 }
const catalog = testCatalog(Object.entries(prices).map(([model, price]) => testEndpoint({ model, pricing: { input: price, output: price } })))
const plugin = (panel?: readonly string[]) => createFusionPlugin({ catalog: () => catalog, panel })
const ask = (text: string, model?: string, more: Partial<ModelRequest> = {}): ModelRequest => ({
  ...(model === undefined ? {} : { model }),
  input: [{ type: 'message', role: 'user', content: text }],
  ...more,
})

interface Outcome {
  readonly models: readonly string[] | undefined
  readonly parameters: { readonly [name: string]: unknown } | undefined
}
function run(request: ModelRequest, settings: object = {}, panel?: readonly string[]): Outcome {
  const one = plugin(panel)
  const { context } = testContext(one.settings.parse(settings), { request })
  const choice = one.choose!(request, context) as { readonly models: readonly string[]; readonly strategy: string } | undefined
  const prepared = one.prepare!(choice === undefined ? request : { ...request, model: choice.models[0]! }, context) as ModelRequest | undefined
  const tool = prepared?.tools?.at(-1) as { readonly type: string; readonly parameters: { readonly [name: string]: unknown } } | undefined
  return { models: choice?.models, parameters: tool?.parameters }
}

describePluginContract({
  plugin: plugin(),
  accepts: [{}, { preset: 'general-fast', max_tool_calls: 16, tools: [{ type: 'gateway:datetime' }] }],
  refuses: [{ preset: 'best' }, { analysis_models: [] }, { max_tool_calls: 17 }],
  untouched: [{ request: ask(SECRET_WORD, undefined, { tools: [{ type: 'openrouter:fusion' }] }) }],
  touched: [{ request: ask(SECRET_WORD, 'gateway/fusion') }, { request: ask(SECRET_WORD, 'acme/small'), settings: { analysis_models: ['a/tiny'] } }],
})

describe('gateway/fusion', () => {
  it('takes the most expensive model of each author, and has the most expensive of all compare and answer', () => {
    const { models, parameters } = run(ask('x', 'gateway/fusion'))
    expect(parameters).toEqual({ analysis_models: ['d/huge', 'c/large', 'b/thinking'], model: 'd/huge' })
    expect(models).toEqual(['d/huge', 'c/large', 'b/thinking'])
  })

  it.each([
    ['general-budget', ['b/mid', 'a/tiny'], 'd/huge'],
    ['general-fast', ['a/tiny', 'b/mid', 'c/large'], 'd/huge'],
  ])('has the preset %s', (preset, panel, model) => {
    expect(run(ask('x', 'openrouter/fusion'), { preset }).parameters).toEqual({ analysis_models: panel, model })
  })

  it('has the fast panel under a name of its own, which a preset in the request overrides', () => {
    expect(run(ask('x', 'gateway/fusion-flash')).parameters).toMatchObject({ analysis_models: ['a/tiny', 'b/mid', 'c/large'] })
    expect(run(ask('x', 'gateway/fusion-flash'), { preset: 'general-high' }).parameters).toMatchObject({
      analysis_models: ['d/huge', 'c/large', 'b/thinking'],
    })
  })

  it('takes the operator’s panel, and the caller’s before it', () => {
    expect(run(ask('x', 'gateway/fusion'), {}, ['x/one', 'x/two'])).toMatchObject({ models: ['x/one', 'x/two'], parameters: { model: 'x/one' } })
    const own = run(ask('x', 'gateway/fusion:nitro'), { analysis_models: ['y/one'], model: 'y/judge', max_tool_calls: 2 }, ['x/one'])
    expect(own).toEqual({ models: ['y/judge:nitro', 'y/one:nitro'], parameters: { analysis_models: ['y/one'], model: 'y/judge', max_tool_calls: 2 } })
  })
})

describe('a model chosen by the caller', () => {
  it('gets the tool and compares itself', () => {
    expect(run(ask('x', 'a/small', { models: ['a/tiny'] }), { analysis_models: ['b/mid'] })).toEqual({
      models: ['a/small', 'a/tiny'],
      parameters: { analysis_models: ['b/mid'] },
    })
  })

  it('keeps its existing tool entry', () => {
    expect(run(ask('x', 'a/small', { tools: [{ type: 'gateway:fusion' }] })).parameters).toBeUndefined()
  })
})
