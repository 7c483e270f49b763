import fc from 'fast-check'
import { ITEMS, PARTS, TOOLS } from '../../src/doors/responses/__fixtures__/examples.ts'
import { PLUGINS, REQUEST, TOOL_CHOICES } from '../../src/doors/responses/__fixtures__/option-examples.ts'
import { DIALECTS } from './fuzz-stage.ts'

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

const named = (examples: { readonly [name: string]: { readonly ok: object } }): object[] =>
  Object.entries(examples).map(([type, { ok }]) => ({ type, ...ok }))
const user = (content: unknown): object => ({ role: 'user', content })
const hello = [user('hello')]

/** Valid bodies that between them hold everything a request may. */
export const CORPUS: readonly object[] = [
  { input: 'hello' },
  { ...REQUEST.ok, store: false, previous_response_id: null },
  ...named(PARTS).map((part) => ({ input: [user([part])] })),
  ...named(ITEMS).map((item) => ({ input: [...hello, item, user('and?')] })),
  ...named(TOOLS).map((tool) => ({ input: hello, tools: [tool, { type: 'function', name: 'f', parameters: { type: 'object', properties: {} } }] })),
  ...named(TOOL_CHOICES).map((choice) => ({ input: hello, tools: named(TOOLS).slice(0, 4), tool_choice: choice })),
  ...Object.entries(PLUGINS).map(([id, { ok }]) => ({ input: hello, plugins: [{ id, ...ok, enabled: false }] })),
  {
    instructions: 'be brief',
    input: [
      ...hello,
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'hm' }], encrypted_content: 'x' },
      { type: 'function_call', call_id: 'a', name: 'f', arguments: '{"x":1}' },
      { type: 'function_call_output', call_id: 'a', output: 'done' },
      { role: 'assistant', content: [{ type: 'output_text', text: 'so', annotations: [] }] },
    ],
    tools: [{ type: 'function', name: 'f', parameters: { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] }, strict: true }],
    text: { format: { type: 'json_schema', name: 's', schema: { type: 'object', properties: { a: { type: 'string' } } } } },
    reasoning: { effort: 'low' },
    temperature: 0.5,
  },
]

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

type Change = {
  readonly kind: 'replace' | 'delete' | 'repeat' | 'wrap' | 'add' | 'rename'
  readonly pick: number
  readonly value: Json
  readonly key: string
}

/** One thing changed somewhere. Works on the tree in place. */
function mutate(root: Json, { kind, pick, value: given, key }: Change): Json {
  // A copy: later changes must not reach into what other runs are given.
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

const change: fc.Arbitrary<Change> = fc.record({
  kind: fc.constantFrom('replace', 'delete', 'repeat', 'wrap', 'add', 'rename'),
  pick: fc.nat(10_000),
  value: nasty,
  key: fc.constantFrom(...KEYS),
})
export const mutant = fc.record({
  base: fc.nat(CORPUS.length - 1),
  dialect: fc.nat(DIALECTS.length - 1),
  streamed: fc.boolean(),
  changes: fc.array(change, { minLength: 1, maxLength: 4 }),
})

/** A body of the corpus for one format, with what is to be broken broken. */
export function build({ base, dialect, streamed, changes }: { base: number; dialect: number; streamed: boolean; changes: readonly Change[] }): Json {
  const body = { model: `acme/${DIALECTS[dialect]!}`, stream: streamed, ...structuredClone(CORPUS[base]) } as { [key: string]: Json }
  body['model'] = `acme/${DIALECTS[dialect]!}`
  delete body['models']
  delete body['provider']
  return changes.reduce<Json>((root, one) => mutate(root, one), body)
}
