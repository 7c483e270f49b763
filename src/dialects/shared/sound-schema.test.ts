import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../core/item.ts'
import { soundSchema } from './sound-schema.ts'

const TEXT = { type: 'string' }

describe('a schema that providers refuse as invalid', () => {
  it.each<[string, JsonObject, JsonObject]>([
    ['a list of anything', { type: 'array' }, { type: 'array', items: {} }],
    ['the same, or nothing', { type: ['array', 'null'] }, { type: ['array', 'null'], items: {} }],
    ['a tuple', { type: 'array', prefixItems: [TEXT, TEXT] }, { type: 'array', prefixItems: [TEXT, TEXT], items: {} }],
    ['a tuple of an older draft', { type: 'array', items: [TEXT], minItems: 1 }, { type: 'array', prefixItems: [TEXT], items: {}, minItems: 1 }],
    ['the same, and no more', { type: 'array', items: [TEXT], additionalItems: false }, { type: 'array', prefixItems: [TEXT], items: false }],
    ['a bound of an older draft', { minimum: 0, exclusiveMinimum: true }, { exclusiveMinimum: 0 }],
    ['the same, as it is by itself', { maximum: 9, exclusiveMaximum: false }, { maximum: 9 }],
    ['no members, as PHP writes it', { type: 'object', properties: [] }, { type: 'object', properties: {} }],
    ['a member that says itself that it is required', { ...TEXT, required: true }, TEXT],
    ['a type of some language', { type: 'any', description: 'd' }, { description: 'd' }],
    ['a choice of nothing', { ...TEXT, enum: [] }, TEXT],
    ['the same, of schemas', { ...TEXT, anyOf: [], oneOf: [], allOf: [] }, TEXT],
    ['a tuple of nothing', { type: 'array', prefixItems: [] }, { type: 'array', items: {} }],
    [
      'fields that are not set',
      { ...TEXT, description: null, enum: null, items: null, minimum: null, properties: null, $ref: null, $defs: null },
      TEXT,
    ],
    ['the same, as all that is there', { type: null, title: null }, {}],
    ['types in capitals, as Google writes them', { type: 'STRING' }, TEXT],
    ['the same type twice', { type: ['string', 'string'] }, TEXT],
    ['no types', { type: [], title: 't' }, { title: 't' }],
    ['a type that may be anything', { type: ['string', 'any'] }, {}],
    ['a choice that is no list', { ...TEXT, enum: 'a' }, TEXT],
    ['names that are listed twice', { type: 'object', required: ['a', 'b', 'a'] }, { type: 'object', required: ['a', 'b'] }],
    ['words that are numbers', { ...TEXT, title: 5, description: 2026 }, { ...TEXT, title: '5', description: '2026' }],
    ['bounds as text', { ...TEXT, minLength: '3', maxLength: 'x' }, { ...TEXT, minLength: 3 }],
    ['the same, without the bound itself', { exclusiveMinimum: '0', exclusiveMaximum: 'x' }, { exclusiveMinimum: 0 }],
    ['a single example', { ...TEXT, examples: 'x' }, { ...TEXT, examples: ['x'] }],
  ])('is rewritten with keywords they accept: %s', (_name, given, expected) => {
    expect(soundSchema(given)).toEqual(expected)
    expect(soundSchema({ type: 'object', properties: { a: given }, required: ['a'] })).toMatchObject({ properties: { a: expected }, required: ['a'] })
    for (const keyword of ['anyOf', 'oneOf', 'allOf', 'prefixItems'])
      expect(soundSchema({ [keyword]: [TEXT, given] })[keyword]).toEqual([TEXT, expected])
    for (const keyword of ['items', 'additionalProperties', 'not']) expect(soundSchema({ [keyword]: given })[keyword]).toEqual(expected)
    for (const keyword of ['$defs', 'definitions', 'patternProperties'])
      expect(soundSchema({ [keyword]: { a: given } })[keyword]).toEqual({ a: expected })
  })

  it('keeps valid parts as the same object, including members named like keywords', () => {
    const schema = {
      type: 'object',
      properties: { type: { type: 'array', items: TEXT }, items: { enum: [1] }, required: { type: 'boolean' }, properties: { minimum: 1 } },
      required: ['type'],
      additionalProperties: false,
      examples: [{ type: 'array' }],
      default: { type: 'array' },
      const: null,
      oneOf: [{ $ref: '#/$defs/a~1b' }, { $ref: '#/properties/type' }, { $ref: '#' }, { $ref: '#anchor' }, { $ref: 'https://example.com/schema' }],
      $defs: { 'a/b': { type: ['string', 'null'], default: null } },
    }
    expect(soundSchema(schema)).toBe(schema)
  })

  it('moves definitions to the root if that is where references look for them', () => {
    const City = { type: 'object', properties: { near: { $ref: '#/$defs/City' }, in: { $ref: '#/$defs/Land' } } }
    const given = { type: 'object', properties: { a: { allOf: [{ $ref: '#/$defs/City' }], $defs: { City, Land: TEXT } } }, $defs: { Own: TEXT } }
    expect(soundSchema(given)).toEqual({ ...given, $defs: { Own: TEXT, City, Land: TEXT } })
  })

  it('moves each definition once, however deep they are nested', () => {
    let nested: JsonObject = { ...TEXT, description: 'x'.repeat(10_000) }
    for (let level = 0; level < 20; level++)
      nested = { properties: { [`p${level}`]: { $ref: `#/$defs/D${level}` } }, $defs: { [`D${level}`]: nested } }
    const given = { type: 'object', properties: { a: nested } }
    const sound = soundSchema(given)
    expect(Object.keys(sound['$defs'] as JsonObject)).toHaveLength(20)
    expect(sound['$defs']).toMatchObject({ D0: TEXT, D7: { properties: { p6: { $ref: '#/$defs/D6' } } } })
    expect(JSON.stringify(sound).length).toBeLessThan(3 * JSON.stringify(given).length)
  })

  it('leaves out references to nothing', () => {
    const given = {
      properties: { a: { $ref: '#/$defs/Gone', title: 't' }, b: { $defs: { B: { items: { $ref: '#/$defs/Gone' } } }, $ref: '#/$defs/B' } },
    }
    expect(soundSchema(given)).toEqual({
      properties: { a: { title: 't' }, b: { $defs: { B: { items: {} } }, $ref: '#/$defs/B' } },
      $defs: { B: { items: {} } },
    })
    const names = { $ref: '#/$defs/a%62' }
    expect(soundSchema({ items: names, $defs: { 'a%62': TEXT } })).toEqual({ items: {}, $defs: { 'a%62': TEXT } })
    // What an older draft calls `items` has another name here.
    const tuple = { prefixItems: [TEXT], items: {} }
    expect(soundSchema({ properties: { a: { items: [TEXT] }, b: { $ref: '#/properties/a/items/0' } } })).toEqual({ properties: { a: tuple, b: {} } })
  })

  it('is cut off at an unreasonable depth', () => {
    let deep: JsonObject = { type: 'array' }
    for (let level = 0; level < 5_000; level++) deep = { items: deep }
    expect(soundSchema(deep)).toBe(deep)
  })
})
