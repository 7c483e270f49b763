import { z } from 'zod'
import type { EncodedRequest, Target } from '../../core/dialect.ts'
import type { JsonObject } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { createUsage, type Usage } from '../../core/usage.ts'
import type { ContentPart } from '../shared/content-parts.ts'
import { asString, isObject } from '../shared/json.ts'
import { hasCounts, reportedByRouter } from '../shared/usage-counts.ts'
import { limitsOf, mostInputs, mostTokens } from './batch.ts'
import type { EmbeddingsFound } from './decoder.ts'
import { createEmbedder, KNOWN_FIELDS } from './embedder.ts'
import { inputsOf, plainText, preferencesOf, type EmbeddingInput } from './inputs.ts'

const options = z.strictObject({
  path: z.string().startsWith('/').default('/embeddings').describe('Appended to the base URL.'),
  dimensions_field: z.string().default('dimensions').describe('Name of the field for the number of dimensions.'),
  input_types: z
    .record(z.string(), z.string())
    .optional()
    .describe(
      'For servers that accept `input_type`: their words for callers’ words, or nothing where they have none. Other words are sent unchanged.',
    ),
  input_type: z.string().optional().describe('`input_type` if the caller sets none, for servers that require it.'),
  user: z.boolean().default(true).describe('Whether `user` is sent; some servers refuse it.'),
  base64: z
    .boolean()
    .default(true)
    .describe('Whether vectors are requested as base64. If not, the gateway converts numbers for callers who want base64.'),
  // OpenAI itself takes 2,048: decimals of so many long vectors are more than is read of one answer.
  most_inputs: mostInputs(512),
  most_tokens: mostTokens(300_000),
})
type Options = z.output<typeof options>

/** `POST /embeddings` as defined by OpenAI and offered by most servers. https://platform.openai.com/docs/api-reference/embeddings */
export const openAiEmbeddings = createEmbedder({
  name: 'openai-embeddings',
  options,
  encodeRequest,
  passesOn: true,
  read,
  batch: limitsOf,
})

function encodeRequest(request: ModelRequest, { upstreamModel, options: declared }: Target<Options>): EncodedRequest {
  const { dimensions, base64, inputType } = preferencesOf(request)
  const { path, dimensions_field: dimensionsField, input_types: words, input_type: usual } = declared
  const requestedType = wordFor(inputType, words)
  const purpose = requestedType ?? wordFor(usual, words)
  const withoutUser = !declared.user && request.user != null
  const own = Object.entries(request).filter(([field, value]) => !KNOWN_FIELDS.has(field) && value != null && !(withoutUser && field === 'user'))
  const body = {
    ...Object.fromEntries(own),
    model: upstreamModel,
    input: inputsOf(request).map(encodeInput),
    ...(dimensions === undefined ? {} : { [dimensionsField]: dimensions }),
    // Every server sends numbers by default, and not all accept a value for them.
    ...(base64 && declared.base64 ? { encoding_format: 'base64' } : {}),
    ...(purpose === undefined ? {} : { input_type: purpose }),
  }
  return {
    method: 'POST',
    path,
    headers: {},
    body: JSON.stringify(body),
    dropped: [...(inputType !== undefined && requestedType === undefined ? ['input_type'] : []), ...(withoutUser ? ['user'] : [])],
  }
}

/** The server's word for the purpose of the vectors; undefined if it has none. */
function wordFor(purpose: string | undefined, words: Options['input_types']): string | undefined {
  if (purpose === undefined || words === undefined) return undefined
  const word = Object.hasOwn(words, purpose) ? words[purpose] : purpose
  return word === '' ? undefined : word
}

/** For input other than text, servers accept the format that the gateway's callers use. */
function encodeInput(input: EmbeddingInput): unknown {
  if ('tokens' in input) return input.tokens
  return plainText(input) ?? { content: input.parts.map(encodePart) }
}

function encodePart(part: ContentPart): JsonObject {
  switch (part.type) {
    case 'input_text':
      return { type: 'text', text: part.text }
    case 'input_image':
      return { type: 'image_url', image_url: { url: part.image_url } }
    case 'input_audio':
      return { type: 'input_audio', input_audio: encodeMedia(part.input_audio.data, part.input_audio.format) }
    case 'input_video':
      return { type: 'input_video', input_video: encodeMedia(part.video_url, part.format) }
    case 'input_file':
      return { type: 'input_file', input_file: encodeMedia(part.file_data ?? part.file_url, part.format) }
  }
}

const encodeMedia = (data: string | null | undefined, format: string | undefined): JsonObject => ({ data, ...(format ? { format } : {}) })

function read(answer: JsonObject): EmbeddingsFound {
  const { data, usage, id } = answer
  if (!Array.isArray(data) || !data.every(isObject)) return { vectors: undefined }
  return { vectors: inOrder(data).map(({ embedding }) => embedding), usage: usageOf(usage), id: asString(id) }
}

/** Sorted by the server's indexes, if all are present. */
function inOrder(data: readonly JsonObject[]): readonly JsonObject[] {
  const places = new Set(data.map(({ index }) => index))
  const numbered = places.size === data.length && data.every((_, place) => places.has(place))
  return numbered ? data.toSorted((a, b) => (a['index'] as number) - (b['index'] as number)) : data
}

/** Servers count the prompt, the total, or both. */
function usageOf(usage: unknown): Usage | undefined {
  if (!isObject(usage) || !hasCounts(usage)) return undefined
  const { prompt_tokens: prompt, total_tokens: total } = usage
  const inputTokens = typeof prompt === 'number' && prompt > 0 ? prompt : total
  return createUsage({
    inputTokens: typeof inputTokens === 'number' ? inputTokens : undefined,
    reportedCost: reportedByRouter(usage),
    raw: usage,
  })
}
