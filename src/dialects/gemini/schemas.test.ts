import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { verifies } from '../../../e2e/requirements.ts'
import { threadTime } from '../../testing/thread-time.ts'
import { fitJsonSchema } from '../shared/rooted-schema.ts'
import { toOpenApiSchema } from './openapi-schema.ts'
import { Unfolding } from '../shared/unfolding.ts'

// The same cases in every run, so that a failure does not depend on chance.
fc.configureGlobal({ seed: 20260301 })

type Json = { readonly [key: string]: unknown }

describe('JSON Schema', () => {
  it('keeps everything but what stands beside a reference', () => {
    expect(
      fitJsonSchema(
        {
          $schema: 'x',
          type: 'object',
          additionalProperties: false,
          properties: {
            type: { type: ['string', 'null'] },
            $ref: { const: 1 },
            a: { $ref: '#/definitions/A', description: 'd', title: 't', nullable: true },
          },
          definitions: { A: { type: 'integer', minimum: 0 } },
          default: { $ref: 'kept' },
        },
        new Unfolding(),
      ),
    ).toEqual({
      type: 'object',
      additionalProperties: false,
      properties: { type: { type: ['string', 'null'] }, $ref: { const: 1 }, a: { $ref: '#/$defs/A', description: 'd' } },
      $defs: { A: { type: 'integer', minimum: 0 } },
      default: { $ref: 'kept' },
    })
  })
})

describe('references of a JSON Schema', () => {
  const TEXT = { type: 'string' }
  const fit = (schema: Json): Json => fitJsonSchema(schema, new Unfolding())

  it('to definitions further in find them at the root, where the endpoint looks', () => {
    const member = { $defs: { A: TEXT, B: { properties: { a: { $ref: '#/$defs/A' } } } }, anyOf: [{ $ref: '#/$defs/B' }, { type: 'null' }] }
    expect(fit({ type: 'object', properties: { member } })['$defs']).toEqual({ A: TEXT, B: { properties: { a: { $ref: '#/$defs/A' } } } })
  })
  it('to any other place find what stands there as a definition, once', () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'object', properties: { b: TEXT } }, c: { $ref: '#/properties/a' }, d: { items: { $ref: '#/properties/a' } } },
      $defs: { shared0: TEXT },
    }
    expect(fit(schema)).toEqual({
      type: 'object',
      properties: { a: schema.properties.a, c: { $ref: '#/$defs/shared1' }, d: { items: { $ref: '#/$defs/shared1' } } },
      $defs: { shared0: TEXT, shared1: schema.properties.a },
    })
  })
  it('to nothing, or to somewhere else, are left out', () => {
    const properties = { a: { $ref: '#/$defs/none', description: 'd' }, b: { $ref: 'https://example.com/schema' }, c: { $ref: '#' } }
    expect(fit({ type: 'object', properties })['properties']).toEqual({ a: { description: 'd' }, b: {}, c: { $ref: '#' } })
  })
  it('cost no more than a request may', () => {
    let deep: Json = { description: 'x'.repeat(100_000) }
    const properties: Record<string, Json> = {}
    for (let level = 0, path = '#/properties/deep'; level < 90; level++, path += '/properties/a') {
      deep = { properties: { a: deep } }
      properties[`p${level}`] = { $ref: path }
    }
    expect(JSON.stringify(fit({ properties: { deep, ...properties } })).length).toBeLessThan(2_000_000)
  })
})

