import { describe, expect, it } from 'vitest'
import { classifyUpstreamError } from './errors.ts'
import { withLooseSchemas } from './loose-schemas.ts'

const refusal = (message: string, status = 400): unknown =>
  classifyUpstreamError({ status, headers: {}, body: JSON.stringify({ error: { message } }), providerName: 'Acme' }).details.metadata

describe('a refusal of a schema without a grammar', () => {
  it.each([
    'The compiled grammar is too large, which would cause performance issues.',
    'Schema is too complex for compilation. Try reducing the number of tools.',
    'Schemas contains too many optional parameters (28), which would make grammar compilation inefficient. (limit: 24)',
    'Schemas contains too many parameters with union types (24 parameters with type arrays or anyOf). (limit: 16)',
    'Circular reference detected in schema definitions: Node -> Node.',
    'The specified schema produces a constraint that has too many states for serving.',
    "Invalid schema for response_format 'x': In context=(), 'required' is required to be supplied and to be an array including every key in properties. Missing 'nick'.",
    "Invalid schema for function 'plan': In context=('properties', 'repeats'), 'oneOf' is not permitted.",
    "Invalid schema for function 'scrape': In context=('properties', 'formats', 'anyOf', '0'), 'propertyNames' is not permitted.",
    "Invalid schema for response_format 'x': In context=('properties', 'counts'), 'additionalProperties' is required to be supplied and to be false.",
    "Invalid schema for response_format 'x': In context=('properties', 'any'), schema must have a 'type' key.",
    "Invalid schema for function 'scrape': In context=('properties', 'url'), 'uri' is not a valid format.",
    "Invalid schema for response_format 'x': context=('properties', 'pet'), $ref cannot have keywords {'description'}.",
    `Invalid schema for response_format 'answer': schema must be a JSON Schema of 'type: "object"', got 'type: "array"'.`,
    'A schema in GenerationConfig in the request exceeds the maximum allowed nesting depth.',
    'Tools with strict=True are not supported by this model',
    "This model doesn't support the outputConfig field. Remove outputConfig and try again.",
    'The model returned the following errors: output_config.format: Extra inputs are not permitted',
    'tools.0.custom.strict: Extra inputs are not permitted',
  ])('is known: %s', (message) => {
    expect(refusal(message)).toEqual({ loosen_schemas: true })
    expect(refusal(message, 500)).toBeUndefined()
  })

  it('is not a refusal of an invalid schema', () => {
    expect(refusal("Invalid schema for response_format 'x': 'foo' is not a type")).toBeUndefined()
    expect(refusal(`Invalid schema for function 'f': schema must be a JSON Schema of 'type: "object"', got 'type: "array"'.`)).toBeUndefined()
    expect(refusal("Invalid schema for function 'f': In context=(), array schema missing items.")).toBeUndefined()
    expect(refusal("The role 'tool' is not permitted.")).toBeUndefined()
  })
})

describe('withLooseSchemas', () => {
  const input = [{ type: 'message', role: 'user', content: 'Hi' }] as const
  const free = { type: 'function', name: 'f', parameters: {} } as const

  it('adds the schema of the answer to the prompt, after the earlier instructions', () => {
    const format = { type: 'json_schema', name: 'x', schema: { type: 'object', title: 'X' }, strict: true } as const
    const loose = withLooseSchemas({ input, instructions: 'Be brief.', text: { format, verbosity: 'low' } })
    expect(loose.text).toEqual({ format: { type: 'json_object' }, verbosity: 'low' })
    expect(loose.instructions).toMatch(/^Be brief\.\n\n.*\n\{"type":"object","title":"X"\}$/s)
  })

  it('asks for no object where the answer is none', () => {
    const format = { type: 'json_schema', name: 'x', schema: { type: 'array' } } as const
    expect(withLooseSchemas({ input, text: { format } })).toMatchObject({
      text: { format: { type: 'text' } },
      instructions: expect.stringContaining('one JSON value') as string,
    })
  })

  it('holds no tool to its schema, those in namespaces neither', () => {
    const strict = { ...free, strict: true } as const
    const tools = [strict, free, { type: 'namespace', name: 'n', tools: [strict, free] }] as const
    expect(withLooseSchemas({ input, tools }).tools).toEqual([
      { ...free, strict: false },
      free,
      { type: 'namespace', name: 'n', tools: [{ ...free, strict: false }, free] },
    ])
  })

  it('changes nothing in a request without schemas', () => {
    const request = { input, tools: [free], text: { format: { type: 'json_object' } } } as const
    expect(withLooseSchemas(request)).toBe(request)
  })
})
