/**
 * Where a body of this format has what stands at a path of its translation, for those who tell its caller of a fault. It lives as long as the
 * call and holds nothing of the body: `origins` are the messages its items came from, `choice` is the type of its tool choice.
 */
export function chatPaths(origins: readonly number[], choice: unknown): (path: string) => string {
  return (path) => {
    if (path.startsWith('tool_choice.')) return choicePath(path, choice)
    const [whole, item, field, part] = /^input(?:\[(\d+)\](?:\.(\w+)(?:\[(\d+)\])?)?)?(?!\w)/.exec(path) ?? []
    if (whole === undefined) return path
    const message = item === undefined ? undefined : origins[Number(item)]
    if (message === undefined) return 'messages'
    // Items of one answer share a message, whose parts have been sorted: which of them it was cannot be told.
    const isWhole = origins[Number(item) - 1] !== message && origins[Number(item) + 1] !== message
    const inside = isWhole && (field === 'content' || field === 'output') ? `.content${part === undefined ? '' : `[${part}]`}` : ''
    return `messages[${message}]${inside}`
  }
}

/** What is forced stands one level deeper here. A choice that is not the body's came with a preset, in the words it has there. */
function choicePath(path: string, choice: unknown): string {
  if (path === 'tool_choice.name' && (choice === 'function' || choice === 'custom')) return `tool_choice.${choice}.name`
  return path === 'tool_choice.tools' && choice === 'allowed_tools' ? 'tool_choice.allowed_tools.tools' : path
}
