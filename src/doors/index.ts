import { messagesEnvelope } from './messages/error-envelope.ts'
import { responses } from './responses/door.ts'
import type { Door } from './shared/door.ts'

/** A door that is there from the start, or one that is loaded when it is first asked: its schemas take time and memory nobody may need. */
export type Entrance = Pick<Door, 'path' | 'envelope'> & ({ readonly door: Door } | { readonly load: () => Promise<Door> })

/** The gateway's own formats. */
export const DOORS: readonly Entrance[] = [
  { path: responses.path, door: responses },
  { path: '/api/v1/chat/completions', load: async () => (await import('./chat-completions/door.ts')).chatCompletions },
  { path: '/api/v1/messages', envelope: messagesEnvelope, load: async () => (await import('./messages/door.ts')).messages },
  { path: '/api/v1/embeddings', load: async () => (await import('./embeddings/door.ts')).embeddings },
]
