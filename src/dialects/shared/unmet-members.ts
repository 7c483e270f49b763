import type { ModelRequest } from '../../core/request.ts'

/** Members that every format has rules for. */
const KNOWN = {
  reasoning: new Set(['effort', 'summary', 'max_tokens', 'enabled', 'within_output', 'stated']),
  text: new Set(['format', 'verbosity']),
} as const
/** Values that ask for what happens anyway. */
const USUAL: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['reasoning.context', 'auto'],
  ['reasoning.mode', 'standard'],
  ['reasoning.exclude', false],
])

/** Notes for `dropped`, in formats without a place for them: members of `reasoning` and `text` that only the Responses format has (`reasoning.mode`). */
export function unmetMembers(request: ModelRequest): string[] {
  return (['reasoning', 'text'] as const).flatMap((field) =>
    Object.entries(request[field] ?? {})
      .filter(([member, value]) => value != null && !KNOWN[field].has(member))
      .map(([member, value]: readonly [string, unknown]) => ({ path: `${field}.${member}`, value }))
      .flatMap(({ path, value }) => (USUAL.has(path) && USUAL.get(path) === value ? [] : [path])),
  )
}
