import type { Parameter } from '../../../core/capability.ts'
import type { Target } from '../../../core/dialect.ts'
import { openAiChatOptions } from '../options.ts'
import type { OpenAiChatOptions } from '../options.ts'

export interface TargetOverrides {
  /** Options as in the configuration. */
  readonly options?: Parameters<typeof openAiChatOptions.parse>[0]
  readonly supports?: readonly Parameter[]
  readonly scope?: string
  readonly upstreamModel?: string
  readonly stream?: boolean
  readonly maxOutputTokens?: number
  readonly media?: Target['media']
  readonly pictures?: boolean
}

const SUPPORTS: readonly Parameter[] = [
  'temperature', 'top_p', 'frequency_penalty', 'presence_penalty', 'seed', 'stop', 'max_tokens', 'tools', 'tool_choice', 'response_format', 'structured_outputs', 'reasoning',
]

/** An endpoint of an unknown server, except for what a test declares. */
export function chatTarget({ options = {}, supports = SUPPORTS, upstreamModel = 'small-1', scope = 'acme', stream = true, maxOutputTokens, media, pictures }: TargetOverrides = {}): Target<OpenAiChatOptions> {
  return {
    provider: 'acme',
    providerName: 'Acme',
    upstreamModel,
    options: openAiChatOptions.parse(options),
    supports: new Set(supports),
    ...(pictures === undefined ? {} : { pictures }),
    contextLength: 128_000,
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    scope,
    stream,
    ...(media === undefined ? {} : { media }),
  }
}
