import Anthropic from '@anthropic-ai/sdk'
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema'
import { beforeAll, describe, expect, it } from 'vitest'
import { status } from '../../src/testing/fake-upstream.ts'
import { TURN_USAGE } from '../../src/testing/scripted-model.ts'
import { verifies } from '../requirements.ts'
import {
  arrived,
  DIALECTS,
  expectWeatherLoop,
  hesitates,
  MODEL,
  PIXEL,
  setStage,
  UPSTREAM_ERRORS,
  weatherIn,
  WEATHER_SCHEMA,
  WEATHER_TURNS,
} from './stage.ts'

type Body = Anthropic.MessageCreateParamsNonStreaming
type Answer = Anthropic.Message

const hi: Body = { model: MODEL, max_tokens: 200, messages: [{ role: 'user', content: 'Hi' }] }

/** The SDK on which programs for the Messages format are based; its stream helper keeps a snapshot that each event must fit. */
describe.each(DIALECTS)(verifies('S2-clients', 'the SDK of the Messages format in front of an upstream of %s'), (dialect) => {
  const stage = setStage(dialect)
  let client: Anthropic
  beforeAll(() => {
    client = new Anthropic({ apiKey: stage.gateway().key, baseURL: `${stage.gateway().url}/api`, maxRetries: 0 })
  })

  const ways: readonly (readonly [string, (body: Body) => Promise<Answer>])[] = [
    ['create', (body) => client.messages.create(body)],
    ['the stream helper', (body) => client.messages.stream(body).finalMessage()],
  ]

  describe.each(ways)('by %s', (way, ask) => {
    it('plain text with usage', async () => {
      stage.says({ text: ['Hello ', 'world ✓', '\n"quoted"'] })
      const answer = await ask({ ...hi, system: 'Be brief' })
      expect(answer).toMatchObject({
        role: 'assistant',
        model: MODEL,
        content: [{ type: 'text', text: 'Hello world ✓\n"quoted"' }],
        stop_reason: 'end_turn',
      })
      const { input, cached, output, reasoning } = TURN_USAGE
      expect(answer.usage).toMatchObject({ input_tokens: input - cached, cache_read_input_tokens: cached, output_tokens: output })
      expect(answer.usage).toMatchObject({ output_tokens_details: { thinking_tokens: reasoning } })
      expect(stage.heard()[0]!.system).toBe('Be brief')
    })

    it('the id of the request, where the SDK looks for it', async () => {
      stage.says({ text: ['Hello'] })
      const answer = await ask(hi)
      if (way === 'create') expect(answer).toMatchObject({ _request_id: answer.id })
      const refused: unknown = await ask({ ...hi, model: 'nobody/nothing' }).catch((thrown: unknown) => thrown)
      expect((refused as InstanceType<typeof Anthropic.APIError>).requestID).toMatch(/^gen-/)
    })

    it('thinking before text', async () => {
      stage.says({ reasoning: 'Let me think.', text: ['42'] })
      const { content } = await ask({ ...hi, thinking: { type: 'enabled', budget_tokens: 1_024 } })
      expect(content).toMatchObject([
        { type: 'thinking', thinking: 'Let me think.' },
        { type: 'text', text: '42' },
      ])
    })

    it(verifies('P18', 'a loop of parallel calls, the content replayed as it came'), async () => {
      stage.says(...WEATHER_TURNS)
      const tools: Anthropic.Tool[] = [{ name: 'weather', input_schema: { ...WEATHER_SCHEMA, required: ['city'] } }]
      const question: Anthropic.MessageParam = { role: 'user', content: 'How is the weather in Bern and Oslo?' }
      const first = await ask({ ...hi, messages: [question], tools })
      expect(first.stop_reason).toBe('tool_use')
      const calls = first.content.filter((block) => block.type === 'tool_use')
      expect(calls.map(({ id, input }) => [id, input])).toEqual([
        ['call_bern', { city: 'Bern' }],
        ['call_oslo', { city: 'Oslo' }],
      ])
      const results = calls.map(({ id, input }) => ({
        type: 'tool_result' as const,
        tool_use_id: id,
        content: weatherIn((input as { city: string }).city),
      }))
      const second = await ask({
        ...hi,
        messages: [question, { role: 'assistant', content: first.content }, { role: 'user', content: results }],
        tools,
      })
      expect(second.content).toMatchObject([{ type: 'text', text: 'Bern is sunny, Oslo is sunny.' }])
      expectWeatherLoop(stage)
    })

    it('an image', async () => {
      stage.says({ text: ['A pixel'] })
      const source = { type: 'base64' as const, media_type: 'image/png' as const, data: PIXEL.split(',')[1]! }
      await ask({ ...hi, messages: [{ role: 'user', content: [{ type: 'image', source }] }] })
      expect(stage.heard()[0]!.images).toEqual([PIXEL])
    })

    it.each([
      ['length', 'max_tokens'],
      ['content_filter', 'refusal'],
    ] as const)(verifies('P19', 'an answer cut by %s'), async (finish, reason) => {
      stage.says({ text: ['Once upon'], finish })
      expect(await ask({ ...hi, max_tokens: 16 })).toMatchObject({ stop_reason: reason, content: [{ text: 'Once upon' }] })
    })

    it.each(UPSTREAM_ERRORS)('$name, before the stream, as its typed error', async ({ upstream, status: expected, message, errorType }) => {
      stage.says(status(upstream, { error: { message, type: 'x' } }))
      const error: unknown = await ask(hi).catch((thrown: unknown) => thrown)
      const classes = {
        400: Anthropic.BadRequestError,
        429: Anthropic.RateLimitError,
        503: Anthropic.InternalServerError,
        502: Anthropic.InternalServerError,
      }
      expect(error).toBeInstanceOf(classes[expected])
      expect(error).toMatchObject({ status: expected, error: { type: 'error', error: { error_type: errorType } } })
      if (upstream !== 401) expect((error as Error).message).toContain(message)
    })

    it("the gateway's own refusals as typed errors", async () => {
      await expect(ask({ ...hi, model: 'nobody/nothing' })).rejects.toBeInstanceOf(Anthropic.NotFoundError)
      await expect(ask({ ...hi, max_tokens: -1 })).rejects.toBeInstanceOf(Anthropic.BadRequestError)
      await expect(ask({ ...hi, messages: [] })).rejects.toThrow('messages is empty')
      const stranger = new Anthropic({ apiKey: 'sk-sb-v1-unknown', baseURL: `${stage.gateway().url}/api`, maxRetries: 0 })
      await expect(stranger.messages.create(hi)).rejects.toBeInstanceOf(Anthropic.AuthenticationError)
    })

    it('a failure after the text has begun is thrown', async () => {
      stage.says({ text: ['Half an '], fails: 'The engine broke down' })
      const error: unknown = await ask(hi).catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(way === 'create' ? Anthropic.InternalServerError : Anthropic.APIError)
      expect((error as Error).message).toContain('The engine broke down')
    })
  })

  it('the models, one by one and page by page, with the fields this client reads', async () => {
    const all: Anthropic.ModelInfo[] = []
    for await (const model of client.models.list({ limit: 4 })) all.push(model)
    const { data, has_more: more } = await client.models.list()
    expect([all.map(({ id }) => id), more]).toEqual([data.map(({ id }) => id), false])
    expect(all.length).toBeGreaterThan(4)
    const own = { id: MODEL, type: 'model', display_name: 'small', max_input_tokens: 128_000, created_at: '1970-01-01T00:00:00.000Z' }
    expect(all.find(({ id }) => id === MODEL)).toMatchObject(own)
    expect(await client.models.retrieve(MODEL)).toMatchObject(own)
    const [first, second, third] = all.map(({ id }) => id)
    expect((await client.models.list({ before_id: third!, limit: 1 })).data.map(({ id }) => id)).toEqual([second])
    expect((await client.models.list({ before_id: third! })).data.map(({ id }) => id)).toEqual([first, second])
    await expect(client.models.list({ after_id: 'nobody/nothing' })).rejects.toBeInstanceOf(Anthropic.BadRequestError)
  })

  it('structured output', async () => {
    stage.says({ text: ['{"city":"Bern"}'] })
    const { content } = await client.messages.create({ ...hi, output_config: { format: { type: 'json_schema', schema: { ...WEATHER_SCHEMA } } } })
    expect(content).toMatchObject([{ text: '{"city":"Bern"}' }])
    expect(stage.heard()[0]!.schema).toMatchObject({ required: ['city'] })
  })

  it.each([false, true])(
    'its loop of tools, which sends the whole conversation once it reads that nothing is kept here; streamed: %s',
    async (stream) => {
      stage.says(...WEATHER_TURNS)
      const weather = betaTool({
        name: 'weather',
        description: 'The weather in a city.',
        inputSchema: WEATHER_SCHEMA,
        run: ({ city }) => weatherIn(city),
      })
      const runner = client.beta.messages.toolRunner({ ...hi, tools: [weather], stream })
      expect((await runner.runUntilDone()).content).toMatchObject([{ type: 'text', text: 'Bern is sunny, Oslo is sunny.' }])
      expectWeatherLoop(stage)
    },
  )

  it('tools that are added and removed while its loop runs', async () => {
    const call = (id: string, name: string) => ({ calls: [{ id, name, arguments: ['{"city":"Bern"}'] }] })
    stage.says(call('call_1', 'weather'), call('call_2', 'time'), { text: ['Noon.'] })
    const make = (name: string, answer: string) => betaTool({ name, description: name, inputSchema: WEATHER_SCHEMA, run: () => answer })
    const runner = client.beta.messages.toolRunner({ ...hi, tools: [make('weather', 'sunny')] })
    let turns = 0
    for await (const _ of runner) {
      if (++turns === 1) runner.addTools(make('time', 'noon'))
      if (turns === 2) runner.removeTools('weather')
    }
    expect(stage.heard().map(({ tools }) => tools.map(({ name }) => name))).toEqual([['weather'], ['weather', 'time'], ['time']])
    expect(stage.heard()[2]!.results.map(({ output }) => output)).toEqual(['sunny', 'noon'])
  })

  it('a conversation that is to be kept, as the typed error', async () => {
    const thread = client.beta.messages.thread({ model: MODEL, max_tokens: 200 })
    await expect(thread.send({ role: 'user', content: 'Hi' })).rejects.toBeInstanceOf(Anthropic.ThreadUnsupportedRequestError)
  })

  it('its option authToken, which is sent as a bearer token', async () => {
    stage.says({ text: ['Hello'] })
    const bearer = new Anthropic({ apiKey: null, authToken: stage.gateway().key, baseURL: `${stage.gateway().url}/api`, maxRetries: 0 })
    expect(await bearer.messages.create(hi)).toMatchObject({ content: [{ text: 'Hello' }] })
  })

  it('a caller who leaves aborts the upstream request', async () => {
    stage.says(hesitates(dialect, { text: ['Hel'] }))
    const leaving = client.messages.stream(hi)
    const ended = leaving.done().catch((thrown: unknown) => thrown)
    await arrived(stage)
    leaving.abort()
    await stage.hungUp()
    expect(await ended).toBeInstanceOf(Anthropic.APIUserAbortError)
  })
})
