import type { Handler, Layer } from '../core/call.ts'
import { createFallback, type FallbackOptions } from './fallback.ts'
import { guardrailLayer, type GuardrailOptions } from './guardrails.ts'
import type { Limits } from './limits.ts'
import { createPluginRoom, type PluginOptions } from './plugins.ts'
import { recordLayer, type RecordOptions } from './record.ts'
import { toolLoopLayer, type ToolLoopOptions } from './tool-loop.ts'

export interface PipelineOptions extends FallbackOptions, RecordOptions, ToolLoopOptions, PluginOptions, GuardrailOptions {
  readonly limits: Limits
}

/** What happens to a call, from the outside in. Reading order is running order. */
export function createPipeline(options: PipelineOptions): Handler {
  const { beforePurchase } = options.limits
  const plugins = createPluginRoom({ ...options, beforePurchase })
  const layers: readonly Layer[] = [
    recordLayer(options),
    options.limits.layer,
    guardrailLayer(options),
    plugins.layer,
    toolLoopLayer({ ...options, beforePurchase }),
    options.limits.meter,
  ]
  const fallback = createFallback({ ...options, beforeAttempt: options.limits.beforeAttempt, adaptation: plugins.standing })
  return layers.reduceRight((next: Handler, layer) => layer(next), fallback)
}
