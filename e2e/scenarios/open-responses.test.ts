import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { checkWire } from '../../src/testing/check-wire.ts'
import { DIALECTS, MODEL, PIXEL, setStage, WEATHER_SCHEMA } from '../clients/stage.ts'
import { verifies } from '../requirements.ts'

/**
 * The named cases of the public Open Responses suite, in our own words and against scripted upstreams of both formats, with an independent transcription
 * of its schema of answers and events. Its WebSocket and compaction cases are about routes that this gateway does not have.
 */
const nullable = <T extends z.ZodType>(schema: T) => schema.nullable()

const message = z.looseObject({
  type: z.literal('message'),
  id: z.string().regex(/^msg_/),
  status: z.enum(['in_progress', 'completed', 'incomplete']),
  role: z.literal('assistant'),
  content: z.array(
    z.discriminatedUnion('type', [
      z.looseObject({
        type: z.literal('output_text'),
        text: z.string(),
        annotations: z.array(z.unknown()),
        logprobs: z.array(z.unknown()).optional(),
      }),
      z.looseObject({ type: z.literal('refusal'), refusal: z.string() }),
    ]),
  ),
  phase: z.enum(['commentary', 'final_answer']).optional(),
})
const functionCall = z.looseObject({
  type: z.literal('function_call'),
  id: z.string().regex(/^fc_/),
  call_id: z.string().min(1),
  name: z.string().min(1),
  arguments: z.string(),
  status: z.enum(['in_progress', 'completed', 'incomplete']),
})
const reasoningItem = z.looseObject({ type: z.literal('reasoning'), id: z.string().regex(/^rs_/), summary: z.array(z.unknown()) })
const item = z.discriminatedUnion('type', [message, functionCall, reasoningItem])

const tool = z.looseObject({
  type: z.literal('function'),
  name: z.string(),
  description: nullable(z.string()),
  parameters: nullable(z.record(z.string(), z.unknown())),
  strict: nullable(z.boolean()),
})
const count = z.int().min(0)
const resource = z.looseObject({
  id: z.string().min(1),
  object: z.literal('response'),
  created_at: z.int(),
  completed_at: nullable(z.int()),
  status: z.enum(['in_progress', 'completed', 'incomplete', 'failed']),
  incomplete_details: nullable(z.looseObject({ reason: z.string() })),
  model: z.string(),
  previous_response_id: nullable(z.string()),
  instructions: nullable(z.string()),
  output: z.array(item),
  error: nullable(z.looseObject({ code: z.string(), message: z.string() })),
  tools: z.array(tool),
  tool_choice: z.union([z.enum(['none', 'auto', 'required']), z.looseObject({ type: z.string() })]),
  truncation: z.enum(['auto', 'disabled']),
  parallel_tool_calls: z.boolean(),
  text: z.looseObject({ format: z.looseObject({ type: z.string() }) }),
  top_p: z.number(),
  presence_penalty: z.number(),
  frequency_penalty: z.number(),
  top_logprobs: z.int(),
  temperature: z.number(),
  reasoning: nullable(z.looseObject({ effort: nullable(z.string()), summary: nullable(z.string()) })),
  usage: nullable(
    z.looseObject({
      input_tokens: count,
      output_tokens: count,
      total_tokens: count,
      input_tokens_details: z.looseObject({ cached_tokens: count }),
      output_tokens_details: z.looseObject({ reasoning_tokens: count }),
    }),
  ),
  max_output_tokens: nullable(z.int()),
  max_tool_calls: nullable(z.int()),
  store: z.boolean(),
  background: z.boolean(),
  service_tier: z.string(),
  metadata: z.record(z.string(), z.string()),
  safety_identifier: nullable(z.string()),
  prompt_cache_key: nullable(z.string()),
})

