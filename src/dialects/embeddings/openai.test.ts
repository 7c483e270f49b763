import { describe, expect, it } from 'vitest'
import type { ModelEvent } from '../../core/event.ts'
import type { InputItem, InputPart } from '../../core/item.ts'
import { asking, targetOf } from '../../testing/embeddings-contract.ts'
import { openAiEmbeddings } from './openai.ts'

type Json = { readonly [field: string]: unknown }

const target = (options: object = {}) => targetOf(openAiEmbeddings, { model: 'embed-1', options })
const encode = (request: ReturnType<typeof asking>, options: object = {}) => openAiEmbeddings.encodeRequest(request, target(options))
const bodyOf = (request: ReturnType<typeof asking>, options: object = {}): Json => JSON.parse(encode(request, options).body) as Json
const input = (...items: readonly InputItem[]) => ({ ...asking({}), input: items })

describe('a request', () => {
  it('asks for base64 where the caller wants it and the server supports it; numbers are the default', () => {
    expect(bodyOf(asking({ encoding_format: 'base64' }, 'a'))).toHaveProperty('encoding_format', 'base64')
    expect(bodyOf(asking({ encoding_format: 'base64' }, 'a'), { base64: false })).not.toHaveProperty('encoding_format')
    expect(bodyOf(asking({ encoding_format: 'float' }, 'a'))).not.toHaveProperty('encoding_format')
  })

  it('says what vectors are for in the words of the server, or says that it does not', () => {
    const words = { input_types: { search_query: 'query' } }
    expect(bodyOf(asking({ input_type: 'search_query' }, 'a'), words)).toHaveProperty('input_type', 'query')
    expect(bodyOf(asking({ input_type: 'passage' }, 'a'), words)).toHaveProperty('input_type', 'passage')
    expect(encode(asking({ input_type: 'search_query' }, 'a'))).toMatchObject({ dropped: ['input_type'] })
    expect(bodyOf(asking({ input_type: 'search_query' }, 'a'))).not.toHaveProperty('input_type')
  })

  it('leaves out a purpose that the server does not know, and says so', () => {
    const words = { input_types: { search_query: 'query', clustering: '' } }
    const { body, dropped } = encode(asking({ input_type: 'clustering' }, 'a'), words)
    expect(JSON.parse(body)).not.toHaveProperty('input_type')
    expect(dropped).toEqual(['input_type'])
    const told = encode(asking({ input_type: 'clustering' }, 'a'), { ...words, input_type: 'query' })
    expect(JSON.parse(told.body)).toHaveProperty('input_type', 'query')
    expect(told.dropped).toEqual(['input_type'])
  })

  it('adds a default purpose where the server requires one', () => {
    const asks = { input_types: { search_query: 'query', search_document: 'passage' }, input_type: 'passage' }
    expect(bodyOf(asking({}, 'a'), asks)).toHaveProperty('input_type', 'passage')
    expect(bodyOf(asking({ input_type: 'search_query' }, 'a'), asks)).toHaveProperty('input_type', 'query')
    expect(encode(asking({}, 'a'), asks).dropped).toEqual([])
  })

  it('uses the server’s field for the number of dimensions', () => {
    expect(bodyOf(asking({ dimensions: 8 }, 'a'), { dimensions_field: 'output_dimension' })).toMatchObject({ output_dimension: 8 })
  })

  it('carries tokens, and media beside text as callers write them', () => {
    expect(bodyOf(input({ type: 'input_tokens', tokens: [1, 2] }))).toMatchObject({ input: [[1, 2]] })
    const both: InputItem = {
      type: 'message',
      role: 'user',
      content: [
        { type: 'input_text', text: 'a cat' },
        { type: 'input_image', image_url: 'https://acme.example/cat.png', detail: 'auto' },
      ],
    }
    expect(bodyOf(input(both))).toMatchObject({
      input: [
        {
          content: [
            { type: 'text', text: 'a cat' },
            { type: 'image_url', image_url: { url: 'https://acme.example/cat.png' } },
          ],
        },
      ],
    })
  })

  it('says of media what the caller said of their kind, and nothing else', () => {
    const content: InputPart[] = [
      { type: 'input_audio', input_audio: { data: 'AA==', format: 'mp3' } },
      { type: 'input_audio', input_audio: { data: 'AA==', format: '' } },
      { type: 'input_video', video_url: 'AA==', format: 'mp4' },
      { type: 'input_video', video_url: 'data:video/mp4;base64,AA==' },
      { type: 'input_file', file_data: 'AA==', format: 'application/pdf' },
      { type: 'input_file', file_data: 'data:application/pdf;base64,AA==' },
    ]
    expect(bodyOf(input({ type: 'message', role: 'user', content }))).toHaveProperty('input', [
      {
        content: [
          { type: 'input_audio', input_audio: { data: 'AA==', format: 'mp3' } },
          { type: 'input_audio', input_audio: { data: 'AA==' } },
          { type: 'input_video', input_video: { data: 'AA==', format: 'mp4' } },
          { type: 'input_video', input_video: { data: 'data:video/mp4;base64,AA==' } },
          { type: 'input_file', input_file: { data: 'AA==', format: 'application/pdf' } },
          { type: 'input_file', input_file: { data: 'data:application/pdf;base64,AA==' } },
        ],
      },
    ])
  })

  it('leaves out the name of the user where it would be refused, and says so', () => {
    const { body, dropped } = encode(asking({ user: 'u-1' }, 'a'), { user: false })
    expect(body).not.toContain('u-1')
    expect(dropped).toEqual(['user'])
    expect(encode(asking({}, 'a'), { user: false }).dropped).toEqual([])
  })

  it('passes on what only its vendor knows', () => {
    expect(bodyOf(asking({ truncate: 'END', user: 'u-1' }, 'a'))).toMatchObject({ truncate: 'END', user: 'u-1' })
  })
})

