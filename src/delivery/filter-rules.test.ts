import { describe, expect, it } from 'vitest'
import type { FinishedGeneration } from '../core/generation.ts'
import type { FilterRules } from '../core/outbox.ts'
import { failedGeneration, fullGeneration, minimalGeneration } from '../testing/sample-generations.ts'
import { compileFilter, FILTER_OPERATORS, filterRulesSchema, NUMBER_FIELDS, TEXT_FIELDS } from './filter-rules.ts'
import { verifies } from '../../e2e/requirements.ts'
import { threadTime } from '../testing/thread-time.ts'

const full = fullGeneration()
const minimal = minimalGeneration()

function matches(field: string, operator: string, value?: string | number, subject: FinishedGeneration = full): boolean {
  const rules = filterRulesSchema.parse({ groups: [{ rules: [{ field, operator, ...(value === undefined ? {} : { value }) }] }] })
  return compileFilter(rules)(subject)
}

/** What each field of the full sample holds: its exact value, a piece of it, its start and end; a value it has not. */
const TEXT = {
  model: ['acme/small', 'me/sm', 'acme/', 'small'],
  provider: ['beta', 'et', 'be', 'ta'],
  session_id: ['session-9', 'sion', 'sess', '-9'],
  user_id: ['customer-5', 'tom', 'cust', '-5'],
  api_key_name: ['production', 'duct', 'prod', 'tion'],
  finish_reason: ['tool_calls', 'l_c', 'tool', 'calls'],
} as const
const NUMBER = { total_cost: 0.0123, total_tokens: 1545, prompt_tokens: 1200, completion_tokens: 345 } as const

describe('every operator on every field', () => {
  it.each(Object.entries(TEXT))('%s', (field, [exact, piece, start, end]) => {
    const table: [string, string | undefined, boolean][] = [
      ['equals', exact, true],
      ['equals', exact.toUpperCase(), false],
      ['equals', 'nope', false],
      ['not_equals', 'nope', true],
      ['not_equals', exact, false],
      ['contains', piece, true],
      ['contains', 'nope', false],
      ['not_contains', 'nope', true],
      ['not_contains', piece, false],
      ['starts_with', start, true],
      ['starts_with', 'nope', false],
      ['ends_with', end, true],
      ['ends_with', 'nope', false],
      ['regex', `^${exact}$`, true],
      ['regex', '^nope$', false],
      ['gt', '1', false],
      ['lt', '1', false],
      ['gte', '1', false],
      ['lte', '1', false],
      ['exists', undefined, true],
      ['not_exists', undefined, false],
    ]
    expect(new Set(table.map(([operator]) => operator))).toEqual(new Set(FILTER_OPERATORS))
    for (const [operator, value, expected] of table) expect([operator, value, matches(field, operator, value)]).toEqual([operator, value, expected])
  })

  it.each(['input', 'output'])('%s is the text of the conversation', (field) => {
    const table: [string, string | undefined, boolean][] = [
      ['equals', 'CANARY-7f3a', false],
      ['not_equals', 'CANARY-7f3a', true],
      ['contains', 'CANARY-7f3a', true],
      ['contains', 'nope', false],
      ['not_contains', 'nope', true],
      ['not_contains', 'CANARY', false],
      ['starts_with', field === 'input' ? 'Be brief.' : 'Thinking', true],
      ['ends_with', field === 'input' ? 'CANARY-7f3a' : '"}', true],
      ['regex', 'CANARY-\\w{4}', true],
      ['regex', '(?i)canary', true],
      ['regex', 'nope', false],
      ['gt', '1', false],
      ['lt', '1', false],
      ['gte', '1', false],
      ['lte', '1', false],
      ['exists', undefined, true],
      ['not_exists', undefined, false],
    ]
    for (const [operator, value, expected] of table) expect([operator, value, matches(field, operator, value)]).toEqual([operator, value, expected])
  })

  it.each(Object.entries(NUMBER))('%s', (field, value) => {
    const table: [string, string | number | undefined, boolean][] = [
      ['equals', value, true],
      ['equals', String(value), true],
      ['equals', value + 1, false],
      ['equals', 'nope', false],
      ['not_equals', value, false],
      ['not_equals', value + 1, true],
      ['gt', value - 0.001, true],
      ['gt', value, false],
      ['gte', value, true],
      ['gte', value + 1, false],
      ['lt', value + 1, true],
      ['lt', value, false],
      ['lte', String(value), true],
      ['lte', value - 0.001, false],
      ['contains', String(value).slice(-2), true],
      ['not_contains', 'x', true],
      ['starts_with', String(value).slice(0, 2), true],
      ['ends_with', String(value).slice(-1), true],
      ['regex', '^[0-9.]+$', true],
      ['exists', undefined, true],
      ['not_exists', undefined, false],
    ]
    expect(new Set(table.map(([operator]) => operator))).toEqual(new Set(FILTER_OPERATORS))
    for (const [operator, wanted, expected] of table)
      expect([operator, wanted, matches(field, operator, wanted)]).toEqual([operator, wanted, expected])
  })

  it('covers the twelve fields of the contract', () => {
    expect([...Object.keys(TEXT), 'input', 'output', ...Object.keys(NUMBER)]).toEqual([...TEXT_FIELDS, ...NUMBER_FIELDS])
  })
})