/** Members of every event of a type, besides `type` and `sequence_number`. */
const ofItem = { item_id: z.string(), output_index: count }
const ofPart = { ...ofItem, content_index: count }
const ofSummary = { ...ofItem, summary_index: count }
const EVENTS: { readonly [type: string]: z.ZodRawShape } = {
  'response.created': { response: resource },
  'response.in_progress': { response: resource },
  'response.completed': { response: resource },
  'response.output_item.added': { output_index: count, item },
  'response.output_item.done': { output_index: count, item },
  'response.content_part.added': { ...ofPart, part: z.looseObject({ type: z.string() }) },
  'response.content_part.done': { ...ofPart, part: z.looseObject({ type: z.string() }) },
  'response.output_text.delta': { ...ofPart, delta: z.string() },
  'response.output_text.done': { ...ofPart, text: z.string() },
  'response.reasoning_text.delta': { ...ofPart, delta: z.string() },
  'response.reasoning_text.done': { ...ofPart, text: z.string() },
  'response.reasoning_summary_part.added': { ...ofSummary, part: z.looseObject({ type: z.literal('summary_text') }) },
  'response.reasoning_summary_part.done': { ...ofSummary, part: z.looseObject({ type: z.literal('summary_text') }) },
  'response.reasoning_summary_text.delta': { ...ofSummary, delta: z.string() },
  'response.reasoning_summary_text.done': { ...ofSummary, text: z.string() },
  'response.function_call_arguments.delta': { ...ofItem, delta: z.string() },
  'response.function_call_arguments.done': { ...ofItem, arguments: z.string() },
}

