import type { Turn } from './body.ts'
import { fold } from './fold.ts'

const GONE = 'The page was reloaded during the answer. The partial answer is kept.'

/** What an earlier page load left: answers that were streaming there have ended. */
export function settled(name: string, value: unknown): unknown {
  if (name !== 'turns') return value
  return (value as readonly Turn[]).map((turn) => ({
    ...turn,
    run: fold(turn.run, { type: 'broken', message: GONE }, turn.run.firstAt ?? turn.run.startedAt),
  }))
}
