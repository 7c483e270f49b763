import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import type { Json } from '../../src/testing/mutate-json.ts'
import { breachIn, startFuzzStage, type FuzzStage } from './fuzz-stage.ts'

/** JSON schemas that refer to themselves, expand without end, or name what is not theirs, in front of every format. */
let stage: FuzzStage
beforeAll(async () => {
  stage = await startFuzzStage()
})
afterAll(() => stage.close())

describe('schemas that expand without end', () => {
  const deep = (levels: number): Json => {
    let schema: Json = { type: 'string' }
    for (let n = 0; n < levels; n++) schema = { type: 'object', properties: { a: schema }, required: ['a'], additionalProperties: false }
    return schema
  }
  const twice = (name: string): Json => ({ anyOf: [{ $ref: name }, { $ref: name }] })
  const definitions: Record<string, Json> = { d30: { type: 'string' } }
  for (let n = 0; n < 30; n++) definitions[`d${n}`] = twice(`#/$defs/d${n + 1}`)
  const doublings: Json = { $defs: definitions, $ref: '#/$defs/d0' }
  const SCHEMAS: readonly (readonly [string, Json])[] = [
    ['itself', { $ref: '#' }],
    ['itself, inside', { type: 'object', properties: { a: { $ref: '#' } } }],
    ['a definition that is itself', { $defs: { a: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' }],
    [
      'two definitions that are each other',
      { $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } }, type: 'object', properties: { x: { $ref: '#/$defs/a' } } },
    ],
    [
      'a tree',
      { $defs: { node: { type: 'object', properties: { left: { $ref: '#/$defs/node' }, right: { $ref: '#/$defs/node' } } } }, $ref: '#/$defs/node' },
    ],
    ['thirty doublings', doublings],
    ['another host', { $ref: 'http://127.0.0.1:1/schema.json' }],
    ['nothing', { $ref: '#/nowhere' }],
    ['a number', { $ref: 7 }],
    ['two hundred levels', deep(100)],
    [
      'ten thousand properties',
      { type: 'object', properties: Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`p${n}`, { type: 'string' }])) },
    ],
    ['a pattern that backtracks', { type: 'string', pattern: '^(a+)+$' }],
    ['a type nobody knows', { type: 'quaternion', format: '../x' }],
    ['properties of Object', { type: 'object', properties: { constructor: { type: 'string' }, toString: {}, hasOwnProperty: true } }],
    ['booleans', { type: 'object', properties: { a: true, b: false }, items: true, additionalProperties: true }],
  ]

  it.each(SCHEMAS)(verifies('B8', 'a reference to %s gets an answer in every format, in bounded time and size'), async (_name, schema) => {
    for (const [dialect, upstream] of stage.upstreams) {
      for (const body of [
        { tools: [{ type: 'function', name: 'f', parameters: schema, strict: true }] },
        { tools: [{ type: 'function', name: 'f', parameters: schema }] },
        { text: { format: { type: 'json_schema', name: 's', schema, strict: true } } },
      ]) {
        const started = performance.now()
        const sent = JSON.stringify({ model: `acme/${dialect}`, input: 'hi', ...body })
        expect(breachIn(await stage.send('/api/v1/responses', { body: sent }))).toBeUndefined()
        expect(performance.now() - started).toBeLessThan(2_000)
        expect(JSON.stringify(upstream.requests.at(-1)?.body ?? {}).length).toBeLessThan(2_000_000)
      }
    }
  })
})
