import { ApiError } from '../../api/client.ts'
import type { Problems } from './values.ts'

/** A refusal at the field it names, without repeating the field: `{ 'config.url': 'must be an address' }`. Empty: it names none. */
export function refusedFields(error: Error | null): Problems {
  if (!(error instanceof ApiError) || error.path === undefined) return {}
  const prefix = `${error.path}: `
  return { [error.path]: error.message.startsWith(prefix) ? error.message.slice(prefix.length) : error.message }
}

/** What is wrong with a field, or with a part of it that has no place of its own. */
export function problemAt(problems: Problems, path: string): string | undefined {
  const at = Object.keys(problems).find((key) => key === path || key.startsWith(`${path}.`))
  if (at === undefined) return undefined
  return at === path ? problems[at] : `${at.slice(path.length + 1)}: ${problems[at] ?? ''}`
}

/** Those a form has no place for. */
export const elsewhere = (problems: Problems, places: readonly string[]): readonly string[] =>
  Object.entries(problems).flatMap(([path, why]) =>
    places.some((place) => path === place || path.startsWith(`${place}.`)) ? [] : [`${path}: ${why}`],
  )
