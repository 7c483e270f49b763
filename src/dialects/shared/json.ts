import { isJsonObject, nestsTooDeep } from '../../lib/json.ts'

export { isJsonObject as isObject }

/** The string, or undefined for anything else. */
export function asString(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** JSON.parse that returns undefined instead of throwing, also for text that nests too deep. */
export function tryParseJson(text: string): unknown {
  try {
    return nestsTooDeep(text) ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

/** What some servers send as the arguments of calls without any: the word for nothing, or a blank. Real arguments cannot begin like that. */
export function saysNothing(text: string): boolean {
  const word = text.trim()
  return word === '' || word === 'null'
}

/**
 * Arguments of a call as a JSON object, which servers and models' templates expect. What a cut answer left broken, and a list or a bare value,
 * becomes the single member of an object, so that the model still sees it.
 */
export function wholeArguments(text: string): string {
  return isJsonObject(tryParseJson(text)) ? text : JSON.stringify({ _raw: text })
}
