import type { Decoder, Target } from '../../core/dialect.ts'
import type { ModelEvent, Vector } from '../../core/event.ts'
import type { JsonObject } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import type { Usage } from '../../core/usage.ts'
import { holdsNumbers } from '../../lib/float-vectors.ts'
import { brokenAnswer, errorFromPayload } from '../shared/errors.ts'
import { isObject, tryParseJson } from '../shared/json.ts'
import { MAX_REPORTED } from '../shared/usage-counts.ts'

/** The contents of an answer, as read by its format. */
export interface EmbeddingsFound {
  /** In the order of the inputs. Undefined if the answer has no list of vectors. */
  readonly vectors: readonly unknown[] | undefined
  readonly usage?: Usage | undefined
  readonly id?: string | undefined
}

/** One JSON answer with a vector for each input. An answer with fewer is an error, because a caller could not tell which input has none. */
export class EmbeddingsDecoder implements Decoder {
  readonly #wanted: number
  readonly #providerName: string
  readonly #read: (answer: JsonObject) => EmbeddingsFound
  finished = false

  constructor(request: ModelRequest, { providerName }: Pick<Target, 'providerName'>, read: (answer: JsonObject) => EmbeddingsFound) {
    this.#wanted = request.input.length
    this.#providerName = providerName
    this.#read = read
  }

  /** Vectors are never streamed, so an event of a stream is an error. */
  push(data: string): void {
    throw this.#notVectors(tryParseJson(data), data)
  }

  body(text: string, out: ModelEvent[]): void {
    if (this.finished) return
    const answer = tryParseJson(text)
    const found = isObject(answer) ? this.#read(answer) : undefined
    const vectors = found?.vectors
    if (found === undefined || vectors === undefined) throw this.#notVectors(answer, text)
    if (vectors.length !== this.#wanted) throw this.#broken(`sent ${vectors.length} vectors for ${this.#wanted} inputs`)
    if (!vectors.every(isVector)) throw this.#broken('sent vectors that are none', text)
    this.finished = true
    if (found.id !== undefined) out.push({ type: 'response-start', upstreamId: found.id })
    const { usage } = found
    const isCounted = usage !== undefined && usage.inputTokens <= MAX_REPORTED
    out.push({ type: 'response-end', reason: 'stop', vectors, ...(isCounted ? { usage } : {}) })
  }

  end(): void {
    if (!this.finished) throw this.#broken('sent no answer: the connection closed without one')
  }

  #notVectors(answer: unknown, raw: string): Error {
    if (isObject(answer) && answer['error'] != null) return errorFromPayload(answer, { providerName: this.#providerName })
    return this.#broken('sent an answer without vectors', raw)
  }

  #broken(what: string, raw?: string): Error {
    return brokenAnswer(this.#providerName, what, raw === undefined ? {} : { raw })
  }
}

function isVector(value: unknown): value is Vector {
  if (typeof value === 'string') return holdsNumbers(value)
  return Array.isArray(value) && value.length > 0 && value.every((number) => typeof number === 'number' && Number.isFinite(number))
}
