import type { Dialect } from '../../core/dialect.ts'
import type { JsonObject } from '../../core/item.ts'
import { classifyUpstreamError } from '../shared/errors.ts'
import { EmbeddingsDecoder, type EmbeddingsFound } from './decoder.ts'

/** The parts that are specific to one format of embeddings. */
export interface EmbeddingsFormat<Options> extends Pick<Dialect<Options>, 'name' | 'options' | 'encodeRequest' | 'mediaUrls' | 'batch'> {
  /** Reads the contents of an answer. */
  readonly read: (answer: JsonObject) => EmbeddingsFound
}

/** Makes a dialect of a format of embeddings: each request is answered with one JSON document, and errors are handled as everywhere. */
export const createEmbedder = <Options>({ read, ...format }: EmbeddingsFormat<Options>): Dialect<Options> => ({
  ...format,
  framing: 'sse',
  answers: 'embeddings',
  supports: [],
  encodeRequest(request, target) {
    const encoded = format.encodeRequest(request, target)
    // Vectors are never streamed, and some servers refuse a request that accepts streams.
    return { ...encoded, headers: { accept: 'application/json', ...encoded.headers } }
  },
  decoder: (request, target) => new EmbeddingsDecoder(request, target, read),
  decodeError: (status, headers, body, target) => classifyUpstreamError({ status, headers, body, providerName: target.providerName }),
})
