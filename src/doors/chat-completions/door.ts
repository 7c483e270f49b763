import type { Visibility } from '../../core/call.ts'
import { isCall } from '../../core/caller-call.ts'
import type { OutputItem } from '../../core/item.ts'
import { holdsPicture } from '../../core/picture-items.ts'
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
    return {
      body,
      fold: (options) => new Assembler(options, new ChatWriter(options, preferences)),
      pathOf,
      visibilityOf: preferences.reasoning ? withReasoning : withoutReasoning,
    }
  },
}

/** Of what a provider does by itself only pictures are shown. */
function withReasoning({ type }: OutputItem): Visibility {
  if (type === 'message' || type === 'reasoning' || isCall(type)) return 'written'
  return holdsPicture(type) ? 'whole' : 'hidden'
}

const withoutReasoning = (item: OutputItem): Visibility => (item.type === 'reasoning' ? 'hidden' : withReasoning(item))
