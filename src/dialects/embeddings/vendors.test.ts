import { describe, expect, it } from 'vitest'
import type { Dialect } from '../../core/dialect.ts'
import type { InputItem, InputPart } from '../../core/item.ts'
import { asking, targetOf } from '../../testing/embeddings-contract.ts'
import type { ModelEvent } from '../../core/event.ts'
import { cohereEmbed } from './cohere.ts'
import { geminiEmbeddings } from './gemini.ts'
import { titanEmbed } from './titan.ts'
import { vertexEmbedContent } from './vertex-embed-content.ts'
import { vertexPredict } from './vertex-predict.ts'

type Json = { readonly [field: string]: unknown }

const voice = { model: 'embed-1', options: {} }
const PNG = 'data:image/png;base64,aGk='
const REMOTE = 'https://acme.example/cat.jpg'
const said = (...content: readonly InputPart[]): InputItem => ({ type: 'message', role: 'user', content })
const picture = (url: string): InputPart => ({ type: 'input_image', image_url: url, detail: 'auto' })
const media = new Map([[REMOTE, { mimeType: 'image/jpeg', data: 'Ynll' }]])

function bodyOf<O>(dialect: Dialect<O>, request: ReturnType<typeof asking>): Json {
  return JSON.parse(dialect.encodeRequest(request, { ...targetOf(dialect, voice), media }).body) as Json
}
const mixed = { ...asking({}), input: [said({ type: 'input_text', text: 'a cat' }, picture(PNG)), said(picture(REMOTE))] }

describe('cohere-embed', () => {
  it('always says what the vectors are for, in its own words', () => {
    expect(bodyOf(cohereEmbed, asking({}, 'a'))).toMatchObject({ input_type: 'search_document', embedding_types: ['float'] })
    expect(bodyOf(cohereEmbed, asking({ input_type: 'query' }, 'a'))).toMatchObject({ input_type: 'search_query' })
    expect(bodyOf(cohereEmbed, asking({ input_type: 'clustering' }, 'a'))).toMatchObject({ input_type: 'clustering' })
  })

  it('takes pictures as bytes, beside text or alone, fetched where they are elsewhere', () => {
    expect(cohereEmbed.mediaUrls!(mixed, targetOf(cohereEmbed, voice))).toEqual([REMOTE])
    expect(bodyOf(cohereEmbed, mixed)).toMatchObject({
      inputs: [
        {
          content: [
            { type: 'text', text: 'a cat' },
            { type: 'image_url', image_url: { url: PNG } },
          ],
        },
        { content: [{ type: 'image_url', image_url: { url: 'data:image/jpeg;base64,Ynll' } }] },
      ],
    })
  })
})

/** The events of an answer in the vendor's own format. */
function decoded<O>(dialect: Dialect<O>, answer: Json, ...texts: readonly string[]): readonly ModelEvent[] {
  const out: ModelEvent[] = []
  dialect.decoder(asking({}, ...texts), targetOf(dialect, voice)).body(JSON.stringify(answer), out)
  return out
}

/** A request as encoded, for comparison with the vendor's documentation. */
function exchanged<O>(dialect: Dialect<O>, model: string, options: object, request: ReturnType<typeof asking>) {
  const { path, body, dropped } = dialect.encodeRequest(request, { ...targetOf(dialect, { model, options }), media })
  return { path, body: JSON.parse(body) as Json, dropped }
}

describe('cohere-embed where the path names the model', () => {
  const options = { path: '/model/{model}/invoke', model_in_body: false, image_urls: 'text' }

  it('has no name in its body, and pictures by their address alone', () => {
    expect(exchanged(cohereEmbed, 'us.acme.embed-v4:0', options, asking({ dimensions: 512, input_type: 'query' }, 'a', 'b'))).toEqual({
      path: '/model/us.acme.embed-v4%3A0/invoke',
      body: { texts: ['a', 'b'], input_type: 'search_query', embedding_types: ['float'], output_dimension: 512 },
      dropped: [],
    })
    expect(exchanged(cohereEmbed, 'embed-1', options, mixed).body).toMatchObject({
      inputs: [
        {
          content: [
            { type: 'text', text: 'a cat' },
            { type: 'image_url', image_url: PNG },
          ],
        },
        { content: [{ type: 'image_url', image_url: 'data:image/jpeg;base64,Ynll' }] },
      ],
    })
  })

  it('may answer with numbers of one kind alone, and count nothing', () => {
    const answer = { id: 'e-1', response_type: 'embeddings_floats', embeddings: [[0.5], [1]], texts: ['a', 'b'] }
    expect(decoded(cohereEmbed, answer, 'a', 'b')).toEqual([
      { type: 'response-start', upstreamId: 'e-1' },
      { type: 'response-end', reason: 'stop', vectors: [[0.5], [1]] },
    ])
  })
})

