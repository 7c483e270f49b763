import { z } from 'zod'
import type { EncodedRequest, Target } from '../../core/dialect.ts'
import type { JsonObject } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { isObject } from '../shared/json.ts'
import type { EmbeddingsFound } from './decoder.ts'
import { createEmbedder } from './embedder.ts'
import { partsOf, taskOf, usageOf } from './google.ts'
import { inputsOf, preferencesOf } from './inputs.ts'
import { remoteImages } from './media.ts'
import { modelPath } from './model-path.ts'

const options = z.strictObject({
  path: z
    .string()
    .startsWith('/')
    .default('/publishers/google/models/{model}:embedContent')
    .describe('Appended to the base URL; `{model}` stands for the upstream model id.'),
})

/**
 * `embedContent` of Google's cloud platform, one input per request, because several would give a single vector.
 * https://docs.cloud.google.com/vertex-ai/docs/reference/rest/v1/projects.locations.publishers.models/embedContent
 */
export const vertexEmbedContent = createEmbedder({
  name: 'vertex-embed-content',
  options,
  encodeRequest,
  read,
  mediaUrls: remoteImages,
  batch: () => ({ inputs: 1 }),
})

function encodeRequest(request: ModelRequest, target: Target<z.output<typeof options>>): EncodedRequest {
  const { dimensions, inputType } = preferencesOf(request)
  const { task, dropped } = taskOf(inputType)
  const [input] = inputsOf(request)
  const config = {
    ...(task === undefined ? {} : { taskType: task }),
    ...(dimensions === undefined ? {} : { outputDimensionality: dimensions }),
  }
  const body = { content: { parts: partsOf(input!, target) }, ...(Object.keys(config).length === 0 ? {} : { embedContentConfig: config }) }
  return { method: 'POST', path: modelPath(target.options.path, target.upstreamModel), headers: {}, body: JSON.stringify(body), dropped }
}

function read({ embedding, usageMetadata }: JsonObject): EmbeddingsFound {
  return { vectors: isObject(embedding) ? [embedding['values']] : undefined, usage: usageOf(usageMetadata) }
}
