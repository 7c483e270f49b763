import { TextDecoder } from 'node:util'

/**
 * The text in bytes that somebody else has written. A mark at their beginning says how they are to be read and counts most, then what is said
 * of them, then what XML says of itself; bytes of which nobody says anything, or a charset nobody knows, are UTF-8. Where no letter beyond
 * ASCII is any in UTF-8, they are what browsers take such bytes for: tables and texts of older programs.
 */
export function decodeText(bytes: Uint8Array, charset?: string): string {
  const decoder = decoderFor(markedCharset(bytes) ?? charset ?? xmlCharset(bytes))
  const text = decoder.decode(bytes)
  return decoder.encoding === 'utf-8' && BROKEN.test(text) && !FOREIGN.test(text) ? new TextDecoder('windows-1252').decode(bytes) : text
}

const BROKEN = /\ufffd/
// oxlint-disable-next-line no-control-regex -- what is beyond ASCII and could be read
const FOREIGN = /[^\x00-\x7f\ufffd]/

function decoderFor(charset: string | undefined): TextDecoder {
  try {
    return new TextDecoder(charset)
  } catch {
    return new TextDecoder()
  }
}

/** What a byte order mark says, if there is one. */
export function markedCharset(bytes: Uint8Array): string | undefined {
  const [first, second, third] = bytes
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  return first === 0xef && second === 0xbb && third === 0xbf ? 'utf-8' : undefined
}

/** Longer than the first line of any document of XML. */
const XML_WITHIN = 256
const XML_DECLARED = /^<\?xml\s[^>]{0,200}?encoding\s{0,8}=\s{0,8}["']([\w:.-]{1,40})["']/

/** Whoever can read that far reads no 16 bits a character. */
function xmlCharset(bytes: Uint8Array): string | undefined {
  const declared = XML_DECLARED.exec(Buffer.from(bytes.subarray(0, XML_WITHIN)).toString('latin1'))?.[1]
  return declared === undefined || /^utf-?16/i.test(declared) ? undefined : declared
}
