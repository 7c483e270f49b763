import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../core/error.ts'
import { toRequest } from './to-request.ts'

const read = (input: unknown, more: object = {}) => toRequest({ model: 'acme/embed', input, ...more })
const said = (content: unknown) => ({ type: 'message', role: 'user', content })

describe('the purpose of the vectors', () => {
  it.each([
    ['a text', 'a', [said('a')]],
    ['texts', ['a', 'b'], [said('a'), said('b')]],
    ['one text in tokens', [1, 2], [{ type: 'input_tokens', tokens: [1, 2] }]],
    [
      'texts in tokens',
      [[1], [2, 3]],
      [
        { type: 'input_tokens', tokens: [1] },
        { type: 'input_tokens', tokens: [2, 3] },
      ],
    ],
    [
      'text and media',
      [
        {
          content: [
            { type: 'text', text: 'a' },
            { type: 'image_url', image_url: { url: 'https://acme.example/a.png' } },
            { type: 'input_audio', input_audio: { data: 'AA==', format: 'mp3' } },
            { type: 'input_video', input_video: { data: 'data:video/mp4;base64,AA==' } },
            { type: 'input_file', input_file: { data: 'data:application/pdf;base64,AA==' } },
          ],
        },
      ],
      [
        said([
          { type: 'input_text', text: 'a' },
          { type: 'input_image', image_url: 'https://acme.example/a.png', detail: 'auto' },
          { type: 'input_audio', input_audio: { data: 'AA==', format: 'mp3' } },
          { type: 'input_video', video_url: 'data:video/mp4;base64,AA==' },
          { type: 'input_file', file_data: 'data:application/pdf;base64,AA==' },
        ]),
      ],
    ],
    [
      'bytes, with and without their kind',
      [
        {
          content: [
            { type: 'input_audio', input_audio: { data: 'AA==' } },
            { type: 'input_video', input_video: { data: 'AA==', format: 'mp4' } },
            { type: 'input_file', input_file: { data: 'AA==', format: 'application/pdf' } },
          ],
        },
      ],
      [
        said([
          { type: 'input_audio', input_audio: { data: 'AA==', format: '' } },
          { type: 'input_video', video_url: 'AA==', format: 'mp4' },
          { type: 'input_file', file_data: 'AA==', format: 'application/pdf' },
        ]),
      ],
    ],
  ])('%s', (_, input, items) => {
    expect(read(input)).toEqual({ model: 'acme/embed', modalities: ['embeddings'], input: items })
  })
})

describe('other fields', () => {
  it('are passed on, unknown ones as well; empty ones are not', () => {
    const fields = { dimensions: 8, encoding_format: 'base64', input_type: 'query', user: 'u', session_id: 's', truncate: 'END' }
    expect(read('a', { ...fields, provider: null, metadata: null })).toMatchObject(fields)
    expect(read('a', { provider: null })).not.toHaveProperty('provider')
  })

  it('that only concern text answers are dropped without validation', () => {
    const request = read('a', { tools: 'x', instructions: 7, max_output_tokens: -1, temperature: 'hot', preset: 'p', modalities: ['text'] })
    expect(request).toEqual({ model: 'acme/embed', modalities: ['embeddings'], input: [said('a')] })
  })
})

describe('refused input, with its path', () => {
  it.each([
    ['input', undefined, 'is required'],
    ['input', '', 'must not be empty'],
    ['input', [], 'is empty: send at least one text'],
    ['input', {}, 'must be a string or an array, not an object'],
    ['input[1]', ['a', ''], 'must not be empty'],
    ['input[1]', ['a', 1], 'must be of the same kind as the entries before it'],
    ['input[1]', [[1], []], 'is empty: send at least one token'],
    ['input[0][0]', [[1.5]], ''],
    ['input[0]', [-1], ''],
    ['input[0].content', [{ content: [] }], 'is empty: send at least one part'],
    ['input[0].content[0].type', [{ content: [{ type: 'picture' }] }], 'is "picture", which is not a known content part'],
  ])('%s: %j', (path, input, reason) => {
    let error: unknown
    try {
      read(input)
    } catch (thrown) {
      error = thrown
    }
    expect(error).toBeInstanceOf(GatewayError)
    expect(error).toMatchObject({ errorType: 'invalid_request', details: { path } })
    expect((error as GatewayError).message).toContain(`${path} ${reason}`)
  })

  it.each([
    ['model', { model: undefined }],
    ['models', { models: ['acme/embed', 'acme/other'] }],
    ['plugins', { plugins: [{ id: 'web' }] }],
    ['stream', { stream: true }],
    ['dimensions', { dimensions: 0 }],
    ['encoding_format', { encoding_format: 'int8' }],
    ['provider.orders', { provider: { orders: ['acme'] } }],
  ])('%s', (path, more) => {
    expect(() => read('a', more)).toThrow(
      expect.objectContaining({ errorType: 'invalid_request', details: expect.objectContaining({ path }) as object }) as Error,
    )
  })

  it('more entries than any server takes, before any of them is looked at', () => {
    expect(() => read(Array.from({ length: 16_385 }, () => 'a'))).toThrow('must have at most 16384 entries, not 16385')
    expect(() => read(Array.from({ length: 16_385 }, () => ({ content: true })))).toThrow('must have at most 16384 entries, not 16385')
    expect(() => read([...Array.from({ length: 16_385 }, () => 1), 'a'])).toThrow('input[16385] must be of the same kind')
  })

  it.each([[[1, -2]], [[1, 2.5]], [[1, 1e300]], [[[1], [2, -1]]], [[[1], [2, '']]]])('invalid tokens: %j', (input) => {
    expect(() => read(input)).toThrow(expect.objectContaining({ errorType: 'invalid_request' }) as Error)
  })
})
