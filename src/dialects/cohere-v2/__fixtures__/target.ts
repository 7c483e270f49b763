import type { Parameter } from '../../../core/capability.ts'
import type { Target } from '../../../core/dialect.ts'
import { cohereV2Options } from '../options.ts'
import type { CohereV2Options } from '../options.ts'

export interface TargetOverrides {
  readonly model?: string
  /** Options as in the configuration. */
  readonly options?: Parameters<typeof cohereV2Options.parse>[0]
  readonly supports?: readonly Parameter[]
  readonly scope?: string
  readonly stream?: boolean
  readonly maxOutputTokens?: number
  readonly media?: Target['media']
}

const SUPPORTS: readonly Parameter[] = [
  'temperature', 'top_p', 'top_k', 'frequency_penalty', 'presence_penalty', 'seed', 'stop', 'max_tokens', 'tools', 'tool_choice', 'structured_outputs', 'logprobs', 'reasoning',
]

export function cohereTarget(overrides: TargetOverrides = {}): Target<CohereV2Options> {
  const { model = 'command-a-plus-05-2026', options = {}, supports = SUPPORTS, scope = 'acme', stream = true, maxOutputTokens, media } = overrides
  return {
    provider: 'acme',
    providerName: 'Acme',
    upstreamModel: model,
    options: cohereV2Options.parse(options),
    supports: new Set(supports),
    contextLength: 256_000,
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    scope,
    stream,
    ...(media === undefined ? {} : { media }),
  }
}
