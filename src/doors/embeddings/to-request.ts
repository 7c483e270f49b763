import type { InputItem, InputPart, JsonObject } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { responsesRequest } from '../responses/schema.ts'
import { checkBody, refuse } from '../shared/check-body.ts'
import { embeddingsRequest } from './schema.ts'

/** Fields that concern text answers and not vectors: they have not been validated here. */
const OF_ANSWERS: ReadonlySet<string> = new Set(Object.keys(responsesRequest.shape).filter((field) => !(field in embeddingsRequest.shape)))

/**
 * The parsed body of POST /api/v1/embeddings as a request for vectors, with one input item for each: a user message or, of type `input_tokens`, text that
 * the caller has tokenized. Unknown fields are kept. Throws GatewayError `invalid_request`, naming one path and one reason.
 */
export function toRequest(body: unknown): ModelRequest {
  checkCount(body)
  checkBody(embeddingsRequest, body, 'input')
  const { input, ...others } = body as JsonObject & { readonly input: Sent }
  const fields = Object.entries(others).filter(([field, value]) => value != null && !OF_ANSWERS.has(field))
  return forVectors(Object.fromEntries(fields), toItems(input))
}

/** A request for one vector per input item. */
export const forVectors = (fields: JsonObject, input: readonly InputItem[]): ModelRequest => ({ ...fields, input, modalities: ['embeddings'] })

type Multimodal = { readonly content: readonly SentPart[] }
type Sent = string | readonly (string | number | readonly number[] | Multimodal)[]

/** More than any server accepts; each input needs an object of its own here, and a vector on the way back. */
const MAX_INPUTS = 16_384

/** Checked first: to validate each of a million entries would hold up all other calls. A list of numbers is one text, in tokens. */
function checkCount(body: unknown): void {
  const { input } = (body ?? {}) as { readonly input?: unknown }
  if (Array.isArray(input) && typeof input[0] !== 'number') checkEntries(input, 'input')
}

/** Throws GatewayError `invalid_request` for more entries than the limit. */
export function checkEntries(list: unknown, path: string): void {
  if (!Array.isArray(list) || list.length <= MAX_INPUTS) return
  throw refuse('invalid_request', path, `must have at most ${MAX_INPUTS} entries, not ${list.length}`)
}

function toItems(input: Sent): readonly InputItem[] {
  if (typeof input === 'string') return [userMessage(input)]
  const [first] = input
  if (first === undefined) throw refuse('invalid_request', 'input', 'is empty: send at least one text')
  const items = typeof first === 'number' ? [input] : input
  const kind = kindOf(first)
  input.forEach((entry, index) => {
    if (kindOf(entry) !== kind) throw refuse('invalid_request', `input[${index}]`, 'must be of the same kind as the entries before it')
  })
  return (items as readonly (string | readonly number[] | Multimodal)[]).map((entry, index) => {
    if (typeof entry === 'string') return userMessage(entry)
    if ('content' in entry) return userMessage(partsOf(entry, `input[${index}].content`))
    if (entry.length === 0) throw refuse('invalid_request', `input[${index}]`, 'is empty: send at least one token')
    return { type: 'input_tokens', tokens: entry }
  })
}

const kindOf = (entry: unknown): string => (Array.isArray(entry) ? 'tokens' : typeof entry)

export const userMessage = (content: string | readonly InputPart[]): InputItem => ({ type: 'message', role: 'user', content })

type SentMedia = { readonly data: string; readonly format?: string | null }
type SentPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } }
  | { readonly type: 'input_audio'; readonly input_audio: SentMedia }
  | { readonly type: 'input_video'; readonly input_video: SentMedia }
  | { readonly type: 'input_file'; readonly input_file: SentMedia }

function partsOf({ content }: Multimodal, path: string): readonly InputPart[] {
  if (content.length === 0) throw refuse('invalid_request', path, 'is empty: send at least one part')
  return content.map(partOf)
}

function partOf(part: SentPart): InputPart {
  switch (part.type) {
    case 'text':
      return { type: 'input_text', text: part.text }
    case 'image_url':
      return { type: 'input_image', image_url: part.image_url.url, detail: 'auto' }
    case 'input_audio':
      return { type: 'input_audio', input_audio: { data: part.input_audio.data, format: part.input_audio.format ?? '' } }
    case 'input_video':
      return { type: 'input_video', video_url: part.input_video.data, ...kindOfBytes(part.input_video) }
    case 'input_file':
      return { type: 'input_file', file_data: part.input_file.data, ...kindOfBytes(part.input_file) }
  }
}

const kindOfBytes = ({ format }: SentMedia): { readonly format?: string } => (format ? { format } : {})
