import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../core/item.ts'
import { curateSchema } from './curated-schema.ts'
import { Unfolding } from './unfolding.ts'

const curate = (schema: JsonObject): JsonObject => curateSchema(schema, new Unfolding())
const member = (value: JsonObject, more: JsonObject = {}): unknown =>
  (curate({ type: 'object', properties: { a: value }, ...more })['properties'] as JsonObject)['a']

describe('a choice', () => {
  it('has its type in each of its branches', () => {
    const branches = [{ properties: { x: { type: 'string' } } }, { type: 'null' }]
    expect(member({ type: 'object', description: 'd', anyOf: branches })).toEqual({
      description: 'd',
      anyOf: [{ type: 'object', properties: { x: { type: 'string' } } }, { type: 'null' }],
    })
  })
  it('is always written as anyOf', () => {
    expect(member({ oneOf: [{ type: 'string' }, { type: 'integer' }] })).toEqual({ anyOf: [{ type: 'string' }, { type: 'integer' }] })
  })
  it('replaces a list of types, each with its own keywords', () => {
    expect(member({ type: ['array', 'null'], items: { type: 'string' }, description: 'd' })).toEqual({
      description: 'd',
      anyOf: [{ type: 'array', items: { type: 'string' } }, { type: 'null' }],
    })
    expect(member({ type: ['string', 'number', 'null'], enum: ['a', 1, null], default: 'a' })).toEqual({
      default: 'a',
      anyOf: [{ type: 'string', enum: ['a'] }, { type: 'number', enum: [1] }, { type: 'null' }],
    })
  })
  it('of one branch is replaced by that branch', () => {
    expect(member({ type: ['string'] })).toEqual({ type: 'string' })
  })
})

describe('a reference', () => {
  const kind = { type: 'string', enum: ['x'], description: 'a kind' }
  const node = { type: 'object', properties: { next: { $ref: '#/$defs/Node' } } }

  it('with keywords beside it becomes its target, with these keywords', () => {
    expect(member({ $ref: '#/$defs/Kind', description: 'this kind' }, { $defs: { Kind: kind } })).toEqual({ ...kind, description: 'this kind' })
  })
  it('to what refers to something itself stands alone', () => {
    expect(member({ $ref: '#/$defs/Node', description: 'first' }, { $defs: { Node: node } })).toEqual({ $ref: '#/$defs/Node' })
  })
  it('leads to a definition of the root', () => {
    const curated = curate({ type: 'object', properties: { a: kind, b: { $ref: '#/properties/a' } } })
    const { $ref } = (curated['properties'] as { readonly b: { readonly $ref: string } }).b
    expect($ref).toMatch(/^#\/\$defs\//)
    expect((curated['$defs'] as JsonObject)[$ref.slice(8)]).toEqual(kind)
  })
})

it('a tuple has no keywords for additional items', () => {
  expect(member({ type: 'array', prefixItems: [{ type: 'string' }], items: {} })).toEqual({ type: 'array', prefixItems: [{ type: 'string' }] })
})

it('everything else is unchanged', () => {
  const schema = { type: 'object', properties: { a: { type: 'string', description: 'd' }, b: {} }, required: ['a'], additionalProperties: false }
  expect(curate(schema)).toEqual(schema)
})
