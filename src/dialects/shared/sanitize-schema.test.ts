import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../core/item.ts'
import { threadTime } from '../../testing/thread-time.ts'
import { objectAtTop, sanitizeSchema, toolInputSchema } from './sanitize-schema.ts'
import { Unfolding } from './unfolding.ts'

const CITY: JsonObject = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
const times = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n))
const spent = (...schemas: readonly JsonObject[]): number => {
  const unfolding = new Unfolding()
  const started = threadTime()
  for (const schema of schemas) toolInputSchema(schema, unfolding)
  return threadTime() - started
}

describe('the schema of an answer', () => {
  it('keeps the item schemas of a tuple, and describes their order', () => {
    const tuple = {
      type: 'array',
      prefixItems: [
        { type: 'string', minLength: 2 },
        { type: 'object', properties: { a: { type: 'integer' } } },
      ],
    }
    const closed = { type: 'object', properties: { a: { type: 'integer' } }, additionalProperties: false }
    expect(sanitizeSchema({ ...tuple, items: { type: 'null' } })).toEqual({
      type: 'array',
      items: { anyOf: [{ type: 'string', description: 'Constraints: minLength: 2' }, closed, { type: 'null' }] },
      description: 'Constraints: the first 2 items come in the order of items.anyOf',
    })
    expect(sanitizeSchema({ ...tuple, items: {} })).toEqual(sanitizeSchema(tuple))
    expect(sanitizeSchema({ type: 'array', items: {} })).toEqual({ type: 'array' })
    expect(sanitizeSchema({ ...tuple, items: false })['items']).toMatchObject({ anyOf: [{ type: 'string' }, closed] })
  })

  it('describes other unsupported keywords', () => {
    const schema = { type: 'array', items: [{ type: 'string' }], additionalItems: false }
    expect(sanitizeSchema(schema)).toEqual({
      type: 'array',
      items: { anyOf: [{ type: 'string' }] },
      description: 'Constraints: additionalItems: false',
    })
    expect(sanitizeSchema({ type: 'object', properties: {}, dependencies: { a: ['b'] } })).not.toHaveProperty('dependencies')
  })
})

describe('the input of a tool', () => {
  it('has the properties of all branches, and requires what all of them require', () => {
    const a = { properties: { x: { type: 'string' }, y: {} }, required: ['x', 'y', 'y'] }
    const b = { properties: { x: { type: 'number' }, z: {} }, required: ['x'] }
    const $defs = { b }
    expect(toolInputSchema({ anyOf: [a, { $ref: '#/$defs/b' }], $defs }, new Unfolding())).toEqual({
      type: 'object',
      properties: { x: { anyOf: [{ type: 'string' }, { type: 'number' }] }, y: {}, z: {} },
      required: ['x'],
      $defs,
    })
    expect(toolInputSchema({ allOf: [a, b], required: ['z'] }, new Unfolding())['required']).toEqual(['z', 'x', 'y'])
  })

  it('costs little where references multiply, whichever tool they stand in', () => {
    const fan = (to: number): JsonObject => ({ anyOf: times(1_000, () => ({ $ref: `#/$defs/d${to}` })) })
    const bomb = { $ref: '#/$defs/d0', $defs: { d0: fan(1), d1: fan(2), d2: fan(3), d3: { properties: { a: {} }, required: ['a'] } } }
    expect(spent(bomb)).toBeLessThan(500)
    expect(spent(...times(1_000, () => bomb))).toBeLessThan(500)
  })

  it.each<[string, JsonObject, JsonObject]>([
    ['generic types, whose names are encoded', { $ref: '#/definitions/Partial%3CCity%3E' }, { definitions: { 'Partial<City>': CITY } }],
    ['names with a slash', { allOf: [{ $ref: '#/$defs/geo~1City' }] }, { $defs: { 'geo/City': CITY } }],
    ['definitions elsewhere, as in OpenAPI', { $ref: '#/components/schemas/City' }, { components: { schemas: { City: CITY } } }],
    ['definitions in definitions', { anyOf: [{ $ref: '#/$defs/geo/$defs/City' }] }, { $defs: { geo: { $defs: { City: CITY } } } }],
  ])('follows references to %s', (_, root, beside) => {
    expect(toolInputSchema({ ...root, ...beside }, new Unfolding())).toEqual({ ...beside, ...CITY })
  })

  it('keeps the members beside a reference', () => {
    const { properties, required } = toolInputSchema(
      { $ref: '#/$defs/City', properties: { zip: { type: 'integer' } }, required: ['zip'], $defs: { City: CITY } },
      new Unfolding(),
    )
    expect(properties).toEqual({ name: { type: 'string' }, zip: { type: 'integer' } })
    expect(required).toEqual(['zip', 'name'])
  })

  it.each<[JsonObject]>([[{ type: 'array', items: {} }], [{ type: ['object', 'null'] }], [{ enum: [{}] }]])(
    'has a list of members, with %j',
    (given) => {
      expect(objectAtTop(given, new Unfolding())).toMatchObject({ type: 'object', properties: {} })
    },
  )

  it('allows each member the schemas of all branches, above all the discriminator', () => {
    const branch = (kind: string, more: JsonObject): JsonObject => ({
      properties: { kind: { const: kind }, name: { type: 'string' }, ...more },
      required: ['kind', ...Object.keys(more)],
    })
    const oneOf = [branch('file', { path: { type: 'string' } }), branch('page', { url: { type: 'string' } })]
    expect(toolInputSchema({ oneOf }, new Unfolding())).toEqual({
      type: 'object',
      properties: {
        kind: { anyOf: [{ const: 'file' }, { const: 'page' }] },
        name: { type: 'string' },
        path: { type: 'string' },
        url: { type: 'string' },
      },
      required: ['kind'],
    })
  })

  it('costs time linear in its branches', () => {
    const branches = times(30_000, (n) => ({ properties: { [`p${n}`]: {} }, required: [`p${n}`] }))
    for (const keyword of ['allOf', 'anyOf']) expect(spent({ type: 'object', [keyword]: branches })).toBeLessThan(1_000)
    expect(spent({ oneOf: times(30_000, (n) => ({ properties: { kind: { const: n } } })) })).toBeLessThan(1_000)
    const required = times(20_000, (n) => `p${n}`)
    expect(spent({ anyOf: [{ required }, { required: required.toReversed() }] })).toBeLessThan(500)
  })
})
