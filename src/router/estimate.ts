import type { InputItem, JsonObject } from '../core/item.ts'
import { isFreeJson, isOpaqueField } from '../core/opaque-field.ts'
import { readableChars } from '../core/reasoning-envelope.ts'
import { asksForEmbeddings, type ModelRequest } from '../core/request.ts'
import { MAX_JSON_DEPTH } from '../lib/json.ts'
import { modalityBit } from './columns.ts'
import { dataHead } from '../lib/data-head.ts'

/**
 * The size of a request, by a walk that takes microseconds: text is sampled, media counts by its length and is never read. `inputTokens` is the
 * likely count (within about a third for prose and code); `leastTokens` is a count that is hardly ever undercut.
 */
export interface RequestEstimate {
  readonly inputTokens: number
  readonly leastTokens: number
  /** The part of `inputTokens` that is audio, if there is any, because it usually has another price. */
  readonly audioTokens?: number
  /** The same of pictures. */
  readonly imageTokens?: number
  /** Modality bits of the input beyond text. */
  readonly inputs: number
  /** The tokens that must fit into a window at a time, if that is not everything: each text of an embeddings request has the window to itself. */
  readonly longest?: Pick<RequestEstimate, 'inputTokens' | 'leastTokens'>
}

const SAMPLES = 96
const ITEM_OVERHEAD = 4
const CHARS_PER_TOKEN = 4
/** Tokens per image, by the requested `detail`; vendors charge 85 to 1,600. */
const IMAGE_TOKENS = 600
const IMAGE_TOKENS_LOW = 85
/** Base64 characters per token: audio at 16 kHz or compressed, documents that are mostly text. A rough figure is enough. */
const AUDIO_CHARS_PER_TOKEN = 1_500
const FILE_CHARS_PER_TOKEN = 60
const MAX_FILE_TOKENS = 50_000
const VIDEO_TOKENS = 4_000
/** The case of schemes does not matter. */
const DATA_URL = /^data:[\w.+-]+\/[\w.+-]+(?:;[\w.+=-]+)*;base64,/i
/** Items that dialects send to a model as text, so that what looks like media in them is text as well. */
const TOLD_AS_TEXT = /:|(?:_call|_output|_tools|_message|_request|_response|compaction)$/
/** Values visited in tool schemas and items of unknown type; beyond that only lengths count. */
const WALK_BUDGET = 4_000
/** Longer texts are always sampled. */
const WORTH_A_SAMPLE = 256

/** Tokens of a text, from its length and a sample of its characters. */
export function textTokens(text: string): number {
  const { length } = text
  if (length === 0) return 0
  const step = Math.max(1, Math.floor(length / SAMPLES))
  let weight = 0
  let seen = 0
  for (let i = 0; i < length; i += step) {
    const code = text.charCodeAt(i)
    weight += code < 0x80 ? 0.25 : code < 0x900 ? 0.42 : 0.75
    seen++
  }
  return (weight / seen) * length
}

interface Tally {
  text: number
  media: number
  /** Parts of `media`. */
  audio: number
  image: number
  inputs: number
  budget: number
}

/** `notSent`: notes of an encoder (`dropped`), which name the types of items that its endpoint did not receive. */
export function estimateRequest(request: ModelRequest, notSent: readonly string[] = []): RequestEstimate {
  const tally: Tally = { text: 0, media: 0, audio: 0, image: 0, inputs: 0, budget: WALK_BUDGET }
  if (typeof request.instructions === 'string') tally.text += textTokens(request.instructions) + ITEM_OVERHEAD
  for (const item of request.input) if (notSent.length === 0 || !notSent.includes(`input: ${item.type}`)) addItem(item, tally)
  for (const tool of request.tools ?? []) walk(tool, tally, 'named', 0)
  const format = request.text?.format
  if (format?.type === 'json_schema') walk(format, tally, 'named', 0)
  addPrompt(request['prompt'], tally)
  const { inputTokens, leastTokens } = tokensIn(tally)
  const { inputs } = tally
  const audio = tally.audio === 0 ? {} : { audioTokens: Math.ceil(tally.audio) }
  const image = tally.image === 0 ? {} : { imageTokens: tally.image }
  const longest = asksForEmbeddings(request) ? { longest: longestOf(request) } : {}
  return { inputTokens, leastTokens, inputs, ...audio, ...image, ...longest }
}

interface LikelyPrompt {
  readonly inputTokens: number
  readonly audioInputTokens: number | undefined
  readonly imageInputTokens: number | undefined
}

/** The likely prompt of a request whose tokens nobody has counted, with the parts that may have a price of their own, as `createUsage` takes them. */
export function likelyPrompt(request: ModelRequest, notSent: readonly string[] = []): LikelyPrompt {
  const { inputTokens, audioTokens, imageTokens } = estimateRequest(request, notSent)
  return { inputTokens, audioInputTokens: audioTokens, imageInputTokens: imageTokens }
}

const tokensIn = ({ text, media }: Tally): Pick<RequestEstimate, 'inputTokens' | 'leastTokens'> => ({
  inputTokens: Math.ceil(text + media),
  leastTokens: Math.floor(text / 2),
})

/** The same for a single item. */
export function estimateItem(item: InputItem): Pick<RequestEstimate, 'inputTokens' | 'leastTokens'> {
  const tally: Tally = { text: 0, media: 0, audio: 0, image: 0, inputs: 0, budget: WALK_BUDGET }
  addItem(item, tally)
  return tokensIn(tally)
}

