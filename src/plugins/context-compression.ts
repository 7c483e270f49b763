import { z } from 'zod'
import type { Plugin } from '../core/extension.ts'
import { middleOut } from './shared/middle-out.ts'
import { lastQuestion } from './shared/question.ts'
import type { PluginDependencies } from './shared/dependencies.ts'

const settings = z.object({ engine: z.literal('middle-out').default('middle-out') })

/** Endpoints with a window up to this many tokens get shortened prompts by default, as the contract says. */
const STANDING_WINDOW = 8_192
/** Room for an answer if the caller sets no limit. */
const ANSWER_SHARE = 0.25
const MAX_ANSWER_TOKENS = 4_096
/** The token estimate is off by up to a third in either direction. */
const MARGIN = 0.8
/** Share of an estimate to aim for once a provider has proven it wrong. */
const AGAIN = 0.6

type Settings = z.infer<typeof settings> & { readonly upTo?: number }

/** Leaves out the middle of prompts that exceed an endpoint's window. */
export function createContextCompression({ tokensOf }: Pick<PluginDependencies, 'tokensOf'>): Plugin<Settings> {
  return {
    id: 'context-compression',
    settings,
    adapts: {
      standing: { engine: 'middle-out', upTo: STANDING_WINDOW },
      shortensUpTo: ({ upTo = Infinity }) => upTo,
      adapt(request, endpoint, { call, settings: { engine, upTo = Infinity }, report }, tooLong) {
        const { contextLength } = endpoint
        if (contextLength > upTo) return undefined
        const answer = request.max_output_tokens ?? Math.min(contextLength * ANSWER_SHARE, MAX_ANSWER_TOKENS)
        const tokens = tokensOf(request)
        if (!tooLong && tokens + (request.max_output_tokens ?? 0) <= contextLength) return undefined
        const room = Math.floor(Math.min((contextLength - answer) * MARGIN, tooLong ? tokens * AGAIN : Infinity))
        const shortened = middleOut(request, room, tokensOf, lastQuestion(call.request)?.index)
        if (shortened === undefined) return undefined
        report({
          stage: {
            type: 'context_compression',
            name: 'context-compression',
            summary: `${shortened.original} items became ${shortened.kept} to fit the ${contextLength} tokens of ${endpoint.providerName}`,
            data: {
              engine,
              input_type: 'messages',
              original_count: shortened.original,
              compressed_count: shortened.kept,
              original_tokens: shortened.tokensBefore,
              compressed_tokens: shortened.tokensAfter,
              truncated_count: shortened.truncated,
            },
          },
        })
        return shortened.request
      },
    },
  }
}
