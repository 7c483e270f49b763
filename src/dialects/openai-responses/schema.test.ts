import { expect, it } from 'vitest'
import { target } from './__fixtures__/harness.ts'
import { openAiResponses } from './index.ts'

it('asks for a schema that is a reference at its root by what it refers to', () => {
  const node = { type: 'object', properties: { next: { $ref: '#/$defs/Node' } }, required: ['next'], additionalProperties: false }
  const format = { type: 'json_schema' as const, name: 'n', schema: { $defs: { Node: node }, $ref: '#/$defs/Node' }, strict: true }
  const { body } = openAiResponses.encodeRequest({ input: [], text: { format } }, target())
  expect(JSON.parse(body)).toMatchObject({ text: { format: { ...format, schema: { ...node, $defs: { Node: node } } } } })
  expect(JSON.parse(body)).not.toHaveProperty('text.format.schema.$ref')
})
