import { createHash } from 'node:crypto'
import { isJsonObject } from '../../lib/json.ts'

const MOST_DIMENSIONS = 4_096
const DIMENSIONS = 256

/** The answer of the simulated embedder: an HTTP status and its JSON. */
export interface EmbedAnswer {
  readonly status: number
  readonly body: object
}

/**
 * Vectors in the format of `POST /embeddings`, always the same for the same text. Each word adds weight to a few dimensions that its hash selects,
 * and the vector is normalised to length 1, so that texts with common words are close to each other.
 */
export function embed(body: string): EmbedAnswer {
  const { input, model, dimensions = DIMENSIONS, encoding_format: format } = JSON.parse(body) as { readonly [field: string]: unknown }
  if (typeof dimensions !== 'number' || dimensions > MOST_DIMENSIONS)
    return { status: 400, body: { error: { message: `(simulated) dimensions must be at most ${MOST_DIMENSIONS}`, code: 400, param: 'dimensions' } } }
  const words = (input as readonly unknown[]).map(wordsOf)
  const count = words.reduce((sum, of) => sum + of.length, 0)
  const data = words.map((of, index) => ({ object: 'embedding', index, embedding: encode(vectorOf(of, dimensions), format) }))
  return { status: 200, body: { object: 'list', model, data, usage: { prompt_tokens: count, total_tokens: count } } }
}

function wordsOf(input: unknown): readonly string[] {
  if (Array.isArray(input)) return input.map(String)
  const text = isJsonObject(input) ? JSON.stringify(input['content']) : String(input)
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [text]
}

function vectorOf(words: readonly string[], dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions)
  for (const word of words) {
    const hash = createHash('sha256').update(word).digest()
    for (let at = 0; at < 16; at += 4) vector[hash.readUInt32LE(at) % dimensions]! += hash[16 + at]! % 2 === 0 ? 1 : -1
  }
  const length = Math.hypot(...vector) || 1
  return vector.map((value) => value / length)
}

const encode = (vector: Float32Array, format: unknown): string | number[] =>
  format === 'base64' ? Buffer.from(vector.buffer).toString('base64') : [...vector]
