/** Fields of the body that are called differently in its translation. */
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
 * Maps a path of the translated body to its path in a body of this format, for error messages to the caller. `origins` are the turns that the items came
 * from; `tools` are the paths of the tools.
 */
export function bodyPaths(origins: readonly number[], tools: readonly string[]): (path: string) => string {
  return (path) => {
    const [tool, at] = /^tools\[(\d+)\]/.exec(path) ?? []
    if (tool !== undefined) return (tools[Number(at)] ?? tool) + path.slice(tool.length)
    const [match, item] = /^input(?:\[(\d+)\])?(?!\w)/.exec(path) ?? []
    if (match === undefined) return FIELDS.get(path) ?? path
    const turn = item === undefined ? undefined : origins[Number(item)]
    return turn === undefined ? 'contents' : `contents[${turn}]`
  }
}
