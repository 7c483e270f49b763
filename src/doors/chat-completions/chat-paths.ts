/**
 * Maps a path of the translated body to its path in a body of this format, for error messages to the caller. The function lives as long as the call and
 * keeps nothing of the body: `origins` are the messages that the items came from, `choice` is the type of the tool choice.
 */
export function chatPaths(origins: readonly number[], choice: unknown): (path: string) => string {
  return (path) => {
    if (path.startsWith('tool_choice.')) return choicePath(path, choice)
    const [match, item, field, part] = /^input(?:\[(\d+)\](?:\.(\w+)(?:\[(\d+)\])?)?)?(?!\w)/.exec(path) ?? []
    if (match === undefined) return path
    const message = item === undefined ? undefined : origins[Number(item)]
    if (message === undefined) return 'messages'
    // Items of one answer share a message, and their order has changed: which part an item came from is unknown.
    const isWhole = origins[Number(item) - 1] !== message && origins[Number(item) + 1] !== message
    const inside = isWhole && (field === 'content' || field === 'output') ? `.content${part === undefined ? '' : `[${part}]`}` : ''
    return `messages[${message}]${inside}`
  }
}

/** A forced tool is nested one level deeper in this format. A choice of another type came from a preset, which is written in the terms of Responses. */
function choicePath(path: string, choice: unknown): string {
  if (path === 'tool_choice.name' && (choice === 'function' || choice === 'custom')) return `tool_choice.${choice}.name`
  return path === 'tool_choice.tools' && choice === 'allowed_tools' ? 'tool_choice.allowed_tools.tools' : path
}
