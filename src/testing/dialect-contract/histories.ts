import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { InputItem } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { tool, user } from '../request-features.ts'
import { checkTurns } from '../vendor-voices.ts'
import type { Subject } from './subject.ts'

/** One item as drawn by the generator: its kind, and its id, name and form. */
interface Draw {
  readonly kind: string
  readonly id: string
  readonly name: string
  readonly form: number
}

const IDS = ['call_1', 'call_2', 'call_3', 'toolu_01', 'with:colon', 'ü', 'x'.repeat(64), 'x'.repeat(65), 'x'.repeat(100), ' ', '__proto__']
const NAMES = [
  'f',
  'get-time',
  'with space',
  'a.b/c:d',
  'größe',
  '1st',
  'x'.repeat(90),
  '_',
  '\ud83d\ude00',
  'constructor',
  'structured_answer',
  'shell',
]
const TAILS = ['', ' ', '\n', '\ud83d\ude00', '\ud83d', '\u202e', ' "quoted" \\', '</system_message>']

/** Texts contain a mark by which they are found again; some are empty. */
const textOf = (mark: string, form: number): string => (form === 7 ? '' : form === 6 ? ' \n' : `${mark}${TAILS[form % TAILS.length]!}`)
const argumentsOf = (mark: string, form: number): string =>
  [`{"a":"${mark}"}`, '', `{"a": "${mark}`, `["${mark}"]`, 'null', `{"n":12345678901234567890.5,"m":"${mark}"}`, mark, '{}'][form]!
const outputOf = (mark: string, form: number): unknown =>
  form < 4 ? textOf(mark, form) : form === 4 ? [] : [{ type: 'input_text', text: textOf(mark, form) }]

/** Items by kind; `mark` is part of what was said. */
const ITEMS: { readonly [kind: string]: (draw: Draw, mark: string) => object } = {
  user: ({ form }, mark) => ({ type: 'message', role: 'user', content: textOf(mark, form) }),
  parts: ({ form }, mark) => ({ type: 'message', role: 'user', content: form === 5 ? [] : [{ type: 'input_text', text: textOf(mark, form) }] }),
  system: ({ form }, mark) => ({ type: 'message', role: form % 2 === 0 ? 'system' : 'developer', content: textOf(mark, form) }),
  answer: ({ form }, mark) => ({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: textOf(mark, form), annotations: [] }] }),
  refusal: ({ form }, mark) => ({ type: 'message', role: 'assistant', id: 'msg_1', content: [{ type: 'refusal', refusal: textOf(mark, form) }] }),
  reasoning: ({ form }) => ({
    type: 'reasoning',
    id: 'rs_1',
    summary: form % 2 === 0 ? [] : [{ type: 'summary_text', text: 'hm' }],
    ...(form > 4 ? { encrypted_content: 'foreign-blob' } : {}),
  }),
  call: ({ id, name, form }, mark) => ({ type: 'function_call', call_id: id, name, arguments: argumentsOf(mark, form) }),
  custom: ({ id, name, form }, mark) => ({ type: 'custom_tool_call', call_id: id, name, input: textOf(mark, form) }),
  shell: ({ id }, mark) => ({ type: 'shell_call', call_id: `sh ${id}`, action: { commands: [mark] } }),
  output: ({ id, form }, mark) => ({ type: 'function_call_output', call_id: id, output: outputOf(mark, form) }),
  result: ({ id, form }, mark) => ({ type: 'custom_tool_call_output', call_id: id, output: outputOf(mark, form) }),
  printed: ({ id }, mark) => ({
    type: 'shell_call_output',
    call_id: `sh ${id}`,
    output: [{ stdout: mark, stderr: '', outcome: { type: 'exit', exit_code: 0 } }],
  }),
}

const draws: fc.Arbitrary<Draw[]> = fc.array(
  fc.record({
    kind: fc.constantFrom(...Object.keys(ITEMS)),
    // Few ids, so that calls and outputs match, and some ids occur twice.
    id: fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...IDS.slice(0, 3)) }, fc.constantFrom(...IDS)),
    name: fc.constantFrom(...NAMES),
    form: fc.nat(7),
  }),
  { minLength: 1, maxLength: 12 },
)

const markOf = (at: number): string => `mark${String(at).padStart(3, '0')}z`

type SentItem = { readonly type: string; readonly call_id?: string; readonly output?: unknown }

/**
 * In formats with separate items, outputs need not follow their calls directly, but each call must have an output of its kind after it, and each output a
 * call.
 */
function checkItems(items: readonly SentItem[]): void {
  const open = new Map<string, string>()
  for (const { type, call_id: id = '', output } of items) {
    if (type === 'function_call' || type === 'custom_tool_call') {
      expect([...open.keys()]).not.toContain(id)
      open.set(id, type)
    } else if (type === 'function_call_output' || type === 'custom_tool_call_output') {
      expect(output).not.toEqual([])
      expect(type).toBe(`${open.get(id)}_output`)
      open.delete(id)
    }
  }
  expect([...open.keys()]).toEqual([])
}

/** Any items in any order, as programs really send them: the caller's text must arrive, and the result must obey the vendor's rules. */
export function describeHistories({ dialect, voice, target }: Subject): void {
  it('any history, with tools offered or not', () => {
    fc.assert(
      fc.property(draws, fc.boolean(), (drawn, offered) => {
        const input = [user('q'), ...drawn.map((draw, at) => ITEMS[draw.kind]!(draw, markOf(at)) as InputItem)]
        const request: ModelRequest = { input, ...(offered ? { tools: [tool('f'), tool('with space')] } : {}) }
        const { body } = dialect.encodeRequest(request, target)
        expect(body).not.toMatch(/foreign-blob|undefined|\[object/)
        for (const [at, item] of input.slice(1).entries())
          if (JSON.stringify(item).includes(markOf(at))) expect(body.includes(markOf(at)), `${markOf(at)} of ${JSON.stringify(input)}`).toBe(true)
        for (const [, name] of body.matchAll(/"name":"([^"]*)"/g)) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
        const sent = JSON.parse(body) as { readonly [field: string]: unknown }
        if (Array.isArray(sent['input'])) checkItems(sent['input'] as readonly SentItem[])
        else checkTurns(voice.turns(sent))
      }),
      { seed: 11, numRuns: 250 },
    )
  })
}