describe('what is absent', () => {
  it('does not exist, equals nothing, and satisfies every negation', () => {
    for (const field of ['session_id', 'user_id', 'input', 'total_cost']) {
      expect(matches(field, 'exists', undefined, minimal)).toBe(false)
      expect(matches(field, 'not_exists', undefined, minimal)).toBe(true)
      expect(matches(field, 'not_equals', 'x', minimal)).toBe(true)
      expect(matches(field, 'not_contains', 'x', minimal)).toBe(true)
      expect(matches(field, 'equals', 'x', minimal)).toBe(false)
      expect(matches(field, 'gt', -1, minimal)).toBe(false)
    }
  })

  it('a call that failed ended with an error, as its record says', () => {
    const failed = failedGeneration()
    expect(matches('finish_reason', 'equals', 'error', failed)).toBe(true)
    expect(matches('finish_reason', 'not_equals', 'stop', failed)).toBe(true)
    const cancelled = { ...failed, generation: { ...failed.generation, status: 'cancelled' as const } }
    expect(matches('finish_reason', 'exists', undefined, cancelled)).toBe(false)
  })

  it('a call that reached no model is found by the one it asked for', () => {
    const { model: _model, ...generation } = minimal.generation
    expect(matches('model', 'equals', 'acme/small', { ...minimal, generation })).toBe(true)
  })

  it('a text is compared as it stands, whether or not it looks like a number', () => {
    const generation = { ...minimal.generation, sessionId: '007' }
    expect(matches('session_id', 'equals', '007', { ...minimal, generation })).toBe(true)
    expect(matches('session_id', 'equals', '7', { ...minimal, generation })).toBe(false)
  })

  it('words are looked for in a refusal, too', () => {
    const output = [{ type: 'message' as const, role: 'assistant' as const, content: [{ type: 'refusal' as const, refusal: 'I will not.' }] }]
    expect(matches('output', 'contains', 'will not', { ...minimal, content: { input: [], output } })).toBe(true)
  })

  it.each([
    { type: 'shell_call', call_id: 'c', action: { commands: ['echo urgent'] } },
    { type: 'shell_call_output', call_id: 'c', output: [{ stdout: '', stderr: 'urgent', outcome: { type: 'exit', exit_code: 0 } }] },
    { type: 'local_shell_call', call_id: 'c', action: { type: 'exec', command: ['bash', '-c', 'urgent'] } },
    { type: 'apply_patch_call', call_id: 'c', operation: { type: 'update_file', path: 'a', diff: '+urgent' } },
    { type: 'web_search_call', id: 'w', action: { type: 'search', query: 'urgent' } },
    { type: 'code_interpreter_call', id: 'i', code: 'x', outputs: [{ type: 'logs', logs: 'urgent' }] },
    { type: 'file_search_call', id: 'f', queries: ['x'], results: [{ text: 'urgent' }] },
    { type: 'tool_search_call', call_id: 'c', arguments: { goal: 'urgent' } },
    { type: 'computer_call', call_id: 'c', actions: [{ type: 'keypress', keys: ['urgent'] }] },
    { type: 'mcp_call', id: 'm', error: { code: 1, message: 'urgent' } },
    { type: 'mcp_call', id: 'm', error: 'urgent' },
    { type: 'mcp_approval_response', approval_request_id: 'm', approve: false, reason: 'urgent' },
    { type: 'image_generation_call', id: 'g', revised_prompt: 'urgent' },
    { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}', subagent_items: [{ type: 'message', role: 'assistant', content: 'urgent' }] },
    { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}', subagent_items: [{ type: 'gateway:web_fetch', title: 'urgent' }] },
    { type: 'gateway:subagent', id: 's', task_description: 'urgent' },
    { type: 'openrouter:advisor', id: 'a', advice: 'urgent' },
    { type: 'gateway:fusion', id: 'f', responses: [{ model: 'a/b', content: 'urgent' }] },
    { type: 'gateway:fusion', id: 'f', analysis: { unique_insights: [{ insight: 'urgent' }] } },
    { type: 'gateway:web_fetch', id: 'w', title: 'urgent' },
  ])('words are looked for in what tools were asked and returned: $type', (item) => {
    expect(matches('input', 'contains', 'urgent', { ...minimal, content: { input: [item], output: [] } })).toBe(true)
    expect(matches('output', 'not_contains', 'urgent', { ...minimal, content: { input: [], output: [{ ...item, id: 'i' }] } })).toBe(false)
  })

  it('a word of the contract is no text', () => {
    const output = [
      { type: 'image_generation_call', id: 'g', action: 'generate', result: 'iVBORw0KGgo=' },
      { type: 'gateway:image_generation', id: 'g', status: 'completed', imageB64: 'iVBORw0KGgo=', result: 'iVBORw0KGgo=' },
      { type: 'web_search_call', id: 'w', action: { type: 'open_page' } },
    ]
    expect(matches('output', 'exists', undefined, { ...minimal, content: { input: [], output } })).toBe(false)
  })

  it('only the first million characters of a conversation are compared', () => {
    const of = (text: string): FinishedGeneration => ({ ...minimal, content: { instructions: text, input: [], output: [] } })
    expect(matches('input', 'ends_with', 'x', of(`${'w'.repeat(999_999)}xy`))).toBe(true)
    expect(matches('input', 'contains', 'y', of(`${'w'.repeat(999_999)}xy`))).toBe(false)
  })

  it('a provider answers to its slug and its name', () => {
    expect(matches('provider', 'equals', 'Beta')).toBe(true)
    expect(matches('provider', 'not_equals', 'Beta')).toBe(false)
  })
})

