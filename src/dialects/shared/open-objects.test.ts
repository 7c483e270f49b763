import { expect, it } from 'vitest'
import type { JsonObject } from '../../core/item.ts'
import { hasOpenObjects } from './open-objects.ts'

const text = { type: 'string' }
const within = (a: JsonObject): JsonObject => ({ type: 'object', properties: { list: { type: 'array', items: { anyOf: [{ type: 'null' }, a] } } } })

it.each<[string, JsonObject, boolean]>([
  ['a map to values of one kind', { type: 'object', additionalProperties: text }, true],
  ['a map to anything', { type: 'object', additionalProperties: true }, true],
  ['the same, as zod writes it', { type: 'object', propertyNames: text, additionalProperties: {} }, true],
  ['names by a pattern', { type: 'object', patternProperties: { '^x-': text } }, true],
  ['any object', { type: 'object' }, true],
  ['the same, or nothing', { type: ['object', 'null'] }, true],
  ['named members', { type: 'object', properties: { id: text } }, false],
  ['named members, and others', { type: 'object', properties: { id: text }, additionalProperties: text }, false],
  ['no members', { type: 'object', properties: {}, additionalProperties: false }, false],
  ['an object that is described elsewhere', { type: 'object', anyOf: [{ type: 'object', properties: { id: text } }] }, false],
  ['a reference, beside which nothing counts', { $ref: '#/$defs/A', type: 'object', additionalProperties: true }, false],
  ['a definition', { $ref: '#/$defs/A' }, false],
])('%s', (_, schema, expected) => {
  expect(hasOpenObjects(schema)).toBe(expected)
  expect(hasOpenObjects(within(schema))).toBe(expected)
  expect(hasOpenObjects({ type: 'object', properties: { a: { $ref: '#/$defs/A' } }, $defs: { A: schema } })).toBe(expected)
})
