import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Handler } from '../core/call.ts'
import type { ModelEvent } from '../core/event.ts'
import type { ModelRequest, TextFormat } from '../core/request.ts'
import { testCall, testContext } from '../testing/plugin-context.ts'
import { describePluginContract, SECRET_WORD } from '../testing/plugin-contract.ts'
import { responseHealing } from './response-healing.ts'

const schema = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer' } },
  required: ['name', 'age'],
  additionalProperties: false,
}
const JSON_SCHEMA: TextFormat = { type: 'json_schema', name: 'person', schema }
const JSON_OBJECT: TextFormat = { type: 'json_object' }

const answer = (pieces: readonly string[], reason: 'stop' | 'length' = 'stop'): readonly (readonly ModelEvent[])[] => [
  [{ type: 'response-start' }, { type: 'item-start', key: 'm', item: { type: 'message', role: 'assistant', content: [] } }],
  ...pieces.map((delta): readonly ModelEvent[] => [{ type: 'text-delta', key: 'm', delta }]),
  [
    { type: 'item-end', key: 'm' },
    { type: 'response-end', reason },
  ],
]
const request = (format: TextFormat): ModelRequest => ({ input: [{ type: 'message', role: 'user', content: SECRET_WORD }], text: { format } })

describePluginContract({
  plugin: responseHealing,
  accepts: [{}],
  refuses: [],
  untouched: [
    { request: request(JSON_SCHEMA), answer: [answer(['{"name": "Ada",', ' "age": 36}']).flat()] },
    { request: request(JSON_OBJECT), answer: [answer(['I would rather not.']).flat()] },
    { request: request({ type: 'text' }), answer: answer(['{"name": "Ada"']) },
    { request: request(JSON_OBJECT), answer: answer(['{"name": "Ada"']), stream: true },
    { request: request(JSON_OBJECT), answer: [answer(['{"name": "Ada"'], 'length').flat()] },
  ],
  touched: [{ request: request(JSON_OBJECT), answer: answer(['```json\n{"name": "Ada"}\n```']) }],
})

async function heal(text: string | readonly string[], format: TextFormat = JSON_OBJECT) {
  const { context, reported } = testContext({})
  const pieces = typeof text === 'string' ? [text] : text
  const model: Handler = async function* () {
    yield* answer(pieces)
  }
  const events: ModelEvent[] = []
  for await (const batch of responseHealing.wrap!(model, request(format), context)(testCall())) events.push(...batch)
  const said = events.flatMap((event) => (event.type === 'text-delta' ? [event.delta] : [])).join('')
  return { said, stage: reported[0]?.stage }
}

describe('repairs', () => {
  it.each([
    ['a missing bracket', '{"name": "Ada", "age": 36', '{"name": "Ada", "age": 36}'],
    ['a fence', '```json\n{"name": "Ada", "age": 36}\n```', '{"name": "Ada", "age": 36}'],
    ['words before it', 'Here you are:\n{"name": "Ada", "age": 36}', '{"name": "Ada", "age": 36}'],
    ['words around it', 'Sure! {"name": "Ada", "age": 36} Anything else?', '{"name": "Ada", "age": 36}'],
    ['a comma too many', '{"name": "Ada", "age": 36,}', '{"name": "Ada", "age": 36}'],
    ['keys without quotes', '{name: "Ada", age: 36}', '{"name": "Ada", "age": 36}'],
    ['single quotes', "{'name': 'Ada', 'age': 36}", '{"name": "Ada", "age": 36}'],
    ['Python’s words', '{"name": "Ada", "age": None}', '{"name": "Ada", "age": null}'],
    ['a fence that never closes', '```json\n{"name": "Ada", "age": 36}', '{"name": "Ada", "age": 36}'],
    ['a fence among words, broken inside', 'So:\n```\n{name: "Ada", age: 36}\n```\nDone.', '{"name": "Ada", "age": 36}'],
  ])('%s', async (_what, broken, whole) => {
    const { said } = await heal(broken)
    expect(said).toBe(whole)
  })

  it('keep numbers with too many digits', async () => {
    expect((await heal('{"id": 12345678901234567890, }')).said).toBe('{"id": 12345678901234567890 }')
  })

  it('are sent in one piece, however the text was cut', async () => {
    expect((await heal(['```js', 'on\n{"na', 'me": "Ada", "age": 36}\n``', '`'])).said).toBe('{"name": "Ada", "age": 36}')
  })

  it('are reported in the metadata, without the text', async () => {
    const { stage } = await heal('{"name": "Ada", "age": 36,}', JSON_SCHEMA)
    expect(stage).toMatchObject({
      type: 'response_healing',
      name: 'response-healing',
      data: { mode: 'json_schema', improved: true, original_length: 27, healed_length: 26 },
    })
  })

  it('choose of two candidates the one that fits the schema', async () => {
    const { said } = await heal('```json\n{"draft": true}\n```\nor better\n```json\n{"name": "Ada", "age": 36}\n```', JSON_SCHEMA)
    expect(said).toBe('{"name": "Ada", "age": 36}')
  })
})

