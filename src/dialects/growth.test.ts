import { describe, expect, it } from 'vitest'
import type { Dialect, Target } from '../core/dialect.ts'
import type { InputItem, Tool } from '../core/item.ts'
import type { ModelRequest } from '../core/request.ts'
import { ALL } from '../testing/dialect-contract/subject.ts'
import { listSteps } from '../testing/list-steps.ts'
import { VENDOR_VOICES } from '../testing/vendor-voices.ts'
import { answerDialects } from './index.ts'

/** Bodies may hold hundreds of thousands of anything: twice as many take about twice the steps, whatever stands beside them. */

const times = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n))
const QUESTION: InputItem = { type: 'message', role: 'user', content: 'q' }
const call = (n: number): InputItem => ({ type: 'function_call', call_id: `c${n}`, name: `f${n}`, arguments: '{}' })
const output = (n: number): InputItem => ({ type: 'function_call_output', call_id: `c${n}`, output: 'r' })
const fn = (n: number, parameters: object = {}): Tool => ({ type: 'function', name: `f${n}`, parameters: { type: 'object', ...parameters } })
const PNG = 'data:image/png;base64,iVBORw0KGgo='
const MARK = { prompt_cache_breakpoint: { mode: 'explicit' } }
const content = (parts: readonly object[]): ModelRequest => ({ input: [{ type: 'message', role: 'user', content: parts }] })
const members = (count: number, letter: string, make: (n: number) => object): object =>
  Object.fromEntries(times(count, (n) => [`${letter}${n}`, make(n)]))

const REQUESTS: { readonly [name: string]: (count: number) => ModelRequest } = {
  'pictures with cache breakpoints behind a text': (count) =>
    content([{ type: 'input_text', text: 'a' }, ...times(count, () => ({ type: 'input_image', image_url: PNG, ...MARK }))]),
  'texts with cache breakpoints': (count) => content(times(count, (n) => ({ type: 'input_text', text: `t${n}`, ...MARK }))),
  'files of one name': (count) => content(times(count, () => ({ type: 'input_file', filename: 'a.txt', file_data: 'data:text/plain;base64,YQ==' }))),
  'calls of one turn': (count) => ({ input: [QUESTION, ...times(count, call), ...times(count, output)], tools: times(count, (n) => fn(n)) }),
  'calls whose results come in reverse': (count) => ({ input: [QUESTION, ...times(count, call), ...times(count, output).toReversed()] }),
  'results before their calls': (count) => ({ input: [QUESTION, ...times(count, output), ...times(count, call)] }),
  'results of one id before their calls': (count) => ({
    input: [QUESTION, ...times(count, () => output(0)), ...times(count, () => call(0))],
  }),
  'results without calls': (count) => ({ input: [QUESTION, ...times(count, output)] }),
  'turns with a thought each': (count) => ({
    input: times(count, (n) => [
      { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 't' }], signature: `s${n}` },
      call(n),
      output(n),
    ]).flat(),
  }),
  'native tools of the vendor beside functions': (count) => ({
    input: [QUESTION],
    tools: times(count, (n) => [{ type: 'bash_20250124', name: `b${n}` }, { type: 'code_interpreter', container: 'c' }, fn(n)]).flat(),
  }),
  'allowed tools': (count) => ({
    input: [QUESTION],
    tools: times(count, (n) => fn(n)),
    tool_choice: { type: 'allowed_tools', mode: 'auto', tools: times(count, (n) => ({ type: 'function', name: `f${count - n}` })) },
  }),
  'members with names that are not accepted': (count) => ({
    input: [QUESTION],
    tools: [fn(0, { properties: members(count, '$', () => ({})), required: times(count, (n) => `$${count - n}`) })],
  }),
  'references to members': (count) => ({
    input: [QUESTION],
    tools: [fn(0, { properties: { ...members(count, 'a', () => ({})), ...members(count, 'b', (n) => ({ $ref: `#/properties/a${n}` })) } })],
  }),
  'definitions inside members': (count) => ({
    input: [QUESTION],
    tools: [fn(0, { properties: members(count, 'a', (n) => ({ $ref: `#/$defs/D${n}`, $defs: { [`D${n}`]: { title: 't' } } })) })],
  }),
  'choices at the top of a schema': (count) => ({
    input: [QUESTION],
    tools: [fn(0, { anyOf: times(count, (n) => ({ type: 'object', properties: { [`p${n}`]: {} }, required: [`p${n}`] })) })],
  }),
}

const OPTIONS: { readonly [dialect: string]: object } = {
  'anthropic-messages': { native_tools: ['^bash_'] },
  'bedrock-converse': { system_tools: { code_interpreter: 'nova_code_interpreter' }, cache_points: true },
  'openai-chat': { cache_breakpoints: true, tool_signature_path: ['extra', 'signature'], schemas: 'curated' },
}

function targetOf(dialect: Dialect): Target {
  const voice = VENDOR_VOICES.get(dialect.name) ?? VENDOR_VOICES.get('anthropic-messages')!
  return {
    provider: 'acme',
    providerName: 'Acme',
    upstreamModel: voice.model,
    options: dialect.options.parse({ ...voice.options, ...OPTIONS[dialect.name] }),
    supports: new Set(ALL),
    contextLength: 200_000,
    maxOutputTokens: 64_000,
    scope: 'acme',
    stream: true,
  }
}

describe.each(answerDialects.map((dialect) => [dialect.name, dialect] as const))('%s encodes in linear time', (_name, dialect) => {
  it.each(Object.entries(REQUESTS))('%s', (_kind, requestOf) => {
    const target = targetOf(dialect)
    const stepsFor = (count: number): number => listSteps(() => dialect.encodeRequest(requestOf(count), target))
    const few = stepsFor(100)
    expect(stepsFor(400)).toBeLessThan(5 * few + 2_000)
  })
})
