import { expect, it } from 'vitest'
import { changes, createBody, fieldOfPath, formOf, problemsOf, savedForm, summaryOf } from './form.ts'
import { ruleFields } from './rule-schema.ts'

const nullable = (schema: object) => ({ anyOf: [schema, { type: 'null' }], description: 'About it.' })
const action = { type: 'string', enum: ['flag', 'block'] }
const fields = ruleFields({
  components: {
    schemas: {
      CreateGuardrailRequest: {
        properties: {
          name: { type: 'string' },
          workspace_id: { type: 'string' },
          allowed_models: nullable({ type: 'array', items: { type: 'string' } }),
          enforce_zdr: { type: ['boolean', 'null'] },
          include_byok: { type: 'boolean' },
          limit_usd: nullable({ type: 'number' }),
          reset_interval: nullable({ type: 'string', enum: ['daily', 'weekly'] }),
          filters: nullable({
            type: 'array',
            items: {
              type: 'object',
              required: ['pattern', 'action'],
              properties: { pattern: { type: 'string' }, action, label: nullable({ type: 'string' }) },
            },
          }),
          newest: { type: 'object', properties: { depth: { type: 'integer' } } },
        },
      },
    },
  },
})
const empty = formOf(fields)

it('every rule of the schema has a field of its kind, and a rule of an unknown kind is edited as JSON', () => {
  expect(fields.map(({ name, kind }) => [name, kind])).toEqual([
    ['allowed_models', 'names'],
    ['enforce_zdr', 'flag'],
    ['include_byok', 'switch'],
    ['limit_usd', 'number'],
    ['reset_interval', 'choice'],
    ['filters', 'rows'],
    ['newest', 'json'],
  ])
  expect(fields[3]).toMatchObject({ label: 'Limit USD', description: 'About it.' })
  expect(fields[4]?.choices).toEqual(['daily', 'weekly'])
  expect(fields[5]?.columns).toEqual([
    { name: 'pattern', label: 'Pattern', isNeeded: true, choices: undefined },
    { name: 'action', label: 'Action', isNeeded: true, choices: ['flag', 'block'] },
    { name: 'label', label: 'Label', isNeeded: false, choices: undefined },
  ])
  expect(ruleFields({})).toEqual([])
})

it('a new guardrail is sent with the rules that are set, and nothing else', () => {
  expect(createBody(fields, { ...empty, name: ' Mine ' })).toEqual({ name: 'Mine' })
  const rules = {
    ...empty.rules,
    allowed_models: ['a/*'],
    enforce_zdr: true,
    limit_usd: 0,
    filters: [{ pattern: 'x', action: 'block', label: '' }],
    newest: '{"depth": 1}',
  }
  expect(createBody(fields, { name: 'Mine', description: 'Why', rules })).toEqual({
    name: 'Mine',
    description: 'Why',
    allowed_models: ['a/*'],
    enforce_zdr: true,
    limit_usd: 0,
    filters: [{ pattern: 'x', action: 'block' }],
    newest: { depth: 1 },
  })
})

it('a change sends the rules that differ, an emptied one as null', () => {
  const stored = {
    name: 'Mine',
    description: 'Why',
    allowed_models: ['a/*'],
    enforce_zdr: true,
    include_byok: true,
    limit_usd: 5,
    reset_interval: 'daily',
    // The gateway decides the order of members.
    filters: [{ action: 'block', label: null, pattern: 'x' }],
    newest: { depth: 1 },
  }
  const before = formOf(fields, stored)
  expect(changes(fields, before, before)).toEqual({})
  expect(changes(fields, before, { name: 'Mine', description: '', rules: empty.rules })).toEqual({
    description: null,
    allowed_models: null,
    enforce_zdr: null,
    include_byok: false,
    limit_usd: null,
    reset_interval: null,
    filters: null,
    newest: null,
  })
  expect(changes(fields, before, { ...before, rules: { ...before.rules, filters: [{ pattern: 'x', action: 'flag' }] } })).toEqual({
    filters: [{ pattern: 'x', action: 'flag' }],
  })
})

it('a number that is still text, such as 5. and 0.50, counts as that number', () => {
  const before = formOf(fields, { name: 'Mine', limit_usd: 5 })
  const limited = (limit: string | number): object => changes(fields, before, { ...before, rules: { ...before.rules, limit_usd: limit } })
  expect(['0.50', '5.', '5.0', '', '.'].map(limited)).toEqual([{ limit_usd: 0.5 }, {}, {}, { limit_usd: null }, { limit_usd: '.' }])
  const made = createBody(fields, { name: 'Mine', description: '', rules: { ...empty.rules, limit_usd: '1.50' } })
  expect(made).toEqual({ name: 'Mine', limit_usd: 1.5 })
})

it('what was typed while a guardrail was saved is kept, rule by rule, over what is stored', () => {
  const form = (name: string, rules: object) => ({ name, description: '', rules: { ...empty.rules, ...rules } })
  const sent = form(' mine ', { limit_usd: 5 })
  const now = form(' mine ', { limit_usd: 5, include_byok: true })
  expect(savedForm(sent, now, form('mine', { limit_usd: 5, allowed_models: ['a'] }))).toEqual(
    form('mine', { limit_usd: 5, allowed_models: ['a'], include_byok: true }),
  )
})

it('an invalid value is reported at its field', () => {
  const problems = problemsOf(fields, {
    ...empty,
    rules: { ...empty.rules, newest: '{', filters: [{ pattern: 'x', action: 'flag' }, { action: 'flag' }] },
  })
  expect(Object.keys(problems)).toEqual(['name', 'filters', 'newest'])
  expect(problems['filters']).toBe('Pattern of number 2 is missing.')
  expect([fieldOfPath('filters.2.pattern'), fieldOfPath(undefined)]).toEqual(['filters', ''])
})

it('a guardrail is summarised in one line', () => {
  expect(summaryOf(fields, {})).toBe('demands nothing')
  expect(summaryOf(fields, { allowed_models: ['a', 'b'], enforce_zdr: false, include_byok: false, limit_usd: 5, newest: {} })).toBe(
    'Allowed models (2), Enforce ZDR: no, Limit USD: 5, Newest: set',
  )
})
