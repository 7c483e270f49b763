import OpenAI from 'openai'
import { zodTextFormat } from 'openai/helpers/zod'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { silence, status } from '../../src/testing/fake-upstream.ts'
import { TURN_USAGE } from '../../src/testing/scripted-model.ts'
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
import { verifies } from '../requirements.ts'

/** The strictest client regarding ids, order and indexes: its stream helper keeps a snapshot and throws at the first event that does not fit. */
type Input = OpenAI.Responses.ResponseInput
type Answer = OpenAI.Responses.Response

describe.each(DIALECTS)(verifies('S2-clients', 'openai in front of an upstream of %s'), (dialect) => {
  const stage = setStage(dialect)
  let client: OpenAI
  beforeAll(() => {
    client = new OpenAI({ apiKey: stage.gateway().key, baseURL: stage.baseURL(), maxRetries: 0 })
  })

  /** The three ways to request one answer. */
  const ways: readonly (readonly [string, (body: OpenAI.Responses.ResponseCreateParamsNonStreaming) => Promise<Answer>])[] = [
    ['create', (body) => client.responses.create(body)],
    ['the stream helper', (body) => client.responses.stream({ ...body, stream: true }).finalResponse()],
    [
      'raw events',
      async (body) => {
        let last: Answer | undefined
        for await (const event of await client.responses.create({ ...body, stream: true })) if ('response' in event) last = event.response
        return last!
      },
    ],
  ]

  it('a model by its name without an author, as clients of a single vendor send it', async () => {
    stage.says({ text: ['Hello'] })
    expect(await client.responses.create({ model: 'small', input: 'Hi' })).toMatchObject({ model: MODEL, output_text: 'Hello' })
    expect(stage.heard()[0]!.body['model']).toBe('small-1')
  })

  it('counts a prompt without asking anyone', async () => {
    const heard = stage.heard().length
    const ask = async (input: string): Promise<number> => {
      const counted = await client.responses.inputTokens.count({ model: MODEL, input })
      expect(counted.object).toBe('response.input_tokens')
      return counted.input_tokens
    }
    const short = await ask('Hi')
    expect(short).toBeGreaterThan(0)
    const more = (await ask('word '.repeat(1_000))) - short
    expect([more > 800, more < 1_600]).toEqual([true, true])
    await expect(client.responses.inputTokens.count({ model: MODEL, input: 7 as never })).rejects.toMatchObject({ status: 400 })
    expect(stage.heard()).toHaveLength(heard)
  })

  describe.each(ways)('by %s', (way, ask) => {
    it('plain text with usage', async () => {
      stage.says({ text: ['Hello ', 'world ✓', '\n"quoted"'] })
      const answer = await ask({ model: MODEL, input: 'Hi', instructions: 'Be brief' })
      expect(answer.status).toBe('completed')
      expect(answer.output).toHaveLength(1)
      expect(answer.output[0]).toMatchObject({ content: [{ type: 'output_text', text: 'Hello world ✓\n"quoted"', annotations: [], logprobs: [] }] })
      // Raw events contain the field from the gateway; the other ways compute it.
      expect(answer.output_text).toBe('Hello world ✓\n"quoted"')
      const { input, cached, output, reasoning, total } = TURN_USAGE
      expect(answer.usage).toMatchObject({
        input_tokens: input,
        output_tokens: output,
        total_tokens: total,
        input_tokens_details: { cached_tokens: cached },
        output_tokens_details: { reasoning_tokens: reasoning },
      })
      expect(stage.heard()[0]!.system).toBe('Be brief')
    })

    it('reasoning before text', async () => {
      stage.says({ reasoning: 'Let me think.', text: ['42'] })
      const { output } = await ask({ model: MODEL, input: 'Why?', reasoning: { effort: 'low', summary: 'auto' } })
      expect(output.map(({ type }) => type)).toEqual(['reasoning', 'message'])
      const [thought] = output as [OpenAI.Responses.ResponseReasoningItem]
      const parts = dialect === 'openai-chat' ? thought.content : thought.summary
      expect(parts?.map(({ text }) => text)).toEqual(['Let me think.'])
    })

    it(verifies('P18', 'a loop of parallel tool calls, the output replayed as it came'), async () => {
      stage.says(...WEATHER_TURNS)
      const tools: OpenAI.Responses.Tool[] = [{ type: 'function', name: 'weather', parameters: { ...WEATHER_SCHEMA }, strict: true }]
      const input: Input = [{ role: 'user', content: 'How is the weather in Bern and Oslo?' }]
      const first = await ask({ model: MODEL, input, tools, parallel_tool_calls: true })
      const calls = first.output.filter((item) => item.type === 'function_call')
      expect(calls.map(({ call_id, arguments: args }) => [call_id, args])).toEqual([
        ['call_bern', '{"city":"Bern"}'],
        ['call_oslo', '{"city":"Oslo"}'],
      ])
      const results = calls.map(({ call_id, arguments: args }) => {
        const { city } = JSON.parse(args) as { city: string }
        return { type: 'function_call_output' as const, call_id, output: weatherIn(city) }
      })
      const second = await ask({ model: MODEL, input: [...input, ...(first.output as Input), ...results], tools })
      expect(second.output_text).toBe('Bern is sunny, Oslo is sunny.')
      expectWeatherLoop(stage)
    })

    it('an image', async () => {
      stage.says({ text: ['A pixel'] })
      await ask({
        model: MODEL,
        input: [
          {
            role: 'user',
            content: [
              { type: 'input_text', text: 'What?' },
              { type: 'input_image', image_url: PIXEL, detail: 'auto' },
            ],
          },
        ],
      })
      expect(stage.heard()[0]!.images).toEqual([PIXEL])
    })

    it('a refusal', async () => {
      stage.says({ refusal: 'I cannot help with that.' })
      const answer = await ask({ model: MODEL, input: 'Hi' })
      expect(answer).toMatchObject({
        status: 'completed',
        output: [{ type: 'message', content: [{ type: 'refusal', refusal: 'I cannot help with that.' }] }],
      })
    })

    it.each([
      ['length', 'max_output_tokens'],
      ['content_filter', 'content_filter'],
    ] as const)(verifies('P19', 'an answer cut by %s'), async (finish, reason) => {
      stage.says({ text: ['Once upon'], finish })
      const answer = await ask({ model: MODEL, input: 'A story', max_output_tokens: 16 })
      expect(answer).toMatchObject({ status: 'incomplete', incomplete_details: { reason }, output: [{ content: [{ text: 'Once upon' }] }] })
    })

    it.each(UPSTREAM_ERRORS)('$name, before the stream, as its typed error', async ({ upstream, status: expected, message, errorType }) => {
      stage.says(status(upstream, { error: { message, type: 'x' } }))
      const error: unknown = await ask({ model: MODEL, input: 'Hi' }).catch((thrown: unknown) => thrown)
      const classes = { 400: OpenAI.BadRequestError, 429: OpenAI.RateLimitError, 503: OpenAI.InternalServerError, 502: OpenAI.InternalServerError }
      expect(error).toBeInstanceOf(classes[expected])
      expect(error).toMatchObject({ status: expected, error: { metadata: { error_type: errorType } } })
      if (upstream !== 401) expect((error as Error).message).toContain(message)
    })

    it("the gateway's own refusals as typed errors", async () => {
      await expect(ask({ model: 'nobody/nothing', input: 'Hi' })).rejects.toBeInstanceOf(OpenAI.NotFoundError)
      await expect(ask({ model: MODEL, input: 'Hi', temperature: 7 })).rejects.toBeInstanceOf(OpenAI.BadRequestError)
      await expect(ask({ model: MODEL, input: 'Hi', tool_choice: { type: 'function', name: 'nope' } })).rejects.toBeInstanceOf(
        OpenAI.UnprocessableEntityError,
      )
      const stranger = new OpenAI({ apiKey: 'sk-sb-v1-unknown', baseURL: stage.baseURL(), maxRetries: 0 })
      await expect(stranger.responses.create({ model: MODEL, input: 'Hi' })).rejects.toBeInstanceOf(OpenAI.AuthenticationError)
    })

    it('a failure after the text has begun', async () => {
      stage.says({ text: ['Half an '], fails: 'The engine broke down' })
      const outcome = await ask({ model: MODEL, input: 'Hi' }).catch((thrown: unknown) => thrown)
      if (way === 'create') expect(outcome).toBeInstanceOf(OpenAI.InternalServerError)
      else
        expect(outcome).toMatchObject({
          status: 'failed',
          error: { code: 'server_error' },
          output: [{ status: 'incomplete', content: [{ text: 'Half an ' }] }],
        })
      expect(JSON.stringify(outcome instanceof Error ? outcome.message : outcome)).toContain('The engine broke down')
    })
  })

  it('a failure after the text has begun is thrown by both kinds of stream, where it comes as an event of its own', async () => {
    const telling = client.withOptions({ defaultHeaders: { 'X-Gateway-Error-Event': 'on' } })
    const body = { model: MODEL, input: 'Hi' }
    const drained = async (): Promise<readonly string[]> => {
      const seen: string[] = []
      for await (const { type } of await telling.responses.create({ ...body, stream: true })) seen.push(type)
      return seen
    }
    for (const ask of [drained, () => telling.responses.stream(body).finalResponse()]) {
      stage.says({ text: ['Half an '], fails: 'The engine broke down' })
      await expect(ask()).rejects.toThrow('The engine broke down')
    }
    stage.says({ text: ['whole'] })
    expect((await telling.responses.stream(body).finalResponse()).output_text).toBe('whole')
  })

  it('models, all and one', async () => {
    const ids: string[] = []
    for await (const { id } of client.models.list()) ids.push(id)
    expect(ids).toContain(MODEL)
    expect(await client.models.retrieve(MODEL)).toMatchObject({ id: MODEL, object: 'model', owned_by: MODEL.split('/')[0] })
    await expect(client.models.retrieve('acme/none')).rejects.toThrow(OpenAI.NotFoundError)
  })

  it('structured output, parsed', async () => {
    const format = zodTextFormat(z.object({ city: z.string(), degrees: z.number() }), 'report')
    const body = { model: MODEL, input: 'Bern?', text: { format } }
    stage.says({ text: ['{"city":"Bern",', '"degrees":21}'] })
    expect((await client.responses.parse(body)).output_parsed).toEqual({ city: 'Bern', degrees: 21 })
    expect((await client.responses.stream(body).finalResponse()).output_parsed).toEqual({ city: 'Bern', degrees: 21 })
    for (const { schema } of stage.heard())
      expect(schema).toMatchObject({ type: 'object', required: ['city', 'degrees'], additionalProperties: false })
  })

  it('streams text as it comes: deltas add up, one event at least per upstream chunk', async () => {
    stage.says({ text: ['a', 'b', 'c', 'd'] })
    const deltas: string[] = []
    const stream = client.responses.stream({ model: MODEL, input: 'Hi' })
    stream.on('response.output_text.delta', ({ delta, snapshot }) => {
      deltas.push(delta)
      expect(snapshot).toBe(deltas.join(''))
    })
    await stream.finalResponse()
    expect(deltas).toEqual(['a', 'b', 'c', 'd'])
  })

  describe(verifies('P9', 'an abort reaches the upstream within 100 ms'), () => {
    it.each([true, false])('before the first token (stream: %s)', async (stream) => {
      stage.says(silence())
      const controller = new AbortController()
      const asked = client.responses.create({ model: MODEL, input: 'Hi', stream }, { signal: controller.signal })
      const outcome = asked.catch((thrown: unknown) => thrown)
      await arrived(stage)
      const at = performance.now()
      controller.abort()
      expect((await stage.hungUp()) - at).toBeLessThan(100)
      expect(await outcome).toBeInstanceOf(OpenAI.APIUserAbortError)
    })
    it('in the middle of the text', async () => {
      stage.says(hesitates(dialect, { text: ['Well, '] }))
      const stream = await client.responses.create({ model: MODEL, input: 'Hi', stream: true })
      let at = 0
      for await (const event of stream) {
        if (event.type !== 'response.output_text.delta') continue
        at = performance.now()
        stream.controller.abort()
      }
      expect((await stage.hungUp()) - at).toBeLessThan(100)
    })
    it('while a JSON answer is being collected', async () => {
      stage.says(hesitates(dialect, { text: ['Well, '] }))
      const controller = new AbortController()
      const asked = client.responses.create({ model: MODEL, input: 'Hi' }, { signal: controller.signal }).catch(() => undefined)
      await arrived(stage)
      await new Promise((resolve) => setTimeout(resolve, 30))
      const at = performance.now()
      controller.abort()
      expect((await stage.hungUp()) - at).toBeLessThan(100)
      await asked
    })
  })
})
