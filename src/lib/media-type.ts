import { isUtf8 } from 'node:buffer'

/** Signatures of file types: offset, bytes as Latin-1 text, type. */
const SIGNATURES: readonly (readonly [at: number, bytes: string, type: string])[] = [
  [0, '\x89PNG\r\n\x1a\n', 'image/png'],
  [0, '\xff\xd8\xff', 'image/jpeg'],
  [0, 'GIF8', 'image/gif'],
  [0, 'BM', 'image/bmp'],
  [0, 'II*\0', 'image/tiff'],
  [0, 'MM\0*', 'image/tiff'],
  [0, '%PDF-', 'application/pdf'],
  [0, '\x1aE\xdf\xa3', 'video/webm'],
  [0, 'FLV\x01', 'video/x-flv'],
  [0, '\0\0\x01\xba', 'video/mpeg'],
  [0, '\0\0\x01\xb3', 'video/mpeg'],
  [0, 'ID3', 'audio/mp3'],
  [0, 'fLaC', 'audio/flac'],
  [0, 'OggS', 'audio/ogg'],
  [0, '\xff\xf1', 'audio/aac'],
  [0, '\xff\xf9', 'audio/aac'],
  [0, '\xff\xfb', 'audio/mp3'],
  [0, '\xff\xf3', 'audio/mp3'],
  [0, '\xff\xf2', 'audio/mp3'],
]

/** Containers that name their content from the ninth byte on. */
const CONTAINERS: readonly (readonly [outer: RegExp, inner: RegExp, type: string])[] = [
  [/^RIFF/, /^WEBP/, 'image/webp'],
  [/^RIFF/, /^WAVE/, 'audio/wav'],
  [/^RIFF/, /^AVI /, 'video/avi'],
  [/^FORM/, /^AIF[FC]/, 'audio/aiff'],
]
const FTYP: readonly (readonly [brand: RegExp, type: string])[] = [
  [/^(?:avif|avis)/, 'image/avif'],
  [/^(?:heic|heix|heim|heis|hevc)/, 'image/heic'],
  [/^(?:mif1|msf1)/, 'image/heif'],
  [/^M4A/, 'audio/m4a'],
  [/^qt /, 'video/quicktime'],
  [/^3g/, 'video/3gpp'],
]

const TEXT_TYPE = /^(?:text\/[\w.+-]+|application\/(?:json|xml|javascript|yaml|x-yaml|rtf))$/

/**
 * The type of a file by its bytes. The server's declaration only decides between kinds of text, which have no signature. Undefined for bytes of no known
 * kind, whatever the header says.
 */
export function sniffMediaType(bytes: Buffer, contentType?: string): string | undefined {
  const head = bytes.subarray(0, 16).toString('latin1')
  const inner = head.slice(8)
  if (head.slice(4, 8) === 'ftyp') return FTYP.find(([brand]) => brand.test(inner))?.[1] ?? 'video/mp4'
  const container = CONTAINERS.find(([outer, content]) => outer.test(head) && content.test(inner))
  if (container !== undefined) return container[2]
  const signature = SIGNATURES.find(([at, magic]) => head.startsWith(magic, at))
  // Two bytes are too few to distinguish an image from a text that begins with them.
  if (signature !== undefined && !(signature[1].length === 2 && isText(bytes))) return signature[2]
  if (!isText(bytes)) return undefined
  const declared = contentType?.split(';')[0]!.trim().toLowerCase() ?? ''
  return TEXT_TYPE.test(declared) ? declared : 'text/plain'
}

/** Enough bytes to recognise a file. */
const TOLD_BY = 8190

/** The same for base64. Only the beginning of a long text is read, without a character that it cuts in two. Undefined also for text that is not base64. */
export function sniffBase64(data: string): string | undefined {
  const head = data.slice(0, (TOLD_BY / 3) * 4)
  // Whitespace is part of the character class: a pattern with separate trailing whitespace would try every position where that may begin.
  if (!/^[\w+/\s-]+={0,2}$/.test(head.trimEnd() || head)) return undefined
  const bytes = Buffer.from(head, 'base64')
  return sniffMediaType(data.length > head.length ? bytes.subarray(0, endOfLetters(bytes)) : bytes)
}

/** The end of the last complete UTF-8 character, for a text that may have been cut. */
export function endOfLetters(bytes: Buffer): number {
  for (let at = bytes.length - 1; at >= Math.max(0, bytes.length - 4); at--) {
    const byte = bytes[at]!
    if (byte < 0x80) return at + 1
    if (byte < 0xc0) continue
    const length = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4
    return at + length <= bytes.length ? at + length : at
  }
  return bytes.length
}

/** Whether the bytes are UTF-8 without the control characters that text never contains. */
function isText(bytes: Buffer): boolean {
  return isUtf8(bytes) && !bytes.subarray(0, 8192).some((byte) => byte < 9 || (byte > 13 && byte < 32 && byte !== 27))
}
