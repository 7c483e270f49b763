import type { Parameter } from '../../../core/capability.ts'
import type { Target } from '../../../core/dialect.ts'
import { bedrockConverseOptions } from '../options.ts'
import type { BedrockConverseOptions } from '../options.ts'

export interface TargetOverrides {
  readonly model?: string
  /** Options as in the configuration. */
  readonly options?: Parameters<typeof bedrockConverseOptions.parse>[0]
  readonly supports?: readonly Parameter[]
  readonly scope?: string
  readonly stream?: boolean
  readonly maxOutputTokens?: number
  readonly media?: Target['media']
}

export const CLAUDE = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'
export const NEW_CLAUDE = 'us.anthropic.claude-opus-4-7-v1'
export const NOVA = 'us.amazon.nova-2-lite-v1:0'
export const MISTRAL = 'mistral.mistral-large-2407-v1:0'
export const LLAMA = 'us.meta.llama3-3-70b-instruct-v1:0'

const SUPPORTS: readonly Parameter[] = ['temperature', 'top_p', 'top_k', 'stop', 'max_tokens', 'tools', 'tool_choice', 'structured_outputs', 'reasoning']

export function bedrockTarget(overrides: TargetOverrides = {}): Target<BedrockConverseOptions> {
  const { model = CLAUDE, options = {}, supports = SUPPORTS, scope = 'acme', stream = true, maxOutputTokens, media } = overrides
  return {
    provider: 'acme',
    providerName: 'Acme',
    upstreamModel: model,
    options: bedrockConverseOptions.parse(options),
    supports: new Set(supports),
    contextLength: 200_000,
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    scope,
    stream,
    ...(media === undefined ? {} : { media }),
  }
}
