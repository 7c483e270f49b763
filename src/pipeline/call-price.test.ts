import { describe, expect, it } from 'vitest'
import type { Call } from '../core/call.ts'
import type { Endpoint } from '../core/endpoint.ts'
import { computeCost } from '../catalog/cost.ts'
import { estimateRequest } from '../router/estimate.ts'
import { boundBy, costAt, leastAt, outputAt, searchesAt, unpricedAt } from './call-price.ts'

const endpoint = {
  model: 'acme/small',
  pricing: { input: 1, output: 1, webSearch: 0.01 },
  upstreamModel: 'small',
  outputModalities: new Set(['text']),
  connection: { dialect: { buys: ({ type }: { type: string }) => type === 'code_interpreter' }, options: {} },
} as unknown as Endpoint

describe.each(['additional_tools', 'tool_search_output', 'namespace', 'namespace of a namespace'])('tools of a vendor in a %s', (place) => {
  const call = (tool: object): Call => {
    const [type] = place.split(' ')
    const holder = { type, tools: [{ type: 'custom' }, tool] }
    const outer = place === type ? holder : { type, tools: [holder] }
    const given = type === 'namespace' ? { input: [], tools: [outer] } : { input: [holder] }
    return { request: { ...given, max_tool_calls: 4 } } as unknown as Call
  }

  it('have an unknown price as among the tools of the request', () => {
    expect(unpricedAt(call({ type: 'code_interpreter' }), endpoint)).toBe('code_interpreter of acme/small')
    expect(unpricedAt(call({ type: 'function' }), endpoint)).toBeUndefined()
  })

  it('have the price of their searches reserved', () => {
    expect(searchesAt(call({ type: 'web_search', max_uses: 3 }), endpoint)).toBeCloseTo(0.03)
    expect(searchesAt(call({ type: 'function' }), endpoint)).toBe(0)
  })
})

it('what a tool of an unknown kind holds need not be tools', () => {
  const connection = { dialect: { buys: ({ type }: { type: string }) => type.startsWith('code_') }, options: {} }
  const holder = { type: 'acme', tools: [{ name: 'f' }, { type: 7 }, null, 'g', { type: 'code_interpreter' }] }
  const call = (tools: readonly object[]): Call => ({ request: { input: [], tools } }) as unknown as Call
  expect(unpricedAt(call([holder]), { ...endpoint, connection } as unknown as Endpoint)).toBe('code_interpreter of acme/small')
})

describe('searches of a vendor', () => {
  const searching = (max_uses: unknown, max_tool_calls?: number): number =>
    searchesAt({ request: { input: [], tools: [{ type: 'web_search', max_uses }], max_tool_calls } } as unknown as Call, endpoint) / 0.01

  it.each([
    ['as many as its tool allows, however many', 1_000, undefined, 1_000],
    ['no more than the request allows', 1_000, 4, 4],
    ['no more than any request may allow', 1_000, 99, 30],
    ['one where nothing bounds them', undefined, undefined, 1],
  ])('are reserved: %s', (_, uses, calls, reserved) => {
    expect(searching(uses, calls)).toBeCloseTo(reserved)
  })

  it.each([
    ['as many as all of its tools allow together', undefined, 1_004],
    ['no more than the request allows', 5, 5],
  ])('are reserved for several tools: %s', (_, max_tool_calls, reserved) => {
    const tools = [{ type: 'web_search', max_uses: 1 }, { type: 'web_search_preview' }, { type: 'function', name: 'f', max_uses: 9 }]
    const input = [{ type: 'additional_tools', tools: [{ type: 'web_search', max_uses: 1_002 }] }]
    expect(searchesAt({ request: { input, tools, max_tool_calls } } as unknown as Call, endpoint) / 0.01).toBeCloseTo(reserved)
  })
})

const options = { catalog: () => undefined as never, costOf: computeCost, policy: () => ({ expectedOutputTokens: 1_024 }), defaults: () => ({}) }

