import type { Dialect } from '../../core/dialect.ts'
import { requestedReasoning } from '../shared/reasoning-options.ts'
import { mediaToInline } from './content.ts'
import { decodeMessagesError } from './error.ts'
import { anthropicMessagesOptions, API_VERSION, rulesFor } from './options.ts'
import type { AnthropicMessagesOptions } from './options.ts'
import { encodeRequest } from './request.ts'
import { MessagesDecoder } from './stream.ts'
import { mostOutput } from './thinking.ts'
import { hostsTool } from './tools.ts'
import { priceFactorAsked } from './usage.ts'

/** The Messages format as defined by Anthropic and offered by clouds that host its models. Differences are declared in options.ts. */
export const anthropicMessages: Dialect<AnthropicMessagesOptions> = {
  name: 'anthropic-messages',
  framing: 'sse',
  // https://platform.claude.com/docs/en/api/beta-headers; the second is for APIs of other formats, as in the public service.
  betaHeaders: ['anthropic-beta', 'x-anthropic-beta'],
  options: anthropicMessagesOptions,
  modelList: { path: '/models', headers: { 'anthropic-version': API_VERSION } },
  supports: [
    'temperature',
    'top_p',
    'top_k',
    'stop',
    'max_tokens',
    'tools',
    'tool_choice',
    'parallel_tool_calls',
    'response_format',
    'structured_outputs',
    'reasoning',
    'include_reasoning',
    'reasoning_effort',
  ],
  encodeRequest,
  decoder: (request, target) => new MessagesDecoder(request, target),
  decodeError: (status, headers, body, target) => decodeMessagesError(status, headers, body, target.providerName),
  mediaUrls: mediaToInline,
  prefills(request, target) {
    const { prefill, thinking } = rulesFor(target)
    return prefill && (thinking === 'none' || requestedReasoning(request.reasoning).mode !== 'on')
  },
  mostOutput,
  prewarms: ({ options }) => options.prewarm,
  priceFactor: priceFactorAsked,
  hosts: ({ type }, _others, { options }) => hostsTool(type, options),
}
