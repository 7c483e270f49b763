import type { Item } from './run.ts'

/** The visible part of an item. Texts are shown literally; nothing is interpreted as HTML or Markdown. */
export type ItemView =
  | { readonly kind: 'message'; readonly parts: readonly PartView[] }
  | { readonly kind: 'reasoning'; readonly text: string; readonly isSealed: boolean }
  | StepView

/** A call, or any other item: the item of a tool shows its arguments and results by name. */
export interface StepView {
  readonly kind: 'step'
  readonly title: string
  readonly type: string
  readonly status: string | undefined
  readonly fields: readonly (readonly [name: string, text: string])[]
  /** `data:` URLs. */
  readonly images: readonly string[]
  /** URLs, which are not loaded. */
  readonly links: readonly string[]
}

export interface PartView {
  readonly kind: 'text' | 'refusal' | 'other'
  readonly text: string
  readonly annotations: readonly AnnotationView[]
  readonly images: readonly string[]
  readonly links: readonly string[]
}

export interface AnnotationView {
  readonly text: string
  /** Only http and https. */
  readonly url: string | undefined
}

export function viewOf(item: Item): ItemView {
  if (item.type === 'message') return { kind: 'message', parts: listOf(item['content']).map(partOf) }
  if (item.type === 'reasoning') {
    const texts = [...listOf(item['summary']), ...listOf(item['content'])].map((part) => stringOf(part['text']))
    return { kind: 'reasoning', text: texts.filter((text) => text !== '').join('\n\n'), isSealed: typeof item['encrypted_content'] === 'string' }
  }
  return stepOf(item)
}

/** Members that identify an item, as opposed to its content. */
const FRAME: ReadonlySet<string> = new Set(['type', 'id', 'call_id', 'status', 'name'])

function stepOf(item: Item): StepView {
  const { fields, images, links } = membersOf(item, FRAME)
  const name = stringOf(item['name'])
  return {
    kind: 'step',
    title: name === '' ? item.type : name,
    type: item.type,
    status: stringOf(item['status']) || undefined,
    fields,
    images,
    links,
  }
}

function partOf(part: Loose): PartView {
  const annotations = listOf(part['annotations']).map(annotationOf)
  if (typeof part['refusal'] === 'string') return { kind: 'refusal', text: part['refusal'], annotations, images: [], links: [] }
  if (typeof part['text'] === 'string') return { kind: 'text', text: part['text'], annotations, images: [], links: [] }
  const { fields, images, links } = membersOf(part, new Set())
  return { kind: 'other', text: fields.map(([name, value]) => `${name}: ${value}`).join('\n'), annotations, images, links }
}

function annotationOf(annotation: Loose): AnnotationView {
  const url = linkOf(annotation['url'])
  const named = ['title', 'filename', 'file_id'].map((name) => stringOf(annotation[name])).find((text) => text !== '')
  return { text: named ?? url ?? JSON.stringify(annotation), url }
}

function membersOf(holder: Loose, without: ReadonlySet<string>): Pick<StepView, 'fields' | 'images' | 'links'> {
  const images = new Set<string>()
  const links = new Set<string>()
  const fields: (readonly [string, string])[] = []
  for (const [name, value] of Object.entries(holder)) {
    if (without.has(name) || value === null || value === undefined || value === '') continue
    const image = imageOf(value)
    const link = linkOf(value)
    if (image !== undefined) images.add(image)
    else if (link !== undefined) links.add(link)
    else fields.push([name, readable(value)])
  }
  return { fields, images: [...images], links: [...links] }
}

/** How images of each type begin, in base64. */
const MAGIC: readonly (readonly [start: string, type: string])[] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
]

/** An image within the answer, as a `data:` URL. */
export function imageOf(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  if (value.startsWith('data:image/')) return value
  const [, type] = MAGIC.find(([start]) => value.startsWith(start)) ?? []
  return type !== undefined && /^[A-Za-z0-9+/=]{24,}$/.test(value) ? `data:${type};base64,${value}` : undefined
}

/** A URL that may be followed: only http and https. */
export function linkOf(value: unknown): string | undefined {
  return typeof value === 'string' && /^https?:\/\/\S+$/i.test(value) ? value : undefined
}

/** JSON, even if it is inside a string, on several lines; any other text unchanged. */
export function readable(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value, null, 2) ?? ''
  if (!/^\s*[[{]/.test(value)) return value
  try {
    return JSON.stringify(JSON.parse(value), null, 2)
  } catch {
    return value
  }
}

type Loose = { readonly [name: string]: unknown }
const listOf = (value: unknown): readonly Loose[] =>
  Array.isArray(value) ? value.filter((entry): entry is Loose => typeof entry === 'object' && entry !== null) : []
const stringOf = (value: unknown): string => (typeof value === 'string' ? value : '')
