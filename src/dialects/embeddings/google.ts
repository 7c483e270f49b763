import type { Target } from '../../core/dialect.ts'
import type { JsonObject } from '../../core/item.ts'
import { createUsage, type Usage } from '../../core/usage.ts'
import type { ContentPart } from '../shared/content-parts.ts'
import { isObject } from '../shared/json.ts'
import { modalityTokens } from '../shared/modality-tokens.ts'
import type { EmbeddingInput } from './inputs.ts'
import { bytesOf, untakeable } from './media.ts'

type InputTarget = Pick<Target, 'media' | 'providerName'>

/** https://ai.google.dev/api/embeddings#tasktype, by other vendors' words for them. */
const TASKS: { readonly [word: string]: string } = {
  query: 'RETRIEVAL_QUERY',
  search_query: 'RETRIEVAL_QUERY',
  document: 'RETRIEVAL_DOCUMENT',
  passage: 'RETRIEVAL_DOCUMENT',
  search_document: 'RETRIEVAL_DOCUMENT',
}
const KNOWN_TASKS: ReadonlySet<string> = new Set([
  ...Object.values(TASKS),
  'SEMANTIC_SIMILARITY',
  'CLASSIFICATION',
  'CLUSTERING',
  'QUESTION_ANSWERING',
  'FACT_VERIFICATION',
  'CODE_RETRIEVAL_QUERY',
])

/** The task type of the vectors, with the same words in all of Google's formats; unknown words are dropped. */
export function taskOf(inputType: string | undefined): { readonly task?: string; readonly dropped: readonly string[] } {
  if (inputType === undefined) return { dropped: [] }
  const task = TASKS[inputType] ?? inputType.toUpperCase()
  return KNOWN_TASKS.has(task) ? { task, dropped: [] } : { dropped: ['input_type'] }
}

/** An input as the parts of a content object. */
export function partsOf(input: EmbeddingInput, target: InputTarget): readonly JsonObject[] {
  if ('tokens' in input) throw untakeable('tokens instead of text', target)
  return input.parts.map((part) => encodePart(part, target))
}

function encodePart(part: ContentPart, target: InputTarget): JsonObject {
  if (part.type === 'input_text') return { text: part.text }
  if (part.type !== 'input_image') throw untakeable(`${part.type.slice('input_'.length)} input`, target)
  const { mimeType, data } = bytesOf(part, target)
  return { inlineData: { mimeType, data } }
}

/** Not all models count tokens; a missing count is estimated. */
export function usageOf(usage: unknown): Usage | undefined {
  if (!isObject(usage)) return undefined
  const count = usage['promptTokenCount'] ?? usage['totalTokenCount']
  if (typeof count !== 'number' || count <= 0) return undefined
  // Both APIs list the same under names of their own.
  const imageInputTokens = modalityTokens(usage['promptTokensDetails'] ?? usage['promptTokenDetails'], 'IMAGE')
  return createUsage({ inputTokens: count, imageInputTokens, raw: usage })
}
