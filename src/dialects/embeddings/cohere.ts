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
import { inputsOf, plainText, preferencesOf, type EmbeddingInput } from './inputs.ts'
import { bytesOf, remoteImages, untakeable } from './media.ts'
import { modelPath } from './model-path.ts'

const options = z.strictObject({
  path: z.string().startsWith('/').default('/embed').describe('Appended to the base URL; `{model}` stands for the upstream model id.'),
  model_in_body: z.boolean().default(true).describe('Whether the model is in the body. If not, it is in the path.'),
  image_urls: z.enum(['object', 'text']).default('object').describe('How an image is sent: as `{"url": ...}`, or as the address alone.'),
  input_type: z.string().default('search_document').describe('`input_type` if the caller sets none; the server requires it.'),
  most_inputs: mostInputs(96),
})
type Options = z.output<typeof options>
type CohereTarget = Target<Options>

/** Other vendors' words for the same input types, or the nearest ones. */
const WORDS: { readonly [word: string]: string | undefined } = {
  query: 'search_query',
  document: 'search_document',
  passage: 'search_document',
  question_answering: 'search_query',
  fact_verification: 'search_query',
  code_retrieval_query: 'search_query',
  semantic_similarity: 'clustering',
}

/** Cohere's embed API, version 2. https://docs.cohere.com/reference/embed */
export const cohereEmbed = createEmbedder({
  name: 'cohere-embed',
  options,
  encodeRequest,
  read,
  mediaUrls: remoteImages,
  batch: limitsOf,
})

function encodeRequest(request: ModelRequest, target: CohereTarget): EncodedRequest {
  const { path, model_in_body: modelInBody, input_type: usual } = target.options
  const { dimensions, inputType = usual } = preferencesOf(request)
  const inputs = inputsOf(request)
  const texts = inputs.map(plainText)
  const body = {
    ...(modelInBody ? { model: target.upstreamModel } : {}),
    ...(texts.every((text) => text !== undefined) ? { texts } : { inputs: inputs.map((input) => encodeInput(input, target)) }),
    input_type: WORDS[inputType] ?? inputType,
    embedding_types: ['float'],
    ...(dimensions === undefined ? {} : { output_dimension: dimensions }),
  }
  return { method: 'POST', path: modelPath(path, target.upstreamModel), headers: {}, body: JSON.stringify(body), dropped: [] }
}

function encodeInput(input: EmbeddingInput, target: CohereTarget): JsonObject {
  if ('tokens' in input) throw untakeable('tokens instead of text', target)
  return { content: input.parts.map((part) => encodePart(part, target)) }
}

function encodePart(part: ContentPart, target: CohereTarget): JsonObject {
  if (part.type === 'input_text') return { type: 'text', text: part.text }
  if (part.type !== 'input_image') throw untakeable(`${part.type.slice('input_'.length)} input`, target)
  const { mimeType, data } = bytesOf(part, target)
  const url = `data:${mimeType};base64,${data}`
  return { type: 'image_url', image_url: target.options.image_urls === 'text' ? url : { url } }
}

/** Some servers leave out the kind of numbers if only one was requested. */
function read({ embeddings, meta, id }: JsonObject): EmbeddingsFound {
  const vectors = isObject(embeddings) ? embeddings['float'] : embeddings
  return { vectors: Array.isArray(vectors) ? vectors : undefined, usage: usageOf(meta), id: asString(id) }
}

/** Only billed units are reported: text and pictures separately, each in tokens if there are any. */
function usageOf(meta: unknown): Usage | undefined {
  const units = isObject(meta) ? meta['billed_units'] : undefined
  if (!isObject(units)) return undefined
  const counts = [units['input_tokens'], units['image_tokens']].filter((count): count is number => typeof count === 'number')
  return counts.length === 0 ? undefined : createUsage({ inputTokens: counts.reduce((sum, count) => sum + count, 0), raw: meta })
}
