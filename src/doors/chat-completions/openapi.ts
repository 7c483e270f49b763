import { z } from 'zod'
import { errorEnvelope, gatewayMetadata } from '../responses/openapi-answer.ts'
import { cacheHeaders, callHeaders, failureHeaders, streamHeaders, type DoorDescription } from '../shared/describe-doors.ts'
import { message as requestMessage } from './schema-messages.ts'
import { chatRequest } from './schema.ts'

/** The answer of POST /api/v1/chat/completions, for the reference. Nothing is validated against these schemas: the writer is the authority. */

const tokens = z.int().min(0)
const words = z.string().nullable()

const usage = z.looseObject({
  prompt_tokens: tokens,
  prompt_tokens_details: z.looseObject({ cached_tokens: tokens, cache_write_tokens: tokens.optional(), audio_tokens: tokens.optional() }),
  completion_tokens: tokens,
  completion_tokens_details: z.looseObject({ reasoning_tokens: tokens }),
  total_tokens: tokens,
  cost: z.number().nullable().describe('USD; null if no price is known.'),
  cost_details: z
    .looseObject({
      upstream_inference_cost: z.number().nullable(),
      upstream_inference_prompt_cost: z.number(),
      upstream_inference_completions_cost: z.number(),
    })
    .optional(),
  is_byok: z.boolean(),
  server_tool_use_details: z
    .looseObject({ tool_calls_requested: tokens.optional(), tool_calls_executed: tokens.optional(), web_search_requests: tokens.optional() })
    .optional(),
})

const place = { id: words, format: z.string(), index: z.int() }
const reasoningDetail = z.union([
  z.looseObject({ type: z.literal('reasoning.text'), text: words, signature: words.optional(), ...place }),
  z.looseObject({ type: z.literal('reasoning.summary'), summary: z.string(), ...place }),
  z.looseObject({ type: z.literal('reasoning.encrypted'), data: z.string(), ...place }),
])
const toolCall = z.union([
  z.looseObject({ id: z.string(), type: z.literal('function'), function: z.looseObject({ name: z.string(), arguments: z.string() }) }),
  z.looseObject({ id: z.string(), type: z.literal('custom'), custom: z.looseObject({ name: z.string(), input: z.string() }) }),
])
const citation = z.looseObject({
  type: z.literal('url_citation'),
  url_citation: z.looseObject({ url: z.string(), title: z.string(), start_index: z.int(), end_index: z.int(), content: z.string().optional() }),
})
const image = z.looseObject({ type: z.literal('image_url'), image_url: z.looseObject({ url: z.string() }), index: z.int() })
const logprob = z.looseObject({
  token: z.string(),
  logprob: z.number(),
  bytes: z.array(z.int()),
  top_logprobs: z.array(z.looseObject({ token: z.string(), logprob: z.number(), bytes: z.array(z.int()) })),
})

const message = z.looseObject({
  role: z.literal('assistant'),
  content: words,
  refusal: words,
  reasoning: words.describe('The reasoning as text. `reasoning_details` has its parts, which must be sent back unchanged.'),
  reasoning_content: z.string().optional().describe('The same as `reasoning`, if the gateway is configured to send both names.'),
  reasoning_details: z.array(reasoningDetail).optional(),
  tool_calls: z.array(toolCall).optional(),
  annotations: z.array(citation).optional().describe('Offsets count UTF-16 code units of the content.'),
  images: z.array(image).optional(),
})

const completion = z.looseObject({
  id: z.string().describe('Generation id, gen-...'),
  object: z.literal('chat.completion'),
  created: z.int().describe('Unix seconds.'),
  model: z.string(),
  choices: z.array(
    z.looseObject({
      index: z.literal(0),
      message,
      logprobs: z.looseObject({ content: z.array(logprob), refusal: z.null() }).nullable(),
      finish_reason: z.enum(['stop', 'length', 'tool_calls', 'content_filter']),
      native_finish_reason: words.describe('The reason as the model gave it.'),
    }),
  ),
  system_fingerprint: z.null(),
  usage: usage.optional(),
  service_tier: words,
  gateway_metadata: gatewayMetadata.optional(),
})

let built: DoorDescription | undefined

/** Request and answer of `POST /api/v1/chat/completions`; built once. */
export function describeChatCompletions(): DoorDescription {
  built ??= {
    path: '/api/v1/chat/completions',
    id: 'createChatCompletion',
    summary: 'Create a chat completion',
    tag: 'Chat Completions',
    request: 'ChatRequest',
    answer: 'ChatCompletion',
    stream: 'Chunks of a chat completion, then "data: [DONE]". A stream that breaks ends with a chunk that has `error`.',
    headers: [...callHeaders, ...streamHeaders, ...failureHeaders, ...cacheHeaders],
    schemas: [
      ['ChatRequest', chatRequest],
      ['ChatMessage', requestMessage],
      ['ChatCompletion', completion],
      ['ChatUsage', usage],
      ['Error', errorEnvelope],
      ['GatewayMetadata', gatewayMetadata],
    ],
  }
  return built
}
