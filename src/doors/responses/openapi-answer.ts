import { z } from 'zod'
import { ERROR_KINDS, type ErrorType } from '../../core/error.ts'
import { prompt, reasoning, textOptions } from './schema-options.ts'

/** The answer of POST /api/v1/responses, for the reference. Nothing is validated against these schemas: the assembler is the authority. */

const tokens = z.int().min(0)
const dollars = z.number().nullable()

export const usage = z.looseObject({
  input_tokens: tokens,
  input_tokens_details: z.looseObject({ cached_tokens: tokens, cache_write_tokens: tokens.optional() }),
  output_tokens: tokens,
  output_tokens_details: z.looseObject({ reasoning_tokens: tokens }),
  total_tokens: tokens,
  prompt_tokens: tokens.describe('The same as input_tokens.'),
  completion_tokens: tokens.describe('The same as output_tokens.'),
  cost: dollars.describe('USD; null if no price is known.'),
  cost_details: z
    .looseObject({
      upstream_inference_cost: dollars,
      upstream_inference_input_cost: z.number(),
      upstream_inference_output_cost: z.number(),
    })
    .optional(),
  is_byok: z.boolean(),
})

const errorTypes = Object.keys(ERROR_KINDS) as [ErrorType, ...ErrorType[]]
/** Errors of the management API that calls never have. */
const NOT_OF_CALLS: ReadonlySet<string> = new Set<ErrorType>(['conflict', 'precondition_failed'])
const callErrorTypes = errorTypes.filter((type) => !NOT_OF_CALLS.has(type))

export const gatewayMetadata = z
  .looseObject({
    requested: z.string(),
    strategy: z.enum(['direct', 'auto', 'free', 'latest', 'alias', 'fallback', 'pareto', 'bodybuilder', 'fusion']),
    region: z.string().nullable(),
    summary: z.string(),
    is_byok: z.boolean(),
    endpoints: z.looseObject({
      total: z.int(),
      available: z.array(z.looseObject({ provider: z.string(), model: z.string(), selected: z.boolean() })),
    }),
    attempt: z.int().describe('Which attempt answered, counted from 1; 0 if none was made.'),
    attempts: z.array(z.looseObject({ provider: z.string(), model: z.string(), status: z.int(), error_type: z.string().optional() })).optional(),
    params: z.looseObject({}).optional().describe('What was changed in or left out of the request.'),
    pipeline: z
      .array(z.looseObject({ type: z.string(), name: z.string() }))
      .optional()
      .describe('Stages that ran.'),
  })
  .describe('How the call was routed; only if the metadata header asks for it.')

export const responseResource = z.looseObject({
  id: z.string().describe('Generation id, gen-...'),
  object: z.literal('response'),
  created_at: z.int().describe('Unix seconds.'),
  completed_at: z.int().nullable(),
  status: z.enum(['in_progress', 'completed', 'incomplete', 'failed']),
  model: z.string(),
  output: z.array(z.looseObject({ type: z.string(), id: z.string() })),
  output_text: z.string().describe('The text of all messages of the answer.'),
  error: z.looseObject({ code: z.string(), message: z.string() }).nullable(),
  error_type: z.enum(callErrorTypes).optional(),
  incomplete_details: z.looseObject({ reason: z.enum(['max_output_tokens', 'content_filter']) }).nullable(),
  usage: usage.nullable(),
  service_tier: z.string().nullable(),
  instructions: z.string().nullable(),
  metadata: z.record(z.string(), z.string()).nullable(),
  parallel_tool_calls: z.boolean(),
  temperature: z.number(),
  top_p: z.number(),
  presence_penalty: z.number(),
  frequency_penalty: z.number(),
  top_logprobs: z.int(),
  max_output_tokens: z.int().nullable(),
  max_tool_calls: z.int().nullable(),
  tools: z.array(z.looseObject({ type: z.string() })),
  tool_choice: z.unknown(),
  text: textOptions,
  reasoning: reasoning.nullable(),
  truncation: z.string(),
  previous_response_id: z.null(),
  prompt: prompt.nullable(),
  prompt_cache_options: z.looseObject({ mode: z.literal('explicit'), ttl: z.string().nullish() }).nullable(),
  prompt_cache_key: z.string().nullable(),
  safety_identifier: z.string().nullable(),
  user: z.string().nullable(),
  store: z.literal(false),
  background: z.literal(false),
  gateway_metadata: gatewayMetadata.optional(),
})

export const errorEnvelope = z.looseObject({
  error: z.looseObject({
    code: z.int().describe('The HTTP status.'),
    message: z.string(),
    metadata: z.looseObject({
      error_type: z.enum(errorTypes),
      source: z.enum(['gateway', 'provider']).optional(),
      path: z.string().optional().describe('The field at fault, for validation errors.'),
      provider_name: z.string().optional(),
      provider_code: z.string().optional(),
      raw: z.string().optional().describe("The upstream's own error, scrubbed of secrets."),
    }),
  }),
  debug: z
    .looseObject({ echo_upstream_body: z.looseObject({}) })
    .optional()
    .describe('The body sent to the last upstream; only if a streaming request sets `debug.echo_upstream_body`.'),
  gateway_metadata: gatewayMetadata.optional(),
})
