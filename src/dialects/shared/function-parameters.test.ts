import { expect, it } from 'vitest'
import { functionParameters } from './function-parameters.ts'

it.each([
  ['none', undefined, { type: 'object', properties: {} }],
  ['null', null, { type: 'object', properties: {} }],
  ['an empty schema', {}, { type: 'object', properties: {} }],
  ['an object without a list of members', { type: 'object' }, { type: 'object', properties: {} }],
  [
    'one that is closed, and says who wrote it',
    { $schema: 's', additionalProperties: false },
    { $schema: 's', additionalProperties: false, type: 'object', properties: {} },
  ],
  ['members without a type', { properties: { a: {} }, required: ['a'] }, { properties: { a: {} }, required: ['a'], type: 'object' }],
])('parameters are an object that lists its members: %s', (_name, parameters, expected) => {
  expect(functionParameters(parameters)).toEqual(expected)
})

it.each([
  { type: 'object', properties: { a: { type: 'string' } } },
  { $ref: '#/$defs/a', $defs: { a: { type: 'object' } } },
  { type: 'object', anyOf: [{ required: ['a'] }] },
  { type: ['object', 'null'] },
])('a schema with another structure is unchanged: %j', (parameters) => {
  expect(functionParameters(parameters)).toBe(parameters)
})
