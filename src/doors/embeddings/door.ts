import type { Door } from '../shared/door.ts'
import { EmbeddingsFold } from './fold.ts'
import { toRequest } from './to-request.ts'

/** `POST /api/v1/embeddings`. */
export const embeddings: Door = {
  path: '/api/v1/embeddings',
  apiType: 'embeddings',
  refersToItems: false,
  read: (sent) => ({ request: toRequest(sent), fold: (options) => new EmbeddingsFold(options) }),
}
