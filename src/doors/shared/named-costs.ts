import type { JsonObject } from '../../core/item.ts'

/** The parts of a cost, named as in formats that have prompts and completions. */
export function namedCosts(details: JsonObject): JsonObject {
  const { upstream_inference_input_cost: prompt, upstream_inference_output_cost: completion, ...others } = details
  return { ...others, upstream_inference_prompt_cost: prompt, upstream_inference_completions_cost: completion }
}
