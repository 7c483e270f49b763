import { nextStart, readMarked, readUnmarked } from './base64-run.ts'
import { countBase64, isBlank, readGap } from './base64-text.ts'

/** Media in a text: data URLs, and base64 without any mark. */

/** The type of a data URL and its parameters are short; a mark further away belongs to something else. */
const MAX_HEAD = 200
/** From this length on text after `;base64,` is a payload even if its head cannot be read. */
const SHORT_RUN = 64

const MIME_TYPE = /^[\w.+-]{1,80}\/[\w.+-]{1,80}$/
const UNKNOWN_TYPE = 'application/octet-stream'

export const decodedSize = (chars: number): number => Math.floor((chars * 3) / 4)

export const placeholder = (mimeType: string, bytes: number): string => `[${MIME_TYPE.test(mimeType) ? mimeType : UNKNOWN_TYPE}, ${bytes} bytes]`
const PLACEHOLDER = /^\[[\w.+-]+\/[\w.+-]+, \d+ bytes\]$/
export const isPlaceholder = (text: string): boolean => text.length < 200 && PLACEHOLDER.test(text)

const DATA_URL = /^\s*data:([^,]{0,1000}),?/i

/** A `d` or a blank; without one, which is nearly always, no pattern has to be tried. */
export const mayBeginDataUrl = (text: string): boolean => {
  const code = text.charCodeAt(0)
  return code === 100 || code === 68 || code <= 32 || code > 127
}

/** For a value that should be one data URL from beginning to end. Undefined if it does not begin as one. */
export function dataUrlPlaceholder(value: string, fallbackType = 'text/plain'): string | undefined {
  const match = DATA_URL.exec(value)
  if (match === null) return undefined
  const head = match[1]!
  const body = match[0].length
  const size = /;\s*base64\s*$/i.test(head) ? decodedSize(countBase64(value, body)) : value.length - body
  return placeholder(head.split(';', 1)[0]!.trim().toLowerCase() || fallbackType, size)
}

/** Values that are one data URL: percent-encoded ones (SVG) can be recognized only like this. */
const WHOLE_DATA_URL = /^\s*data:[\w.+-]{1,80}\/[\w.+-]{1,80}[;,][^\s"'<>]*\s*$/i

/** A text with every data URL and every bare base64 payload replaced; the same string if there is none. Linear in its length. */
export function replaceMediaInText(text: string): string {
  if (mayBeginDataUrl(text) && WHOLE_DATA_URL.test(text)) return dataUrlPlaceholder(text)!
  return replaceUnmarked(replaceMarked(text))
}

// The characters of `data:` and `;base64,` may be written as in URLs and JSON, at any depth.
const MARK_END = /64[ \t]*(?:,|%(?:25){0,3}2c|\\{1,16}u002c)/iy
const SEMICOLON = /(?:;|%(?:25){0,3}3b|\\{1,16}u003b)$/i
const LONGEST_SEMICOLON = 21
const DATA = /data(?::|%(?:25){0,3}3a|\\{1,16}u003a)/iy
const SEMICOLONS = /%(?:25){0,3}3b|\\{1,16}u003b/gi
const SLASHES = /%(?:25){0,3}2f|\\{1,16}(?:u002f|\/)/gi

/** Where the `;base64` begins whose `64` is at `at`; -1 if something else is there. */
function markStart(text: string, at: number, least: number): number {
  const word = at - 'base'.length
  if (word < least || text.slice(word, at).toLowerCase() !== 'base') return -1
  let end = word
  while (end > least && isBlank(text.charCodeAt(end - 1))) end--
  const match = SEMICOLON.exec(text.slice(Math.max(least, end - LONGEST_SEMICOLON), end))
  return match === null ? -1 : end - match[0].length
}

/** The type between `data:` and `;base64`. Undefined if that is no head of a data URL. */
function typeInHead(head: string): string | undefined {
  if (/["'<>]/.test(head)) return undefined
  const plain = /[%\\]/.test(head) ? head.replaceAll(SEMICOLONS, ';').replaceAll(SLASHES, '/') : head
  const type = plain.split(';', 1)[0]!.trim()
  if (MIME_TYPE.test(type)) return type.toLowerCase()
  // Words, or lines of JSON.
  if (/[\s\\]/.test(plain)) return undefined
  return type === '' ? 'text/plain' : UNKNOWN_TYPE
}

interface Head {
  readonly start: number
  readonly type: string
}

/** The nearest `data:` before a mark. */
function headBefore(text: string, mark: number, least: number): Head | undefined {
  for (let at = mark - 'data:'.length; at >= Math.max(least, mark - MAX_HEAD); at--) {
    const code = text.charCodeAt(at)
    if (code !== 100 && code !== 68) continue
    DATA.lastIndex = at
    if (!DATA.test(text) || DATA.lastIndex > mark) continue
    const type = typeInHead(text.slice(DATA.lastIndex, mark))
    return type === undefined ? undefined : { start: at, type }
  }
  return undefined
}

/** Searches for the digits of `;base64,`, which are rare in texts and can be written in one way only. */
function replaceMarked(text: string): string {
  let out = ''
  let copied = 0
  // No text is scanned twice, because a head contains no mark.
  let least = 0
  for (let at = text.indexOf('64'); at !== -1; at = text.indexOf('64', Math.max(at + 2, least))) {
    MARK_END.lastIndex = at
    if (!MARK_END.test(text)) continue
    const payload = MARK_END.lastIndex
    const mark = markStart(text, at, least)
    if (mark !== -1) {
      const head = headBefore(text, mark, least)
      const run = readMarked(text, payload)
      if (head !== undefined || (run.chars >= SHORT_RUN && readGap(text, payload).end === payload)) {
        out += text.slice(copied, head?.start ?? payload) + placeholder(head?.type ?? UNKNOWN_TYPE, decodedSize(run.chars))
        copied = run.end
      }
    }
    least = Math.max(payload, copied)
  }
  return copied === 0 ? text : out + text.slice(copied)
}

function replaceUnmarked(text: string): string {
  let out = ''
  let copied = 0
  for (let start = nextStart(text, 0); start !== -1;) {
    const run = readUnmarked(text, start)
    if (run.type !== undefined) {
      out += text.slice(copied, run.start) + placeholder(run.type, decodedSize(run.chars))
      copied = run.end
    }
    start = nextStart(text, run.end)
  }
  return copied === 0 ? text : out + text.slice(copied)
}
