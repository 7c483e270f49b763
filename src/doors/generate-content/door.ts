import { Assembler } from '../responses/assemble.ts'
import type { TranslatingDoor } from '../shared/door.ts'
import { ContentWriter } from './content-writer.ts'
import { generateContentEnvelope } from './error-envelope.ts'
import { METHODS, MODELS_PATH } from './path.ts'
import { generateContentToResponses } from './to-responses.ts'

/** `POST /api/v1beta/models/{model}:generateContent`, and `:streamGenerateContent`. */
export const generateContent: TranslatingDoor = {
  path: MODELS_PATH,
  methods: METHODS,
  apiType: 'generate_content',
  refersToItems: false,
  keyHeader: 'x-goog-api-key',
  keyParameter: 'key',
  read(sent, exactly, url = '') {
    const { body, wishes, pathOf } = generateContentToResponses(sent, url, exactly)
    return { body, fold: (options) => new Assembler(options, new ContentWriter(options, wishes)), pathOf }
  },
  envelope: generateContentEnvelope,
}
