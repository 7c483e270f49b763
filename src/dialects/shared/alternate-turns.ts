import type { ContentPart } from './content-parts.ts'
import type { Turn } from './conversation.ts'

/** A user turn for places where the format requires one and there is none. */
export const OPENING_TURN: ContentPart = { type: 'input_text', text: 'Continue.' }

/** Merges neighbours of one role and makes the conversation begin with the user. A user turn of blanks after an answer is refused by all these endpoints. */
export function alternate(turns: readonly Turn[]): Turn[] {
  const joined = joinNeighbours(turns, ['user', 'assistant'])
  if (joined[0]?.role === 'assistant') joined.unshift({ role: 'user', parts: [OPENING_TURN] })
  const last = joined.at(-1)
  if (last?.role === 'user' && joined.at(-2)?.role === 'assistant' && last.parts.every(isBlank))
    joined[joined.length - 1] = { role: 'user', parts: [OPENING_TURN] }
  return joined
}

const isBlank = (part: ContentPart): boolean => part.type === 'input_text' && part.text.trim() === ''

/** Neighbours with one of these roles become one turn; each part is copied once. */
export function joinNeighbours(turns: readonly Turn[], roles: readonly ('user' | 'assistant')[]): Turn[] {
  const joined: Turn[] = []
  for (let from = 0, to = 0; from < turns.length; from = to) {
    const first = turns[from]!
    to = from + 1
    if ((roles as readonly string[]).includes(first.role)) while (turns[to]?.role === first.role) to++
    const parts = (): unknown[] => turns.slice(from, to).flatMap((turn) => ('parts' in turn ? (turn.parts as readonly unknown[]) : []))
    joined.push(to === from + 1 ? first : ({ role: first.role, parts: parts() } as Turn))
  }
  return joined
}