describe('titan-embed', () => {
  it('is asked for one text, at the address of the model', () => {
    expect(exchanged(titanEmbed, 'acme.embed-v2:0', {}, asking({ dimensions: 256, input_type: 'query' }, 'a cat'))).toEqual({
      path: '/model/acme.embed-v2%3A0/invoke',
      body: { inputText: 'a cat', dimensions: 256 },
      dropped: ['input_type'],
    })
    expect(titanEmbed.batch!({ options: targetOf(titanEmbed, voice).options, upstreamModel: 'x' })).toEqual({ inputs: 1 })
  })

  it('answers with a vector and its count', () => {
    const answer = { embedding: [0.25, -0.5], embeddingsByType: { float: [0.25, -0.5] }, inputTextTokenCount: 3 }
    expect(decoded(titanEmbed, answer, 'a cat')).toMatchObject([{ type: 'response-end', vectors: [[0.25, -0.5]], usage: { inputTokens: 3 } }])
  })
})

describe('vertex-predict', () => {
  it('is asked for many texts, at the address of the model', () => {
    expect(exchanged(vertexPredict, 'embed-005', {}, asking({ dimensions: 128, input_type: 'search_document' }, 'a', 'b'))).toEqual({
      path: '/publishers/google/models/embed-005:predict',
      body: {
        instances: [
          { content: 'a', task_type: 'RETRIEVAL_DOCUMENT' },
          { content: 'b', task_type: 'RETRIEVAL_DOCUMENT' },
        ],
        parameters: { outputDimensionality: 128 },
      },
      dropped: [],
    })
    expect(exchanged(vertexPredict, 'gecko@003', {}, asking({ input_type: 'poetry' }, 'a'))).toEqual({
      path: '/publishers/google/models/gecko@003:predict',
      body: { instances: [{ content: 'a' }] },
      dropped: ['input_type'],
    })
  })

  it('accepts as many inputs per request as configured', () => {
    const { options } = targetOf(vertexPredict, { model: 'x', options: { one_by_one: ['alone'] } })
    expect(vertexPredict.batch!({ options, upstreamModel: 'x' })).toEqual({ inputs: 250, tokens: 20_000 })
    expect(vertexPredict.batch!({ options, upstreamModel: 'alone' })).toEqual({ inputs: 1 })
  })

  it('counts each text, and is estimated where it does not', () => {
    const prediction = (values: readonly number[], count?: number) => ({
      embeddings: { values, statistics: { truncated: false, ...(count === undefined ? {} : { token_count: count }) } },
    })
    expect(decoded(vertexPredict, { predictions: [prediction([1], 4), prediction([2], 5)] }, 'a', 'b')).toMatchObject([
      { vectors: [[1], [2]], usage: { inputTokens: 9 } },
    ])
    expect(decoded(vertexPredict, { predictions: [prediction([1], 4), prediction([2])] }, 'a', 'b')[0]).not.toHaveProperty('usage')
  })
})

describe('vertex-embed-content', () => {
  it('is asked for one input, of text or pictures, at the address of the model', () => {
    const [first] = mixed.input
    expect(exchanged(vertexEmbedContent, 'embed-2', {}, { ...asking({ dimensions: 768, input_type: 'query' }), input: [first!] })).toEqual({
      path: '/publishers/google/models/embed-2:embedContent',
      body: {
        content: { parts: [{ text: 'a cat' }, { inlineData: { mimeType: 'image/png', data: 'aGk=' } }] },
        embedContentConfig: { taskType: 'RETRIEVAL_QUERY', outputDimensionality: 768 },
      },
      dropped: [],
    })
    expect(exchanged(vertexEmbedContent, 'embed-2', {}, asking({}, 'a')).body).toEqual({ content: { parts: [{ text: 'a' }] } })
    expect(vertexEmbedContent.mediaUrls!(mixed, targetOf(vertexEmbedContent, voice))).toEqual([REMOTE])
  })

  it('answers with a vector and its count', () => {
    const usageMetadata = { promptTokenCount: 6, totalTokenCount: 6, promptTokensDetails: [{ modality: 'TEXT', tokenCount: 6 }] }
    expect(decoded(vertexEmbedContent, { embedding: { values: [0.5] }, usageMetadata, truncated: false }, 'a')).toMatchObject([
      { vectors: [[0.5]], usage: { inputTokens: 6 } },
    ])
  })
})

