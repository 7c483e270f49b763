/** Bounds, formats and words of the body that stand elsewhere in its translation. */
const FIELDS: ReadonlyMap<string, string> = new Map([
  ['instructions', 'system'],
  ['max_output_tokens', 'max_tokens'],
  ['stop', 'stop_sequences'],
  ['text.format', 'output_config.format'],
  ['parallel_tool_calls', 'tool_choice.disable_parallel_tool_use'],
])

/**
 * Where a body of this format has what stands at a path of its translation, for those who tell its caller of a fault. `origins` are the
 * messages the items came from, -1 for the instructions above them; `tools`: where each of the tools stands. Which block of a message it was cannot be told: they have been sorted.
 */
export function messagePaths(origins: readonly number[], tools: readonly string[] = []): (path: string) => string {
  return (path) => {
    const [tool, at] = /^tools\[(\d+)\]/.exec(path) ?? []
    if (tool !== undefined) return (tools[Number(at)] ?? tool) + path.slice(tool.length)
    const [whole, item] = /^input(?:\[(\d+)\])?(?!\w)/.exec(path) ?? []
    if (whole === undefined) return FIELDS.get(path) ?? path
    const message = item === undefined ? undefined : origins[Number(item)]
    if (message === undefined) return 'messages'
    return message === -1 ? 'system' : `messages[${message}]`
  }
}