describe.each(DIALECTS)(verifies('S2-open-responses', 'Open Responses in front of an upstream of %s'), (dialect) => {
  const stage = setStage(dialect)

  async function create(body: object) {
    const response = await stage.gateway().respond({ model: MODEL, ...body })
    const answer: unknown = await response.json()
    expect({ status: response.status, answer }).toMatchObject({ status: 200 })
    expect(response.headers.get('content-type')).toMatch(/^application\/json/)
    return resource.parse(answer)
  }
  async function streamed(body: object) {
    const response = await stage.gateway().respond({ model: MODEL, ...body, stream: true })
    const { events, terminal } = checkWire(await response.text())
    for (const event of events) {
      const members = EVENTS[event.type]
      if (members === undefined) throw new Error(`an event of the unknown type ${event.type}`)
      z.looseObject({ type: z.string(), sequence_number: count, ...members }).parse(event)
    }
    return { types: events.map(({ type }) => type), answer: resource.parse(terminal['response']) }
  }
  const said = (role: string, content: unknown, more: object = {}): object => ({ type: 'message', role, content, ...more })

  it('basic-response: one user message, one completed message', async () => {
    stage.says({ text: ['Good morning, friend'] })
    const answer = await create({ input: [said('user', 'Greet me in three words.')] })
    expect(answer).toMatchObject({ status: 'completed', error: null, output: [{ type: 'message', content: [{ text: 'Good morning, friend' }] }] })
    expect(answer.completed_at).toBeGreaterThanOrEqual(answer.created_at)
    expect(answer).toMatchObject({
      temperature: 1,
      top_p: 1,
      tools: [],
      tool_choice: 'auto',
      store: false,
      background: false,
      truncation: 'disabled',
    })
  })

  it('streaming-response: events in order, each of its schema, ending in the same resource', async () => {
    stage.says({ reasoning: 'Counting.', text: ['1, 2', ', 3'] })
    const { types, answer } = await streamed({ input: [said('user', 'Count to three.')] })
    expect(types[0]).toBe('response.created')
    expect(types.at(-1)).toBe('response.completed')
    expect(types.filter((type) => type === 'response.output_text.delta').length).toBeGreaterThanOrEqual(2)
    expect(answer).toMatchObject({ status: 'completed', output_text: '1, 2, 3' })
  })

  it('system-prompt: a message of the role system reaches the model as such', async () => {
    stage.says({ text: ['Grüezi'] })
    await create({ input: [said('system', 'Answer in Swiss German.'), said('user', 'Greet me.')] })
    expect(stage.heard()[0]!.system).toBe('Answer in Swiss German.')
  })

  const weather = { type: 'function', name: 'weather', description: 'The weather of a city', parameters: WEATHER_SCHEMA }
  const question = [said('user', 'How is the weather in Bern?')]
  const call = { id: 'call_1', name: 'weather', arguments: ['{"city":', '"Bern"}'] }

  it('tool-calling: an offered function comes back as a call, and its definition has null for absent fields', async () => {
    stage.says({ calls: [call] })
    const { output, tools } = await create({ input: question, tools: [weather] })
    expect(output).toMatchObject([{ type: 'function_call', name: 'weather', arguments: '{"city":"Bern"}', status: 'completed' }])
    expect(tools).toEqual([{ ...weather, strict: null }])
    expect(stage.heard()[0]!.tools).toMatchObject([{ name: 'weather', parameters: { type: 'object', required: ['city'] } }])
  })

  it('tool-calling-streaming: the call is announced, its arguments stream, and it is done', async () => {
    stage.says({ calls: [call] })
    const { types, answer } = await streamed({ input: question, tools: [{ type: 'function', name: 'weather' }] })
    const ofCall = types.filter((type) => type.includes('output_item') || type.includes('function_call'))
    expect(ofCall[0]).toBe('response.output_item.added')
    expect(ofCall.slice(1, -2).every((type) => type === 'response.function_call_arguments.delta')).toBe(true)
    expect(ofCall.slice(-2)).toEqual(['response.function_call_arguments.done', 'response.output_item.done'])
    expect(answer.tools).toEqual([{ type: 'function', name: 'weather', description: null, parameters: null, strict: null }])
  })

  it('image-input: an image in a data URL beside text', async () => {
    stage.says({ text: ['One pixel'] })
    const content = [
      { type: 'input_text', text: 'What is it?' },
      { type: 'input_image', image_url: PIXEL },
    ]
    expect(await create({ input: [said('user', content)] })).toMatchObject({ status: 'completed' })
    expect(stage.heard()[0]!.images).toEqual([PIXEL])
  })

  it('multi-turn: the history reaches the model in order, the assistant included', async () => {
    stage.says({ text: ['Ada'] })
    await create({ input: [said('user', 'I am Ada.'), said('assistant', 'Hello Ada!'), said('user', 'Who am I?')] })
    const { body } = stage.heard()[0]!
    const turns = (body[dialect === 'openai-chat' ? 'messages' : 'input'] as { role: string }[]).map(({ role }) => role)
    expect(turns).toEqual(['user', 'assistant', 'user'])
    expect(JSON.stringify(body)).toMatch(/I am Ada.*Hello Ada!.*Who am I/)
  })

  it('assistant-phase: history with phase labels is accepted, and labels reach formats that know them', async () => {
    stage.says({ text: ['4'] })
    const history = [said('assistant', 'Let me look it up.', { phase: 'commentary' }), said('assistant', 'It is four.', { phase: 'final_answer' })]
    await create({ input: [...history, said('user', 'Repeat the number.')] })
    const phases = JSON.stringify(stage.heard()[0]!.body).match(/"phase":"\w+"/g)
    expect(phases).toEqual(dialect === 'openai-responses' ? ['"phase":"commentary"', '"phase":"final_answer"'] : null)
  })

  it('response-output-phase-schema: a label the model gives its message is in the answer', async () => {
    if (dialect === 'openai-chat') {
      stage.says({ text: ['Done'] })
      expect((await create({ input: 'Go' })).output[0]).not.toHaveProperty('phase')
      return
    }
    stage.says({ text: ['Done'], phase: 'final_answer' })
    expect((await create({ input: 'Go' })).output).toMatchObject([{ type: 'message', phase: 'final_answer' }])
    expect((await streamed({ input: 'Go' })).answer.output).toMatchObject([{ type: 'message', phase: 'final_answer' }])
  })

  it('echoes reasoning options in full', async () => {
    stage.says({ text: ['4'] })
    expect((await create({ input: 'Go', reasoning: { effort: 'low' } })).reasoning).toEqual({ effort: 'low', summary: null })
    expect((await create({ input: 'Go' })).reasoning).toBeNull()
  })

  it('echoes what was asked and tells an error apart from an answer', async () => {
    stage.says({ text: ['4'] })
    const asked = {
      temperature: 0.5,
      top_p: 0.9,
      max_output_tokens: 64,
      metadata: { a: 'b' },
      instructions: 'Short',
      parallel_tool_calls: false,
      truncation: 'auto',
    }
    expect(await create({ input: 'Go', ...asked })).toMatchObject(asked)
    const refused = await stage.gateway().respond({ model: MODEL, input: [{ type: 'message', role: 'nobody', content: 'x' }] })
    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({ error: { message: expect.stringContaining('input[0].role') } })
  })
})
