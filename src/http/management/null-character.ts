import { GatewayError } from '../../core/error.ts'

const NULL = '\0'

interface RequestParts {
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
}

/**
 * PostgreSQL's text columns refuse U+0000 and SQLite's accept it, so it is refused here for every route and both behave the same. In a path it
 * belongs to an id that cannot exist.
 */
export function refuseNullCharacters({ params, query, body }: RequestParts): void {
  if (fieldWithNull(params) !== undefined) throw new GatewayError('not_found', 'There is nothing of this name: no id contains the character U+0000')
  const path = fieldWithNull(query) ?? fieldWithNull(body)
  if (path !== undefined) throw new GatewayError('invalid_request', `${path}: may not contain the character U+0000`, { path })
}

/** The first field of an object that contains the character, at any depth. */
function fieldWithNull(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  return Object.entries(value)
    .find(([name, field]) => name.includes(NULL) || containsNull(field))?.[0]
    .replaceAll(NULL, '\\u0000')
    .slice(0, 120)
}

/** Without recursion, because the sender decides how deep a body nests. */
function containsNull(value: unknown): boolean {
  const waiting: unknown[] = [value]
  while (waiting.length > 0) {
    const next = waiting.pop()
    if (typeof next === 'string' && next.includes(NULL)) return true
    if (typeof next !== 'object' || next === null) continue
    for (const [name, field] of Object.entries(next)) {
      if (name.includes(NULL)) return true
      waiting.push(field)
    }
  }
  return false
}