describe('an answer with a picture, of which a part is paid for and is nothing', () => {
  const TOKENS = 1_290
  const painter = {
    ...endpoint,
    pricing: { input: 0, output: 1, outputImage: 10 },
    outputModalities: new Set(['text', 'image']),
  } as unknown as Endpoint
  const asking = (request: object): Call => ({ request: { input: [], ...request }, trace: { params: {} } }) as unknown as Call
  const estimate = { inputTokens: 0, leastTokens: 0, inputs: 0 }
  const least = (call: Call): number => leastAt(options, call, painter, estimate) * 1e6

  it.each([{ modalities: ['image'] }, {}])('is made only if one fits: %o', (request) => {
    const call = asking(request)
    expect(outputAt(options, call, painter)).toBe(TOKENS)
    expect(least(call)).toBeCloseTo(10 * TOKENS)
    expect(boundBy(options, call, painter, estimate, 0.02)).toEqual({ maxOutputTokens: 2_000 })
    expect(boundBy(options, call, painter, estimate, 0.001)).toEqual({ maxOutputTokens: TOKENS })
  })

  it('is as long as its caller says', () => {
    expect(least(asking({ modalities: ['image'], max_output_tokens: 500 }))).toBeCloseTo(5_000)
  })

  it('is not meant where only text is wanted', () => {
    const call = asking({ modalities: ['text'] })
    expect(outputAt(options, call, painter)).toBe(1_024)
    expect(least(call)).toBeCloseTo(64)
    expect(boundBy(options, call, painter, estimate, 0.0001)).toEqual({ maxOutputTokens: 100 })
  })
})

it('embeddings that take several requests have the price of each reserved', () => {
  const embedder = (most: number): Endpoint =>
    ({ ...endpoint, pricing: { request: 0.5 }, connection: { dialect: { batch: () => ({ inputs: most }) } } }) as unknown as Endpoint
  const input = ['a', 'b', 'c', 'd', 'e'].map((content) => ({ type: 'message', role: 'user', content }))
  const call = { request: { modalities: ['embeddings'], input } } as unknown as Call
  const reserved = (most: number): number => costAt(options, call, embedder(most), estimateRequest(call.request), 0)
  expect([reserved(2), reserved(5)]).toEqual([1.5, 0.5])
})

it.each([
  ['pictures', { type: 'input_image', image_url: 'https://example.com/a.png', detail: 'low' }, 85],
  ['sounds', { type: 'input_audio', input_audio: { data: 'A'.repeat(150_000), format: 'wav' } }, 100],
])('%s in a prompt are reserved at their own price, with a margin', (_, part, tokens) => {
  const costOf = (content: readonly object[], media: number): number => {
    const call = { request: { modalities: ['embeddings'], input: [{ type: 'message', role: 'user', content }] } } as unknown as Call
    const perceiving = { ...endpoint, pricing: { input: 1, inputImage: media, inputAudio: media } } as unknown as Endpoint
    return costAt(options, call, perceiving, estimateRequest(call.request), 0) * 1e6
  }
  expect(costOf([part], 5) - costOf([part], 1)).toBeCloseTo(4 * Math.ceil(tokens * 1.35))
})

it('a dialect that reserves more for reasoning knows the maximum of its endpoint', () => {
  const dialect = {
    mostOutput: ({ max_output_tokens: wanted }: { max_output_tokens: number }, { maxOutputTokens: most = Infinity }) => Math.min(wanted * 4, most),
  }
  const call = { request: { input: [], max_output_tokens: 1_000 } } as unknown as Call
  const reasoning = (more: object): Endpoint => ({ ...endpoint, connection: { dialect, options: {} }, ...more }) as unknown as Endpoint
  expect(outputAt(options, call, reasoning({}))).toBe(4_000)
  expect(outputAt(options, call, reasoning({ maxOutputTokens: 3_000 }))).toBe(3_000)
})
