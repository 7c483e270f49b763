import fc from 'fast-check'

/** Valid JSON with one thing broken. */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

const NASTY: readonly Json[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e308,
  -1e308,
  2 ** 60,
  '',
  ' ',
  '\u0000',
  '\ufffd',
  '\u202e',
  '../../etc/passwd',
  "'; DROP TABLE keys; --",
  '<script>alert(1)</script>',
  '\u001b[2J',
  '{{constructor.constructor("return process")()}}',
  '${jndi:ldap://127.0.0.1/a}',
  'data:image/png;base64,',
  'data:,',
  'x'.repeat(5_000),
  'NaN',
  'constructor',
  'toString',
  '__proto__',
  'hasOwnProperty',
  [],
  {},
  [[]],
  [null],
  [{}],
  { type: null },
  { type: 'function' },
  { type: 'message' },
  { $ref: '#' },
]

export const nasty = fc.oneof(fc.constantFrom(...NASTY), fc.jsonValue() as fc.Arbitrary<Json>)
const KEYS = [
  'type',
  'role',
  'content',
  'id',
  'name',
  'parameters',
  'call_id',
  'arguments',
  'output',
  'summary',
  'constructor',
  'toString',
  '$ref',
  'x',
]

type Path = readonly (string | number)[]
function pathsOf(value: Json, at: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [at]
  const entries = Array.isArray(value) ? value.map((each, n) => [n, each] as const) : Object.entries(value)
  return [at, ...entries.flatMap(([key, each]) => pathsOf(each, [...at, key]))]
}

export type Change = {
  readonly kind: 'replace' | 'delete' | 'repeat' | 'wrap' | 'add' | 'rename'
  readonly pick: number
  readonly value: Json
  readonly key: string
}

/** Makes one change somewhere. Modifies the tree in place. */
export function mutate(root: Json, { kind, pick, value: given, key }: Change): Json {
  // A copy, so that later changes do not affect other runs.
  const value = structuredClone(given)
  const paths = pathsOf(root)
  const path = paths[pick % paths.length]!
  if (path.length === 0) return kind === 'wrap' ? [root] : root
  let parent = root as { [key: string]: Json }
  for (const step of path.slice(0, -1)) parent = parent[step] as { [key: string]: Json }
  const last = path.at(-1)!
  const here = parent[last]!
  if (kind === 'delete' && Array.isArray(parent)) parent.splice(Number(last), 1)
  else if (kind === 'delete') Reflect.deleteProperty(parent, last)
  else if (kind === 'repeat' && Array.isArray(parent)) parent.splice(Number(last), 0, ...Array.from({ length: 3 }, () => structuredClone(here)))
  else if (kind === 'wrap') parent[last] = pick % 2 === 0 ? [here] : { [key]: here }
  else if (kind === 'add' && typeof here === 'object' && here !== null && !Array.isArray(here)) here[key] = value
  else if (kind === 'rename' && !Array.isArray(parent)) {
    delete parent[last]
    parent[key] = here
  } else parent[last] = value
  return root
}

export const change: fc.Arbitrary<Change> = fc.record({
  kind: fc.constantFrom('replace', 'delete', 'repeat', 'wrap', 'add', 'rename'),
  pick: fc.nat(10_000),
  value: nasty,
  key: fc.constantFrom(...KEYS),
})
