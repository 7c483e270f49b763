import type { Dialect } from '../../core/dialect.ts'
import { requestedReasoning } from '../shared/reasoning-options.ts'
import { decodeHttpError } from './exceptions.ts'
import { mediaUrls } from './media.ts'
import { traitsOf } from './model-traits.ts'
import { bedrockConverseOptions } from './options.ts'
import type { BedrockConverseOptions } from './options.ts'
import { encodeRequest } from './request.ts'
import { planReasoning } from './reasoning.ts'
import { BedrockDecoder } from './stream.ts'
import { hostsTool } from './system-tools.ts'
import { asksWhole } from './tools.ts'

/** Amazon Bedrock's common format for the models of all its vendors, in AWS event-stream frames. Rules declare the abilities of models. */
export const bedrockConverse: Dialect<BedrockConverseOptions> = {
  name: 'bedrock-converse',
  framing: 'aws-event-stream',
  options: bedrockConverseOptions,
  supports: [
    'temperature',
    'top_p',
    'top_k',
    'stop',
    'max_tokens',
    'tools',
    'tool_choice',
    'response_format',
    'structured_outputs',
    'reasoning',
    'include_reasoning',
    'reasoning_effort',
  ],
  encodeRequest,
  decoder: (request, target) => new BedrockDecoder(request, target),
  decodeError: decodeHttpError,
  mediaUrls,
  asksWhole: (request, { options, upstreamModel }) => asksWhole(request, traitsOf(options, upstreamModel)),
  prefills(request, { options, upstreamModel }) {
    const { prefill, reasoning } = traitsOf(options, upstreamModel)
    if (prefill !== 'without-reasoning') return prefill === 'always'
    return reasoning === 'none' || requestedReasoning(request.reasoning).mode !== 'on'
  },
  mostOutput(request, { options, upstreamModel, maxOutputTokens }) {
    if (request.max_output_tokens == null) return undefined
    return planReasoning(request, traitsOf(options, upstreamModel), { maxOutputTokens, forced: false, lostThoughts: false }, []).maxTokens
  },
  reasons: ({ options, upstreamModel }) => traitsOf(options, upstreamModel).reasoning !== 'none',
  takesFile: (_file, { options, upstreamModel }) => traitsOf(options, upstreamModel).media.includes('document'),
  hosts: (tool, _others, { options, upstreamModel }) => hostsTool(tool, traitsOf(options, upstreamModel)),
}
