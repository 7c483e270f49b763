import type { Handler, Layer } from '../core/call.ts'
import { createFallback, type FallbackOptions } from './fallback.ts'
import { recordLayer, type RecordOptions } from './record.ts'

export interface PipelineOptions extends FallbackOptions, RecordOptions {}

/** What happens to a call, from the outside in. Reading order is running order. */
export function createPipeline(options: PipelineOptions): Handler {
  const layers: readonly Layer[] = [recordLayer(options)]
  return layers.reduceRight((next: Handler, layer) => layer(next), createFallback(options))
}
