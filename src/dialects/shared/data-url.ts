/** A data URL (RFC 2397) with its bytes as base64, however it encodes them. `mimeType` is in lower case, and empty if it has none. */
export interface DataUrl {
  readonly mimeType: string
  readonly data: string
}

/** Undefined if it is no data URL or has no comma. Malformed percent-encoding is taken literally. */
export function readDataUrl(url: string): DataUrl | undefined {
  const comma = url.indexOf(',')
  if (comma < 0 || !/^data:/i.test(url)) return undefined
  const head = url.slice(5, comma)
  const body = url.slice(comma + 1)
  const mimeType = head.split(';')[0]!.trim().toLowerCase()
  return { mimeType, data: /;\s*base64\s*$/i.test(head) ? body : Buffer.from(percentDecoded(body)).toString('base64') }
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
