import { z } from 'zod'
import { errorEnvelope, gatewayMetadata } from '../responses/openapi-answer.ts'
import { cacheHeaders, callHeaders, streamHeaders, type DoorDescription } from '../shared/describe-doors.ts'
import { message as requestMessage } from './schema-blocks.ts'
import { messagesRequest } from './schema.ts'

/** The answer of POST /api/v1/messages, for the reference. Nothing is validated against these schemas: the writer is the authority. */

const tokens = z.int().min(0)

const usage = z.looseObject({
  input_tokens: tokens.describe('Without tokens read from or written to a cache.'),
  cache_read_input_tokens: tokens,
  cache_creation_input_tokens: tokens,
  cache_creation: z.looseObject({ ephemeral_5m_input_tokens: tokens, ephemeral_1h_input_tokens: tokens }).nullable(),
  output_tokens: tokens,
  output_tokens_details: z.looseObject({ thinking_tokens: tokens }).nullable(),
  server_tool_use: z.looseObject({ web_search_requests: tokens, web_fetch_requests: tokens }).nullable(),
  service_tier: z.enum(['standard', 'priority']).nullable(),
  inference_geo: z.string().nullable().describe('Region of the inference, if the vendor reports it.'),
  cost: z.number().nullable().describe('USD; null if no price is known.'),
  cost_details: z
    .looseObject({
      upstream_inference_cost: z.number().nullable(),
      upstream_inference_prompt_cost: z.number(),
      upstream_inference_completions_cost: z.number(),
    })
    .optional(),
  is_byok: z.boolean(),
})

const citation = z.looseObject({
  type: z.literal('web_search_result_location'),
  url: z.string(),
  title: z.string(),
  cited_text: z.string(),
  encrypted_index: z.string(),
})
const found = z.looseObject({
  type: z.literal('web_search_result'),
  url: z.string(),
  title: z.string(),
  encrypted_content: z.string(),
  page_age: z.null(),
})

const searchFailed = z.looseObject({ type: z.literal('web_search_tool_result_error'), error_code: z.string() })

const page = z.looseObject({
  type: z.literal('web_fetch_result'),
  url: z.string(),
  retrieved_at: z.null(),
  content: z.looseObject({
    type: z.literal('document'),
    title: z.string().nullable(),
    source: z.looseObject({ type: z.literal('text'), media_type: z.literal('text/plain'), data: z.string() }),
  }),
})
const fetchFailed = z.looseObject({ type: z.literal('web_fetch_tool_result_error'), error_code: z.literal('unavailable') })

const caller = z.looseObject({ type: z.literal('direct') })

const block = z.union([
  z.looseObject({ type: z.literal('text'), text: z.string(), citations: z.array(citation).nullable() }),
  z.looseObject({ type: z.literal('thinking'), thinking: z.string(), signature: z.string() }),
  z.looseObject({ type: z.literal('redacted_thinking'), data: z.string() }),
  z.looseObject({ type: z.literal('tool_use'), id: z.string(), name: z.string(), input: z.looseObject({}), caller }),
  z.looseObject({
    type: z.literal('server_tool_use'),
    id: z.string(),
    name: z.enum(['web_search', 'web_fetch']),
    input: z.union([z.looseObject({ query: z.string() }), z.looseObject({ url: z.string() })]),
    caller,
  }),
  z.looseObject({ type: z.literal('web_search_tool_result'), tool_use_id: z.string(), content: z.union([z.array(found), searchFailed]), caller }),
  z.looseObject({ type: z.literal('web_fetch_tool_result'), tool_use_id: z.string(), content: z.union([page, fetchFailed]), caller }),
  z
    .looseObject({ type: z.literal('image'), source: z.looseObject({ type: z.enum(['base64', 'url']) }) })
    .describe('An image that the gateway generated.'),
])

const answer = z.looseObject({
  id: z.string().describe('Generation id, gen-...'),
  type: z.literal('message'),
  role: z.literal('assistant'),
  model: z.string(),
  content: z.array(block),
  stop_reason: z.enum(['end_turn', 'max_tokens', 'model_context_window_exceeded', 'stop_sequence', 'tool_use', 'refusal']),
  stop_sequence: z.string().nullable().describe('Present if the endpoint reports which one it was, or if only one was given.'),
  stop_details: z
    .looseObject({ type: z.literal('refusal'), category: z.string().nullable(), explanation: z.string().nullable() })
    .nullable()
    .describe('Why the model refused, if the vendor reports it.'),
  container: z.null(),
  usage,
  gateway_metadata: gatewayMetadata.optional(),
})

const messagesError = z.looseObject({
  type: z.literal('error'),
  error: z.looseObject({
    type: z.string(),
    message: z.string(),
    error_type: z.string().describe('The error type as in other formats.'),
    details: z.looseObject({ error_code: z.string() }).optional().describe('Machine-readable details that clients of this format use.'),
  }),
  metadata: z.looseObject({}),
  request_id: z.string(),
  gateway_metadata: gatewayMetadata.optional(),
})

let built: DoorDescription | undefined

/** Request and answer of `POST /api/v1/messages`; built once. */
export function describeMessages(): DoorDescription {
  built ??= {
    path: '/api/v1/messages',
    id: 'createMessage',
    summary: 'Create a message',
    tag: 'Messages',
    request: 'MessagesRequest',
    answer: 'MessagesAnswer',
    error: 'MessagesError',
    stream: 'Events of Messages. A stream that breaks ends with an event of the type `error`.',
    headers: [...callHeaders, ...streamHeaders, ...cacheHeaders],
    schemas: [
      ['MessagesRequest', messagesRequest],
      ['MessagesMessage', requestMessage],
      ['MessagesAnswer', answer],
      ['MessagesError', messagesError],
      ['Error', errorEnvelope],
      ['GatewayMetadata', gatewayMetadata],
    ],
  }
  return built
}
