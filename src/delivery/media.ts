import type { Generation } from '../core/generation.ts'
import { holdsPicture } from '../core/picture-items.ts'
import { countBase64 } from './base64-text.ts'
import { dataUrlPlaceholder, decodedSize, isPlaceholder, mayBeginDataUrl, placeholder, replaceMediaInText } from './media-text.ts'

/**
 * Media bytes are never sent to an observability platform: data URLs and base64 payloads become a placeholder with type and size. They are found
 * wherever they are: in their proper fields, in tool arguments and results, in the middle of a text.
 *
 * On the same walk lone halves of surrogate pairs, which an upstream may have cut, are replaced, because strict JSON readers refuse a whole batch for
 * one. So are NULs, as in a binary file that a tool has read: platforms on PostgreSQL accept the text and then cannot store it. Both also in the names
 * of fields, which callers choose in metadata and schemas.
 */

/** Honest content does not nest deeper, and without a limit the caller could choose the depth of the recursion. */
const MAX_DEPTH = 100
/** Fields whose text is binary by contract. */
const BINARY_FIELDS: ReadonlyMap<string, string> = new Map([
  ['file_data', 'application/octet-stream'],
  ['b64_json', 'image/png'],
  ['imageB64', 'image/png'],
  ['partial_image_b64', 'image/png'],
  ['encrypted_content', 'application/octet-stream'],
  ['signature', 'application/octet-stream'],
])

type Node = { readonly [key: string]: unknown }

/** Fields with an address: what begins as a data URL there is one to its end. */
const ADDRESS_FIELD = /ur[il]$/i

const binaryType = (key: string, parent: Node): string | undefined => {
  if (key === 'data' && typeof parent['format'] === 'string') return `audio/${parent['format']}`
  if (key === 'data' || key === 'blob') {
    const type = parent['media_type'] ?? parent['mimeType'] ?? parent['mime_type']
    if (typeof type === 'string') return type
  }
  if (key === 'result' && typeof parent['type'] === 'string' && holdsPicture(parent['type']))
    return `image/${typeof parent['output_format'] === 'string' ? parent['output_format'] : 'png'}`
  return BINARY_FIELDS.get(key)
}

const clean = (text: string): string => replaceMediaInText(toStorable(text))

/** Without what platforms refuse in a text. */
export function toStorable(text: string): string {
  const wellFormed = text.isWellFormed() ? text : text.toWellFormed()
  return wellFormed.includes('\0') ? wellFormed.replaceAll('\0', '\u{fffd}') : wellFormed
}

/** How one field of an object is replaced. */
type ReplaceField = (key: string, value: unknown, parent: Node, depth: number) => unknown

const byName: ReplaceField = (key, value, parent, depth) => {
  if (typeof value !== 'string') return replaceEach(value, byName, depth)
  const type = binaryType(key, parent)
  if (type === undefined) return (mayBeginDataUrl(value) && ADDRESS_FIELD.test(key) ? dataUrlPlaceholder(value) : undefined) ?? clean(value)
  if (value === '' || isPlaceholder(value)) return value
  // If the field may also hold a URL, that is kept.
  if (/^https?:\/\//i.test(value)) return clean(value)
  return dataUrlPlaceholder(value, type) ?? placeholder(type, decodedSize(countBase64(value, 0)))
}

const byText: ReplaceField = (_key, value, _parent, depth) => replaceEach(value, byText, depth)

/** The parts of a generation where the caller chooses the names. */
const OWN_FIELDS: ReadonlySet<string> = new Set(['trace', 'metadata', 'parameters'] satisfies (keyof Generation)[])
const ofGeneration: ReplaceField = (key, value, parent, depth) => (OWN_FIELDS.has(key) ? byText : byName)(key, value, parent, depth)

/** Items and contents with all media replaced. Parts without any are shared with the original. */
export const replaceMedia = <T>(value: T): T => replaceEach(value, byName, 0)

/** The same for values whose fields the caller named: `signature` or `data` mean nothing there, only the text counts. */
export const replaceMediaInValues = <T>(value: T): T => replaceEach(value, byText, 0)

export const replaceMediaInGeneration = (generation: Generation): Generation => replaceEach(generation, ofGeneration, 0)

function replaceEach<T>(value: T, replaceField: ReplaceField, depth: number): T {
  if (typeof value === 'string') return clean(value) as T
  if (typeof value !== 'object' || value === null) return value
  if (depth > MAX_DEPTH) return '[nested too deeply]' as T
  if (Array.isArray(value)) {
    let copy: unknown[] | undefined
    for (let i = 0; i < value.length; i++) {
      const element: unknown = value[i]
      const replaced = replaceEach(element, replaceField, depth + 1)
      if (replaced !== element) (copy ??= [...value])[i] = replaced
    }
    return (copy ?? value) as T
  }
  const node = value as Node
  let copy: Record<string, unknown> | undefined
  // `in` instead of `Object.entries`: nearly all values stay unchanged, and the pairs were half of the garbage of a delivery.
  for (const key in node) {
    if (!Object.hasOwn(node, key)) continue
    const replaced = replaceField(key, node[key], node, depth + 1)
    const name = toStorable(key)
    if (replaced === node[key] && name === key) continue
    copy ??= { ...node }
    if (name !== key) Reflect.deleteProperty(copy, key)
    copy[name] = replaced
  }
  return (copy ?? value) as T
}
