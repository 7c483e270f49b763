import { z } from 'zod'
import { errorEnvelope, gatewayMetadata } from '../responses/openapi-answer.ts'
import { cacheHeaders, callHeaders, type DoorDescription } from '../shared/describe-doors.ts'
import { contentPart, embeddingsRequest } from './schema.ts'

/** The answer of POST /api/v1/embeddings, for the reference. Nothing is validated against these schemas: the fold is the authority. */

const tokens = z.int().min(0)

const usage = z.looseObject({
  prompt_tokens: tokens,
  total_tokens: tokens,
  prompt_tokens_details: z.looseObject({ audio_tokens: tokens.optional() }).optional(),
  cost: z.number().optional().describe('USD; absent if no price is known.'),
  cost_details: z
    .looseObject({
      upstream_inference_cost: z.number().nullable(),
      upstream_inference_prompt_cost: z.number(),
      upstream_inference_completions_cost: z.number(),
    })
    .optional(),
  is_byok: z.boolean(),
})

const list = z.looseObject({
  id: z.string().describe('Generation id, gen-...'),
  object: z.literal('list'),
  data: z
    .array(z.looseObject({ object: z.literal('embedding'), index: z.int().min(0), embedding: z.union([z.array(z.number()), z.string()]) }))
    .describe('One per input, in the same order.'),
  model: z.string(),
  usage: usage.optional(),
  gateway_metadata: gatewayMetadata.optional(),
})

let built: DoorDescription | undefined

/** Request and answer of `POST /api/v1/embeddings`; built once. */
export function describeEmbeddings(): DoorDescription {
  built ??= {
    path: '/api/v1/embeddings',
    id: 'createEmbeddings',
    summary: 'Create embeddings',
    tag: 'Embeddings',
    request: 'EmbeddingsRequest',
    answer: 'EmbeddingsList',
    headers: [...callHeaders, ...cacheHeaders],
    schemas: [
      ['EmbeddingsRequest', embeddingsRequest],
      ['EmbeddingsContentPart', contentPart],
      ['EmbeddingsList', list],
      ['EmbeddingsUsage', usage],
      ['Error', errorEnvelope],
      ['GatewayMetadata', gatewayMetadata],
    ],
  }
  return built
}
