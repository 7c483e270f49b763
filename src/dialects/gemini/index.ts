import type { Dialect } from '../../core/dialect.ts'
import { tierFactor } from '../shared/service-tier.ts'
import { decodeGeminiError } from './error.ts'
import { mediaUrls } from './media.ts'
import { traitsOf } from './model-traits.ts'
import { geminiOptions } from './options.ts'
import type { GeminiOptions } from './options.ts'
import { encodeRequest } from './request.ts'
import { GeminiDecoder } from './stream.ts'
import { hostsTool } from './tools.ts'

/** generateContent of Google's API for developers and its cloud platform. Differences are declared in options.ts. */
export const gemini: Dialect<GeminiOptions> = {
  name: 'gemini',
  framing: 'sse',
  embeddings: 'gemini-embeddings',
  options: geminiOptions,
  modelList: { path: '/models' },
  supports: [
    'temperature',
    'top_p',
    'top_k',
    'frequency_penalty',
    'presence_penalty',
    'seed',
    'stop',
    'max_tokens',
    'tools',
    'tool_choice',
    'response_format',
    'structured_outputs',
    'reasoning',
    'include_reasoning',
    'logprobs',
    'top_logprobs',
  ],
  encodeRequest,
  decoder: (request, target) => new GeminiDecoder(request, target),
  decodeError: (status, headers, body, target) => decodeGeminiError(status, headers, body, target.providerName),
  mediaUrls,
  tierFactor,
  prefills: (_request, { options, upstreamModel }) => traitsOf(options, upstreamModel).prefill,
  hosts: (tool, others, { options, upstreamModel }) => hostsTool(tool, others, options, traitsOf(options, upstreamModel)),
}