describe('groups', () => {
  const yes = { field: 'model', operator: 'equals', value: 'acme/small' }
  const no = { field: 'model', operator: 'equals', value: 'other' }
  const run = (rules: FilterRules | null): boolean => compileFilter(rules)(full)

  it('join their rules by their logic, and each other by AND', () => {
    expect(run({ groups: [{ logic: 'and', rules: [yes, no] }] })).toBe(false)
    expect(run({ groups: [{ logic: 'or', rules: [yes, no] }] })).toBe(true)
    expect(run({ groups: [{ rules: [yes, no] }] })).toBe(false)
    expect(run({ groups: [{ rules: [yes] }, { rules: [no] }] })).toBe(false)
    expect(run({ groups: [{ rules: [yes] }, { logic: 'or', rules: [no, yes] }] })).toBe(true)
  })

  it('filter nothing when null, disabled, empty, or without rules', () => {
    expect(run(null)).toBe(true)
    expect(run({ enabled: false, groups: [{ rules: [no] }] })).toBe(true)
    expect(run({ groups: [] })).toBe(true)
    expect(run({ groups: [{ rules: [] }] })).toBe(true)
    expect(run({ groups: [{ logic: 'or', rules: [] }] })).toBe(true)
  })
})

describe('what is refused when written', () => {
  it.each([
    [{ field: 'model', operator: 'equals' }, /needs a value/],
    [{ field: 'model', operator: 'gt', value: 'abc' }, /needs a number/],
    [{ field: 'total_cost', operator: 'lt', value: '' }, /needs a number/],
    [{ field: 'input', operator: 'regex', value: '(' }, /invalid regular expression/],
    [{ field: 'input', operator: 'regex', value: '(?=look)' }, /invalid regular expression/],
    [{ field: 'input', operator: 'regex', value: '((a{1,100}){1,10}){1,10}' }, /regular expression/],
    [{ field: 'input', operator: 'regex', value: 'a'.repeat(1001) }, /at most 1000/],
    [{ field: 'colour', operator: 'equals', value: 'x' }, /field|option/i],
    [{ field: 'model', operator: 'like', value: 'x' }, /operator|option/i],
    [{ field: 'model', operator: 'equals', value: 'x', extra: 1 }, /extra/],
  ])('%j', (rule, message) => {
    const result = filterRulesSchema.safeParse({ groups: [{ rules: [rule] }] })
    expect(result.success).toBe(false)
    expect(result.error?.message).toMatch(message)
  })

  it('but a value of exists is ignored', () => {
    expect(matches('session_id', 'exists', 'anything')).toBe(true)
  })
})

