/** Bounds, formats and words of the body that stand elsewhere in its translation. */
const FIELDS: ReadonlyMap<string, string> = new Map([
  ['instructions', 'systemInstruction'],
  ['max_output_tokens', 'generationConfig.maxOutputTokens'],
  ['temperature', 'generationConfig.temperature'],
  ['top_p', 'generationConfig.topP'],
  ['top_k', 'generationConfig.topK'],
  ['seed', 'generationConfig.seed'],
  ['presence_penalty', 'generationConfig.presencePenalty'],
  ['frequency_penalty', 'generationConfig.frequencyPenalty'],
  ['stop', 'generationConfig.stopSequences'],
  ['top_logprobs', 'generationConfig.logprobs'],
  ['text.format', 'generationConfig.responseSchema'],
  ['modalities', 'generationConfig.responseModalities'],
  ['image_config', 'generationConfig.imageConfig'],
  ['reasoning', 'generationConfig.thinkingConfig'],
  ['reasoning.max_tokens', 'generationConfig.thinkingConfig.thinkingBudget'],
  ['reasoning.effort', 'generationConfig.thinkingConfig.thinkingLevel'],
  ['service_tier', 'serviceTier'],
  ['tool_choice', 'toolConfig.functionCallingConfig'],
])

/**
 * Where a body of this format has what stands at a path of its translation, for those who tell its caller of a fault. `origins` are the
 * turns the items came from; `tools`: where each of the tools stands.
 */
export function bodyPaths(origins: readonly number[], tools: readonly string[]): (path: string) => string {
  return (path) => {
    const [tool, at] = /^tools\[(\d+)\]/.exec(path) ?? []
    if (tool !== undefined) return (tools[Number(at)] ?? tool) + path.slice(tool.length)
    const [whole, item] = /^input(?:\[(\d+)\])?(?!\w)/.exec(path) ?? []
    if (whole === undefined) return FIELDS.get(path) ?? path
    const turn = item === undefined ? undefined : origins[Number(item)]
    return turn === undefined ? 'contents' : `contents[${turn}]`
  }
}
