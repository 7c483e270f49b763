import type { Parameter } from '../../../core/capability.ts'
import type { Target } from '../../../core/dialect.ts'
import { anthropicMessages } from '../index.ts'
import { anthropicMessagesOptions } from '../options.ts'
import type { MessagesTarget } from '../options.ts'

export interface TargetOverrides {
  /** Options as in the configuration. */
  readonly options?: Parameters<typeof anthropicMessagesOptions.parse>[0]
  readonly supports?: readonly Parameter[]
  readonly scope?: string
  readonly stream?: boolean
  readonly model?: string
  readonly maxOutputTokens?: number
  readonly media?: Target['media']
}

/** An endpoint of an unknown server, except for what a test declares. */
export function messagesTarget(overrides: TargetOverrides = {}): MessagesTarget {
  const { options = {}, supports = anthropicMessages.supports, scope = 'acme', stream = true, model = 'small-1', maxOutputTokens, media } = overrides
  return {
    provider: 'acme',
    providerName: 'Acme',
    upstreamModel: model,
    options: anthropicMessagesOptions.parse(options),
    supports: new Set(supports),
    contextLength: 128_000,
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    scope,
    stream,
    ...(media === undefined ? {} : { media }),
  }
}
