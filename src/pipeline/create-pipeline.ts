import type { Handler, Layer } from '../core/call.ts'
import { asksForEmbeddings } from '../core/request.ts'
import { answerCacheLayer, type AnswerCacheOptions } from './answer-cache.ts'
import { createFallback, type FallbackOptions } from './fallback.ts'
import { guardrailLayer, unreadLayer, type GuardrailOptions } from './guardrails.ts'
import type { Limits } from './limits.ts'
import { createPluginRoom, type PluginOptions } from './plugins.ts'
import { recordLayer, type RecordOptions } from './record.ts'
import { toolLoopLayer, type ToolLoopOptions } from './tool-loop.ts'

export interface PipelineOptions extends FallbackOptions, RecordOptions, ToolLoopOptions, PluginOptions, GuardrailOptions, AnswerCacheOptions {
  readonly limits: Limits
}

/** The layers of a call from the outside in, in the order they run. */
export function createPipeline(options: PipelineOptions): Handler {
  const { beforePurchase, beforeAttempt, takeShare, layer: limits, meter } = options.limits
  const plugins = createPluginRoom({ ...options, beforePurchase })
  const record = recordLayer(options)
  const unread = unreadLayer(options)
  const guardrails = guardrailLayer(options)
  const answer = within(
    [
      record,
      unread,
      limits,
      guardrails,
      answerCacheLayer({ ...options, partIn: plugins.partIn }),
      plugins.layer,
      toolLoopLayer({ ...options, beforePurchase }),
      meter,
    ],
    createFallback({ ...options, beforeAttempt, takeShare, adaptation: plugins.standing }),
  )
  // Without plugins and tools: the vector of an adapted text would be that of another text, so an endpoint takes what was sent or refuses it.
  const embed = within(
    [record, unread, limits, guardrails, answerCacheLayer(options), meter],
    createFallback({ ...options, beforeAttempt, takeShare, streamFailure: () => 'fail' }),
  )
  return (call) => (asksForEmbeddings(call.request) ? embed(call) : answer(call))
}

const within = (layers: readonly Layer[], innermost: Handler): Handler => layers.reduceRight((next, layer) => layer(next), innermost)
