import { Assembler } from '../responses/assemble.ts'
import type { TranslatingDoor } from '../shared/door.ts'
import { ChatWriter } from './chat-writer.ts'
import { toResponses } from './to-responses.ts'

/** `POST /api/v1/chat/completions`. */
export const chatCompletions: TranslatingDoor = {
  path: '/api/v1/chat/completions',
  apiType: 'chat_completions',
  refersToItems: false,
  read(sent) {
    const { body, preferences, pathOf } = toResponses(sent)
    return { body, fold: (options) => new Assembler(options, new ChatWriter(options, preferences)), pathOf, hidesReasoning: !preferences.reasoning }
  },
}
