import type { Annotation, JsonObject, Logprob } from '../../core/item.ts'
import { isObject } from '../shared/json.ts'

/** One piece of content of a finished item, in the upstream's order. */
export interface FinalPart {
  readonly kind: 'text' | 'refusal' | 'summary' | 'reasoning'
  readonly text: string
  readonly annotations: readonly unknown[]
  readonly logprobs: readonly Logprob[]
}

const NONE: readonly never[] = []

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : NONE)

/** A part object of a message or reasoning item; undefined for kinds without text. */
export function readPart(part: unknown): FinalPart | undefined {
  if (!isObject(part)) return undefined
  const { type, text, refusal } = part
  if (type === 'refusal') return typeof refusal === 'string' ? { kind: 'refusal', text: refusal, annotations: NONE, logprobs: NONE } : undefined
  if (typeof text !== 'string') return undefined
  if (type === 'output_text' || type === 'text') {
    return { kind: 'text', text, annotations: listOf(part['annotations']), logprobs: readLogprobs(part['logprobs']) ?? NONE }
  }
  if (type === 'summary_text') return { kind: 'summary', text, annotations: NONE, logprobs: NONE }
  if (type === 'reasoning_text') return { kind: 'reasoning', text, annotations: NONE, logprobs: NONE }
  return undefined
}

/** Content of a finished message; undefined for anything that is not a part of one, such as thoughts. Small servers send a bare string. */
export function readMessageParts(content: unknown): readonly (FinalPart | undefined)[] {
  if (typeof content === 'string') return [{ kind: 'text', text: content, annotations: NONE, logprobs: NONE }]
  return listOf(content).map((value) => {
    const part = readPart(value)
    return part?.kind === 'text' || part?.kind === 'refusal' ? part : undefined
  })
}

/** Summary or raw text of finished reasoning: a list of parts, a list of bare strings, or one string. */
export function readReasoningParts(value: unknown, kind: 'summary' | 'reasoning'): readonly FinalPart[] {
  const list = typeof value === 'string' && value !== '' ? [value] : listOf(value)
  const parts: FinalPart[] = []
  for (const element of list) {
    const text = typeof element === 'string' ? element : isObject(element) ? element['text'] : undefined
    parts.push({ kind, text: typeof text === 'string' ? text : '', annotations: NONE, logprobs: NONE })
  }
  return parts
}

const offset = (value: unknown): number => (typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : 0)

/**
 * An annotation of a kind in the contract, with exactly its fields; undefined for every other kind, because strict clients fail on them. Some vendors
 * cite with a bare URL: title and offsets are then filled in (the URL as its own title, offsets 0).
 */
export function readAnnotation(value: unknown): Annotation | undefined {
  if (!isObject(value)) return undefined
  const type = value['type']
  if (type === 'url_citation') {
    // Citations in the format of Chat Completions have their fields nested one level deeper.
    const source = isObject(value['url_citation']) ? value['url_citation'] : value
    const { url, title, content } = source
    if (typeof url !== 'string' || url === '') return undefined
    return {
      type,
      url,
      title: typeof title === 'string' && title !== '' ? title : url,
      start_index: offset(source['start_index']),
      end_index: offset(source['end_index']),
      ...(typeof content === 'string' ? { content } : {}),
    }
  }
  const { file_id, filename, index } = value
  if (typeof file_id !== 'string') return undefined
  if (type === 'file_citation') return { type, file_id, filename: typeof filename === 'string' ? filename : '', index: offset(index) }
  if (type === 'file_path') return { type, file_id, index: offset(index) }
  return undefined
}

function readTokens(
  value: unknown,
): { readonly token: string; readonly logprob: number; readonly bytes: readonly number[]; readonly source: { readonly [key: string]: unknown } }[] {
  const tokens = []
  for (const source of listOf(value)) {
    if (!isObject(source) || typeof source['token'] !== 'string' || typeof source['logprob'] !== 'number') continue
    const bytes = listOf(source['bytes']).filter((byte): byte is number => Number.isInteger(byte))
    tokens.push({ token: source['token'], logprob: source['logprob'], bytes, source })
  }
  return tokens
}

/** Log probabilities with the fields that the contract requires; undefined if there are none. */
export function readLogprobs(value: unknown): readonly Logprob[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined
  const logprobs = readTokens(value).map(({ token, logprob, bytes, source }) => ({
    token,
    logprob,
    bytes,
    top_logprobs: readTokens(source['top_logprobs']).map((top) => ({ token: top.token, logprob: top.logprob, bytes: top.bytes })),
  }))
  return logprobs.length === 0 ? undefined : logprobs
}

/** Which part of its item an event is about; servers with a single part leave it out. */
export function partIndex(frame: JsonObject): number {
  const index = frame['content_index'] ?? frame['summary_index']
  return typeof index === 'number' && Number.isInteger(index) && index >= 0 ? index : 0
}
