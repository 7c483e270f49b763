import type { Visibility } from '../../core/call.ts'
import { isCall } from '../../core/caller-call.ts'
import type { OutputItem } from '../../core/item.ts'
import { holdsPicture } from '../../core/picture-items.ts'
import { Assembler } from '../responses/assemble.ts'
import type { TranslatingDoor } from '../shared/door.ts'
import { isFetch, isSearch } from '../shared/tool-items.ts'
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
    return { body, fold: (options) => new Assembler(options, new MessagesWriter(options, preferences)), pathOf, visibilityOf }
  },
  envelope: messagesEnvelope,
}

/** Of what a provider does by itself searches, pages and pictures are shown. */
function visibilityOf({ type }: OutputItem): Visibility {
  if (type === 'message' || type === 'reasoning' || isCall(type)) return 'written'
  return isSearch(type) || isFetch(type) || holdsPicture(type) ? 'whole' : 'hidden'
}