describe('a regular expression', () => {
  it.each([
    ['urgent', 99_000],
    ['a{100}', 29_000],
  ])('%s looks at the first %d characters of a text, and at little more', (value, chars) => {
    const filter = compileFilter({ groups: [{ rules: [{ field: 'input', operator: 'regex', value }] }] })
    const found = (before: number): boolean => {
      const text = `${' '.repeat(before)}urgent ${'a'.repeat(100)}`
      return filter({ generation: full.generation, content: { input: [{ type: 'message', role: 'user', content: text }], output: [] } })
    }
    expect([found(chars - 200), found(chars * 1.02 + 1_000)]).toEqual([true, false])
  })

  it('looks at a smaller part of a text where there are more than four', () => {
    const rule = { field: 'input', operator: 'regex', value: 'urgent' }
    const found = (rules: number, before: number): boolean => {
      const filter = compileFilter({ groups: [{ rules: Array.from({ length: rules }, () => rule) }] })
      const content = { input: [{ type: 'message' as const, role: 'user' as const, content: `${' '.repeat(before)}urgent` }], output: [] }
      return filter({ generation: full.generation, content })
    }
    expect([found(4, 99_000), found(8, 49_000), found(8, 51_000)]).toEqual([true, true, false])
  })
})

describe(verifies('B7', 'hostile patterns'), () => {
  it('of too many instructions are refused when they are written: repetitions count', () => {
    const parse = (value: string) => filterRulesSchema.safeParse({ groups: [{ rules: [{ field: 'input', operator: 'regex', value }] }] })
    expect(parse('a{900}b{900}').success).toBe(true)
    expect(parse('a{900}b{900}c{900}').error?.issues[0]?.message).toContain('too large')
  })

  it('that expand to a hundred thousand instructions are refused before they are built, because a destination may have a thousand', () => {
    const rules = Array.from({ length: 40 }, () => ({ field: 'input', operator: 'regex', value: '.{1000}'.repeat(142) }))
    const began = threadTime()
    const parsed = filterRulesSchema.safeParse({ groups: [{ rules }] })
    expect(threadTime() - began).toBeLessThan(1_000)
    expect(parsed.error?.issues[0]?.message).toContain('too large')
  })

  it('whose classes span all of Unicode many times are refused before they are built', () => {
    const rules = Array.from({ length: 5 }, () => ({ field: 'input', operator: 'regex', value: `(?i)${'[\u0100-\u{1e943}]'.repeat(160)}` }))
    const began = threadTime()
    const parsed = filterRulesSchema.safeParse({ groups: [{ rules }] })
    expect(threadTime() - began).toBeLessThan(300)
    expect(parsed.error?.issues[0]?.message).toContain('too large')
    expect(matches('user_id', 'regex', '(?i)^[а-яё]+$|[^\\x00-\\x7f]{2}|\\p{L}+')).toBe(true)
  })

  it('of plain text in the maximum number end in time, too', () => {
    const hard = (n: number) => ({ field: 'input', operator: 'not_contains', value: `${'a'.repeat(2_000 + n)}b${'a'.repeat(1_900)}` })
    const filter = compileFilter({ groups: Array.from({ length: 20 }, () => ({ rules: Array.from({ length: 50 }, (_, n) => hard(n)) })) })
    const content = { input: [{ type: 'message' as const, role: 'user' as const, content: 'a'.repeat(200_000) }], output: [] }
    const start = threadTime()
    expect(filter({ generation: full.generation, content })).toBe(true)
    expect(threadTime() - start).toBeLessThan(2_500)
  })

  it('in the maximum number end in time, even if each has to be tried', () => {
    let seed = 7
    const draw = (): string => ((seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) > 1_073_741_824 ? 'a' : 'b')
    const text = Array.from({ length: 3_000 }, draw).join('')
    const hard = { field: 'input', operator: 'regex', value: '(?:[ab]*a[ab]{950}|x)$' }
    const rules = [...Array.from({ length: 49 }, () => hard), { field: 'model', operator: 'exists' }]
    const filter = compileFilter({ groups: Array.from({ length: 3 }, () => ({ logic: 'or', rules })) })
    const start = threadTime()
    filter({ generation: full.generation, content: { input: [{ type: 'message', role: 'user', content: text }], output: [] } })
    expect(threadTime() - start).toBeLessThan(2_500)
  })

  it.each(['(a+)+$', '(a|aa)+b', '(.*)*x(.*)*y', '(?i)[ab]*b[ab]{900}[^ab]', '([a-z]+ ){50}q', '(?:a?){100}a{100}z'])(
    '%s ends in time on a megabyte',
    (pattern) => {
      let text = ''
      for (let i = 0; i < 1_000_000; i++) text += (i * 7919) % 13 > 6 ? 'a' : 'b'
      const subject = { generation: full.generation, content: { input: [{ type: 'message', role: 'user', content: text }], output: [] } } as const
      const filter = compileFilter({ groups: [{ rules: [{ field: 'input', operator: 'regex', value: pattern }] }] })
      const start = threadTime()
      filter(subject)
      expect(threadTime() - start).toBeLessThan(500)
    },
  )
})

