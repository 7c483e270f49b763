import { z } from 'zod'
import type { EncodedRequest, Target } from '../../core/dialect.ts'
import type { JsonObject } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { createUsage, type Usage } from '../../core/usage.ts'
import type { ContentPart } from '../shared/content-parts.ts'
import { asString, isObject } from '../shared/json.ts'
import { limitsOf, mostInputs } from './batch.ts'
import type { EmbeddingsFound } from './decoder.ts'
import { createEmbedder } from './embedder.ts'
import { inputsOf, plainText, wishesOf, type EmbeddingInput } from './inputs.ts'
import { bytesOf, remoteImages, untakeable } from './media.ts'

const options = z.strictObject({
  path: z.string().startsWith('/').default('/embed').describe('Appended to the base URL.'),
  input_type: z.string().default('search_document').describe('What vectors are for, where the caller does not say: the server wants to be told.'),
  most_inputs: mostInputs(96),
})
type Options = z.output<typeof options>
type CohereTarget = Target<Options>

/** What callers of other vendors call the same. */
const WORDS: { readonly [word: string]: string } = { query: 'search_query', document: 'search_document', passage: 'search_document' }

/** Cohere's embed, second version. https://docs.cohere.com/reference/embed */
export const cohereEmbed = createEmbedder({
  name: 'cohere-embed',
  options,
  encodeRequest,
  read,
  mediaUrls: remoteImages,
  batch: limitsOf,
})

function encodeRequest(request: ModelRequest, target: CohereTarget): EncodedRequest {
  const { dimensions, inputType = target.options.input_type } = wishesOf(request)
  const inputs = inputsOf(request)
  const texts = inputs.map(plainText)
  const body = {
    model: target.upstreamModel,
    ...(texts.every((text) => text !== undefined) ? { texts } : { inputs: inputs.map((input) => encodeInput(input, target)) }),
    input_type: WORDS[inputType] ?? inputType,
    embedding_types: ['float'],
    ...(dimensions === undefined ? {} : { output_dimension: dimensions }),
  }
  return { method: 'POST', path: target.options.path, headers: {}, body: JSON.stringify(body), dropped: [] }
}

function encodeInput(input: EmbeddingInput, target: CohereTarget): JsonObject {
  if ('tokens' in input) throw untakeable('tokens instead of text', target)
  return { content: input.parts.map((part) => encodePart(part, target)) }
}

function encodePart(part: ContentPart, target: CohereTarget): JsonObject {
  if (part.type === 'input_text') return { type: 'text', text: part.text }
  if (part.type !== 'input_image') throw untakeable(`${part.type.slice('input_'.length)} input`, target)
  const { mimeType, data } = bytesOf(part, target)
  return { type: 'image_url', image_url: { url: `data:${mimeType};base64,${data}` } }
}

function read({ embeddings, meta, id }: JsonObject): EmbeddingsFound {
  const vectors = isObject(embeddings) ? embeddings['float'] : undefined
  return { vectors: Array.isArray(vectors) ? vectors : undefined, usage: usageOf(meta), id: asString(id) }
}

/** What is billed is all that is told: words and pictures apart, each in tokens where they have some. */
function usageOf(meta: unknown): Usage | undefined {
  const units = isObject(meta) ? meta['billed_units'] : undefined
  if (!isObject(units)) return undefined
  const counts = [units['input_tokens'], units['image_tokens']].filter((count): count is number => typeof count === 'number')
  return counts.length === 0 ? undefined : createUsage({ inputTokens: counts.reduce((sum, count) => sum + count, 0), raw: meta })
}
