import { FRAGILE_NUMBER, parseExact } from '../../lib/exact-json.ts'
import { isObject, tryParseJson } from './json.ts'

const OBJECT_ARGUMENTS = /"arguments"\s*:\s*\{/
/** Arguments are never nested deeper in an answer. */
const MAX_DEPTH = 12

/** Whether the `arguments` of this object are those of a call. */
type IsCall = (holder: { readonly [key: string]: unknown }) => boolean

/**
 * Parses a frame or a whole answer. In formats where arguments are text, some servers send the object itself; it becomes its text here, where its
 * numbers can still be read exactly. `isCall`: for formats that also have other fields of that name, which are objects. Undefined if the text is not
 * JSON.
 */
export function parseAnswer(text: string, isCall: IsCall = () => true): unknown {
  const value = tryParseJson(text)
  const exact = OBJECT_ARGUMENTS.test(text) && FRAGILE_NUMBER.test(text) ? parseExact(text) : undefined
  return exact === undefined ? value : withArgumentsAsText(value, exact, isCall, 0)
}

/** `exact`: the same value with its numbers as written. */
function withArgumentsAsText(value: unknown, exact: unknown, isCall: IsCall, depth: number): unknown {
  if (depth > MAX_DEPTH) return value
  if (Array.isArray(value)) return value.map((each, i) => withArgumentsAsText(each, (exact as readonly unknown[])[i], isCall, depth + 1))
  if (!isObject(value)) return value
  const exactMembers = exact as { readonly [key: string]: unknown }
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [
      key,
      key === 'arguments' && isObject(child) && isCall(value)
        ? JSON.stringify(exactMembers[key])
        : withArgumentsAsText(child, exactMembers[key], isCall, depth + 1),
    ]),
  )
}

/** An object of `parseExact`, not one of its raw numbers. */
export function isExactObject(value: unknown): value is { readonly [key: string]: unknown } {
  return isObject(value) && Object.getPrototypeOf(value) !== null
}

/** The value of a number of `parseExact`, raw or not. */
export function exactNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  return isObject(value) && Object.getPrototypeOf(value) === null ? Number(value['rawJSON']) : undefined
}
