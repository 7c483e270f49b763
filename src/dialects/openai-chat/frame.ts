import { asString, isObject } from '../shared/json.ts'

export type Json = { readonly [field: string]: unknown }

/** Only one choice is used: the one with the given index or, without one, the first. Servers may leave the list empty, or omit the index. */
export function choiceOf(choices: unknown, index: number | undefined): Json | undefined {
  if (!Array.isArray(choices)) return undefined
  const wanted = index ?? 0
  const found = choices.find(
    (choice): choice is Json => isObject(choice) && (typeof choice['index'] === 'number' ? choice['index'] : wanted) === wanted,
  )
  return found ?? (index === undefined && isObject(choices[0]) ? choices[0] : undefined)
}

/** The output of the model: a delta, a whole message, or the text of the older completions format. */
export function deltaOf(choice: Json): Json | undefined {
  if (isObject(choice['delta'])) return choice['delta']
  if (isObject(choice['message'])) return choice['message']
  return typeof choice['text'] === 'string' ? { content: choice['text'] } : undefined
}

const isErrorValue = (error: unknown): boolean => (isObject(error) && Object.keys(error).length > 0) || (typeof error === 'string' && error !== '')

/** Some servers report their status in numbers of their own, in which zero is success. */
function statusError({ status_code: code, status_msg: message }: Json): Json {
  return { message: asString(message) || `status ${String(code)}`, code: String(code) }
}

/**
 * An error inside an answer with status 200, in any of its variants: next to choices, inside one, instead of them, or in a vendor's own field,
 * whatever the finish reason. Undefined if there is none.
 */
export function errorOf(frame: Json): unknown {
  if (isErrorValue(frame['error'])) return frame
  const own = frame['x_groq']
  if (isObject(own) && isErrorValue(own['error'])) return own
  const status = frame['base_resp']
  if (isObject(status) && typeof status['status_code'] === 'number' && status['status_code'] !== 0) return statusError(status)
  const { choices } = frame
  if (Array.isArray(choices)) {
    const failed: unknown = choices.find((choice) => isObject(choice) && isErrorValue(choice['error']))
    return failed
  }
  const named = frame['object'] === 'error' || frame['type'] === 'error'
  const isUnmarked = (typeof frame['message'] === 'string' || typeof frame['detail'] === 'string') && frame['usage'] === undefined
  return named || isUnmarked ? frame : undefined
}

/** The non-empty string at the end of a path of fields. */
export function follow(value: unknown, path: readonly string[]): string | undefined {
  if (path.length === 0) return undefined
  let at = value
  for (const key of path) at = isObject(at) ? at[key] : undefined
  return asString(at) || undefined
}

/** Longer than any signature; a longer object is not carried through callers' conversations. */
const MAX_EXTRA_CHARS = 65_536

/** A server's own object on a call, as text. */
export function extraOf(call: Json, member: string | null): string | undefined {
  const extra = member === null ? undefined : call[member]
  if (!isObject(extra) || Object.keys(extra).length === 0) return undefined
  const text = JSON.stringify(extra)
  return text.length > MAX_EXTRA_CHARS ? undefined : text
}

/** The data URL or the address of a picture part. */
export function imageUrl(image: unknown): string | undefined {
  if (!isObject(image)) return undefined
  return isObject(image['image_url']) ? asString(image['image_url']['url']) : asString(image['image_url'])
}

/** The format from before there was a list of tool calls: one call, without id. Some servers send it empty with every message. */
export function legacyCall(delta: Json): Json | undefined {
  const call = delta['function_call']
  return isObject(call) && (call['name'] || call['arguments']) ? call : undefined
}