describe('the OpenAPI subset', () => {
  it.each<[string, Json, Json]>([
    [
      'types are upper case',
      { type: 'object', properties: { a: { type: 'string' } }, required: ['a', 'ghost'] },
      { type: 'OBJECT', properties: { a: { type: 'STRING' } }, required: ['a'] },
    ],
    ['unknown keywords go', { type: 'string', additionalProperties: false, $id: 'x', contentEncoding: 'y', deprecated: true }, { type: 'STRING' }],
    [
      'references are put in place',
      { type: 'object', properties: { a: { $ref: '#/$defs/A', description: 'd' } }, $defs: { A: { type: 'integer', minimum: 1 } } },
      { type: 'OBJECT', properties: { a: { type: 'INTEGER', minimum: 1, description: 'd' } } },
    ],
    [
      'references with escapes are followed',
      { properties: { a: { $ref: '#/$defs/x~1y%20z' } }, $defs: { 'x/y z': { type: 'boolean' } } },
      { type: 'OBJECT', properties: { a: { type: 'BOOLEAN' } } },
    ],
    ['foreign references are objects', { $ref: 'https://x.test/schema' }, { type: 'OBJECT' }],
    ['constants are enums', { const: 'a' }, { type: 'STRING', enum: ['a'], format: 'enum' }],
    ['enums of others are told', { type: 'integer', enum: [1, 2], description: 'n.' }, { type: 'INTEGER', description: 'n. One of: 1, 2.' }],
    ['null in an enum is nullable', { enum: ['a', null] }, { type: 'STRING', nullable: true, enum: ['a'], format: 'enum' }],
    ['a type or null is nullable', { type: ['string', 'null'], maxLength: 3 }, { type: 'STRING', nullable: true, maxLength: 3 }],
    ['several types are a choice', { type: ['string', 'number'] }, { anyOf: [{ type: 'STRING' }, { type: 'NUMBER' }] }],
    [
      'a choice with null is nullable',
      { anyOf: [{ type: 'string', description: 'd' }, { type: 'null' }] },
      { type: 'STRING', nullable: true, description: 'd' },
    ],
    ['oneOf is anyOf', { oneOf: [{ type: 'string' }, { type: 'number' }] }, { anyOf: [{ type: 'STRING' }, { type: 'NUMBER' }] }],
    [
      'allOf is merged',
      {
        allOf: [{ $ref: '#/$defs/A' }, { properties: { b: { type: 'string' } }, required: ['b'] }],
        $defs: { A: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] } },
      },
      { type: 'OBJECT', properties: { a: { type: 'STRING' }, b: { type: 'STRING' } }, required: ['a', 'b'] },
    ],
    ['formats it does not know go', { type: 'string', format: 'email' }, { type: 'STRING' }],
    ['formats it knows stay', { type: 'string', format: 'date-time' }, { type: 'STRING', format: 'date-time' }],
    ['arrays have items', { type: 'array' }, { type: 'ARRAY', items: { type: 'STRING' } }],
    [
      'tuples are arrays of a choice',
      { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }] },
      { type: 'ARRAY', items: { anyOf: [{ type: 'STRING' }, { type: 'NUMBER' }] } },
    ],
    ['exclusive bounds are bounds', { type: 'number', exclusiveMinimum: 0 }, { type: 'NUMBER', minimum: 0 }],
  ])('%s', (_name, schema, expected) => {
    expect(toOpenApiSchema(schema, new Unfolding())).toEqual(expected)
  })
  it('ends recursion', () => {
    const schema = {
      type: 'object',
      properties: { next: { $ref: '#' }, list: { type: 'array', items: { $ref: '#/$defs/N' } } },
      $defs: { N: { properties: { child: { $ref: '#/$defs/N' } } } },
    }
    expect(JSON.stringify(toOpenApiSchema(schema, new Unfolding())).length).toBeLessThan(2000)
  })

  it(verifies('B8', 'treats a type that is listed twice as one, because its content would double at each level'), () => {
    let schema: Json = { type: 'string' }
    for (let n = 0; n < 20; n++) schema = { type: ['object', 'OBJECT'], properties: { a: schema } }
    expect(JSON.stringify(toOpenApiSchema(schema, new Unfolding())).length).toBeLessThan(1_000)
  })
})

