import { describe, expect, it } from 'vitest'
import { withReferredRoot } from './schema-pointer.ts'

const node = { type: 'object', properties: { next: { $ref: '#/$defs/Node' } }, required: ['next'], additionalProperties: false }

describe('a schema whose root is a reference', () => {
  it('is what it refers to, beside its definitions', () => {
    const schema = { $defs: { Node: node }, $ref: '#/$defs/Node', title: 'Tree' }
    expect(withReferredRoot(schema)).toEqual({ ...node, $defs: { Node: node }, title: 'Tree' })
  })
  it('is followed through several', () => {
    const schema = { $ref: '#/definitions/A', definitions: { A: { $ref: '#/definitions/B' }, B: node } }
    expect(withReferredRoot(schema)).toEqual({ ...node, definitions: schema.definitions })
  })
  it.each([
    ['refers to itself', { $ref: '#' }],
    ['refers to nothing', { $ref: '#/$defs/None', $defs: {} }],
    ['refers elsewhere', { $ref: 'https://example.com/schema.json' }],
    ['goes round in a circle', { $ref: '#/$defs/A', $defs: { A: { $ref: '#/$defs/B' }, B: { $ref: '#/$defs/A' } } }],
    ['is none', node],
  ])('stays as it is where it %s', (_name, schema) => {
    expect(withReferredRoot(schema)).toBe(schema)
  })
})
