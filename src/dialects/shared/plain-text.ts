/**
 * True if JSON needs no escape for any character of `text` and none is half of a surrogate pair: such text can be copied into a JSON string. Complete
 * pairs count as not plain, too, because telling them from halves would cost more than it saves.
 */
export function isPlainText(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 32 || code === 34 || code === 92 || (code >= 0xd800 && code <= 0xdfff)) return false
  }
  return true
}
