import { generateContentEnvelope } from './generate-content/error-envelope.ts'
import { isGenerateContent, LATER_PATH, METHODS, MODELS_PATH, SHORT_PATH, speaksGenerateContent, VECTOR_METHODS } from './generate-content/path.ts'
import { messagesEnvelope } from './messages/error-envelope.ts'
import { responses } from './responses/door.ts'
import type { Door } from './shared/door.ts'

/** A door that is there from the start, or one that is loaded on its first request, because its schemas take time and memory that may never be needed. */
export type DoorEntry = Pick<Door, 'path' | 'methods' | 'envelope' | 'ownsRequest' | 'isSpokenBy'> &
  ({ readonly door: Door } | { readonly load: () => Promise<Door> })

/** The addresses of a door, with `:model` in place of a name. */
export const addressesOf = ({ path, methods }: Pick<Door, 'path' | 'methods'>): readonly string[] =>
  methods === undefined ? [path] : methods.map((method) => `${path}:model${method}`)

const generateContentShared = { envelope: generateContentEnvelope, ownsRequest: isGenerateContent, isSpokenBy: speaksGenerateContent }

/** The gateway's own formats. */
export const DOORS: readonly DoorEntry[] = [
  { path: responses.path, door: responses },
  { path: '/api/v1/chat/completions', load: async () => (await import('./chat-completions/door.ts')).chatCompletions },
  { path: '/api/v1/messages', envelope: messagesEnvelope, load: async () => (await import('./messages/door.ts')).messages },
  ...[MODELS_PATH, LATER_PATH, SHORT_PATH].flatMap((path) => [
    {
      path,
      methods: METHODS,
      ...generateContentShared,
      load: async () => (await import('./generate-content/door.ts')).generateContent,
    },
    {
      path,
      methods: VECTOR_METHODS,
      ...generateContentShared,
      load: async () => (await import('./generate-content/door.ts')).embedContent,
    },
  ]),
  { path: '/api/v1/embeddings', load: async () => (await import('./embeddings/door.ts')).embeddings },
]
