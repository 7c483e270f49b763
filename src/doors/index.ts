import { belowFolder, DEPLOYMENTS_PATH, FOLDER, ofDeployment } from './deployments.ts'
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

const chatCompletions = async (): Promise<Door> => (await import('./chat-completions/door.ts')).chatCompletions
const embeddings = async (): Promise<Door> => (await import('./embeddings/door.ts')).embeddings

/** Formats that are also below another folder, by the ends of their addresses. */
const ALSO_BELOW: readonly (readonly [end: string, load: () => Promise<Door>])[] = [
  ['/chat/completions', chatCompletions],
  ['/embeddings', embeddings],
  ['/responses', async () => responses],
]

/** The gateway's own formats. */
export const DOORS: readonly DoorEntry[] = [
  { path: responses.path, door: responses },
  { path: '/api/v1/chat/completions', load: chatCompletions },
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
  { path: '/api/v1/embeddings', load: embeddings },
  ...ALSO_BELOW.flatMap(([end, load]): readonly DoorEntry[] => [
    ...[FOLDER, `${FOLDER}/v1`].map((folder) => ({ path: `${folder}${end}`, load: async () => belowFolder(await load()) })),
    { path: DEPLOYMENTS_PATH, methods: [end], load: async () => ofDeployment(await load(), end) },
  ]),
]
