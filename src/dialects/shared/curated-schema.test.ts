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
  it('to what has been copied too often stands alone', () => {
    const large = { type: 'string', enum: Array.from({ length: 1000 }, (_, n) => `word ${n}`) }
    const properties = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`p${n}`, { $ref: '#/$defs/Large', description: 'd' }]))
    const members = Object.values(curate({ type: 'object', $defs: { Large: large }, properties })['properties'] as object)
    expect(members[0]).toEqual({ ...large, description: 'd' })
    expect(members.at(-1)).toEqual({ $ref: '#/$defs/Large' })
    expect(members.filter((each) => 'enum' in each).length).toBeLessThan(100)
  })
  it('has its target read once, however often it is named', () => {
    let reads = 0
    const target = new Proxy(kind, { get: (object, name) => (name === 'type' && reads++, Reflect.get(object, name) as unknown) })
    const properties = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`p${n}`, { $ref: '#/$defs/Node', description: 'd' }]))
    const nested = { type: 'object', properties: { kind: target, next: { $ref: '#/$defs/Node' } }, enum: [target] }
    curate({ type: 'object', $defs: { Node: nested }, properties })
    expect(reads).toBeLessThan(10)
  })
})

it('a tuple has no keywords for additional items', () => {
  expect(member({ type: 'array', prefixItems: [{ type: 'string' }], items: {} })).toEqual({ type: 'array', prefixItems: [{ type: 'string' }] })
})

it('everything else is unchanged', () => {
  const schema = { type: 'object', properties: { a: { type: 'string', description: 'd' }, b: {} }, required: ['a'], additionalProperties: false }
  expect(curate(schema)).toEqual(schema)
})