it('accepts as many inputs per request as configured', () => {
  const limits = (options?: object) => openAiEmbeddings.batch!(target(options))
  expect(limits()).toEqual({ inputs: 512, tokens: 300_000 })
  expect(limits({ most_inputs: 32, most_tokens: 8_192 })).toEqual({ inputs: 32, tokens: 8_192 })
})

describe('an answer', () => {
  const decode = (answer: Json, texts = ['a', 'b']): ModelEvent | undefined => {
    const out: ModelEvent[] = []
    openAiEmbeddings.decoder(asking({}, ...texts), target()).body(JSON.stringify(answer), out)
    return out.at(-1)
  }

  it('is sorted by its indexes, and unchanged where they are invalid', () => {
    const data = [
      { index: 1, embedding: [2] },
      { index: 0, embedding: [1] },
    ]
    expect(decode({ data })).toMatchObject({ vectors: [[1], [2]] })
    expect(decode({ data: data.map(({ embedding }) => ({ embedding })) })).toMatchObject({ vectors: [[2], [1]] })
    expect(decode({ data: data.map((one) => ({ ...one, index: 0 })) })).toMatchObject({ vectors: [[2], [1]] })
  })

  it('may be base64', () => expect(decode({ data: [{ embedding: 'AACAPw==' }] }, ['a'])).toMatchObject({ vectors: ['AACAPw=='] }))

  it.each([NaN, Infinity])('of %s is refused in base64, as it is in decimals', (none) => {
    const embedding = Buffer.from(new Float32Array([1, none]).buffer).toString('base64')
    expect(() => decode({ data: [{ embedding }] }, ['a'])).toThrow(expect.objectContaining({ errorType: 'provider_unavailable' }) as Error)
  })

  it('may tell the fee of a router and, apart from it, what our own account at the vendor is charged', () => {
    const usage = { prompt_tokens: 9, total_tokens: 9, cost: 0.25, is_byok: true, cost_details: { upstream_inference_cost: 0.5 } }
    expect(decode({ data: [{ embedding: [1] }], usage }, ['a'])).toMatchObject({ usage: { reportedCost: 0.75 } })
    const contained = { ...usage, cost: 0.75, is_byok: false }
    expect(decode({ data: [{ embedding: [1] }], usage: contained }, ['a'])).toMatchObject({ usage: { reportedCost: 0.75 } })
  })

  it('may count the total alone, and tell its cost', () => {
    const answer = decode({ data: [{ embedding: [1] }], usage: { total_tokens: 9, cost: 0.25 } }, ['a'])
    expect(answer).toMatchObject({ usage: { inputTokens: 9, reportedCost: 0.25 } })
  })
})
