import type { Handler, Layer } from '../core/call.ts'
import { createFallback, type FallbackOptions } from './fallback.ts'
import type { Limits } from './limits.ts'
import { recordLayer, type RecordOptions } from './record.ts'
import { toolLoopLayer, type ToolLoopOptions } from './tool-loop.ts'

export interface PipelineOptions extends FallbackOptions, RecordOptions, ToolLoopOptions {
  readonly limits: Limits
}

/** What happens to a call, from the outside in. Reading order is running order. */
export function createPipeline(options: PipelineOptions): Handler {
  const layers: readonly Layer[] = [recordLayer(options), options.limits.layer, toolLoopLayer(options), options.limits.meter]
  return layers.reduceRight((next: Handler, layer) => layer(next), createFallback({ ...options, beforeAttempt: options.limits.beforeAttempt }))
}
