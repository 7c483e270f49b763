import type { Handler, Layer } from '../core/call.ts'
import { createFallback, type FallbackOptions } from './fallback.ts'
import { recordLayer, type RecordOptions } from './record.ts'
import { toolLoopLayer, type ToolLoopOptions } from './tool-loop.ts'

export interface PipelineOptions extends FallbackOptions, RecordOptions, ToolLoopOptions {}

/** What happens to a call, from the outside in. Reading order is running order. */
export function createPipeline(options: PipelineOptions): Handler {
  const layers: readonly Layer[] = [recordLayer(options), toolLoopLayer(options)]
  return layers.reduceRight((next: Handler, layer) => layer(next), createFallback(options))
}
