import OpenAI from 'openai'
import { zodResponseFormat } from 'openai/helpers/zod'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { silence, status } from '../../src/testing/fake-upstream.ts'
import { toldLogprob, TURN_USAGE } from '../../src/testing/scripted-model.ts'
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

/** The format's original client. Its stream helper builds the same message as the JSON answer contains, or throws. */
type Body = OpenAI.ChatCompletionCreateParamsNonStreaming
type Message = OpenAI.ChatCompletionMessageParam
type Answer = OpenAI.ChatCompletion
type Chunk = OpenAI.ChatCompletionChunk

const HI: Message[] = [{ role: 'user', content: 'Hi' }]
const QUESTION: Message = { role: 'user', content: 'How is the weather in Bern and Oslo?' }
const SUPPORTS =
  'tools tool_choice parallel_tool_calls structured_outputs image reasoning verbosity logprobs top_logprobs stop seed max_tokens'.split(' ')
const WEATHER = { name: 'weather', description: 'Weather', parameters: { ...WEATHER_SCHEMA } }

/** Combines chunks like a caller that reads only them. */
function fold(chunks: readonly Chunk[]): Answer {
  const message: { [field: string]: unknown } = { content: null, refusal: null }
  const calls: OpenAI.ChatCompletionChunk.Choice.Delta.ToolCall[] = []
  const logprobs: OpenAI.ChatCompletionTokenLogprob[] = []
  for (const { delta, logprobs: told } of chunks.flatMap(({ choices }) => choices)) {
    if (delta.role) message['role'] = delta.role
    for (const field of ['content', 'refusal'] as const)
      if (delta[field]) message[field] = `${(message[field] as string | null) ?? ''}${delta[field]}`
    for (const call of delta.tool_calls ?? []) {
      const open = (calls[call.index] ??= { ...call, function: { ...call.function, arguments: '' } })
      open.function!.arguments! += call.function?.arguments ?? ''
    }
    logprobs.push(...(told?.content ?? []))
  }
  const finish = chunks.findLast(({ choices }) => choices[0]?.finish_reason)!
  return {
    ...finish,
    object: 'chat.completion',
    usage: chunks.at(-1)!.usage,
    choices: [
      {
        index: 0,
        finish_reason: finish.choices[0]!.finish_reason,
        logprobs: { content: logprobs },
        message: { ...message, ...(calls.length > 0 ? { tool_calls: calls } : {}) },
      },
    ],
  } as unknown as Answer
}

