import fc from 'fast-check'
import { ITEMS, PARTS, TOOLS } from '../../src/doors/responses/__fixtures__/examples.ts'
import { PLUGINS, REQUEST, TOOL_CHOICES } from '../../src/doors/responses/__fixtures__/option-examples.ts'
import { change, mutate, type Change, type Json } from '../../src/testing/mutate-json.ts'
import { DIALECTS } from './fuzz-stage.ts'

const named = (examples: { readonly [name: string]: { readonly ok: object } }): object[] =>
  Object.entries(examples).map(([type, { ok }]) => ({ type, ...ok }))
const user = (content: unknown): object => ({ role: 'user', content })
const hello = [user('hello')]

/** Valid bodies that together contain everything that a request may. */
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

export const mutant = fc.record({
  base: fc.nat(CORPUS.length - 1),
  dialect: fc.nat(DIALECTS.length - 1),
  streamed: fc.boolean(),
  changes: fc.array(change, { minLength: 1, maxLength: 4 }),
})

/** A body of the corpus for one format, with the given changes, which break it. */
export function build({ base, dialect, streamed, changes }: { base: number; dialect: number; streamed: boolean; changes: readonly Change[] }): Json {
  const body = { model: `acme/${DIALECTS[dialect]!}`, stream: streamed, ...structuredClone(CORPUS[base]) } as { [key: string]: Json }
  body['model'] = `acme/${DIALECTS[dialect]!}`
  delete body['models']
  delete body['provider']
  return changes.reduce<Json>((root, one) => mutate(root, one), body)
}
