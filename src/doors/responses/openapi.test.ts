import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { ITEMS, TOOLS } from './__fixtures__/examples.ts'
import { PLUGINS, REQUEST } from './__fixtures__/option-examples.ts'
import { describeDoors } from '../shared/describe-doors.ts'
import { describeResponses } from './openapi.ts'

const { paths, components } = describeDoors([describeResponses()])
const { schemas } = components
const operation = (paths['/api/v1/responses'] as { post: Record<string, unknown> }).post

function compile(name: string): (value: unknown) => boolean {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true })
  const document = { $id: 'http://gateway.test/openapi', components: { schemas } }
  ajv.addVocabulary(['components'])
  ajv.addSchema(document)
  const validate = ajv.compile({ $ref: `http://gateway.test/openapi#/components/schemas/${name}` })
  return (value) => validate(value)
}

describe('the OpenAPI document of the route', () => {
  it('refers only to what it contains', () => {
    const text = JSON.stringify({ paths, components })
    const refs = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => ref ?? '')
    expect(refs.length).toBeGreaterThan(50)
    expect(refs.filter((ref) => !(ref.replace('#/components/schemas/', '') in schemas))).toEqual([])
    expect(text).not.toMatch(/"\$defs"|"\$schema"|"\$id"|__shared/)
  })
  it('lists every status the route answers with', () => {
    expect(Object.keys(operation['responses'] as object)).toEqual([
      '200',
      '400',
      '401',
      '402',
      '403',
      '404',
      '408',
      '413',
      '422',
      '429',
      '500',
      '502',
      '503',
    ])
  })
  it('lists the headers that steer a call', () => {
    expect(operation['parameters']).toMatchObject([
      { name: 'X-Gateway-Experimental-Metadata' },
      { name: 'x-session-id' },
      { name: 'X-Gateway-Metadata', in: 'header', schema: { type: 'string' } },
      { name: 'X-Gateway-Stream-Failure', in: 'header', schema: { enum: ['fail', 'continue', 'buffer'] } },
      { name: 'X-Gateway-Keep-Alive', in: 'header', schema: { enum: ['comment', 'event'] } },
      { name: 'X-Gateway-Error-Event', in: 'header', schema: { enum: ['on', 'off'] } },
      { name: 'X-Gateway-Error-Code', in: 'header', schema: { enum: ['status', 'word'] } },
      { name: 'X-Gateway-Cache', in: 'header', schema: { enum: ['true', 'false'] } },
      { name: 'X-Gateway-Cache-TTL', in: 'header', schema: { minimum: 1, maximum: 86_400 } },
      { name: 'X-Gateway-Cache-Clear', in: 'header', schema: { enum: ['true', 'false'] } },
    ])
  })
  it('states limits and required fields', () => {
    expect(schemas['Metadata']).toMatchObject({ maxProperties: 16, propertyNames: { maxLength: 64 }, additionalProperties: { maxLength: 512 } })
    expect(schemas['ProviderPreferences']).toMatchObject({ additionalProperties: false })
    expect(schemas['StopServerToolsWhen']).toMatchObject({ minItems: 1 })
    expect(schemas['FunctionCallItem']).toMatchObject({ required: ['type', 'name', 'arguments', 'call_id'] })
    expect(schemas['ResponsesRequest']).not.toHaveProperty('required')
  })
})

describe('the schema agrees with the validation', () => {
  const request = compile('ResponsesRequest')
  it('of a request that holds everything', () => {
    expect(request(REQUEST.ok)).toBe(true)
    expect(request({ input: Object.entries(ITEMS).map(([type, { ok }]) => ({ type, ...ok })) })).toBe(true)
    expect(request({ tools: Object.entries(TOOLS).map(([type, { ok }]) => ({ type, ...ok })) })).toBe(true)
    expect(request({ plugins: Object.entries(PLUGINS).map(([id, { ok }]) => ({ id, ...ok })) })).toBe(true)
  })
  const flat = Object.entries(REQUEST.wrong).filter(([field]) => !/[.[]/.test(field))
  it.each(flat)('of a bad %s', (field, value) => {
    expect(request({ input: 'Hello', [field]: value })).toBe(false)
  })
})
