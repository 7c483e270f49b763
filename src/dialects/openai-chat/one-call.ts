import type { AssistantPart, Turn } from '../shared/conversation.ts'
import { compiled } from '../shared/pattern.ts'
import type { OpenAiChatOptions } from './options.ts'

/** Whether the model that a request goes to accepts several calls in one message of the history. */
export const takesSeveralCalls = ({ one_call_models: models }: OpenAiChatOptions, upstreamModel: string): boolean =>
  models === undefined || !compiled(models).test(upstreamModel)

/** The same conversation as if the model had called one tool at a time: each call in a separate message, followed by its result. */
export function oneCallEach(turns: readonly Turn[]): Turn[] {
  return turns.flatMap((turn, at): readonly Turn[] => {
    if (turn.role === 'tool') return hasSeveral(turns[at - 1]) ? [] : [turn]
    const answered = turns[at + 1]
    if (turn.role !== 'assistant' || !hasSeveral(turn) || answered?.role !== 'tool') return [turn]
    const { results } = answered
    return byCall(turn.parts).flatMap((parts, n): readonly Turn[] => [
      { role: 'assistant', parts },
      { role: 'tool', results: results.slice(n, n + 1) },
    ])
  })
}

const hasSeveral = (turn: Turn | undefined): boolean => turn?.role === 'assistant' && turn.parts.filter(({ type }) => type === 'call').length > 1

/** The parts before a call belong to it, and so do the parts after the last call. */
function byCall(parts: readonly AssistantPart[]): readonly (readonly AssistantPart[])[] {
  const last = parts.findLastIndex(({ type }) => type === 'call')
  const groups: AssistantPart[][] = [[]]
  for (const [at, part] of parts.entries()) {
    groups.at(-1)!.push(part)
    if (part.type === 'call' && at < last) groups.push([])
  }
  return groups
}
