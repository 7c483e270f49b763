import type { Target } from '../../core/dialect.ts'
import type { InputItem, JsonObject } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { contentParts, type ContentPart } from '../shared/content-parts.ts'
import { untakeable } from './media.ts'

/** The input of one vector: parts that are embedded together, or a text that the caller has already tokenised for the model. */
export type EmbeddingInput = { readonly parts: readonly ContentPart[] } | { readonly tokens: readonly number[] }

/** One for each vector that the caller wants. The input of a request for embeddings contains nothing else. */
export const inputsOf = ({ input }: ModelRequest): readonly EmbeddingInput[] => input.map(inputOf)

function inputOf(item: InputItem): EmbeddingInput {
  if (item.type === 'input_tokens') return { tokens: (item as JsonObject)['tokens'] as readonly number[] }
  return { parts: contentParts((item as { readonly content: Parameters<typeof contentParts>[0] }).content) }
}

/** The text, if the input is nothing else. */
export function plainText(input: EmbeddingInput): string | undefined {
  if ('tokens' in input) return undefined
  const [first, ...rest] = input.parts
  return first?.type === 'input_text' && rest.length === 0 ? first.text : undefined
}

/** The text, for formats that accept nothing else; several parts are concatenated. */
export function textOf(input: EmbeddingInput, target: Pick<Target, 'providerName'>): string {
  if ('tokens' in input) throw untakeable('tokens instead of text', target)
  const texts = input.parts.map((part) => {
    if (part.type !== 'input_text') throw untakeable(`${part.type.slice('input_'.length)} input`, target)
    return part.text
  })
  return texts.join('\n')
}

/** The caller's settings for the vectors. */
export interface EmbeddingPreferences {
  /** The length of each vector. */
  readonly dimensions?: number
  /** Whether vectors are encoded as base64 of 32-bit floats. */
  readonly base64: boolean
  /** The purpose of the vectors, in the caller's word. */
  readonly inputType?: string
}

export function preferencesOf(request: ModelRequest): EmbeddingPreferences {
  const { dimensions, encoding_format: encoding, input_type: inputType } = request as JsonObject
  return {
    ...(typeof dimensions === 'number' ? { dimensions } : {}),
    base64: encoding === 'base64',
    ...(typeof inputType === 'string' && inputType !== '' ? { inputType } : {}),
  }
}
