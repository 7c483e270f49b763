import { z } from 'zod'
import type { EncodedRequest, Target } from '../../core/dialect.ts'
import type { JsonObject } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { createUsage } from '../../core/usage.ts'
import type { EmbeddingsFound } from './decoder.ts'
import { createEmbedder } from './embedder.ts'
import { inputsOf, textOf, preferencesOf } from './inputs.ts'
import { modelPath } from './model-path.ts'

const options = z.strictObject({
  path: z.string().startsWith('/').default('/model/{model}/invoke').describe('Appended to the base URL; `{model}` stands for the upstream model id.'),
})

/** Titan Text Embeddings, one text per request. https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-titan-embed-text.html */
export const titanEmbed = createEmbedder({
  name: 'titan-embed',
  options,
  encodeRequest,
  read,
  batch: () => ({ inputs: 1 }),
})

function encodeRequest(request: ModelRequest, target: Target<z.output<typeof options>>): EncodedRequest {
  const { dimensions, inputType } = preferencesOf(request)
  const [input] = inputsOf(request)
  const body = {
    inputText: textOf(input!, target),
    // The first generation has a fixed length and refuses the field.
    ...(dimensions === undefined ? {} : { dimensions }),
  }
  return {
    method: 'POST',
    path: modelPath(target.options.path, target.upstreamModel),
    headers: {},
    body: JSON.stringify(body),
    dropped: inputType === undefined ? [] : ['input_type'],
  }
}

function read({ embedding, inputTextTokenCount: count }: JsonObject): EmbeddingsFound {
  return {
    vectors: embedding === undefined ? undefined : [embedding],
    usage: typeof count === 'number' && count > 0 ? createUsage({ inputTokens: count, raw: { inputTextTokenCount: count } }) : undefined,
  }
}
