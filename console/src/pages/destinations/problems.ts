import { ApiError } from '../../api/client.ts'
import type { Problems } from './values.ts'

/** An error by the field it names, without repeating the field: `{ 'config.url': 'must be an address' }`. Empty if it names none. */
export function refusedFields(error: Error | null): Problems {
  if (!(error instanceof ApiError) || error.path === undefined) return {}
  const prefix = `${error.path}: `
  return { [error.path]: error.message.startsWith(prefix) ? error.message.slice(prefix.length) : error.message }
}

/** The problem of a field, or of a part of it that has no control of its own. */
export function problemAt(problems: Problems, path: string): string | undefined {
  const at = Object.keys(problems).find((key) => key === path || key.startsWith(`${path}.`))
  if (at === undefined) return undefined
  return at === path ? problems[at] : `${at.slice(path.length + 1)}: ${problems[at] ?? ''}`
}

/** Problems that no control of the form can show. */
export const elsewhere = (problems: Problems, places: readonly string[]): readonly string[] =>
  Object.entries(problems).flatMap(([path, why]) =>
    places.some((place) => path === place || path.startsWith(`${place}.`)) ? [] : [`${path}: ${why}`],
  )
