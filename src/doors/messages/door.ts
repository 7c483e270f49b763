import { Assembler } from '../responses/assemble.ts'
import type { TranslatingDoor } from '../shared/door.ts'
import { messagesEnvelope } from './error-envelope.ts'
import { MessagesWriter } from './messages-writer.ts'
import { messagesToResponses } from './to-responses.ts'

/** `POST /api/v1/messages`. */
export const messages: TranslatingDoor = {
  path: '/api/v1/messages',
  apiType: 'messages',
  refersToItems: false,
  keyHeader: 'x-api-key',
  idHeader: 'request-id',
  read(sent, exactly) {
    const { body, preferences, pathOf } = messagesToResponses(sent, exactly)
    return { body, fold: (options) => new Assembler(options, new MessagesWriter(options, preferences)), pathOf }
  },
  envelope: messagesEnvelope,
}
