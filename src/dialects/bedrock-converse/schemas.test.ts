import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { bedrockTarget, CLAUDE, NOVA } from './__fixtures__/target.ts'
import { bedrockConverse } from './index.ts'

const OLD_CLAUDE = 'anthropic.claude-3-7-sonnet-20250219-v1:0'
const QWEN = 'qwen.qwen3-32b-v1:0'

interface Body {
  readonly system?: unknown
  readonly toolConfig: { readonly tools: readonly { readonly toolSpec: JsonObject }[] }
  readonly outputConfig: { readonly textFormat: { readonly structure: { readonly jsonSchema: { readonly schema: string } } } }
}

function encode(request: Partial<ModelRequest>, model: string): Body {
  const input = [{ type: 'message', role: 'user', content: 'q' }]
  return JSON.parse(bedrockConverse.encodeRequest({ input, ...request }, bedrockTarget({ model })).body)
}

describe('the input of a tool', () => {
  const spec = (parameters: JsonObject, model: string, strict?: boolean): JsonObject =>
    encode({ tools: [{ type: 'function', name: 'f', parameters, ...(strict === undefined ? {} : { strict }) }] }, model).toolConfig.tools[0]!.toolSpec
  const input = (parameters: JsonObject, model: string): unknown => (spec(parameters, model)['inputSchema'] as JsonObject)['json']
  const choice = {
    anyOf: [
      { type: 'object', properties: { a: { type: 'integer', minimum: 1 } }, required: ['a'] },
      { type: 'object', properties: { b: { type: 'string' } }, required: ['a'] },
    ],
  }

  it.each([CLAUDE, NOVA, QWEN])('is an object, whatever the caller’s type says (%s)', (model) => {
    expect(input({ type: ['object', 'null'], properties: {} }, model)).toEqual({ type: 'object', properties: {} })
    expect(input({ properties: { a: {} } }, model)).toEqual({ type: 'object', properties: { a: {} } })
  })
  it('has no choice at the top for Claude, and keeps it for others', () => {
    expect(input(choice, CLAUDE)).toEqual({
      type: 'object',
      properties: { a: { type: 'integer', minimum: 1 }, b: { type: 'string' } },
      required: ['a'],
    })
    expect(input({ $ref: '#/$defs/A', $defs: { A: { type: 'object', properties: { a: {} } } } }, OLD_CLAUDE)).toMatchObject({
      type: 'object',
      properties: { a: {} },
    })
    expect(input(choice, QWEN)).toEqual({ type: 'object', ...choice })
  })
  it('has no title, which models of the service refuse', () => {
    const named = { $schema: 'http://json-schema.org/draft-07/schema#', $id: 'https://example.com/f', type: 'object', properties: { $id: {} } }
    for (const model of [NOVA, QWEN]) expect(input(named, model)).toEqual({ type: 'object', properties: { $id: {} } })
  })
  describe('for Nova, which accepts no other keyword at the top', () => {
    it('has its members and which are required', () => {
      const said = { type: 'object', properties: { a: { type: 'string', minLength: 1 } }, required: ['a'] }
      expect(input({ ...said, title: 'A', description: 'What it is.', additionalProperties: false, minProperties: 1 }, NOVA)).toEqual(said)
      expect(input({ type: 'object' }, NOVA)).toEqual({ type: 'object', properties: {} })
      expect(input(choice, NOVA)).toEqual({
        type: 'object',
        properties: { a: { type: 'integer', minimum: 1 }, b: { type: 'string' } },
        required: ['a'],
      })
    })
    it.each(['$defs', 'definitions'])('has the schema in %s in place of the reference', (word) => {
      const place = { type: 'object', properties: { city: { type: 'string' } } }
      const to = { $ref: `#/${word}/Place`, description: 'Where to.' }
      const stops = { type: 'array', items: { $ref: `#/${word}/Place` } }
      const either = { anyOf: [{ $ref: `#/${word}/Place` }, { type: 'null' }] }
      expect(input({ type: 'object', properties: { to, stops, either }, required: ['to'], [word]: { Place: place } }, NOVA)).toEqual({
        type: 'object',
        properties: {
          to: { ...place, description: 'Where to.' },
          stops: { type: 'array', items: place },
          either: { anyOf: [place, { type: 'null' }] },
        },
        required: ['to'],
      })
    })
    it('ends a recursion in any object, and follows no reference that is a value', () => {
      const node = { type: 'object', properties: { children: { type: 'array', items: { $ref: '#/$defs/Node' } } } }
      const parameters = {
        type: 'object',
        properties: { tree: { $ref: '#/$defs/Node' }, ref: { const: { $ref: '#/$defs/Node' } } },
        $defs: { Node: node },
      }
      expect(input(parameters, NOVA)).toEqual({
        type: 'object',
        properties: {
          tree: { type: 'object', properties: { children: { type: 'array', items: { type: 'object' } } } },
          ref: { const: { $ref: '#/$defs/Node' } },
        },
      })
      expect(input({ type: 'object', properties: { $ref: { type: 'string' }, far: { $ref: 'https://a.example/b' } } }, NOVA)).toEqual({
        type: 'object',
        properties: { $ref: { type: 'string' }, far: { type: 'object' } },
      })
    })
    it('with multiplying definitions does not become a thousand times larger', () => {
      const many = (ref: string) => Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`p${n}`, { $ref: `#/$defs/${ref}` }]))
      const $defs = { A: { type: 'object', properties: many('B') }, B: { type: 'object', properties: many('C') }, C: { type: 'string' } }
      expect(JSON.stringify(input({ type: 'object', properties: many('A'), $defs }, NOVA)).length).toBeLessThan(5_000_000)
    })
  })
  it('contains only members whose names Claude accepts, and describes the others', () => {
    const parameters = { type: 'object', properties: { id: {}, 'Account Number': { type: 'string' } } }
    expect(spec(parameters, CLAUDE, true)).toEqual({
      name: 'f',
      description: expect.stringContaining('{"properties":{"Account Number":{"type":"string"}}}'),
      inputSchema: { json: { type: 'object', properties: { id: {} } } },
    })
    expect(input(parameters, NOVA)).toEqual(parameters)
  })
  it('of strict tools is reduced to the supported keywords', () => {
    const parameters = { type: 'object', properties: { a: { type: 'integer', minimum: 1 } }, required: ['a'] }
    expect(spec(parameters, CLAUDE, true)).toMatchObject({
      strict: true,
      inputSchema: {
        json: {
          type: 'object',
          properties: { a: { type: 'integer', description: 'Constraints: minimum: 1' } },
          required: ['a'],
          additionalProperties: false,
        },
      },
    })
    expect(spec(parameters, CLAUDE)['inputSchema']).toEqual({ json: parameters })
    expect(spec(parameters, OLD_CLAUDE, true)).toEqual({ name: 'f', inputSchema: { json: parameters } })
  })
})

