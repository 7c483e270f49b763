import { OpenRouter } from '@openrouter/sdk'
import type { ChatAssistantMessage, ChatMessages, ChatRequest, ChatResult, ChatStreamChunk, ReasoningDetailUnion } from '@openrouter/sdk/models'
import * as errors from '@openrouter/sdk/models/errors'
import { beforeAll, describe, expect, it } from 'vitest'
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
import { expectKnown } from './expect-known.ts'
import { verifies } from '../requirements.ts'

/** Throws if a field that its schema requires is missing, and drops what the schema does not know. */
type Body = Omit<ChatRequest, 'stream'>

const SUPPORTS = ['tools', 'tool_choice', 'structured_outputs', 'image', 'reasoning', 'logprobs', 'top_logprobs', 'max_tokens']
const HI: ChatMessages[] = [{ role: 'user', content: 'Hi' }]

describe.each(DIALECTS)(verifies('S2-clients', 'P44', '@openrouter/sdk by chat completions in front of an upstream of %s'), (dialect) => {
  const stage = setStage(dialect, { supports: SUPPORTS, options: dialect === 'openai-chat' ? { reasoning_replay: 'reasoning_content' } : {} })
  let client: OpenRouter
  beforeAll(() => {
    client = new OpenRouter({ apiKey: stage.gateway().key, serverURL: stage.baseURL(), retryConfig: { strategy: 'none' } })
  })

  const create = async (body: Body): Promise<ChatResult> => {
    const answer = (await client.chat.send({ chatRequest: { ...body, stream: false } })) as ChatResult
    expectKnown(answer)
    return answer
  }
  async function collect(body: Body): Promise<ChatStreamChunk[]> {
    const chunks: ChatStreamChunk[] = []
    for await (const chunk of (await client.chat.send({ chatRequest: { ...body, stream: true } })) as AsyncIterable<ChatStreamChunk>) {
      expectKnown(chunk)
      chunks.push(chunk)
    }
    return chunks
  }
  /** Combines the chunks like its users do; pieces of reasoning are kept as they arrived. */
  const streamed = async (body: Body): Promise<ChatResult> => {
    const chunks = await collect(body)
    const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta))
    const joined = (field: 'content' | 'refusal' | 'reasoning'): string | null => deltas.map((delta) => delta[field] ?? '').join('') || null
    const calls: NonNullable<ChatAssistantMessage['toolCalls']> = []
    for (const { index, id = '', function: called } of deltas.flatMap(({ toolCalls = [] }) => toolCalls)) {
      const call = (calls[index] ??= { id, type: 'function', function: { name: '', arguments: '' } })
      call.function.name += called?.name ?? ''
      call.function.arguments += called?.arguments ?? ''
    }
    const details = deltas.flatMap(({ reasoningDetails = [] }) => reasoningDetails)
    const last = chunks.at(-1)!
    if (last.error !== undefined) throw new Error(`${last.error.code} ${last.error.metadata?.errorType}: ${last.error.message}`)
    const message: ChatAssistantMessage = {
      role: deltas[0]!.role!,
      content: joined('content'),
      refusal: joined('refusal'),
      reasoning: joined('reasoning'),
      ...(details.length > 0 ? { reasoningDetails: details } : {}),
      ...(calls.length > 0 ? { toolCalls: calls } : {}),
    }
    const content = chunks.flatMap(({ choices }) => choices.flatMap(({ logprobs }) => logprobs?.content ?? []))
    return {
      ...last,
      object: 'chat.completion',
      systemFingerprint: null,
      choices: [{ index: 0, message, finishReason: last.choices[0]!.finishReason, logprobs: { content } }],
    }
  }
  const said = ({ choices: [choice] }: ChatResult): ChatAssistantMessage => choice!.message

  describe.each([
    ['create', create],
    ['stream', streamed],
  ] as const)('by %s', (way, ask) => {
    it('plain text with usage', async () => {
      stage.says({ text: ['Hello ', 'world'] })
      const answer = await ask({ model: MODEL, messages: [{ role: 'system', content: 'Be brief' }, ...HI] })
      expect(answer).toMatchObject({ model: MODEL, choices: [{ finishReason: 'stop', message: { role: 'assistant', content: 'Hello world' } }] })
      const { input, cached, output, reasoning, total } = TURN_USAGE
      expect(answer.usage).toMatchObject({
        promptTokens: input,
        completionTokens: output,
        totalTokens: total,
        promptTokensDetails: { cachedTokens: cached },
        completionTokensDetails: { reasoningTokens: reasoning },
        isByok: false,
      })
      expect(answer.usage?.cost).toBeGreaterThan(0)
      expect(answer.usage?.costDetails).toMatchObject({ upstreamInferencePromptCost: expect.any(Number) })
      expect(stage.heard()[0]!.system).toBe('Be brief')
    })

    it('reasoning details that name their format and go back as they came', async () => {
      stage.says({ ...WEATHER_TURNS[0]! }, { text: ['Sunny.'] })
      const tools: Body['tools'] = [{ type: 'function', function: { name: 'weather', parameters: { ...WEATHER_SCHEMA } } }]
      const messages: ChatMessages[] = [{ role: 'user', content: 'Bern and Oslo?' }]
      const message = said(await ask({ model: MODEL, messages, tools, reasoning: { effort: 'low' } }))
      expect(message.reasoning).toBe('Two cities, two calls.')
      const details = message.reasoningDetails as readonly (ReasoningDetailUnion & { format?: string | null; id?: string | null })[]
      const readable = dialect === 'openai-chat' ? 'reasoning.text' : 'reasoning.summary'
      expect(details.map(({ type }) => type)).toEqual([readable, 'reasoning.encrypted'])
      expect(new Set(details.map(({ id }) => id)).size).toBe(1)
      // Clients assume the format of signed reasoning if none is given, and drop such reasoning without a signature.
      for (const { format } of details) expect(format).toEqual(expect.any(String))
      const results = message.toolCalls!.map(({ id }): ChatMessages => ({ role: 'tool', toolCallId: id, content: 'sunny' }))
      await ask({ model: MODEL, messages: [...messages, { ...message, role: 'assistant' }, ...results], tools })
      const replayed = JSON.stringify(stage.heard()[1]!.body)
      expect(replayed).toContain(dialect === 'openai-chat' ? 'Two cities, two calls.' : '"gAAAA-upstream"')
    })

    it('a loop of parallel tool calls', async () => {
      stage.says(...WEATHER_TURNS)
      const tools: Body['tools'] = [{ type: 'function', function: { name: 'weather', parameters: { ...WEATHER_SCHEMA }, strict: true } }]
      const question: ChatMessages = { role: 'user', content: 'How is the weather in Bern and Oslo?' }
      const first = await ask({ model: MODEL, messages: [question], tools })
      expect(first.choices[0]!.finishReason).toBe('tool_calls')
      const results = said(first).toolCalls!.map(({ id, function: { arguments: args } }): ChatMessages => {
        return { role: 'tool', toolCallId: id, content: weatherIn((JSON.parse(args) as { city: string }).city) }
      })
      const second = await ask({ model: MODEL, messages: [question, { ...said(first), role: 'assistant' }, ...results], tools })
      expect(said(second).content).toBe('Bern is sunny, Oslo is sunny.')
      expectWeatherLoop(stage)
    })

    it('structured output', async () => {
      stage.says({ text: ['{"city":"Bern"}'] })
      const jsonSchema = { name: 'report', schema: { ...WEATHER_SCHEMA }, strict: true }
      await ask({ model: MODEL, messages: HI, responseFormat: { type: 'json_schema', jsonSchema } })
      expect(stage.heard()[0]!.schema).toEqual(WEATHER_SCHEMA)
    })

    it('an image', async () => {
      stage.says({ text: ['A pixel'] })
      await ask({ model: MODEL, messages: [{ role: 'user', content: [{ type: 'image_url', imageUrl: { url: PIXEL } }] }] })
      expect(stage.heard()[0]!.images).toEqual([PIXEL])
    })

    it('logprobs', async () => {
      stage.says({ text: ['Yes', '!'], logprobs: true })
      const { choices } = await ask({ model: MODEL, messages: HI, logprobs: true, topLogprobs: 1 })
      expect(choices[0]!.logprobs!.content!.map(({ topLogprobs: top_logprobs, ...rest }) => ({ ...rest, top_logprobs }))).toEqual([
        toldLogprob('Yes'),
        toldLogprob('!'),
      ])
    })

    it('a refusal', async () => {
      stage.says({ refusal: 'No.' })
      expect(said(await ask({ model: MODEL, messages: HI }))).toMatchObject({ content: null, refusal: 'No.' })
    })

    it('an answer cut by length', async () => {
      stage.says({ text: ['Once upon'], finish: 'length' })
      const answer = await ask({ model: MODEL, messages: HI, maxTokens: 16 })
      expect(answer.choices).toMatchObject([{ finishReason: 'length', message: { content: 'Once upon' } }])
    })

    it.each(UPSTREAM_ERRORS)('$name, before the stream, as its typed error', async ({ upstream, status: expected, message }) => {
      stage.says(status(upstream, { error: { message, type: 'x' } }))
      const classes = {
        400: errors.BadRequestResponseError,
        429: errors.TooManyRequestsResponseError,
        503: errors.ServiceUnavailableResponseError,
        502: errors.BadGatewayResponseError,
      }
      const error: unknown = await ask({ model: MODEL, messages: HI }).catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(classes[expected])
      expect((error as errors.BadRequestResponseError).error.code).toBe(expected)
    })

    it("the gateway's own refusals as typed errors", async () => {
      await expect(ask({ model: 'nobody/nothing', messages: HI })).rejects.toBeInstanceOf(errors.NotFoundResponseError)
      await expect(ask({ model: MODEL, messages: HI, temperature: 7 })).rejects.toBeInstanceOf(errors.BadRequestResponseError)
      const toolChoice = { type: 'function' as const, function: { name: 'x' } }
      await expect(ask({ model: MODEL, messages: HI, toolChoice })).rejects.toBeInstanceOf(errors.UnprocessableEntityResponseError)
    })

    it('a failure after the text has begun', async () => {
      stage.says({ text: ['Half an '], fails: 'The engine broke down' })
      const asked = ask({ model: MODEL, messages: HI })
      if (way === 'create') await expect(asked).rejects.toBeInstanceOf(errors.BadGatewayResponseError)
      else await expect(asked).rejects.toThrow(/^502 provider_unavailable: .*The engine broke down/)
    })
  })

  it.each([true, false])('routing metadata under the name this client knows (stream: %s)', async (stream) => {
    stage.says({ text: ['Hi'] })
    const answer = await client.chat.send({ xOpenRouterMetadata: 'enabled', chatRequest: { model: MODEL, messages: HI, stream } })
    let last: ChatResult | ChatStreamChunk | undefined = stream ? undefined : (answer as ChatResult)
    if (stream) for await (const chunk of answer as AsyncIterable<ChatStreamChunk>) last = chunk
    expectKnown(last)
    expect(last!.openrouterMetadata).toMatchObject({ requested: MODEL, attempt: 1, attempts: [{ status: 200 }] })
  })

  it('an abort reaches the upstream within 100 ms', async () => {
    const controller = new AbortController()
    stage.says(silence())
    const waiting = client.chat.send({ chatRequest: { model: MODEL, messages: HI } }, { fetchOptions: { signal: controller.signal } })
    const outcome = waiting.catch((thrown: unknown) => thrown)
    await arrived(stage)
    const at = performance.now()
    controller.abort()
    expect((await stage.hungUp()) - at).toBeLessThan(100)
    expect(await outcome).toBeInstanceOf(Error)
  })

  it('leaving a stream in the middle reaches the upstream within 100 ms', async () => {
    stage.says(hesitates(dialect, { text: ['Well, '] }))
    const chunks = (await client.chat.send({ chatRequest: { model: MODEL, messages: HI, stream: true } })) as AsyncIterable<ChatStreamChunk>
    let at = 0
    for await (const { choices } of chunks) {
      if (!choices[0]?.delta.content) continue
      at = performance.now()
      break
    }
    expect((await stage.hungUp()) - at).toBeLessThan(100)
  })
})
