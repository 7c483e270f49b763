import { describe, expect, it } from 'vitest'
import { createUsage } from '../../core/usage.ts'
import { minimalGeneration } from '../../testing/sample-generations.ts'
import { generationAnswer, presentGeneration } from './generation-shapes.ts'

describe('the public record of a generation', () => {
  const { generation } = minimalGeneration()
  const present = (serverToolUse?: { readonly [tool: string]: number }) =>
    generationAnswer.parse({ data: presentGeneration({ ...generation, usage: createUsage({ inputTokens: 1, serverToolUse }) }) }).data

  it('counts searches and fetched pages of the gateway and of providers', () => {
    expect(present({ web_search: 2, web_fetch: 3 })).toMatchObject({ num_search_results: 2, num_fetches: 3 })
    expect(present()).toMatchObject({ num_search_results: null, num_fetches: null })
  })

  it.each([
    ['gateway/fusion', 'fusion', 'gateway/fusion'],
    ['openrouter/auto:nitro', 'auto', 'openrouter/auto'],
    ['gateway/pareto-code@preset/mine', 'pareto', 'gateway/pareto-code'],
    ['@preset/mine', 'auto', 'auto'],
    ['acme/small', 'fusion', 'fusion'],
    ['openrouter/some-model', 'fallback', 'fallback'],
    ['acme/small', 'direct', null],
  ])('names what chose the model of a call for %s (%s)', (requestedModel, strategy, router) => {
    expect(presentGeneration({ ...generation, requestedModel, strategy }).router).toBe(router)
  })
})
