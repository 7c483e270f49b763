import { z } from 'zod'
import type { EncodedRequest, Target } from '../../core/dialect.ts'
import type { JsonObject } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { isObject } from '../shared/json.ts'
import { modelSegment } from '../shared/model-segment.ts'
import { limitsOf, mostInputs } from './batch.ts'
import type { EmbeddingsFound } from './decoder.ts'
import { createEmbedder } from './embedder.ts'
import { partsOf, taskOf, usageOf } from './google.ts'
import { inputsOf, preferencesOf } from './inputs.ts'
import { remoteImages } from './media.ts'

const options = z.strictObject({ most_inputs: mostInputs(100) })
type GeminiTarget = Target<z.output<typeof options>>

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
  const { dimensions, inputType } = preferencesOf(request)
  const { task, dropped } = taskOf(inputType)
  const model = `models/${target.upstreamModel}`
  const requests = inputsOf(request).map((input) => ({
    model,
    content: { parts: partsOf(input, target) },
    ...(task === undefined ? {} : { taskType: task }),
    ...(dimensions === undefined ? {} : { outputDimensionality: dimensions }),
  }))
  return {
    method: 'POST',
    path: `/models/${modelSegment(target.upstreamModel)}:batchEmbedContents`,
    headers: {},
    body: JSON.stringify({ requests }),
    dropped,
  }
}

function read({ embeddings, usageMetadata }: JsonObject): EmbeddingsFound {
  if (!Array.isArray(embeddings) || !embeddings.every(isObject)) return { vectors: undefined }
  return { vectors: embeddings.map(({ values }) => values), usage: usageOf(usageMetadata) }
}
