import type { Visibility } from '../../core/call.ts'
import { isCall } from '../../core/caller-call.ts'
import type { OutputItem } from '../../core/item.ts'
import { holdsPicture } from '../../core/picture-items.ts'
import { EmbeddingsFold } from '../embeddings/fold.ts'
import { Assembler } from '../responses/assemble.ts'
import type { AssemblerOptions } from '../responses/assembler-options.ts'
import type { Door, TranslatingDoor } from '../shared/door.ts'
import { ContentWriter } from './content-writer.ts'
import { readVectors } from './embed.ts'
import { generateContentEnvelope } from './error-envelope.ts'
import { METHODS, MODELS_PATH, VECTOR_METHODS } from './path.ts'
import { generateContentToResponses, type GenerateContentPreferences } from './to-responses.ts'

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
    const translated = { body, fold, pathOf, visibilityOf: visibilityFor(preferences) }
    return preferences.listed === true ? { ...translated, streamed: LIST } : translated
  },
  envelope: generateContentEnvelope,
}

/** A call is shown when it is complete, and of what a provider does by itself code and pictures. Searches and pages are listed at the end of the answer. */
function visibilityFor({ thoughts, bareWord }: GenerateContentPreferences): (item: OutputItem) => Visibility {
  return ({ type }) => {
    if (type === 'message') return bareWord === true ? 'whole' : 'written'
    if (type === 'reasoning') return thoughts ? 'written' : 'hidden'
    return isCall(type) || type === 'code_interpreter_call' || holdsPicture(type) ? 'whole' : 'hidden'
  }
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
