import type { Dialect } from '../../core/dialect.ts'
import type { JsonObject } from '../../core/item.ts'
import { classifyUpstreamError } from '../shared/errors.ts'
import { EmbeddingsDecoder, type EmbeddingsFound } from './decoder.ts'

/** What one format of embeddings has of its own. */
export interface EmbeddingsFormat<Options> extends Pick<Dialect<Options>, 'name' | 'options' | 'encodeRequest' | 'mediaUrls' | 'batch'> {
  /** What an answer holds. */
  readonly read: (answer: JsonObject) => EmbeddingsFound
}

/** A format of embeddings as a dialect: each request is answered in one JSON document, with errors as everywhere. */
export const createEmbedder = <Options>({ read, ...format }: EmbeddingsFormat<Options>): Dialect<Options> => ({
  ...format,
  framing: 'sse',
  answers: 'embeddings',
  supports: [],
  encodeRequest(request, target) {
    const encoded = format.encodeRequest(request, target)
    // Nobody streams vectors, and some servers refuse to be asked for it.
    return { ...encoded, headers: { accept: 'application/json', ...encoded.headers } }
  },
  decoder: (request, target) => new EmbeddingsDecoder(request, target, read),
  decodeError: (status, headers, body, target) => classifyUpstreamError({ status, headers, body, providerName: target.providerName }),
})
