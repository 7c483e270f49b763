import type { Dialect } from '../../core/dialect.ts'
import { classifyUpstreamError } from '../shared/errors.ts'
import { tierFactor } from '../shared/service-tier.ts'
import { mediaToInline } from './content.ts'
import { openAiChatOptions, reasoningRulesFor } from './options.ts'
import type { OpenAiChatOptions } from './options.ts'
import { asksWhole, encodeRequest } from './request.ts'
import { ChatDecoder } from './stream.ts'
import { hostsTool } from './web-search.ts'

/** Chat completions as defined by OpenAI and offered by most servers. Differences between servers are declared in options.ts. */
export const openAiChat: Dialect<OpenAiChatOptions> = {
  name: 'openai-chat',
  framing: 'sse',
  embeddings: 'openai-embeddings',
  options: openAiChatOptions,
  modelList: { path: '/models' },
  supports: [
    'temperature',
    'top_p',
    'frequency_penalty',
    'presence_penalty',
    'seed',
    'stop',
    'max_tokens',
    'tools',
    'tool_choice',
    'response_format',
    'structured_outputs',
  ],
  listed: { video: { video: 'video_url' } },
  encodeRequest,
  asksWhole,
  decoder: (request, target) => new ChatDecoder(request, target),
  decodeError: (status, headers, body, target) => classifyUpstreamError({ status, headers, body, providerName: target.providerName }),
  mediaUrls: mediaToInline,
  tierFactor,
  hosts: (tool, _others, { options }) => hostsTool(tool, options),
  reasons: (target) => (reasoningRulesFor(target).style ?? 'none') !== 'none',
  takesFile: (_file, { options }) => options.file !== 'none',
  prefills: (_request, { options }) => options.prefill ?? (options.prefill_field === undefined ? undefined : true),
}
