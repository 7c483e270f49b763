import type { Dialect } from '../../core/dialect.ts'
import type { JsonObject } from '../../core/item.ts'
import { GATEWAY_FIELDS, type ModelRequest } from '../../core/request.ts'
import { classifyUpstreamError } from '../shared/errors.ts'
import { EmbeddingsDecoder, type EmbeddingsFound } from './decoder.ts'

/** The parts that are specific to one format of embeddings. */
export interface EmbeddingsFormat<Options> extends Pick<Dialect<Options>, 'name' | 'options' | 'encodeRequest' | 'mediaUrls' | 'batch'> {
  /** Fields of the request that the gateway does not know are sent. Default: they are named as dropped. */
  readonly passesOn?: boolean
  /** Reads the contents of an answer. */
  readonly read: (answer: JsonObject) => EmbeddingsFound
}

/** Fields that concern the gateway, or that every format has its own rules for. */
export const KNOWN_FIELDS: ReadonlySet<string> = new Set([...GATEWAY_FIELDS, 'input', 'dimensions', 'encoding_format', 'input_type', 'metadata'])

/** The user is for records, as is everything about the caller where the format has no field for it. */
const unknownFields = (request: ModelRequest): readonly string[] =>
  Object.keys(request).filter((field) => !KNOWN_FIELDS.has(field) && field !== 'user' && request[field] != null)

/** Makes a dialect of a format of embeddings: each request is answered with one JSON document, and errors are handled as everywhere. */
export const createEmbedder = <Options>({ read, passesOn = false, ...format }: EmbeddingsFormat<Options>): Dialect<Options> => ({
  ...format,
  framing: 'sse',
  answers: 'embeddings',
  supports: [],
  encodeRequest(request, target) {
    const encoded = format.encodeRequest(request, target)
    // Vectors are never streamed, and some servers refuse a request that accepts streams.
    const headers = { accept: 'application/json', ...encoded.headers }
    return passesOn ? { ...encoded, headers } : { ...encoded, headers, dropped: [...encoded.dropped, ...unknownFields(request)] }
  },
  decoder: (request, target) => new EmbeddingsDecoder(request, target, read),
  decodeError: (status, headers, body, target) => classifyUpstreamError({ status, headers, body, providerName: target.providerName }),
})
