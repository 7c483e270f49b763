import type { InputPart, JsonObject, OutputText, Refusal } from '../../core/item.ts'
import { decodeText } from '../../lib/decode-text.ts'
import { pictureAt } from '../shared/shown-picture.ts'

/** Parts that users and tools may show. */
export type ShownPart = Exclude<InputPart, OutputText | Refusal>

export interface Blob {
  readonly mimeType: string
  readonly data: string
  readonly displayName?: string | null
}
export interface FileData {
  readonly fileUri: string
  readonly mimeType?: string | null
  readonly displayName?: string | null
}

const SOUNDS: { readonly [type: string]: string } = {
  mpeg: 'mp3',
  mpga: 'mp3',
  'x-wav': 'wav',
  wave: 'wav',
  'x-aiff': 'aiff',
  'x-flac': 'flac',
  mp4: 'm4a',
  'x-m4a': 'm4a',
}
const FILMS = /^https?:\/\/(?:www\.|m\.)?(?:youtube\.com|youtu\.be)\//i

const named = (name: string | null | undefined): { readonly filename?: string } => (name ? { filename: name } : {})

/** Clients in some languages send base64 in the URL-safe alphabet. */
const plainBase64 = (data: string): string => (/[-_]/.test(data) ? data.replaceAll('-', '+').replaceAll('_', '/') : data)

/** Bytes in the request, as a part of their kind. */
export function blobPart({ mimeType, data: written, displayName }: Blob): ShownPart {
  const data = plainBase64(written)
  const [kind = '', detail = ''] = mimeType.toLowerCase().split(/[/;]/)
  const url = `data:${mimeType};base64,${data}`
  if (kind === 'image') return { type: 'input_image', image_url: url, detail: 'auto' }
  if (kind === 'audio') return { type: 'input_audio', input_audio: { data, format: SOUNDS[detail] ?? detail } }
  if (kind === 'video') return { type: 'input_video', video_url: url }
  if (kind === 'text') return { type: 'input_text', text: withName(displayName, textOf(data, mimeType)), quoted: true }
  return { type: 'input_file', file_data: url, ...named(displayName) }
}

function textOf(data: string, mimeType: string): string {
  const charset = /;\s*charset=["']?([\w:.-]{1,40})/i.exec(mimeType)?.[1]
  return decodeText(Buffer.from(data, 'base64'), charset)
}

/** Puts the name into the text, which models of every format read. */
const withName = (name: string | null | undefined, text: string): string => (name ? `${name}\n${text}` : text)

/** A file by its URL. */
export function filePart({ fileUri: url, mimeType, displayName }: FileData): ShownPart {
  const kind = mimeType?.split('/')[0]?.toLowerCase()
  if (kind === 'image') return { type: 'input_image', image_url: url, detail: 'auto' }
  if (kind === 'video' || FILMS.test(url)) return { type: 'input_video', video_url: url }
  return { type: 'input_file', file_url: url, ...named(displayName) }
}

/** A picture of an earlier answer, as the tool that made it returned it. */
export function pictureOf({ mimeType, data }: Blob): JsonObject & { readonly type: string } {
  return { type: 'image_generation_call', status: 'completed', result: plainBase64(data), output_format: mimeType.replace(/^image\//i, '') }
}

/** The same, shown by its address; answers name no type beside one. */
export const pictureOfFile = ({ fileUri, mimeType }: FileData): ReturnType<typeof pictureAt> =>
  mimeType == null || /^image\//i.test(mimeType) ? pictureAt(fileUri) : undefined