describe('what a schema costs', () => {
  const times = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n))
  const object = (names: readonly string[], member: Json): Json => ({
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, member])),
  })
  const names = times(1_000, (n) => `p${n}`)
  const spent = (schema: Json): number => {
    const started = threadTime()
    expect(JSON.stringify(toOpenApiSchema(schema, new Unfolding())).length).toBeLessThan(10_000_000)
    return threadTime() - started
  }

  it('is bounded where references multiply', () => {
    const levels = times(4, (n) => [`d${n}`, object(names, n < 3 ? { $ref: `#/$defs/d${n + 1}` } : { type: 'string' })] as const)
    expect(spent({ ...object(['a'], { $ref: '#/$defs/d0' }), $defs: Object.fromEntries(levels) })).toBeLessThan(1_000)
    const long = { type: 'string', description: 'x'.repeat(1_000_000) }
    expect(spent({ ...object(names, { $ref: '#/$defs/long' }), $defs: { long } })).toBeLessThan(1_000)
  })
  it('is bounded where conjunctions refer to conjunctions', () => {
    const levels = times(
      4,
      (n) => [`d${n}`, { allOf: [{ $ref: `#/$defs/d${n + 1}` }], ...object(names, { allOf: [{ $ref: `#/$defs/d${n + 1}` }] }) }] as const,
    )
    expect(spent({ $ref: '#/$defs/d0', $defs: Object.fromEntries(levels) })).toBeLessThan(1_000)
  })
  it('grows with the number of members and of required ones', () => {
    const many = times(100_000, (n) => `p${n}`)
    expect(spent({ ...object(many, {}), required: many })).toBeLessThan(1_500)
    expect(spent({ type: 'object', allOf: times(30_000, (n) => object([`p${n}`], {})) })).toBeLessThan(1_000)
  })
})

describe('any schema', () => {
  const keyword = fc.constantFrom(
    'type',
    'properties',
    'items',
    '$ref',
    'anyOf',
    'allOf',
    'oneOf',
    'enum',
    'const',
    'required',
    '$defs',
    'format',
    'description',
    'nullable',
    'prefixItems',
    'x-other',
  )
  const leaf = fc.oneof(
    fc.constantFrom<unknown>('string', 'object', 'null', 'array', '#', '#/$defs/a', '#/properties/a', null, true, 1, ['string', 'null'], ['a']),
    fc.string({ maxLength: 3 }),
  )
  const { node } = fc.letrec<{ node: Json }>((tie) => ({
    node: fc.dictionary(
      fc.oneof(keyword, fc.constantFrom('a', 'b')),
      fc.oneof({ depthSize: 'small' }, leaf, tie('node'), fc.array(tie('node'), { maxLength: 2 })),
      { maxKeys: 4 },
    ),
  }))
  const ALLOWED = new Set([
    'type',
    'format',
    'title',
    'description',
    'nullable',
    'enum',
    'items',
    'properties',
    'required',
    'anyOf',
    'default',
    'example',
    'minimum',
    'maximum',
    'minItems',
    'maxItems',
    'minLength',
    'maxLength',
    'pattern',
    'minProperties',
    'maxProperties',
    'propertyOrdering',
  ])
  const check = (schema: Json): void => {
    for (const [key, value] of Object.entries(schema)) {
      expect(ALLOWED).toContain(key)
      if (key === 'properties') for (const member of Object.values(value as Json)) check(member as Json)
      if (key === 'anyOf') for (const choice of value as Json[]) check(choice)
      if (key === 'items') check(value as Json)
    }
    expect('type' in schema || 'anyOf' in schema).toBe(true)
    if (schema['type'] === 'ARRAY') expect(schema['items']).toBeDefined()
  }
  it('becomes one of the subset', () => {
    fc.assert(
      fc.property(node, (schema) => check(toOpenApiSchema(schema, new Unfolding()))),
      { numRuns: 1000 },
    )
  })
  it('loses nothing it needs in the newer form', () => {
    fc.assert(
      fc.property(node, (schema) => void JSON.stringify(fitJsonSchema(schema, new Unfolding()))),
      { numRuns: 500 },
    )
  })
})
