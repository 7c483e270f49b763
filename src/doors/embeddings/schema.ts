import { z } from 'zod'
import { byKind, byType, fields, list, maybe, tagged, type Shape } from '../responses/schema-combinators.ts'
import { providerPreferences } from '../responses/schema-routing.ts'
import { anyObject, positive, text } from '../responses/schema-shared.ts'
import { responsesRequest } from '../responses/schema.ts'

const shape: Shape = responsesRequest.shape

const words = z.string().min(1, { error: 'must not be empty' })
const token = z.int().min(0)
const isToken = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0
const media = fields({ data: words, format: text })

export const contentPart = byType(
  [
    tagged('text', { text: words }),
    tagged('image_url', { image_url: fields({ url: words }) }),
    tagged('input_audio', { input_audio: media }),
    tagged('input_video', { input_video: media }),
    tagged('input_file', { input_file: media }),
  ],
  { noun: 'content part' },
)

/** The body of `POST /api/v1/embeddings`. */
export const embeddingsRequest = fields({
  model: words,
  input: byKind({
    string: words,
    array: list(byKind({ string: words, number: token, array: list(token, isToken), object: fields({ content: list(contentPart) }) }), isToken),
  }).describe('A text, its tokens, a list of either, or a list of objects whose `content` mixes text and media. Each entry gives one vector.'),
  dimensions: positive.describe('Length of each vector, if the model supports shorter ones.'),
  encoding_format: maybe(z.enum(['float', 'base64'])).describe('`base64`: little-endian 32-bit floats.'),
  input_type: text.describe('Purpose of the vectors, such as `search_query` or `search_document`, for models that distinguish them.'),
  provider: maybe(providerPreferences).describe('Which endpoints may serve the request, and in which order.'),
  user: shape['user']!,
  session_id: shape['session_id']!,
  metadata: shape['metadata']!,
  trace: shape['trace']!,
  models: z
    .null({ error: 'must be left out: vectors of different models cannot be compared; endpoints of the one model fail over by themselves' })
    .optional(),
  plugins: z.null({ error: 'must be left out: plugins have no part in embeddings' }).optional(),
  stream: maybe(z.literal(false, { error: 'must be false or left out: vectors come in one piece' })),
  debug: maybe(anyObject),
})
