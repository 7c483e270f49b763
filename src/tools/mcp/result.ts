import type { InputImage, InputText, JsonObject, ToolOutput } from '../../core/item.ts'
import { blankTexts } from '../../lib/blank-texts.ts'
import { cutText } from '../../lib/cut-text.ts'
import { findText } from '../../lib/find-text.ts'
import { isJsonObject } from '../../lib/json.ts'

/** The result of a tool, in the protocol's terms. */
export interface RemoteResult {
  readonly content: readonly JsonObject[]
  readonly structuredContent?: unknown
  readonly isError: boolean
}

export interface ReadResult {
  /** For the item: everything as text, media only by name. */
  readonly text: string
  /** For the model: images as images. */
  readonly output: ToolOutput
}

const MAX_CHARS = 100_000
const MAX_IMAGES = 8
const MAX_IMAGE_CHARS = 2 * 1024 * 1024
const CUT = '\n[cut: the result was longer]'

/** A tool's result for its item and for the model, within bounds and without the caller's secrets. */
export function readResult({ content, structuredContent }: RemoteResult, secrets: readonly string[]): ReadResult {
  const images: InputImage[] = []
  const pieces = content.map((part) => {
    const image = imageOf(part)
    if (image !== undefined && images.length < MAX_IMAGES) images.push(image)
    return textOf(part)
  })
  // Servers should repeat it as text; those that do not may still send parts without words.
  if (structuredContent !== undefined && !content.some(hasWords)) pieces.push(JSON.stringify(scrubJson(structuredContent, secrets)))
  // In this order: a secret that is cut in half would not be recognized.
  const text = bounded(blankTexts(pieces.filter((piece) => piece !== '').join('\n'), secrets))
  if (images.length === 0) return { text, output: text }
  const words: readonly InputText[] = text === '' ? [] : [{ type: 'input_text', text }]
  return { text, output: [...words, ...images] }
}

/** Repairs the result of a call, since a call cannot be repeated; undefined if the message is not a call. */
export function resultReader(method: string): ((result: JsonObject) => void) | undefined {
  return method === 'tools/call' ? mendResult : undefined
}

type Mendable = { content?: unknown; structuredContent?: unknown; isError?: unknown; readonly resultType?: unknown }

/** Parts that the protocol knows; unknown or damaged parts become text. */
function mendResult(result: Mendable): void {
  if (result.resultType !== undefined && result.resultType !== 'complete') return
  const { content, structuredContent } = result
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : Array.isArray(content) ? content.map(mendPart) : []
  if (structuredContent !== undefined && !isJsonObject(structuredContent)) {
    if (parts.length === 0) parts.push({ type: 'text', text: JSON.stringify(structuredContent) })
    delete result.structuredContent
  }
  result.content = parts
  if (typeof result.isError !== 'boolean') delete result.isError
}

function mendPart(part: unknown): JsonObject {
  if (!isJsonObject(part)) return { type: 'text', text: '[a part that cannot be read]' }
  const { type, data, mimeType } = part
  if (type === 'image' && typeof mimeType === 'string' && isBase64(data)) return { type, data, mimeType }
  return { type: 'text', text: textOf(part) }
}

function isBase64(data: unknown): boolean {
  try {
    return typeof data === 'string' && typeof atob(data) === 'string'
  } catch {
    return false
  }
}

/** `blankTexts` for the strings in a JSON value, even if they contain quotes and escapes; a value without secrets is returned as it is. */
export function scrubJson<T>(value: T, secrets: readonly string[]): T {
  const text = JSON.stringify(value) ?? ''
  const escaped = secrets.map((secret) => JSON.stringify(secret).slice(1, -1))
  return escaped.some((secret) => findText(text, secret) !== -1) ? (JSON.parse(blankTexts(text, escaped)) as T) : value
}

function bounded(text: string): string {
  return text.length <= MAX_CHARS ? text : cutText(text, MAX_CHARS) + CUT
}

/** Image types that models of every vendor read, and how their base64 begins. Vendors refuse a whole request because of any other type. */
const KINDS: readonly (readonly [mimeType: string, beginning: string])[] = [
  ['image/png', 'iVBORw0KGgo'],
  ['image/jpeg', '/9j/'],
  ['image/gif', 'R0lGOD'],
  ['image/webp', 'UklGR'],
]

/** Encoders for mail break base64 into lines, which no vendor reads. */
const withoutBreaks = (data: string): string => (/\s/.test(data) ? data.replace(/\s+/g, '') : data)

function imageOf({ type, data: written, mimeType }: JsonObject): InputImage | undefined {
  if (type !== 'image' || typeof written !== 'string' || typeof mimeType !== 'string') return undefined
  const data = withoutBreaks(written)
  if (data.length > MAX_IMAGE_CHARS) return undefined
  if (!/^[A-Za-z0-9+/_-]+=*$/.test(data)) return undefined
  const kind = kindOf(data, mimeType.toLowerCase())
  return kind === undefined ? undefined : { type: 'input_image', image_url: `data:${kind};base64,${data}` }
}

/** The type by the first bytes, because vendors compare those with the declared type; otherwise as declared. */
function kindOf(data: string, declared: string): string | undefined {
  const named = declared === 'image/jpg' ? 'image/jpeg' : declared
  const [kind] = KINDS.find(([, beginning]) => data.startsWith(beginning)) ?? KINDS.find(([mimeType]) => mimeType === named) ?? []
  return kind
}

const WORDLESS: ReadonlySet<unknown> = new Set(['image', 'audio'])
const hasWords = (part: JsonObject): boolean => !WORDLESS.has(part['type']) && textOf(part).trim() !== ''

function textOf(part: JsonObject): string {
  switch (part['type']) {
    case 'text':
      return typeof part['text'] === 'string' ? part['text'] : ''
    case 'resource': {
      const resource = (part['resource'] ?? {}) as JsonObject
      return typeof resource['text'] === 'string' ? resource['text'] : placeholder('resource', { ...resource, data: resource['blob'] })
    }
    case 'resource_link':
      return [part['title'] ?? part['name'], part['uri'], part['description']]
        .filter((field) => typeof field === 'string' && field !== '')
        .join(' - ')
    default:
      return placeholder(String(part['type']), part)
  }
}

function placeholder(kind: string, { mimeType, data }: JsonObject): string {
  const size = typeof data === 'string' ? `, ${Buffer.byteLength(data, 'base64')} bytes` : ''
  return `[${kind}${typeof mimeType === 'string' ? ` ${mimeType}` : ''}${size}]`
}
