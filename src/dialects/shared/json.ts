import { isJsonObject, nestsTooDeep } from '../../lib/json.ts'

export { isJsonObject as isObject }

/** The string, or undefined for anything else. */
export function asString(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** JSON.parse that answers undefined instead of throwing, and for what nests too deep. */
export function tryParseJson(text: string): unknown {
  try {
    return nestsTooDeep(text) ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

/** What calls without arguments have at some servers: the word for nothing, or a blank. No arguments begin so. */
export function saysNothing(text: string): boolean {
  const word = text.trim()
  return word === '' || word === 'null'
}

/**
 * Arguments of a call as an object in JSON, which servers and the templates of models read them as: what a cut answer left broken, and a list
 * or a bare value a model wrote, becomes the one member of an object, so that the model still sees it.
 */
export function wholeArguments(text: string): string {
  return isJsonObject(tryParseJson(text)) ? text : JSON.stringify({ _raw: text })
}
