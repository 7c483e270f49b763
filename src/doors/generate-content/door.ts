import { EmbeddingsFold } from '../embeddings/fold.ts'
import { Assembler } from '../responses/assemble.ts'
import type { AssemblerOptions } from '../responses/assembler-options.ts'
import type { Door, TranslatingDoor } from '../shared/door.ts'
import { ContentWriter } from './content-writer.ts'
import { readVectors } from './embed.ts'
import { generateContentEnvelope } from './error-envelope.ts'
import { METHODS, MODELS_PATH, VECTOR_METHODS } from './path.ts'
import { generateContentToResponses } from './to-responses.ts'

/** A list may have blank lines between its entries. */
const LIST = { headers: { 'content-type': 'application/json; charset=UTF-8' }, sign: () => '\n' } as const
const KEYS = { keyHeader: 'x-goog-api-key', keyParameter: 'key' } as const

/** `POST /api/v1beta/models/{model}:generateContent`, and `:streamGenerateContent`. */
export const generateContent: TranslatingDoor = {
  path: MODELS_PATH,
  methods: METHODS,
  apiType: 'generate_content',
  refersToItems: false,
  signs: 'event',
  ...KEYS,
  read(sent, exactly, url = '') {
    const { body, preferences, pathOf } = generateContentToResponses(sent, url, exactly)
    const fold = (options: AssemblerOptions) => new Assembler(options, new ContentWriter(options, preferences))
    const translated = { body, fold, pathOf, hidesReasoning: !preferences.thoughts, showsCallsWhole: true }
    return preferences.listed === true ? { ...translated, streamed: LIST } : translated
  },
  envelope: generateContentEnvelope,
}

/** `POST /api/v1beta/models/{model}:embedContent`, and `:batchEmbedContents`. */
export const embedContent: Door = {
  path: MODELS_PATH,
  methods: VECTOR_METHODS,
  apiType: 'embeddings',
  refersToItems: false,
  ...KEYS,
  read(sent, _exactly, url = '') {
    const { request, write, pathOf } = readVectors(sent, url)
    return { request, fold: (options) => new EmbeddingsFold(options, write), pathOf }
  },
  envelope: generateContentEnvelope,
}