it('pictures, which cost more than text, are counted by themselves in both of Google’s formats', () => {
  const parts = [
    { modality: 'TEXT', tokenCount: 6 },
    { modality: 'IMAGE', tokenCount: 258 },
  ]
  const counted = [{ usage: { inputTokens: 264, imageInputTokens: 258 } }]
  const values = { values: [1] }
  const toDevelopers = { embeddings: [values], usageMetadata: { promptTokenCount: 264, promptTokenDetails: parts } }
  expect(decoded(geminiEmbeddings, toDevelopers, 'a')).toMatchObject(counted)
  const onVertex = { embedding: values, usageMetadata: { promptTokenCount: 264, promptTokensDetails: parts } }
  expect(decoded(vertexEmbedContent, onVertex, 'a')).toMatchObject(counted)
})

it('a count of -1 without its sign is none', () => {
  const none = 2 ** 32 - 1
  const google = { embeddings: [{ values: [1] }], usageMetadata: { promptTokenCount: none } }
  const cohere = { embeddings: { float: [[1]] }, meta: { billed_units: { input_tokens: none } } }
  for (const events of [decoded(geminiEmbeddings, google, 'a'), decoded(cohereEmbed, cohere, 'a')]) {
    expect(events.at(-1)).toMatchObject({ type: 'response-end' })
    expect(events.at(-1)).not.toHaveProperty('usage')
  }
})

describe('formats of text alone', () => {
  it('read parts one after the other, and leave pictures to another endpoint', () => {
    const parts = said({ type: 'input_text', text: 'a' }, { type: 'input_text', text: 'b' })
    expect(bodyOf(titanEmbed, { ...asking({}), input: [parts] })).toEqual({ inputText: 'a\nb' })
    expect(bodyOf(vertexPredict, { ...asking({}), input: [parts] })).toEqual({ instances: [{ content: 'a\nb' }] })
    for (const dialect of [titanEmbed, vertexPredict] as readonly unknown[] as readonly Dialect[])
      expect(() => bodyOf(dialect, { ...asking({}), input: [said(picture(PNG))] })).toThrow('takes no image input for embeddings')
  })
})

describe('gemini-embeddings', () => {
  it('sends a task it knows, and reports that it leaves out any other', () => {
    expect(bodyOf(geminiEmbeddings, asking({ input_type: 'search_query' }, 'a'))).toMatchObject({ requests: [{ taskType: 'RETRIEVAL_QUERY' }] })
    expect(bodyOf(geminiEmbeddings, asking({ input_type: 'clustering' }, 'a'))).toMatchObject({ requests: [{ taskType: 'CLUSTERING' }] })
    const { body, dropped } = geminiEmbeddings.encodeRequest(asking({ input_type: 'poetry' }, 'a'), targetOf(geminiEmbeddings, voice))
    expect(dropped).toEqual(['input_type'])
    expect(body).not.toContain('taskType')
  })

  it('asks at the address of the model', () => {
    const { path } = geminiEmbeddings.encodeRequest(asking({}, 'a'), targetOf(geminiEmbeddings, voice))
    expect(path).toBe('/models/embed-1:batchEmbedContents')
  })

  it('takes pictures as bytes', () => {
    expect(bodyOf(geminiEmbeddings, mixed)).toMatchObject({
      requests: [
        { content: { parts: [{ text: 'a cat' }, { inlineData: { mimeType: 'image/png', data: 'aGk=' } }] } },
        { content: { parts: [{ inlineData: { mimeType: 'image/jpeg', data: 'Ynll' } }] } },
      ],
    })
  })
})

describe.each([cohereEmbed, geminiEmbeddings, titanEmbed, vertexPredict, vertexEmbedContent] as readonly unknown[] as readonly Dialect[])(
  '$name: another endpoint may take what this one cannot',
  (dialect) => {
    const sound: InputPart = { type: 'input_audio', input_audio: { data: 'x', format: 'wav' } }
    it.each<readonly [string, InputItem]>([
      ['tokens', { type: 'input_tokens', tokens: [1] }],
      ['sound', said(sound)],
      ['pictures that are no bytes', said(picture('ftp://acme.example/cat.png'))],
      ['empty pictures', said(picture('data:image/png;base64,'))],
    ])('%s', (_, item) => {
      expect(() => bodyOf(dialect, { ...asking({}), input: [item] })).toThrow(
        expect.objectContaining({ errorType: 'invalid_prompt', failover: 'next' }) as Error,
      )
    })
  },
)
