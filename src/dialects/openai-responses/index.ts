import type { Dialect } from '../../core/dialect.ts'
import type { JsonObject } from '../../core/item.ts'
import { tierFactor } from '../shared/service-tier.ts'
import { decodeResponsesError } from './error.ts'
import { INPUT_PARTS, responsesOptions, takesCacheOptions } from './options.ts'
import type { ResponsesOptions } from './options.ts'
import { encodeResponsesRequest, responsesMediaUrls } from './request.ts'
import { readsSettings } from './settings-updates.ts'
import { createResponsesDecoder } from './stream.ts'
import { acceptsBuiltin } from './tools.ts'
import { isPaid } from './usage.ts'

export type { ResponsesOptions } from './options.ts'

/** The Responses format as its inventor serves it and others copy it. It is also the gateway's own vocabulary. */
export const openAiResponses: Dialect<ResponsesOptions> = {
  name: 'openai-responses',
  framing: 'sse',
  embeddings: 'openai-embeddings',
  options: responsesOptions,
  modelList: { path: '/models' },
  supports: [
    'temperature',
    'top_p',
    'max_tokens',
    'max_completion_tokens',
    'top_logprobs',
    'logprobs',
    'tools',
    'tool_choice',
    'parallel_tool_calls',
    'response_format',
    'structured_outputs',
    'reasoning',
    'reasoning_effort',
    'include_reasoning',
    'verbosity',
  ],
  listed: { video: { input_parts: INPUT_PARTS } },
  encodeRequest: encodeResponsesRequest,
  decoder: createResponsesDecoder,
  decodeError: (status, headers, body, target) => decodeResponsesError(status, headers, body, target.providerName),
  mediaUrls: responsesMediaUrls,
  // An assistant message at the end of the input counts as history here: the model writes another one.
  prefills: () => false,
  // `prompt` is not interpreted here, so it reaches endpoints that receive unknown fields.
  storedPrompts: ({ options }) => options.unknown_fields === 'forward',
  compacts: ({ options }) => acceptsBuiltin('compaction_trigger', options.builtin_tools),
  readsInputTools: ({ options }) => acceptsBuiltin('additional_tools', options.builtin_tools),
  prewarms: takesCacheOptions,
  readsSettings,
  knowsClientSearch: ({ options }) => acceptsBuiltin('tool_search', options.builtin_tools),
  buys: (tool, { options }) => acceptsBuiltin(tool.type, options.builtin_tools) && isPaid(tool as JsonObject, tool.type, options.paid_tools),
  tierFactor,
  hosts: ({ type }, _others, { options }) => acceptsBuiltin(type, options.builtin_tools),
}
