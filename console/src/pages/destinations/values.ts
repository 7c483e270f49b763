import type { Field } from './schema-fields.ts'

/** Form values of settings, and the settings they stand for. */

export interface MapRow {
  readonly name: string
  readonly value: string
  /** The mask of a stored secret: an empty value leaves the secret as it is. */
  readonly kept?: string
}
/** The text of a field; null: a stored secret is to be removed. Undefined: an untouched switch. */
export type Value = string | boolean | null | undefined | readonly MapRow[] | Values
export interface Values {
  readonly [name: string]: Value
}
export interface Json {
  readonly [name: string]: unknown
}
/** Problems by the path that the gateway would name: `config.endpoint`. */
export type Problems = { readonly [path: string]: string }

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)
const textOf = (value: unknown): string => (typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value))

/** The initial form: from stored settings, or empty. It never contains secrets. */
export function valuesOf(fields: readonly Field[], config: Json = {}): Values {
  return Object.fromEntries(fields.map((field) => [field.name, valueOf(field, config[field.name])]))
}

function valueOf(field: Field, stored: unknown): Value {
  switch (field.kind) {
    case 'secret':
      return ''
    case 'switch':
      return typeof stored === 'boolean' ? stored : undefined
    case 'list':
      return Array.isArray(stored) ? stored.map(textOf).join('\n') : ''
    case 'map':
      return Object.entries(isObject(stored) ? stored : {}).map(([name, value]) =>
        field.isSecret ? { name, value: '', kept: textOf(value) } : { name, value: textOf(value) },
      )
    case 'group':
      return valuesOf(field.fields, isObject(stored) ? stored : {})
    case 'json':
      return stored === undefined || stored === null ? '' : JSON.stringify(stored, null, 2)
    default:
      return textOf(stored)
  }
}

export interface Filled {
  readonly config: Json
  readonly problems: Problems
}

/**
 * The settings that a form stands for. An untouched secret is sent as its mask, which the gateway takes for the stored value. `stored`: the settings as
 * read; `at`: their path in the body.
 */
export function filled(fields: readonly Field[], values: Values, stored: Json = {}, at = 'config'): Filled {
  const config: Record<string, unknown> = {}
  const problems: Record<string, string> = {}
  for (const field of fields) {
    const path = `${at}.${field.name}`
    const read = settingOf(field, values[field.name], stored[field.name], path)
    Object.assign(problems, read.problems)
    if (read.setting !== undefined) config[field.name] = read.setting
    else if (field.required && Object.keys(read.problems).length === 0) problems[path] = 'is needed'
  }
  return { config, problems }
}

interface Setting {
  /** Undefined: omitted. */
  readonly setting: unknown
  readonly problems: Problems
}
const fine = (setting: unknown): Setting => ({ setting, problems: {} })
const wrong = (path: string, why: string): Setting => ({ setting: undefined, problems: { [path]: why } })

function settingOf(field: Field, value: Value, stored: unknown, path: string): Setting {
  switch (field.kind) {
    case 'switch':
      return fine(value ?? (field.required ? field.fallback === true : undefined))
    case 'map':
      return mapOf((value ?? []) as readonly MapRow[], stored, path)
    case 'group': {
      const { config, problems } = filled(field.fields, (value ?? {}) as Values, isObject(stored) ? stored : {}, path)
      const isEmpty = Object.keys(config).length === 0
      // An optional group that was left empty lacks nothing.
      if (isEmpty && !field.required) return fine(undefined)
      return { setting: config, problems }
    }
    default:
      return value === null ? fine(undefined) : ofText(field, typeof value === 'string' ? value : '', stored, path)
  }
}

function ofText(field: Field, text: string, stored: unknown, path: string): Setting {
  // Blanks come along when something is copied, and belong to nothing.
  const trimmed = text.trim()
  if (field.kind === 'secret') return fine(trimmed === '' ? stored : trimmed)
  // The stored text was not touched.
  if (text === stored) return fine(stored)
  if (trimmed === '') return fine(undefined)
  if (field.kind === 'number') return numberOf(text, path)
  if (field.kind === 'list') return listOf(text, field.ofNumbers, path)
  return field.kind === 'json' ? jsonOf(text, path) : fine(trimmed)
}

function numberOf(text: string, path: string): Setting {
  const number = Number(text)
  return Number.isFinite(number) ? fine(number) : wrong(path, 'is not a number')
}

function listOf(text: string, ofNumbers: boolean, path: string): Setting {
  const entries = text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]))
  if (!ofNumbers) return fine(entries)
  const bad = entries.find((entry) => !Number.isFinite(Number(entry)))
  return bad === undefined ? fine(entries.map(Number)) : wrong(path, `${bad} is not a number`)
}

function jsonOf(text: string, path: string): Setting {
  try {
    return fine(JSON.parse(text))
  } catch (error) {
    return wrong(path, `is not JSON: ${error instanceof Error ? error.message : 'cannot be read'}`)
  }
}

function mapOf(rows: readonly MapRow[], stored: unknown, path: string): Setting {
  const given = rows.filter(({ name, value }) => name.trim() !== '' || value !== '')
  const problems: Record<string, string> = {}
  const names = new Set<string>()
  for (const { name } of given) {
    const key = name.trim()
    if (key === '') problems[path] = 'every value needs a name'
    else if (names.has(key)) problems[`${path}.${key}`] = 'appears twice'
    names.add(key)
  }
  const map = Object.fromEntries(given.map(({ name, value, kept }) => [name.trim(), value === '' ? (kept ?? '') : value]))
  const isLeftEmpty = given.length === 0 && !(isObject(stored) && Object.keys(stored).length === 0)
  return { setting: isLeftEmpty ? undefined : map, problems }
}

/** The settings for a PATCH: changed ones, and null for removed ones. Undefined: none. `now`: what is stored meanwhile. */
export function configChanges(before: Json, after: Json, now: Json = before): Json | undefined {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  const changed = [...names].filter((name) => !isSame(before[name], after[name]))
  return changed.length === 0
    ? undefined
    : Object.fromEntries(changed.map((name) => [name, mergedChange(before[name], after[name], now[name]) ?? null]))
}

/**
 * The change from `before` to `after`, applied to what is stored `now`. The gateway replaces a map such as headers as a whole, so a map that two people
 * change must contain the changes of both. A map without entries is not stored at all, so one that is missing is an empty one.
 */
export function mergedChange(before: unknown, after: unknown, now: unknown): unknown {
  const sides = [before, after, now]
  const maps = sides.map((side) => side ?? {}).filter(isObject)
  if (maps.length < sides.length || !sides.some(isObject)) return isSame(before, after) ? now : after
  const [was, mine, theirs] = maps as [Json, Json, Json]
  const names = new Set([...Object.keys(theirs), ...Object.keys(mine)])
  const merged = [...names].map((name) => [name, mergedChange(was[name], mine[name], theirs[name])] as const)
  const kept = merged.filter(([, value]) => value !== undefined)
  return kept.length === 0 && after === undefined ? undefined : Object.fromEntries(kept)
}

/** Whether two values are the same JSON, in any order of members. */
export function isSame(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other)) return one.length === other.length && one.every((entry, at) => isSame(entry, other[at]))
  if (!isObject(one) || !isObject(other)) return one === other
  const names = Object.keys(one)
  return names.length === Object.keys(other).length && names.every((name) => Object.hasOwn(other, name) && isSame(one[name], other[name]))
}
