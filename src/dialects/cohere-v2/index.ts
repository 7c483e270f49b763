import type { Dialect } from '../../core/dialect.ts'
import { GatewayError } from '../../core/error.ts'
import { classifyUpstreamError } from '../shared/errors.ts'
import { isTextFile, mediaUrls } from './content.ts'
import { cohereV2Options, matchesModel } from './options.ts'
import type { CohereV2Options } from './options.ts'
import { encodeRequest } from './request.ts'
import { CohereDecoder } from './stream.ts'

/** A status that only this format uses. */
const BLOCKED = 498

/** Cohere's chat API, version 2. */
export const cohereV2: Dialect<CohereV2Options> = {
  name: 'cohere-v2',
  framing: 'sse',
  embeddings: 'cohere-embed',
  options: cohereV2Options,
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
    'logprobs',
    'reasoning',
    'include_reasoning',
    'reasoning_effort',
  ],
  encodeRequest,
  decoder: (request, target) => new CohereDecoder(request, target),
  decodeError(status, headers, body, target) {
    const error = classifyUpstreamError({ status, headers, body, providerName: target.providerName })
    return status === BLOCKED ? new GatewayError('content_policy_violation', error.message, { ...error.details, failover: 'next-model' }) : error
  },
  mediaUrls,
  reasons: ({ options, upstreamModel }) => matchesModel(options.reasoning_models, upstreamModel),
  takesFile: isTextFile,
}
