import { z } from 'zod'
import type { EncodedRequest, Target } from '../../core/dialect.ts'
import type { JsonObject } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { createUsage, type Usage } from '../../core/usage.ts'
import { isObject } from '../shared/json.ts'
import { limitsOf, mostInputs, mostTokens } from './batch.ts'
import type { EmbeddingsFound } from './decoder.ts'
import { createEmbedder } from './embedder.ts'
import { taskOf } from './google.ts'
import { inputsOf, textOf, preferencesOf } from './inputs.ts'
import { modelPath } from './model-path.ts'

const options = z.strictObject({
  path: z
    .string()
    .startsWith('/')
    .default('/publishers/google/models/{model}:predict')
    .describe('Appended to the base URL; `{model}` stands for the upstream model id.'),
  most_inputs: mostInputs(250),
  most_tokens: mostTokens(20_000),
  one_by_one: z.array(z.string()).default([]).describe('Models that accept one input per request.'),
})

/** `predict` of Google's cloud platform. https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/text-embeddings-api */
export const vertexPredict = createEmbedder({
  name: 'vertex-predict',
  options,
  encodeRequest,
  read,
  batch: ({ options: declared, upstreamModel }) => (declared.one_by_one.includes(upstreamModel) ? { inputs: 1 } : limitsOf({ options: declared })),
})

function encodeRequest(request: ModelRequest, target: Target<z.output<typeof options>>): EncodedRequest {
  const { dimensions, inputType } = preferencesOf(request)
  const { task, dropped } = taskOf(inputType)
  const instances = inputsOf(request).map((input) => ({ content: textOf(input, target), ...(task === undefined ? {} : { task_type: task }) }))
  const body = { instances, ...(dimensions === undefined ? {} : { parameters: { outputDimensionality: dimensions } }) }
  return { method: 'POST', path: modelPath(target.options.path, target.upstreamModel), headers: {}, body: JSON.stringify(body), dropped }
}

function read({ predictions }: JsonObject): EmbeddingsFound {
  const found = Array.isArray(predictions) ? predictions.map((one) => (isObject(one) ? one['embeddings'] : undefined)) : []
  if (!Array.isArray(predictions) || !found.every(isObject)) return { vectors: undefined }
  return { vectors: found.map(({ values }) => values), usage: usageOf(found) }
}

/** Each vector reports the tokens of its text; if one does not, all are estimated. */
function usageOf(found: readonly JsonObject[]): Usage | undefined {
  let inputTokens = 0
  for (const { statistics } of found) {
    const count = isObject(statistics) ? statistics['token_count'] : undefined
    if (typeof count !== 'number' || count <= 0) return undefined
    inputTokens += count
  }
  return createUsage({ inputTokens, raw: { token_count: inputTokens } })
}
