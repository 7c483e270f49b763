/** Fields of the body that are called differently in its translation. */
const FIELDS: ReadonlyMap<string, string> = new Map([
  ['instructions', 'system'],
  ['max_output_tokens', 'max_tokens'],
  ['stop', 'stop_sequences'],
  ['text.format', 'output_config.format'],
  ['parallel_tool_calls', 'tool_choice.disable_parallel_tool_use'],
])

/**
 * Maps a path of the translated body to its path in a body of this format, for error messages to the caller. `origins` are the messages that the items
 * came from, -1 for the system prompt; `tools` are the paths of the tools. The block within a message is unknown, because the order of the blocks has
 * changed.
 */
export function messagePaths(origins: readonly number[], tools: readonly string[] = []): (path: string) => string {
  return (path) => {
    const [tool, at] = /^tools\[(\d+)\]/.exec(path) ?? []
    if (tool !== undefined) return (tools[Number(at)] ?? tool) + path.slice(tool.length)
    const [match, item] = /^input(?:\[(\d+)\])?(?!\w)/.exec(path) ?? []
    if (match === undefined) return FIELDS.get(path) ?? path
    const message = item === undefined ? undefined : origins[Number(item)]
    if (message === undefined) return 'messages'
    return message === -1 ? 'system' : `messages[${message}]`
  }
}
