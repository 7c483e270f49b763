import type { Parameter } from '../../../core/capability.ts'
import type { Target } from '../../../core/dialect.ts'
import { gemini } from '../index.ts'
import { geminiOptions } from '../options.ts'
import type { GeminiOptions } from '../options.ts'

export interface TargetOverrides {
  /** Options as in the configuration. */
  readonly options?: Parameters<typeof geminiOptions.parse>[0]
  readonly supports?: readonly Parameter[]
  readonly model?: string
  readonly scope?: string
  readonly stream?: boolean
  readonly maxOutputTokens?: number
  readonly media?: Target['media']
}

/** An endpoint of the third generation, except for what a test declares. */
export function geminiTarget({
  options = {},
  supports = gemini.supports,
  model = 'gemini-3-flash-preview',
  scope = 'acme',
  stream = true,
  maxOutputTokens,
  media,
}: TargetOverrides = {}): Target<GeminiOptions> {
  return {
    provider: 'acme',
    providerName: 'Acme',
    upstreamModel: model,
    options: geminiOptions.parse(options),
    supports: new Set(supports),
    contextLength: 1_000_000,
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    scope,
    stream,
    ...(media === undefined ? {} : { media }),
  }
}
