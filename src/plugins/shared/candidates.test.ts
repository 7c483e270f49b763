import { describe, expect, it } from 'vitest'
import type { Endpoint } from '../../core/endpoint.ts'
import type { ModelRequest } from '../../core/request.ts'
import { testCatalog, testConnection, testEndpoint, type EndpointParts } from '../../testing/endpoints.ts'
import { permitted, testCall } from '../../testing/plugin-context.ts'
import { candidatesFor, type CandidateOptions } from './candidates.ts'

const hi: ModelRequest = { input: [{ type: 'message', role: 'user', content: 'hi' }] }
const endpoint = (model: string, parts: EndpointParts = {}): Endpoint => testEndpoint({ model, ...parts })

/** The candidates' slugs, or the message of the refusal. */
function slugs(
  endpoints: readonly Endpoint[],
  request: ModelRequest = hi,
  options: Partial<CandidateOptions> = {},
  admits?: (endpoint: Endpoint) => string | undefined,
): readonly string[] | string {
  const call = { ...testCall({ request }), ...(admits === undefined ? {} : { admits }) }
  try {
    return candidatesFor(request, { call, permitted }, { catalog: testCatalog(endpoints), tokensOf: () => 1_000, ...options }).map(
      ({ model }) => model.slug,
    )
  } catch (error) {
    return (error as Error).message
  }
}
const NONE = 'No models match your request and model restrictions'

describe('models that could serve', () => {
  it('come the cheapest first, at their cheapest endpoint', () => {
    const dear = endpoint('a/x', { tag: 'dear', pricing: { input: 9, output: 9 } })
    expect(
      slugs([dear, endpoint('b/y', { pricing: { input: 2, output: 2 } }), endpoint('a/x', { tag: 'cheap', pricing: { input: 1, output: 1 } })]),
    ).toEqual(['a/x', 'b/y'])
  })

  it('are those the patterns allow and do not exclude', () => {
    const all = [endpoint('a/x'), endpoint('a/y'), endpoint('b/z')]
    expect(slugs(all, hi, { allowed: ['a/*'], excluded: ['*/y'] })).toEqual(['a/x'])
    expect(slugs(all, hi, { allowed: ['c/*'] })).toBe(NONE)
    const catalog = testCatalog(all, { 'a/x': { aliases: ['ex'] } })
    expect(slugs(all, hi, { catalog, allowed: ['ex'] })).toEqual(['a/x'])
    expect(slugs(all, hi, { catalog, excluded: ['ex'] })).toEqual(['a/y', 'b/z'])
  })

  it.each<[string, ModelRequest, EndpointParts]>([
    ['tools', { ...hi, tools: [{ type: 'function', name: 'f' }] }, { supports: ['temperature'] }],
    ['structured answers', { ...hi, text: { format: { type: 'json_schema', name: 'a', schema: {} } } }, { supports: ['tools'] }],
    ['pictures', { input: [{ type: 'message', role: 'user', content: [{ type: 'input_image', image_url: 'x' }] }] }, { inputModalities: ['text'] }],
    ['pictures to be made', { ...hi, modalities: ['text', 'image'] }, { outputModalities: ['text'] }],
    ['the length', { ...hi, max_output_tokens: 10_000 }, { contextLength: 8_000 }],
    ['the provider that is named', { ...hi, provider: { only: ['bolt'] } }, { tag: 'acme' }],
    ['a provider that is not banned', { ...hi, provider: { ignore: ['ACME'] } }, { tag: 'acme' }],
    ['no retention', { ...hi, provider: { zdr: true } }, { policies: { zdr: false } }],
    ['no collection', { ...hi, provider: { data_collection: 'deny' } }, { policies: { dataCollection: 'allow' } }],
    ['the price', { ...hi, provider: { max_price: { completion: '1' } } }, { pricing: { input: 1, output: 2 } }],
    ['the price of a request', { ...hi, provider: { max_price: { request: '0.01' } } }, { pricing: { input: 1, output: 1, request: 0.02 } }],
    ['the quantization', { ...hi, provider: { quantizations: ['bf16'] } }, { quantization: 'fp8' }],
    ['what may be distilled', { ...hi, provider: { enforce_distillable_text: true } }, { policies: { distillable: false } }],
    ['the order nobody may leave', { ...hi, provider: { order: ['bolt'], allow_fallbacks: false } }, { tag: 'acme' }],
    ['parameters that are required', { ...hi, seed: 7, provider: { require_parameters: true } }, { supports: ['temperature'] }],
    ['a price that is known', hi, { pricing: {} }],
    ['the length of the answer', { ...hi, max_output_tokens: 10_000 }, { maxOutputTokens: 8_000 }],
    ['the plain model', hi, { variant: 'free' }],
    ['the usual tier', hi, { tier: 'flex' }],
  ])('must suit: %s', (_, request, parts) => {
    expect(slugs([endpoint('a/x', parts)], request)).toBe(NONE)
  })

  it('belong to providers in any spelling the planner accepts, and to all where none is named', () => {
    const z = endpoint('a/x', { tag: 'z-ai', providerName: 'Z.AI' })
    for (const only of [[' Z-AI '], ['z.ai'], ['Z.AI'], []]) expect(slugs([z], { ...hi, provider: { only } })).toEqual(['a/x'])
    for (const ignore of [[' Z-AI '], ['z.ai']]) expect(slugs([z], { ...hi, provider: { ignore } })).toBe(NONE)
  })

  it('are not variants under a name of their own, unless they are named', () => {
    expect(slugs([endpoint('a/x:free')])).toBe(NONE)
    expect(slugs([endpoint('a/x:free')], hi, { allowed: ['a/*'] })).toEqual(['a/x:free'])
  })

  it('are within the guardrails of the call', () => {
    expect(slugs([endpoint('a/x'), endpoint('b/y')], hi, {}, ({ model }) => (model === 'a/x' ? 'no' : undefined))).toEqual(['b/y'])
  })

  it('are not simulated, unless they are named', () => {
    const transport = { open: () => Promise.reject(new Error('never')) } as never
    const simulated = endpoint('demo/echo', { connection: { ...testConnection('demo'), transport } })
    expect(slugs([simulated])).toMatch(/^There is no model to choose from: only simulated ones/)
    expect(slugs([simulated, endpoint('a/x', { contextLength: 1 })])).toBe(NONE)
    expect(slugs([simulated], hi, { allowed: ['a/*'] })).toBe(NONE)
    expect(slugs([simulated], hi, { allowed: ['demo/echo'] })).toEqual(['demo/echo'])
  })
})
