import type { InputImage, InputText, JsonObject, ToolOutput } from '../../core/item.ts'
import type { RemoteResult } from './connection.ts'
import { cutText } from '../../lib/cut-text.ts'

export interface ReadResult {
  /** For the item: everything as text, media named only. */
  readonly text: string
  /** For the model: images as such. */
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
  if (pieces.length === 0 && structuredContent !== undefined) pieces.push(JSON.stringify(structuredContent))
  // In this order: half a secret at the cut would not be known for one.
  const text = bounded(scrub(pieces.join('\n'), secrets))
  if (images.length === 0) return { text, output: text }
  const words: readonly InputText[] = text === '' ? [] : [{ type: 'input_text', text }]
  return { text, output: [...words, ...images] }
}

/** Text without the values its reader must not see. */
export function scrub(text: string, secrets: readonly string[]): string {
  return secrets.reduce((clean, secret) => clean.replaceAll(secret, '[redacted]'), text)
}

/** The same for the strings of a value that came as JSON, whatever quotes and escapes are in them; what holds none stays as it is. */
export function scrubJson<T>(value: T, secrets: readonly string[]): T {
  const text = JSON.stringify(value) ?? ''
  const escaped = secrets.map((secret) => JSON.stringify(secret).slice(1, -1))
  return escaped.some((secret) => text.includes(secret)) ? (JSON.parse(scrub(text, escaped)) as T) : value
}

function bounded(text: string): string {
  return text.length <= MAX_CHARS ? text : cutText(text, MAX_CHARS) + CUT
}

function imageOf({ type, data, mimeType }: JsonObject): InputImage | undefined {
  if (type !== 'image' || typeof data !== 'string' || typeof mimeType !== 'string' || data.length > MAX_IMAGE_CHARS) return undefined
  if (!/^image\/[\w.+-]{1,40}$/.test(mimeType) || !/^[A-Za-z0-9+/=_-]*$/.test(data)) return undefined
  return { type: 'input_image', image_url: `data:${mimeType};base64,${data}` }
}

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
