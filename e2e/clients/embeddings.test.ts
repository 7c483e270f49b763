import { createOpenAI } from '@ai-sdk/openai'
import { OpenRouter } from '@openrouter/sdk'
import { cosineSimilarity, embed, embedMany } from 'ai'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

/** Clients of the format, used as their guides describe, with the simulated model that comes with the gateway. */
const MODEL = 'demo/embed'
const TEXTS = ['a cat sat on a mat', 'the cat sat', 'stock markets fell'] as const

let gateway: TestGateway
let settings: { readonly apiKey: string; readonly baseURL: string }
beforeAll(async () => {
  gateway = await startGateway()
  settings = { apiKey: gateway.key, baseURL: `${gateway.url}/api/v1` }
})
afterAll(() => gateway.close())

const ranked = (vectors: readonly (readonly number[])[]): void => {
  const [first, near, far] = vectors as readonly [number[], number[], number[]]
  expect(cosineSimilarity(first, near)).toBeGreaterThan(cosineSimilarity(first, far) + 0.1)
}

describe('openai', () => {
  const client = () => new OpenAI({ ...settings, maxRetries: 0 })

  it('makes vectors, which it reads from base64', async () => {
    const { data, model, usage } = await client().embeddings.create({ model: MODEL, input: [...TEXTS], dimensions: 128 })
    expect(data.map(({ embedding }) => embedding.length)).toEqual([128, 128, 128])
    expect([model, usage.prompt_tokens]).toEqual([MODEL, 12])
    ranked(data.map(({ embedding }) => embedding))
  })

  it('makes the same as numbers', async () => {
    const request = { model: MODEL, input: TEXTS[0], dimensions: 16 }
    const [packed, plain] = await Promise.all([
      client().embeddings.create(request),
      client().embeddings.create({ ...request, encoding_format: 'float' }),
    ])
    expect(packed.data[0]!.embedding).toEqual(plain.data[0]!.embedding)
  })

  it('lists the models of text alone, and finds one by its name', async () => {
    const ids: string[] = []
    for await (const { id } of client().models.list()) ids.push(id)
    expect(ids).toContain('demo/echo')
    expect(ids).not.toContain(MODEL)
    expect((await client().models.retrieve(MODEL)).id).toBe(MODEL)
  })
})

describe('ai', () => {
  const model = () => createOpenAI(settings).textEmbeddingModel(MODEL)

  it('embeds one and many', async () => {
    const { embedding, usage } = await embed({ model: model(), value: TEXTS[0], maxRetries: 0 })
    expect([embedding.length, usage.tokens]).toEqual([256, 6])
    const many = await embedMany({ model: model(), values: [...TEXTS], maxRetries: 0 })
    ranked(many.embeddings)
    expect(many.embeddings[0]).toEqual(embedding)
  })

  it('asks for a number of dimensions', async () => {
    const { embedding } = await embed({ model: model(), value: TEXTS[0], maxRetries: 0, providerOptions: { openai: { dimensions: 8 } } })
    expect(embedding).toHaveLength(8)
  })
})

describe('@openrouter/sdk', () => {
  const client = () => new OpenRouter({ apiKey: settings.apiKey, serverURL: settings.baseURL, retryConfig: { strategy: 'none' } })

  it('generates, in either encoding', async () => {
    for (const encodingFormat of ['float', 'base64'] as const) {
      const answer = await client().embeddings.generate({ requestBody: { model: MODEL, input: [...TEXTS], dimensions: 8, encodingFormat } })
      if (typeof answer === 'string') throw new Error('the answer is no object')
      expect(answer.data.map(({ index }) => index)).toEqual([0, 1, 2])
      expect(typeof answer.data[0]!.embedding).toBe(encodingFormat === 'float' ? 'object' : 'string')
      expect(answer.usage).toMatchObject({ promptTokens: 12, totalTokens: 12, cost: 0 })
    }
  })

  it('lists the models', async () => {
    const ids: string[] = []
    for await (const { result } of await client().embeddings.listModels()) ids.push(...result.data.map(({ id }) => id))
    expect(ids).toEqual([MODEL])
  })

  it('gets errors in its own types', async () => {
    await expect(client().embeddings.generate({ requestBody: { model: 'demo/echo', input: 'a' } })).rejects.toMatchObject({ statusCode: 404 })
  })
})
