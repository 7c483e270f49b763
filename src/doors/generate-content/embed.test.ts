import { describe, expect, it } from 'vitest'
import type { GatewayError } from '../../core/error.ts'
import type { Embedded } from '../embeddings/fold.ts'
import { readVectors } from './embed.ts'

const ONE = '/api/v1beta/models/acme/embed:embedContent'
const MANY = '/api/v1/models/acme%2Fembed:batchEmbedContents?x=1'
const content = { parts: [{ text: 'Hi' }] }
const said = (text: unknown): object => ({ type: 'message', role: 'user', content: text })

describe('the purpose of the vectors', () => {
  it.each<readonly [string, string, object, object]>([
    ['a text', ONE, { model: 'models/x', content }, { input: [said('Hi')] }],
    ['several', MANY, { requests: [{ content }, { content: { role: 'user', parts: [{ text: 'Ho' }] } }] }, { input: [said('Hi'), said('Ho')] }],
    [
      'parts that are read together',
      ONE,
      { content: { parts: [{ text: 'a' }, { inline_data: { mime_type: 'image/png', data: 'iVBO' } }] } },
      {
        input: [
          said([
            { type: 'input_text', text: 'a' },
            { type: 'input_image', image_url: 'data:image/png;base64,iVBO', detail: 'auto' },
          ]),
        ],
      },
    ],
    [
      'several, each with the model of the address',
      MANY,
      { requests: ['acme/embed', 'models/acme/embed', 'models/Acme%2Fembed', '', null].map((model) => ({ model, content })) },
      { input: Array.from({ length: 5 }, () => said('Hi')) },
    ],
    ['one without brackets', MANY, { requests: { content: { parts: { text: 'Hi' } } } }, { input: [said('Hi')] }],
    ['how long they are to be', ONE, { content, output_dimensionality: 8 }, { input: [said('Hi')], dimensions: 8 }],
    ['what they are for', ONE, { content, taskType: 'RETRIEVAL_QUERY' }, { input: [said('Hi')], input_type: 'search_query' }],
    ['in a word of its vendor', ONE, { content, embedContentConfig: { taskType: 'CLUSTERING' } }, { input: [said('Hi')], input_type: 'clustering' }],
    ['nothing that is known', ONE, { content, taskType: 'TASK_TYPE_UNSPECIFIED', title: 't' }, { input: [said('Hi')] }],
    [
      'fields of the gateway',
      ONE,
      { content, user: 'u', provider: { only: ['acme'] } },
      { input: [said('Hi')], user: 'u', provider: { only: ['acme'] } },
    ],
  ])('%s', (_name, url, body, expected) => {
    expect(readVectors(body, url).request).toEqual({ model: 'acme/embed', modalities: ['embeddings'], ...expected })
  })
})

describe('refused input, with its path', () => {
  it.each<readonly [string, string, unknown]>([
    ['content is required', ONE, {}],
    ['content says nothing', ONE, { content: { parts: [{ text: '' }] } }],
    ['content.parts[0].functionCall is nothing a vector is made of', ONE, { content: { parts: [{ functionCall: { name: 'f' } }] } }],
    ['outputDimensionality must', ONE, { content, outputDimensionality: 0 }],
    ['requests is required', MANY, {}],
    ['requests is empty', MANY, { requests: [] }],
    ['requests must have at most 16384 entries', MANY, { requests: Array.from({ length: 16_385 }, () => 1) }],
    ['requests[1].content is required', MANY, { requests: [{ content }, {}] }],
    ['requests[1].content says nothing', MANY, { requests: [{ content }, { content: {} }] }],
    ['requests[1].taskType must be that of requests[0]', MANY, { requests: [{ content }, { content, taskType: 'CLUSTERING' }] }],
    ['requests[1].model must be the model of the address, acme/embed', MANY, { requests: [{ content }, { content, model: 'models/acme/other' }] }],
    ['requests[0].model must be the model of the address, acme/embed', MANY, { requests: [{ content, model: 'models/embed%' }] }],
    ['requests[0].model must be', MANY, { requests: [{ content, model: 1 }] }],
    ['The request body must be an object', MANY, null],
    ['The request body must be an object', ONE, [1]],
  ])('%s', (message, url, body) => {
    expect(() => readVectors(body, url)).toThrow(
      expect.objectContaining({ errorType: 'invalid_request', message: expect.stringContaining(message) as string }) as GatewayError,
    )
  })

  it('an error that is found later, too', () => {
    const { pathOf } = readVectors({ requests: [{ content }, { content }] }, MANY)
    expect(['input[1]', 'input_type', 'model'].map(pathOf)).toEqual(['requests[1].content', 'requests[0].taskType', 'model'])
    expect(['input[0]', 'dimensions'].map(readVectors({ content }, ONE).pathOf)).toEqual(['content', 'outputDimensionality'])
  })
})

it('vectors are numbers in the answer, however they came', () => {
  const embedded = {
    vectors: [[1, 0.5], 'AACAPw=='],
    usage: undefined,
    cost: undefined,
    isByok: false,
    model: 'acme/embed',
    added: ',"more":1',
    options: { id: 'gen-1' },
  } as unknown as Embedded
  const tail = { modelVersion: 'acme/embed', responseId: 'gen-1', more: 1 }
  const many = readVectors({ requests: [{ content }, { content }] }, MANY).write(embedded)
  expect(JSON.parse(many)).toEqual({ embeddings: [{ values: [1, 0.5] }, { values: [1] }], ...tail })
  expect(JSON.parse(readVectors({ content }, ONE).write(embedded))).toEqual({ embedding: { values: [1, 0.5] }, ...tail })
})
