import { chatCompletions } from './chat-completions/door.ts'
import { messages } from './messages/door.ts'
import { responses } from './responses/door.ts'
import type { Door } from './shared/door.ts'

/** The gateway's own formats. */
export const DOORS: readonly Door[] = [responses, chatCompletions, messages]
