import { describe, expect, it } from 'vitest'
import type { Dialect } from '../../core/dialect.ts'
import { describeEmbeddingsContract, type EmbeddingsVoice } from '../../testing/embeddings-contract.ts'
import { answerDialects, dialects } from '../index.ts'
import { embeddingDialects } from './index.ts'

type Json = { readonly [field: string]: unknown }

const VOICES: { readonly [dialect: string]: EmbeddingsVoice } = {
  'openai-embeddings': {
    model: 'embed-1',
    options: {},
    textsOf: ({ input }) => input as readonly unknown[],
    dimensionsOf: ({ dimensions }) => dimensions,
    answer: (vectors, tokens) => ({
      object: 'list',
      model: 'embed-1',
      data: vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })),
      ...(tokens === undefined ? {} : { usage: { prompt_tokens: tokens, total_tokens: tokens } }),
    }),
  },
  'gemini-embeddings': {
    model: 'embed-1',
    options: {},
    textsOf: ({ requests }) => (requests as readonly { content: { parts: readonly Json[] } }[]).map(({ content }) => content.parts[0]!['text']),
    dimensionsOf: ({ requests }) => (requests as readonly Json[])[0]!['outputDimensionality'],
    answer: (vectors, tokens) => ({
      embeddings: vectors.map((values) => ({ values })),
      ...(tokens === undefined ? {} : { usageMetadata: { promptTokenCount: tokens } }),
    }),
  },
  'cohere-embed': {
    model: 'embed-1',
    options: {},
    textsOf: ({ texts }) => texts as readonly unknown[],
    dimensionsOf: ({ output_dimension: dimensions }) => dimensions,
    answer: (vectors, tokens) => ({
      id: 'e-1',
      embeddings: { float: vectors },
      texts: [],
      meta: { api_version: { version: '2' }, ...(tokens === undefined ? {} : { billed_units: { input_tokens: tokens } }) },
    }),
  },
  'titan-embed': {
    model: 'embed-1',
    options: {},
    textsOf: ({ inputText }) => [inputText],
    dimensionsOf: ({ dimensions }) => dimensions,
    answer: ([embedding], tokens) => ({
      ...(embedding === undefined ? {} : { embedding, embeddingsByType: { float: embedding } }),
      ...(tokens === undefined ? {} : { inputTextTokenCount: tokens }),
    }),
  },
  'vertex-predict': {
    model: 'embed-1',
    options: {},
    textsOf: ({ instances }) => (instances as readonly Json[]).map(({ content }) => content),
    dimensionsOf: ({ parameters }) => (parameters as Json | undefined)?.['outputDimensionality'],
    answer: (vectors, tokens) => ({
      predictions: vectors.map((values, index) => {
        const counted = tokens === undefined ? {} : { token_count: index === 0 ? tokens - vectors.length + 1 : 1 }
        return { embeddings: { values, statistics: { truncated: false, ...counted } } }
      }),
      metadata: { billableCharacterCount: 12 },
    }),
  },
  'vertex-embed-content': {
    model: 'embed-1',
    options: {},
    textsOf: ({ content }) => (content as { parts: readonly Json[] }).parts.map(({ text }) => text),
    dimensionsOf: ({ embedContentConfig: config }) => (config as Json | undefined)?.['outputDimensionality'],
    answer: ([values], tokens) => ({
      ...(values === undefined ? {} : { embedding: { values } }),
      truncated: false,
      ...(tokens === undefined ? {} : { usageMetadata: { promptTokenCount: tokens, totalTokenCount: tokens } }),
    }),
  },
}

describe.each(Object.entries(VOICES))('%s', (name, voice) => {
  describeEmbeddingsContract(dialects.get(name)!, voice)
})

it('every format of embeddings is held to the contract', () => {
  expect(Object.keys(VOICES).toSorted()).toEqual(embeddingDialects.map(({ name }) => name).toSorted())
})

it('formats of conversations name one that there is', () => {
  const named = answerDialects.flatMap(({ embeddings }: Dialect) => embeddings ?? [])
  expect(named.length).toBeGreaterThan(0)
  for (const name of named) expect(dialects.get(name)?.answers).toBe('embeddings')
})
