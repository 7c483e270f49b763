import { describe, expect, it } from 'vitest'
import { isComplete, toJsonSchema } from './api-schema.ts'

describe('a schema of the subset of OpenAPI', () => {
  it.each<readonly [string, object, object]>([
    ['types in capitals', { type: 'STRING' }, { type: 'string' }],
    ['no type', { type: 'TYPE_UNSPECIFIED', description: 'any' }, { description: 'any' }],
    [
      'bounds that are texts',
      { type: 'ARRAY', minItems: '1', maxItems: 3, items: { type: 'NUMBER' } },
      { type: 'array', minItems: 1, maxItems: 3, items: { type: 'number' } },
    ],
    ['what may be null', { type: 'STRING', enum: ['a'], nullable: true }, { type: ['string', 'null'], enum: ['a', null] }],
    ['a choice that may be null', { anyOf: [{ type: 'STRING' }], nullable: true }, { anyOf: [{ type: 'string' }, { type: 'null' }] }],
    ['what may not', { type: 'STRING', nullable: false }, { type: 'string' }],
    [
      'words by the names of the protocol',
      { type: 'ARRAY', min_items: '1', items: { any_of: [{ type: 'OBJECT', properties: { min_items: {} }, additional_properties: false }] } },
      { type: 'array', minItems: 1, items: { anyOf: [{ type: 'object', properties: { min_items: {} }, additionalProperties: false }] } },
    ],
    ['an example', { type: 'INTEGER', example: 4, format: 'int64' }, { type: 'integer', format: 'int64', examples: [4] }],
    [
      'members by names of any kind',
      { type: 'OBJECT', properties: { type: { type: 'STRING' } } },
      { type: 'object', properties: { type: { type: 'string' } } },
    ],
  ])('%s', (_name, sent, expected) => {
    expect(toJsonSchema(sent as never, false)).toEqual(expected)
  })

  it('has its members in the requested order', () => {
    const properties = { a: { type: 'STRING' }, b: { type: 'STRING' }, c: { type: 'STRING' } }
    const { properties: ordered } = toJsonSchema({ type: 'OBJECT', properties, propertyOrdering: ['c', 'a', 'nobody', 'c'] }, false)
    expect(Object.keys(ordered as object)).toEqual(['c', 'a', 'b'])
  })

  it('closes its objects where they have members', () => {
    const inner = { type: 'OBJECT', properties: { b: { type: 'STRING' } } }
    expect(toJsonSchema({ type: 'OBJECT', properties: { a: inner, free: { type: 'OBJECT' } } }, true)).toEqual({
      type: 'object',
      additionalProperties: false,
      properties: { a: { type: 'object', additionalProperties: false, properties: { b: { type: 'string' } } }, free: { type: 'object' } },
    })
  })

  it('is read to any depth a body may have, and no deeper', () => {
    let deep: object = { type: 'STRING' }
    for (let n = 0; n < 2_000; n++) deep = { type: 'ARRAY', items: deep }
    expect(() => toJsonSchema(deep as never, true)).not.toThrow()
  })
})

it('a schema of many members is converted in linear time', () => {
  const names = Array.from({ length: 100_000 }, (_, n) => `p${n}`)
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'STRING' }]))
  expect(isComplete(toJsonSchema({ type: 'OBJECT', properties, required: names }, true))).toBe(true)
})

describe('a schema an answer can be held to strictly', () => {
  const closed = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false }
  it.each<readonly [string, unknown, boolean]>([
    ['of members that all must be there', closed, true],
    ['of a list of such', { type: 'array', items: closed }, true],
    ['of no object', { type: 'string' }, true],
    ['with a member that may be left out', { ...closed, required: [] }, false],
    ['that leaves others open', { ...closed, additionalProperties: true }, false],
    ['with an object of unknown members in it', { ...closed, properties: { a: { type: 'object' } } }, false],
    ['with one that may be null', { ...closed, properties: { a: { type: ['object', 'null'] } } }, false],
  ])('%s', (_name, schema, expected) => {
    expect(isComplete(schema)).toBe(expected)
  })
})
