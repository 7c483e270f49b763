import { z } from 'zod'
import { errorEnvelope, gatewayMetadata } from '../responses/openapi-answer.ts'
import { cacheHeaders, callHeaders, streamHeaders, type DoorDescription } from '../shared/describe-doors.ts'
import { LATER_PATH, METHODS, MODELS_PATH, SHORT_PATH, VECTOR_METHODS } from './path.ts'
import { batchEmbedRequest, content, embedContentRequest, generateContentRequest } from './schema.ts'

/** The answers of this format, for the reference. Nothing is validated against these schemas: the writer is the authority. */

const tokens = z.int().min(0)
const texts = z.array(z.string())

const usage = z.looseObject({
  promptTokenCount: tokens,
  candidatesTokenCount: tokens.describe('Without reasoning tokens.'),
  thoughtsTokenCount: tokens.optional(),
  promptTokensDetails: z
    .array(z.looseObject({ modality: z.string(), tokenCount: tokens }))
    .optional()
    .describe('Audio, if there is any.'),
  cachedContentTokenCount: tokens.optional(),
  totalTokenCount: tokens,
  cost: z.number().nullable().describe('USD; null if no price is known.'),
  cost_details: z.looseObject({}).optional(),
  is_byok: z.boolean(),
})

const part = z.looseObject({
  text: z.string().optional(),
  thought: z.boolean().optional().describe('True for reasoning, which is present if the request asked for it.'),
  thoughtSignature: z.string().optional().describe('Preserves the reasoning: send it back with its part.'),
  functionCall: z.looseObject({ id: z.string(), name: z.string(), args: z.looseObject({}) }).optional(),
  inlineData: z.looseObject({ mimeType: z.string(), data: z.string() }).optional(),
  fileData: z.looseObject({ fileUri: z.string() }).optional(),
  executableCode: z.looseObject({ language: z.string(), code: z.string() }).optional(),
  codeExecutionResult: z.looseObject({ outcome: z.string(), output: z.string() }).optional(),
})

const candidate = z.looseObject({
  content: z.looseObject({ role: z.literal('model'), parts: z.array(part) }),
  index: z.literal(0),
  finishReason: z.string().optional().describe('In the last part: STOP, MAX_TOKENS, SAFETY, MALFORMED_FUNCTION_CALL and others.'),
  avgLogprobs: z.number().optional(),
  logprobsResult: z.looseObject({}).optional(),
  groundingMetadata: z
    .looseObject({ webSearchQueries: texts.optional(), groundingChunks: z.array(z.looseObject({})), groundingSupports: z.array(z.looseObject({})) })
    .optional()
    .describe('Sources of the answer. Positions are bytes of its text.'),
  urlContextMetadata: z.looseObject({ urlMetadata: z.array(z.looseObject({ retrievedUrl: z.string(), urlRetrievalStatus: z.string() })) }).optional(),
})

const answer = z.looseObject({
  candidates: z.array(candidate),
  usageMetadata: usage.optional().describe('In the last part; empty before.'),
  modelVersion: z.string().describe('The model that answered.'),
  responseId: z.string().describe('Generation id, gen-...'),
  gateway_metadata: gatewayMetadata.optional(),
})

const fault = z.looseObject({
  error: z.looseObject({
    code: z.int(),
    message: z.string(),
    status: z.string().describe('The name of the code.'),
    details: z.array(z.looseObject({ '@type': z.string(), reason: z.string().describe('The error type as in other formats, in capitals.') })),
    metadata: z.looseObject({ error_type: z.string() }).optional(),
  }),
  gateway_metadata: gatewayMetadata.optional(),
})

const vector = z.looseObject({ values: z.array(z.number()) })
const vectorUsage = usage.pick({ promptTokenCount: true, totalTokenCount: true, cost: true, cost_details: true, is_byok: true })
const ofVectors = answer.pick({ modelVersion: true, responseId: true, gateway_metadata: true }).extend({ usageMetadata: vectorUsage.optional() })
const vectors = {
  one: ofVectors.extend({ embedding: vector }),
  batch: ofVectors.extend({ embeddings: z.array(vector).describe('One per request, in the same order.') }),
}

const countRequest = z.looseObject({ contents: z.array(content).optional(), generateContentRequest: generateContentRequest.optional() })

const model = { name: 'model', in: 'path', required: true, description: 'author/slug; the slash may be encoded.', schema: { type: 'string' } }

let built: readonly DoorDescription[] | undefined

/** Requests and answers of the methods of this format; built once. */
export function describeGenerateContent(): readonly DoorDescription[] {
  const shared = {
    tag: 'GenerateContent',
    request: 'GenerateContentRequest',
    answer: 'GenerateContentAnswer',
    error: 'GenerateContentError',
    headers: [model, ...callHeaders, ...streamHeaders, ...cacheHeaders],
    schemas: [
      ['GenerateContentRequest', generateContentRequest],
      ['GenerateContentContent', content],
      ['GenerateContentCount', countRequest],
      ['GenerateContentAnswer', answer],
      ['EmbedContentRequest', embedContentRequest],
      ['BatchEmbedContentsRequest', batchEmbedRequest],
      ['EmbedContentAnswer', vectors.one],
      ['BatchEmbedContentsAnswer', vectors.batch],
      ['GenerateContentError', fault],
      ['Error', errorEnvelope],
      ['GatewayMetadata', gatewayMetadata],
    ],
  } satisfies Partial<DoorDescription>
  const alt = {
    name: 'alt',
    in: 'query',
    required: false,
    description: '"sse": server-sent events. Otherwise a JSON array that is sent in pieces.',
    schema: { type: 'string', enum: ['sse', 'json'] },
  }
  const described = (folder: string, word: string, suffix: string): readonly DoorDescription[] => {
    const [generate, stream, one, batch] = [...METHODS, ...VECTOR_METHODS].map((method) => `${folder}{model}${method}`) as [
      string,
      string,
      string,
      string,
    ]
    const embedding = { ...shared, headers: [model, ...callHeaders, ...cacheHeaders] }
    return [
      {
        ...embedding,
        path: one,
        id: `embedContent${word}`,
        summary: `Make a vector${suffix}`,
        request: 'EmbedContentRequest',
        answer: 'EmbedContentAnswer',
      },
      {
        ...embedding,
        path: batch,
        id: `batchEmbedContents${word}`,
        summary: `Make several vectors${suffix}`,
        request: 'BatchEmbedContentsRequest',
        answer: 'BatchEmbedContentsAnswer',
      },
      { ...shared, path: generate, id: `generateContent${word}`, summary: `Create an answer${suffix}` },
      {
        ...shared,
        path: stream,
        id: `streamGenerateContent${word}`,
        summary: `Create an answer and stream it${suffix}`,
        headers: [...shared.headers, alt],
        stream: 'Answers with one part each; the last has a finishReason. A stream that breaks ends with an error.',
      },
    ]
  }
  built ??= [
    ...described(MODELS_PATH, '', ''),
    ...described(LATER_PATH, 'V1', ', for clients that say v1'),
    ...described(SHORT_PATH, 'ByName', ', for clients that leave the folder of models out'),
  ]
  return built
}
