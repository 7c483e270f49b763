import { z } from 'zod'
import type { EncodedRequest, Target } from '../../core/dialect.ts'
import type { JsonObject } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { createUsage, type Usage } from '../../core/usage.ts'
import type { ContentPart } from '../shared/content-parts.ts'
import { isObject } from '../shared/json.ts'
import { limitsOf, mostInputs } from './batch.ts'
import type { EmbeddingsFound } from './decoder.ts'
import { createEmbedder } from './embedder.ts'
import { inputsOf, wishesOf, type EmbeddingInput } from './inputs.ts'
import { bytesOf, remoteImages, untakeable } from './media.ts'

const options = z.strictObject({ most_inputs: mostInputs(100) })
type GeminiTarget = Target<z.output<typeof options>>

/** https://ai.google.dev/api/embeddings#tasktype, by the words of other vendors' callers. */
const TASKS: { readonly [word: string]: string } = {
  query: 'RETRIEVAL_QUERY',
  search_query: 'RETRIEVAL_QUERY',
  document: 'RETRIEVAL_DOCUMENT',
  passage: 'RETRIEVAL_DOCUMENT',
  search_document: 'RETRIEVAL_DOCUMENT',
}
const KNOWN_TASKS: ReadonlySet<string> = new Set([
  ...Object.values(TASKS),
  'SEMANTIC_SIMILARITY',
  'CLASSIFICATION',
  'CLUSTERING',
  'QUESTION_ANSWERING',
  'FACT_VERIFICATION',
  'CODE_RETRIEVAL_QUERY',
])

/** batchEmbedContents of Google's API for developers. https://ai.google.dev/api/embeddings */
export const geminiEmbeddings = createEmbedder({
  name: 'gemini-embeddings',
  options,
  encodeRequest,
  read,
  mediaUrls: remoteImages,
  batch: limitsOf,
})

function encodeRequest(request: ModelRequest, target: GeminiTarget): EncodedRequest {
  const { dimensions, inputType } = wishesOf(request)
  const taskType = inputType === undefined ? undefined : (TASKS[inputType] ?? inputType.toUpperCase())
  const isKnown = taskType !== undefined && KNOWN_TASKS.has(taskType)
  const model = `models/${target.upstreamModel}`
  const requests = inputsOf(request).map((input) => ({
    model,
    content: { parts: partsOf(input, target) },
    ...(isKnown ? { taskType } : {}),
    ...(dimensions === undefined ? {} : { outputDimensionality: dimensions }),
  }))
  return {
    method: 'POST',
    path: `/models/${encodeURIComponent(target.upstreamModel)}:batchEmbedContents`,
    headers: {},
    body: JSON.stringify({ requests }),
    dropped: taskType === undefined || isKnown ? [] : ['input_type'],
  }
}

function partsOf(input: EmbeddingInput, target: GeminiTarget): readonly JsonObject[] {
  if ('tokens' in input) throw untakeable('tokens instead of text', target)
  return input.parts.map((part) => encodePart(part, target))
}

function encodePart(part: ContentPart, target: GeminiTarget): JsonObject {
  if (part.type === 'input_text') return { text: part.text }
  if (part.type !== 'input_image') throw untakeable(`${part.type.slice('input_'.length)} input`, target)
  const { mimeType, data } = bytesOf(part, target)
  return { inlineData: { mimeType, data } }
}

function read({ embeddings, usageMetadata }: JsonObject): EmbeddingsFound {
  if (!Array.isArray(embeddings) || !embeddings.every(isObject)) return { vectors: undefined }
  return { vectors: embeddings.map(({ values }) => values), usage: usageOf(usageMetadata) }
}

/** Not all models count; what went unsaid is estimated. */
function usageOf(usage: unknown): Usage | undefined {
  const count = isObject(usage) ? (usage['promptTokenCount'] ?? usage['totalTokenCount']) : undefined
  return typeof count === 'number' && count > 0 ? createUsage({ inputTokens: count, raw: usage }) : undefined
}
