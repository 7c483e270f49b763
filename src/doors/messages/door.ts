import type { Door } from '../shared/door.ts'
import { messagesEnvelope } from './error-envelope.ts'
import { MessagesWriter } from './messages-writer.ts'
import { messagesToResponses } from './to-responses.ts'

/** `POST /api/v1/messages`. */
export const messages: Door = {
  path: '/api/v1/messages',
  apiType: 'messages',
  refersToItems: false,
  keyHeader: 'x-api-key',
  idHeader: 'request-id',
  read(sent) {
    const { body, wishes, pathOf } = messagesToResponses(sent)
    return { body, writer: (options) => new MessagesWriter(options, wishes), pathOf }
  },
  envelope: messagesEnvelope,
}
