import { describe, expect, it } from 'vitest'
import { fieldsOf, labelOf, type Components, type Field, type JsonSchema } from './schema-fields.ts'

const about = { help: undefined, required: false, fallback: undefined }
const fieldOf = (schema: JsonSchema, components: Components = {}): Field | undefined =>
  fieldsOf({ type: 'object', properties: { one: schema } }, components)?.[0]

describe('a setting becomes a field', () => {
  const cases: readonly (readonly [what: string, schema: JsonSchema, field: object])[] = [
    ['a text', { type: 'string' }, { kind: 'text' }],
    ['a secret by its format', { type: 'string', format: 'password' }, { kind: 'secret' }],
    ['a secret that may only be written', { type: 'string', writeOnly: true }, { kind: 'secret' }],
    ['a number', { type: 'number' }, { kind: 'number', isWhole: false }],
    ['a whole number', { type: 'integer', default: 5 }, { kind: 'number', isWhole: true, fallback: 5 }],
    ['a switch', { type: 'boolean', default: true }, { kind: 'switch', fallback: true }],
    ['a choice', { type: 'string', enum: ['us', 'eu'] }, { kind: 'choice', options: ['us', 'eu'] }],
    ['a constant, of which there is one choice', { const: 'us' }, { kind: 'choice', options: ['us'] }],
    ['a list of texts', { type: 'array', items: { type: 'string' } }, { kind: 'list', ofNumbers: false }],
    ['a list of numbers', { type: 'array', items: { type: 'integer' } }, { kind: 'list', ofNumbers: true }],
    ['a map', { type: 'object', additionalProperties: { type: 'string' } }, { kind: 'map', isSecret: false }],
    ['a map of secrets', { type: 'object', additionalProperties: { type: 'string', format: 'password' } }, { kind: 'map', isSecret: true }],
    ['one that may be null', { anyOf: [{ type: 'string' }, { type: 'null' }] }, { kind: 'text' }],
    ['one that may be null, by its types', { type: ['string', 'null'] }, { kind: 'text' }],
    [
      'a group',
      { type: 'object', properties: { two: { type: 'string' } } },
      { kind: 'group', fields: [{ ...about, name: 'two', label: 'Two', kind: 'text' }] },
    ],
    ['one of several kinds, as JSON', { anyOf: [{ type: 'string' }, { type: 'number' }] }, { kind: 'json' }],
    ['a list of objects, as JSON', { type: 'array', items: { type: 'object', properties: {} } }, { kind: 'json' }],
    ['a map of anything, as JSON', { type: 'object', additionalProperties: {} }, { kind: 'json' }],
    ['a choice of numbers, as JSON', { enum: [1, 2] }, { kind: 'json' }],
    ['what nothing is said of, as JSON', {}, { kind: 'json' }],
  ]
  it.each(cases)('%s', (_what, schema, field) => {
    expect(fieldOf(schema)).toEqual({ ...about, name: 'one', label: 'One', ...field })
  })

  it('wherever it is described', () => {
    const components = { Region: { type: 'string', enum: ['us'], description: 'Of the account.' } }
    expect(fieldOf({ $ref: '#/components/schemas/Region', default: 'us' }, components)).toMatchObject({
      kind: 'choice',
      help: 'Of the account.',
      fallback: 'us',
    })
  })
})

describe('the settings of a type', () => {
  it('list required fields first', () => {
    const fields = fieldsOf(
      { type: 'object', required: ['b'], properties: { a: { type: 'string' }, b: { type: 'string' }, c: { type: 'string' } } },
      {},
    )
    expect(fields?.map(({ name, required }) => [name, required])).toEqual([
      ['b', true],
      ['a', false],
      ['c', false],
    ])
  })

  it('have no fields if their schema is not an object', () => expect(fieldsOf({ type: 'string' }, {})).toBeUndefined())

  it.each([
    ['apiKey', 'API key'],
    ['baseUrl', 'Base URL'],
    ['otlpEndpoint', 'OTLP endpoint'],
    ['dsn', 'DSN'],
    ['snake_case_id', 'Snake case ID'],
    ['rotateBytes', 'Rotate bytes'],
  ])('%s is called %s', (name, label) => expect(labelOf(name)).toBe(label))
})
