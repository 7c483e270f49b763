import { TextDecoder } from 'node:util'

/**
 * Decodes text of unknown origin. A byte order mark has priority, then the declared charset, then the charset of an XML declaration. Otherwise, or with an
 * unknown charset, the text is UTF-8. If its bytes are not valid UTF-8 and contain no valid character beyond ASCII, it is read as windows-1252, as
 * browsers do: such text comes from older programs.
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

/** The charset of a byte order mark, if there is one. */
export function markedCharset(bytes: Uint8Array): string | undefined {
  const [first, second, third] = bytes
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  return first === 0xef && second === 0xbb && third === 0xbf ? 'utf-8' : undefined
}

/** Longer than the XML declaration of any document. */
const XML_WITHIN = 256
const XML_DECLARED = /^<\?xml\s[^>]{0,200}?encoding\s{0,8}=\s{0,8}["']([\w:.-]{1,40})["']/

/** A declaration that is readable byte by byte is not in a 16-bit encoding, so a declared UTF-16 is ignored. */
function xmlCharset(bytes: Uint8Array): string | undefined {
  const declared = XML_DECLARED.exec(Buffer.from(bytes.subarray(0, XML_WITHIN)).toString('latin1'))?.[1]
  return declared === undefined || /^utf-?16/i.test(declared) ? undefined : declared
}
