import { createHash } from 'node:crypto'

const MAX = 64

/**
 * The function name of a server's tool. It is the same in every request, whatever else is offered, so that histories and cached prompts stay valid. Names
 * that had to be changed end in a hash, so that no two are equal.
 */
export function functionName(label: string, tool: string): string {
  const plain = `${label}__${tool}`
  const clean = plain.replace(/[^a-zA-Z0-9_-]/g, '_').replace(/^(?=[^a-zA-Z_])/, '_')
  // With underscores where label and tool meet, two pairs could give the same name.
  const ambiguous = /__|_$/.test(label) || tool.startsWith('_')
  if (clean === plain && plain.length <= MAX && !ambiguous) return plain
  const hash = createHash('sha256').update(`${label}\n${tool}`).digest('hex').slice(0, 8)
  return `${clean.slice(0, MAX - hash.length - 1)}_${hash}`
}