function longestOf({ input }: ModelRequest): NonNullable<RequestEstimate['longest']> {
  let longest = { inputTokens: 0, leastTokens: 0 }
  for (const item of input) {
    const tokens = estimateItem(item)
    if (tokens.inputTokens > longest.inputTokens) longest = tokens
  }
  return longest
}

function addItem(item: InputItem, tally: Tally): void {
  tally.text += ITEM_OVERHEAD
  const fields = item as { readonly [key: string]: unknown }
  switch (item.type) {
    case 'message':
      addContent(fields['content'], tally)
      break
    case 'function_call':
      addText(fields['name'], tally)
      addText(fields['arguments'], tally)
      break
    case 'custom_tool_call':
      addText(fields['name'], tally)
      addText(fields['input'], tally)
      break
    case 'function_call_output':
    case 'custom_tool_call_output':
      addContent(fields['output'], tally)
      break
    case 'reasoning': {
      // Opaque blobs are no prompt text; vendors count the reasoning they contain, which is never larger than its text.
      const before = tally.text
      addContent(isEmpty(fields['content']) ? fields['summary'] : fields['content'], tally)
      tally.media += Math.max(0, readableChars(fields['encrypted_content']) / CHARS_PER_TOKEN - (tally.text - before))
      break
    }
    case 'input_tokens':
      addTokens(item, fields['tokens'], tally)
      break
    case 'image_generation_call':
      // A picture that a model drew costs as much to look at as one that it was given. It excludes no endpoint: those without pictures do not get it.
      if (fields['result']) tally.media += IMAGE_TOKENS
      walk(item, tally, 'named', 0)
      break
    default:
      walk(item, tally, TOLD_AS_TEXT.test(item.type) ? 'named' : 'foreign', 0)
  }
}

/** A prompt given as tokens. There may be millions, of which only the number matters. */
function addTokens(item: InputItem, tokens: unknown, tally: Tally): void {
  if (Array.isArray(tokens) && tokens.every((token) => typeof token === 'number')) tally.text += tokens.length
  else walk(item, tally, 'foreign', 0)
}

const isEmpty = (content: unknown): boolean => content == null || (Array.isArray(content) && content.length === 0)

/** The variables of a stored prompt; the prompt itself is known only to its vendor. */
function addPrompt(prompt: unknown, tally: Tally): void {
  const { variables } = (prompt ?? {}) as { readonly variables?: JsonObject | null }
  for (const value of Object.values(variables ?? {})) addContent(typeof value === 'string' ? value : [value], tally)
}

function addText(value: unknown, tally: Tally): void {
  if (typeof value === 'string') tally.text += textTokens(value)
}

function addContent(content: unknown, tally: Tally): void {
  if (typeof content === 'string') tally.text += textTokens(content)
  else if (Array.isArray(content))
    for (const part of content) if (typeof part === 'object' && part !== null) addPart(part as Record<string, unknown>, tally)
}

function addPart(part: { readonly [key: string]: unknown }, tally: Tally): void {
  switch (part['type']) {
    case 'input_image': {
      const tokens = part['detail'] === 'low' ? IMAGE_TOKENS_LOW : IMAGE_TOKENS
      tally.inputs |= modalityBit('image')
      tally.media += tokens
      tally.image += tokens
      break
    }
    case 'input_file': {
      tally.inputs |= modalityBit('file')
      const data = part['file_data']
      tally.media += typeof data === 'string' ? Math.min(data.length / FILE_CHARS_PER_TOKEN, MAX_FILE_TOKENS) : 0
      break
    }
    case 'input_audio': {
      tally.inputs |= modalityBit('audio')
      const data = (part['input_audio'] as { readonly data?: unknown } | undefined)?.data
      const tokens = typeof data === 'string' ? data.length / AUDIO_CHARS_PER_TOKEN : 0
      tally.media += tokens
      tally.audio += tokens
      break
    }
    case 'input_video':
      tally.inputs |= modalityBit('video')
      tally.media += VIDEO_TOKENS
      break
    default:
      addText(part['text'] ?? part['refusal'], tally)
  }
}

/** `named`: skip fields that hold bytes and references. `free`: everything is text. `foreign`: media may be anywhere. */
type Reading = 'named' | 'free' | 'foreign'

/** Keys and strings of any value, as deep as the parser allows, without following media. */
function walk(value: unknown, tally: Tally, reading: Reading, depth: number): void {
  tally.budget--
  if (typeof value === 'string') {
    if (reading !== 'foreign' || !DATA_URL.test(dataHead(value))) tally.text += roughTokens(value, tally) + 1
  } else if (typeof value !== 'object' || value === null) tally.text += 1
  else if (depth > MAX_JSON_DEPTH) return
  else if (Array.isArray(value)) for (const entry of value) walk(entry, tally, reading, depth + 1)
  else walkFields(value as JsonObject, tally, reading, depth)
}

function walkFields(fields: JsonObject, tally: Tally, reading: Reading, depth: number): void {
  for (const key in fields) {
    const value = fields[key]
    tally.text += key.length / 4 + 1
    if (reading !== 'free' && isOpaqueField(key, value, fields)) {
      tally.text += 1
      if (key === 'encrypted_content') tally.media += readableChars(value) / CHARS_PER_TOKEN
    } else walk(value, tally, reading !== 'free' && isFreeJson(key, value, fields) ? 'free' : reading, depth + 1)
  }
}

const roughTokens = (text: string, { budget }: Tally): number => (budget > 0 || text.length > WORTH_A_SAMPLE ? textTokens(text) : text.length / 4)
