/**
 * Whether a provider's credential can be sent: visible ASCII characters in one line, as headers require, or the JSON file of a cloud account. Anything
 * else was probably pasted together with surrounding text.
 */
export const isCredentialText = (text: string): boolean => /^[\x20-\x7e]+$/.test(text.trim()) || isJsonObject(text)

function isJsonObject(text: string): boolean {
  if (!text.trimStart().startsWith('{')) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