describe('what is left as it is', () => {
  it.each([
    ['prose', 'I cannot answer that.', JSON_OBJECT],
    ['JSON that is right', '{"name":"Ada","age":36}', JSON_SCHEMA],
    ['JSON that is right and does not fit the schema', '{"name": "Ada"}', JSON_SCHEMA],
    ['JSON that would not fit the schema', '{"name": "Ada",}', JSON_SCHEMA],
    ['a list where an object is asked for', '[1, 2,]', JSON_OBJECT],
    ['a number', '42', JSON_OBJECT],
  ] as const)('%s', async (_what, text, format) => {
    const { said, stage } = await heal(text, format)
    expect(said).toBe(text)
    expect(stage).toBeUndefined()
  })

  it('text before the last message', async () => {
    const { context } = testContext({})
    const two = [
      ...answer(['{draft: 1}']).flat().slice(0, -1),
      { ...answer([''])[0]![1]!, key: 'n' },
      { type: 'text-delta', key: 'n', delta: '{final: 1}' },
    ]
    const model: Handler = async function* () {
      yield [...two, { type: 'item-end', key: 'n' }, { type: 'response-end', reason: 'stop' }] as ModelEvent[]
    }
    const said: string[] = []
    for await (const events of responseHealing.wrap!(model, request(JSON_OBJECT), context)(testCall()))
      for (const event of events) if (event.type === 'text-delta') said.push(event.delta)
    expect(said).toEqual(['{draft: 1}', '{"final": 1}'])
  })

  it('any valid JSON', async () => {
    await fc.assert(
      fc.asyncProperty(fc.json(), async (json) => {
        expect((await heal(json)).said).toBe(json)
      }),
    )
  })

  it('and any result of a repair is JSON', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), async (text) => {
        const { said, stage } = await heal(`{${text}`)
        if (stage === undefined) expect(said).toBe(`{${text}`)
        else expect(JSON.parse(said)).toBeTypeOf('object')
      }),
    )
  })
})

describe('the schema’s own regular expressions', () => {
  it('are not run: they could stall the process', async () => {
    const strict = (pattern: string): TextFormat => ({
      type: 'json_schema',
      name: 'x',
      schema: { type: 'object', properties: { a: { type: 'string', pattern } }, patternProperties: { '^(b+)+$': { type: 'integer' } } },
    })
    expect((await heal('{"a": "x",}', strict('^y$'))).said).toBe('{"a": "x"}')
    expect((await heal(`{"a": "${'a'.repeat(50)}!",}`, strict('^(a+)+$'))).stage).toBeDefined()
  })
  it('a property of that name is a property', async () => {
    const named: TextFormat = { type: 'json_schema', name: 'x', schema: { type: 'object', properties: { pattern: { type: 'integer' } } } }
    expect((await heal('{"pattern": "x",}', named)).stage).toBeUndefined()
    expect((await heal('{"pattern": 1,}', named)).stage).toBeDefined()
  })
})