describe('the size of rules', () => {
  const rule = { field: 'model', operator: 'equals', value: 'x' }
  const accepts = (groups: readonly object[]): boolean => filterRulesSchema.safeParse({ groups }).success

  it('is bounded: groups, rules of a group, characters of a value', () => {
    const many = (count: number, one: object): object[] => Array.from({ length: count }, () => one)
    expect(accepts(many(20, { rules: [rule] }))).toBe(true)
    expect(accepts(many(21, { rules: [rule] }))).toBe(false)
    expect(accepts([{ rules: many(50, rule) }])).toBe(true)
    expect(accepts([{ rules: many(51, rule) }])).toBe(false)
    expect(accepts([{ rules: [{ ...rule, value: 'x'.repeat(4_000) }] }])).toBe(true)
    expect(accepts([{ rules: [{ ...rule, value: 'x'.repeat(4_001) }] }])).toBe(false)
  })
})

it.each([
  ['the field "cost_center"', { field: 'cost_center', operator: 'equals', value: 'x' }],
  ['the operator "resembles"', { field: 'model', operator: 'resembles', value: 'x' }],
])('rules of a newer version with %s are refused when they are compiled, not with every call', (what, rule) => {
  expect(() => compileFilter({ groups: [{ rules: [rule] }] })).toThrow(`${what}, which this version does not know`)
})
