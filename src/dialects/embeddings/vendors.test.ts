import { describe, expect, it } from 'vitest'
import type { Dialect } from '../../core/dialect.ts'
import type { InputItem, InputPart } from '../../core/item.ts'
import { asking, targetOf } from '../../testing/embeddings-contract.ts'
import { cohereEmbed } from './cohere.ts'
import { geminiEmbeddings } from './gemini.ts'

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

describe('gemini-embeddings', () => {
  it('names a task it knows, and says that it leaves out any other', () => {
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

describe.each([cohereEmbed, geminiEmbeddings] as readonly unknown[] as readonly Dialect[])(
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