describe.each(DIALECTS)(verifies('S2-clients', 'openai by chat completions in front of an upstream of %s'), (dialect) => {
  const stage = setStage(dialect, { supports: SUPPORTS })
  let client: OpenAI
  beforeAll(() => {
    client = new OpenAI({ apiKey: stage.gateway().key, baseURL: stage.baseURL(), maxRetries: 0 })
  })
  const chunksOf = async (body: Body): Promise<Chunk[]> => {
    const chunks: Chunk[] = []
    for await (const chunk of await client.chat.completions.create({ ...body, stream: true })) chunks.push(chunk)
    return chunks
  }

  /** The three ways to request one answer. */
  const ways: readonly (readonly [string, (body: Body) => Promise<Answer>])[] = [
    ['create', (body) => client.chat.completions.create(body)],
    ['the stream helper', (body) => client.chat.completions.stream({ ...body, stream: true }).finalChatCompletion()],
    ['raw chunks', async (body) => fold(await chunksOf(body))],
  ]

  describe.each(ways)('by %s', (way, ask) => {
    it('plain text with usage', async () => {
      stage.says({ text: ['Hello ', 'world ✓', '\n"quoted"'] })
      const answer = await ask({ model: MODEL, messages: [{ role: 'system', content: 'Be brief' }, ...HI] })
      expect(answer).toMatchObject({
        id: expect.stringMatching(/^gen-/),
        object: 'chat.completion',
        model: MODEL,
        choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hello world ✓\n"quoted"', refusal: null } }],
      })
      const { input, cached, output, reasoning, total } = TURN_USAGE
      expect(answer.usage).toMatchObject({
        prompt_tokens: input,
        completion_tokens: output,
        total_tokens: total,
        prompt_tokens_details: { cached_tokens: cached },
        completion_tokens_details: { reasoning_tokens: reasoning },
      })
      expect(stage.heard()[0]!.system).toBe('Be brief')
    })

    it(verifies('P18', 'a loop of parallel tool calls, the message replayed as it came'), async () => {
      stage.says(...WEATHER_TURNS)
      const tools: Body['tools'] = [{ type: 'function', function: { ...WEATHER, strict: true } }]
      const first = await ask({ model: MODEL, messages: [QUESTION], tools, parallel_tool_calls: true })
      expect(first.choices[0]!.finish_reason).toBe('tool_calls')
      const { message } = first.choices[0]!
      const calls = message.tool_calls as OpenAI.ChatCompletionMessageFunctionToolCall[]
      expect(calls.map(({ id, type, function: { name, arguments: args } }) => [id, type, name, args])).toEqual([
        ['call_bern', 'function', 'weather', '{"city":"Bern"}'],
        ['call_oslo', 'function', 'weather', '{"city":"Oslo"}'],
      ])
      const results = calls.map(({ id, function: { arguments: args } }): Message => {
        const { city } = JSON.parse(args) as { city: string }
        return { role: 'tool', tool_call_id: id, content: weatherIn(city) }
      })
      const second = await ask({ model: MODEL, messages: [QUESTION, message, ...results], tools })
      expect(second.choices[0]!.message.content).toBe('Bern is sunny, Oslo is sunny.')
      expectWeatherLoop(stage)
    })

    it('an image', async () => {
      stage.says({ text: ['A pixel'] })
      const content: OpenAI.ChatCompletionContentPart[] = [
        { type: 'text', text: 'What?' },
        { type: 'image_url', image_url: { url: PIXEL } },
      ]
      await ask({ model: MODEL, messages: [{ role: 'user', content }] })
      expect(stage.heard()[0]!.images).toEqual([PIXEL])
    })

    it('a refusal', async () => {
      stage.says({ refusal: 'I cannot help with that.' })
      const answer = await ask({ model: MODEL, messages: HI })
      expect(answer.choices).toMatchObject([{ finish_reason: 'stop', message: { refusal: 'I cannot help with that.' } }])
      expect(answer.choices[0]!.message.content || null).toBeNull()
    })

    it('logprobs', async () => {
      stage.says({ text: ['Yes', '!'], logprobs: true })
      const answer = await ask({ model: MODEL, messages: HI, logprobs: true, top_logprobs: 2 })
      expect(answer.choices[0]!.logprobs!.content).toEqual([toldLogprob('Yes'), toldLogprob('!')])
      const { body } = stage.heard()[0]!
      expect(body).toMatchObject(
        dialect === 'openai-chat' ? { logprobs: true, top_logprobs: 2 } : { top_logprobs: 2, include: ['message.output_text.logprobs'] },
      )
    })

    it.each(['length', 'content_filter'] as const)(verifies('P19', 'an answer cut by %s'), async (finish) => {
      stage.says({ text: ['Once upon'], finish })
      expect((await ask({ model: MODEL, messages: HI })).choices).toMatchObject([{ finish_reason: finish, message: { content: 'Once upon' } }])
    })

    it.each(UPSTREAM_ERRORS)('$name, before the stream, as its typed error', async ({ upstream, status: expected, message, errorType }) => {
      stage.says(status(upstream, { error: { message, type: 'x' } }))
      const error: unknown = await ask({ model: MODEL, messages: HI }).catch((thrown: unknown) => thrown)
      const classes = { 400: OpenAI.BadRequestError, 429: OpenAI.RateLimitError, 503: OpenAI.InternalServerError, 502: OpenAI.InternalServerError }
      expect(error).toBeInstanceOf(classes[expected])
      expect(error).toMatchObject({ status: expected, error: { metadata: { error_type: errorType } } })
      if (upstream !== 401) expect((error as Error).message).toContain(message)
    })

    it("the gateway's own refusals as typed errors", async () => {
      await expect(ask({ model: 'nobody/nothing', messages: HI })).rejects.toBeInstanceOf(OpenAI.NotFoundError)
      await expect(ask({ model: MODEL, messages: HI, temperature: 7 })).rejects.toThrow(/^400 .*temperature/)
      await expect(ask({ model: MODEL, messages: [] })).rejects.toThrow(/^400 .*messages/)
      const choice = { type: 'function' as const, function: { name: 'nope' } }
      await expect(ask({ model: MODEL, messages: HI, tool_choice: choice })).rejects.toBeInstanceOf(OpenAI.UnprocessableEntityError)
      const stranger = new OpenAI({ apiKey: 'sk-sb-v1-unknown', baseURL: stage.baseURL(), maxRetries: 0 })
      await expect(stranger.chat.completions.create({ model: MODEL, messages: HI })).rejects.toBeInstanceOf(OpenAI.AuthenticationError)
    })

    it('a failure after the text has begun is thrown', async () => {
      stage.says({ text: ['Half an '], fails: 'The engine broke down' })
      const error: unknown = await ask({ model: MODEL, messages: HI }).catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(way === 'create' ? OpenAI.InternalServerError : OpenAI.APIError)
      expect(error).toMatchObject({
        message: expect.stringContaining('The engine broke down'),
        error: { code: 502, metadata: { error_type: 'provider_unavailable' } },
      })
    })

    it('a call of a tool that takes free text', async () => {
      stage.says({ calls: [{ id: 'call_1', name: 'patch', custom: true, arguments: ['*** Begin', ' "all"'] }] }, { text: ['Done.'] })
      const tools: Body['tools'] = [{ type: 'custom', custom: { name: 'patch', description: 'Edits', format: { type: 'text' } } }]
      const chunks = way === 'raw chunks' ? await chunksOf({ model: MODEL, messages: HI, tools }) : []
      const told = chunks.flatMap(({ choices }) => choices.flatMap(({ delta }) => delta.tool_calls ?? [])) as { custom?: { input: string } }[]
      const call = { id: 'call_1', type: 'custom' as const, custom: { name: 'patch', input: '*** Begin "all"' } }
      if (way === 'raw chunks') expect(told.map(({ custom }) => custom!.input).join('')).toBe(call.custom.input)
      else expect((await ask({ model: MODEL, messages: HI, tools })).choices[0]!.message.tool_calls).toMatchObject([call])
      const history: Message[] = [...HI, { role: 'assistant', tool_calls: [call] }, { role: 'tool', tool_call_id: 'call_1', content: 'ok' }]
      expect((await ask({ model: MODEL, messages: history, tools })).choices[0]!.message.content).toBe('Done.')
      const heard = JSON.stringify(stage.heard()[1]!.body)
      expect(heard).toContain('*** Begin')
      expect(heard).toContain('call_1')
    })
  })

  it('structured output, parsed', async () => {
    const format = zodResponseFormat(z.object({ city: z.string(), degrees: z.number() }), 'report')
    const body = { model: MODEL, messages: HI, response_format: format }
    stage.says({ text: ['{"city":"Bern",', '"degrees":21}'] })
    expect((await client.chat.completions.parse(body)).choices[0]!.message.parsed).toEqual({ city: 'Bern', degrees: 21 })
    const streamed = await client.chat.completions.stream(body).finalChatCompletion()
    expect(streamed.choices[0]!.message.parsed).toEqual({ city: 'Bern', degrees: 21 })
    for (const { schema } of stage.heard())
      expect(schema).toMatchObject({ type: 'object', required: ['city', 'degrees'], additionalProperties: false })
  })

  it.each([false, true])('tools run by the client itself (stream: %s)', async (stream) => {
    stage.says(...WEATHER_TURNS)
    const parse = (text: string) => JSON.parse(text) as { city: string }
    const run = { ...WEATHER, parse, function: ({ city }: { city: string }) => weatherIn(city) }
    const body = { model: MODEL, messages: [QUESTION], tools: [{ type: 'function' as const, function: run }] as [never] }
    const runner = stream ? client.chat.completions.runTools({ ...body, stream }) : client.chat.completions.runTools(body)
    expect(await runner.finalContent()).toBe('Bern is sunny, Oslo is sunny.')
    expectWeatherLoop(stage)
    expect(await runner.totalUsage()).toMatchObject({ total_tokens: 2 * TURN_USAGE.total })
  })

  it('settings under the names this format has for them', async () => {
    stage.says({ text: ['Hi'] })
    const settings = { reasoning_effort: 'low', stop: ['END', 'STOP'], temperature: 0.5, top_p: 0.9, seed: 7, user: 'u-1', verbosity: 'low' } as const
    await client.chat.completions.create({ model: MODEL, messages: HI, ...settings, stop: [...settings.stop], max_tokens: 50, n: 1 })
    await client.chat.completions.create({ model: MODEL, messages: HI, max_tokens: 50, max_completion_tokens: 40 })
    const [first, second] = stage.heard().map(({ body }) => body)
    expect(first).toMatchObject({ temperature: 0.5, top_p: 0.9, stop: ['END', 'STOP'], seed: 7 })
    if (dialect === 'openai-chat') expect(first).toMatchObject({ reasoning_effort: 'low', verbosity: 'low' })
    else expect(first).toMatchObject({ reasoning: { effort: 'low' }, text: { verbosity: 'low' } })
    const limit = dialect === 'openai-chat' ? 'max_tokens' : 'max_output_tokens'
    expect([first![limit], second![limit]]).toEqual([50, 40])
  })

  it('usage on the last chunk by default, in a chunk of its own with include_usage, and nowhere without it', async () => {
    stage.says({ text: ['Hi'] })
    const shapes = async (options?: OpenAI.ChatCompletionStreamOptions): Promise<string[]> => {
      const chunks = await chunksOf({ model: MODEL, messages: HI, ...(options === undefined ? {} : { stream_options: options }) })
      return chunks
        .slice(-2)
        .map(({ choices, usage }) => [choices[0]?.finish_reason ?? (choices.length > 0 ? 'text' : 'none'), usage?.total_tokens ?? '-'].join(' '))
    }
    expect(await shapes()).toEqual(['text -', `stop ${TURN_USAGE.total}`])
    expect(await shapes({ include_usage: true })).toEqual(['stop -', `none ${TURN_USAGE.total}`])
    expect(await shapes({ include_usage: false })).toEqual(['text -', 'stop -'])
  })

  it('streams text as it comes: one chunk at least per upstream chunk', async () => {
    stage.says({ text: ['a', 'b', 'c', 'd'] })
    const deltas: string[] = []
    const stream = client.chat.completions.stream({ model: MODEL, messages: HI })
    stream.on('content', (delta, snapshot) => {
      deltas.push(delta)
      expect(snapshot).toBe(deltas.join(''))
    })
    await stream.finalChatCompletion()
    expect(deltas.filter((delta) => delta !== '')).toEqual(['a', 'b', 'c', 'd'])
  })

  describe(verifies('P9', 'an abort reaches the upstream within 100 ms'), () => {
    it.each([true, false])('before the first token (stream: %s)', async (stream) => {
      stage.says(silence())
      const controller = new AbortController()
      const asked = client.chat.completions.create({ model: MODEL, messages: HI, stream }, { signal: controller.signal })
      const outcome = (asked as Promise<unknown>).catch((thrown: unknown) => thrown)
      await arrived(stage)
      const at = performance.now()
      controller.abort()
      expect((await stage.hungUp()) - at).toBeLessThan(100)
      expect(await outcome).toBeInstanceOf(OpenAI.APIUserAbortError)
    })
    it('in the middle of the text', async () => {
      stage.says(hesitates(dialect, { text: ['Well, '] }))
      const stream = await client.chat.completions.create({ model: MODEL, messages: HI, stream: true })
      let at = 0
      for await (const { choices } of stream) {
        if (!choices[0]?.delta.content) continue
        at = performance.now()
        stream.controller.abort()
      }
      expect((await stage.hungUp()) - at).toBeLessThan(100)
    })
  })
})