describe('the schema of the answer', () => {
  const format = (schema: JsonObject): Partial<ModelRequest> => ({ text: { format: { type: 'json_schema', name: 'n', schema } } })
  const native = (schema: JsonObject, model: string): unknown =>
    JSON.parse(encode(format(schema), model).outputConfig.textFormat.structure.jsonSchema.schema)
  const schema = {
    type: 'object',
    properties: {
      a: { $ref: '#/$defs/A', description: 'x' },
      u: { type: 'string', format: 'uri-reference' },
      c: { oneOf: [{ type: 'string' }, { type: 'null' }] },
      pattern: { type: 'string', pattern: '^a' },
      enum: { enum: [{ minimum: 1 }] },
    },
    required: ['a'],
    $defs: { A: { type: 'string', maxLength: 3 } },
  }

  it('is reduced to what Claude accepts; members named like keywords stay', () => {
    expect(native(schema, CLAUDE)).toEqual({
      type: 'object',
      properties: {
        a: { $ref: '#/$defs/A' },
        u: { type: 'string', description: 'Constraints: format: "uri-reference"' },
        c: { anyOf: [{ type: 'string' }, { type: 'null' }] },
        pattern: { type: 'string', description: 'Constraints: pattern: "^a"' },
        enum: { enum: [{ minimum: 1 }] },
      },
      required: ['a'],
      additionalProperties: false,
      $defs: { A: { type: 'string', description: 'Constraints: maxLength: 3' } },
    })
  })
  it.each([
    ['anthropic.claude-opus-4-6-v1', true],
    ['anthropic.claude-opus-4-7', false],
    ['anthropic.claude-opus-4-8', false],
    ['anthropic.claude-sonnet-5-v1:0', true],
    ['anthropic.claude-fable-5', true],
    ['anthropic.claude-haiku-5-5', false],
  ])('is sent as a schema, and tools as strict, where the service supports both: %s %s', (model, known) => {
    const tool = { type: 'function', name: 'f', parameters: { type: 'object', properties: {} }, strict: true }
    const sent = [encode(format({ type: 'object', properties: { a: { type: 'string' } } }), model), encode({ tools: [tool] }, model)].map(
      ({ outputConfig, toolConfig }: Partial<Body>) => [
        outputConfig !== undefined,
        toolConfig?.tools.map(({ toolSpec }) => [toolSpec['name'], toolSpec['strict']]),
      ],
    )
    expect(sent).toEqual([known ? [true, undefined] : [false, [['structured_answer', undefined]]], [false, [['f', known ? true : undefined]]]])
  })
  it('is sent to others unchanged', () => {
    expect(native(schema, QWEN)).toEqual(schema)
  })
  it('with a map is not enforced where objects must be closed, because it would always be empty', () => {
    const map = { type: 'object', properties: { names: { type: 'object', additionalProperties: { type: 'string' } } } }
    const tool = { type: 'function' as const, name: 'f', parameters: map, strict: true }
    const { outputConfig, system, toolConfig } = encode({ ...format(map), tools: [tool] }, CLAUDE) as Partial<Body>
    expect(outputConfig).toBeUndefined()
    expect(JSON.stringify(system)).toContain('additionalProperties')
    expect(toolConfig!.tools[0]!.toolSpec).toEqual({ name: 'f', inputSchema: { json: map } })
    expect(native(map, QWEN)).toEqual(map)
  })
  it('is described in the prompt where only a tool could enforce it, and it is not an object', () => {
    const list = { type: 'array', items: { type: 'string' } }
    const body = encode(format(list), OLD_CLAUDE)
    expect(body).not.toHaveProperty('toolConfig')
    expect(JSON.stringify(body.system)).toContain('array')
    expect(encode(format({ properties: {} }), OLD_CLAUDE).toolConfig.tools).toHaveLength(1)
  })
})
