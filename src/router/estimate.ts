import type { InputItem } from '../core/item.ts'
import type { ModelRequest } from '../core/request.ts'
import { modalityBit } from './columns.ts'

/**
 * What a request weighs, by a walk that costs microseconds: text is sampled, media is counted by its length and never read.
 * `inputTokens` is the likely count (within about a third for prose and code); `leastTokens` is a count it will hardly undercut.
 */
export interface RequestEstimate {
  readonly inputTokens: number
  readonly leastTokens: number
  /** Modality bits of the input beyond text. */
  readonly inputs: number
}

const SAMPLES = 96
const ITEM_OVERHEAD = 4
/** Tokens per image, by the `detail` asked for; vendors charge 85 to 1,600. */
const IMAGE_TOKENS = 600
const IMAGE_TOKENS_LOW = 85
/** Base64 characters per token: audio at 16 kHz or compressed, documents mostly text. Rough: exact never needed. */
const AUDIO_CHARS_PER_TOKEN = 1_500
const FILE_CHARS_PER_TOKEN = 60
const MAX_FILE_TOKENS = 50_000
const VIDEO_TOKENS = 4_000
/** Schemes are written in any case. */
const DATA_URL = /^data:/i
/** Values visited in tool schemas and in items of unknown type. */
const WALK_BUDGET = 4_000

/** Tokens of a text from its length and a sample of its characters. */
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
  inputs: number
  budget: number
}

export function estimateRequest(request: ModelRequest): RequestEstimate {
  const tally: Tally = { text: 0, media: 0, inputs: 0, budget: WALK_BUDGET }
  if (typeof request.instructions === 'string') tally.text += textTokens(request.instructions) + ITEM_OVERHEAD
  for (const item of request.input) addItem(item, tally)
  for (const tool of request.tools ?? []) walk(tool, tally, 0)
  const format = request.text?.format
  if (format?.type === 'json_schema') walk(format.schema, tally, 0)
  const inputTokens = Math.ceil(tally.text + tally.media)
  return { inputTokens, leastTokens: Math.floor(tally.text / 2), inputs: tally.inputs }
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
    case 'reasoning':
      // Opaque blobs are not prompt text; vendors count the reasoning they can read, which is never larger than its text.
      addContent(fields['content'] ?? fields['summary'], tally)
      break
    default:
      walk(item, tally, 0)
  }
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
    case 'input_image':
      tally.inputs |= modalityBit('image')
      tally.media += part['detail'] === 'low' ? IMAGE_TOKENS_LOW : IMAGE_TOKENS
      break
    case 'input_file': {
      tally.inputs |= modalityBit('file')
      const data = part['file_data']
      tally.media += typeof data === 'string' ? Math.min(data.length / FILE_CHARS_PER_TOKEN, MAX_FILE_TOKENS) : 0
      break
    }
    case 'input_audio': {
      tally.inputs |= modalityBit('audio')
      const data = (part['input_audio'] as { readonly data?: unknown } | undefined)?.data
      tally.media += typeof data === 'string' ? data.length / AUDIO_CHARS_PER_TOKEN : 0
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

/** Keys and strings of any value, within a budget of visits and without following media. */
function walk(value: unknown, tally: Tally, depth: number): void {
  if (--tally.budget < 0 || depth > 24) return
  if (typeof value === 'string') {
    if (!DATA_URL.test(value)) tally.text += textTokens(value) + 1
  } else if (Array.isArray(value)) {
    for (const entry of value) {
      if (tally.budget < 0) return
      walk(entry, tally, depth + 1)
    }
  } else if (typeof value === 'object' && value !== null) {
    for (const key in value) {
      if (tally.budget < 0) return
      tally.text += key.length / 4 + 1
      walk((value as Record<string, unknown>)[key], tally, depth + 1)
    }
  } else {
    tally.text += 1
  }
}
