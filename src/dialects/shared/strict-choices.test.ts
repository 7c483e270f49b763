import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { openAiChat } from '../openai-chat/index.ts'
import { openAiResponses } from '../openai-responses/index.ts'
import { strictChoices } from './strict-choices.ts'

const of = (kind: string): JsonObject => ({ type: 'object', properties: { kind: { const: kind } }, required: ['kind'], additionalProperties: false })
const within = (shape: JsonObject): JsonObject => ({ type: 'object', properties: { shape }, required: ['shape'], additionalProperties: false })
const asked = within({ description: 'One of two', oneOf: [of('a'), { type: 'array', items: { oneOf: [of('b'), of('c')] } }] })
const held = within({ description: 'One of two', anyOf: [of('a'), { type: 'array', items: { anyOf: [of('b'), of('c')] } }] })

describe('choices of a strict schema', () => {
  it('are written with the one keyword that every strict validator accepts', () => {
    expect(strictChoices(asked)).toEqual(held)
  })
  it.each([of('a'), held, within({ oneOf: [of('a')], anyOf: [of('b')] }), within({ enum: [{ oneOf: [] }] })])('stay as they are in %j', (schema) => {
    expect(strictChoices(schema)).toBe(schema)
  })
})

describe.each([openAiChat, openAiResponses])('$name', (dialect) => {
  const ask = (strict: boolean): readonly JsonObject[] => {
    const request: ModelRequest = {
      input: [{ type: 'message', role: 'user', content: 'Hi' }],
      tools: [{ type: 'function', name: 'f', parameters: asked, strict }],
      text: { format: { type: 'json_schema', name: 'answer', schema: asked, strict } },
    }
    const options = dialect.options.parse(dialect === openAiChat ? { strict_tools: true } : {})
    const target = {
      provider: 'acme',
      providerName: 'Acme',
      upstreamModel: 'small-1',
      options,
      supports: new Set(dialect.supports),
      contextLength: 128_000,
      scope: 'acme',
      stream: true,
    }
    const encode = dialect.encodeRequest as (request: ModelRequest, target: unknown) => { readonly body: string }
    const body = JSON.parse(encode(request, target).body)
    return dialect === openAiChat
      ? [body.tools[0].function.parameters, body.response_format.json_schema.schema]
      : [body.tools[0].parameters, body.text.format.schema]
  }

  it('is asked to enforce them', () => {
    expect(ask(true)).toEqual([held, held])
  })
  it('gets them as the caller wrote them where they are not enforced', () => {
    expect(ask(false)).toEqual([asked, asked])
  })
})
