import { createOpenResponses, type OpenResponsesProvider } from '@ai-sdk/open-responses'
import { APICallError, generateText, isStepCount, type ModelMessage, Output, streamText, tool } from 'ai'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { silence, status } from '../../src/testing/fake-upstream.ts'
import { TURN_USAGE } from '../../src/testing/scripted-model.ts'
import { arrived, DIALECTS, expectWeatherLoop, hesitates, MODEL, PIXEL, setStage, UPSTREAM_ERRORS, weatherIn, WEATHER_TURNS } from './stage.ts'
import { verifies } from '../requirements.ts'

/** A lenient client that silently loses what it does not understand, so the tests check what arrives and not only whether it throws. */
const weather = tool({ description: 'Weather', inputSchema: z.object({ city: z.string() }), execute: ({ city }) => weatherIn(city) })
const quiet = { maxRetries: 0 }

describe.each(DIALECTS)(verifies('S2-clients', '@ai-sdk/open-responses in front of an upstream of %s'), (dialect) => {
  const stage = setStage(dialect)
  let provider: OpenResponsesProvider
  beforeAll(() => {
    provider = createOpenResponses({ name: 'gateway', url: `${stage.baseURL()}/responses`, apiKey: stage.gateway().key })
  })

  type Options = Omit<Parameters<typeof generateText>[0], 'model'>
  const generate = async (options: Options) => {
    const result = await generateText({ ...quiet, model: provider(MODEL), ...options } as Parameters<typeof generateText>[0])
    const { text, reasoningText, finishReason, totalUsage, response } = result
    return { text, reasoningText, finishReason, usage: totalUsage, messages: response.messages as ModelMessage[] }
  }
  const stream = async (options: Options) => {
    const failures: unknown[] = []
    const onError = ({ error }: { error: unknown }): void => void failures.push(error)
    const result = streamText({ ...quiet, onError, model: provider(MODEL), ...options } as Parameters<typeof streamText>[0])
    await result.consumeStream({ onError: () => undefined })
    if (failures.length > 0) throw failures[0]
    return {
      text: await result.text,
      reasoningText: await result.reasoningText,
      finishReason: await result.finishReason,
      usage: await result.totalUsage,
      messages: (await result.response).messages as ModelMessage[],
    }
  }

  describe.each([
    ['generateText', generate],
    ['streamText', stream],
  ] as const)('by %s', (way, ask) => {
    it('plain text with usage', async () => {
      stage.says({ text: ['Hello ', 'world'] })
      const { input, cached, output, reasoning } = TURN_USAGE
      expect(await ask({ prompt: 'Hi', instructions: 'Be brief' })).toMatchObject({
        text: 'Hello world',
        finishReason: 'stop',
        usage: {
          inputTokens: input,
          outputTokens: output,
          inputTokenDetails: { cacheReadTokens: cached },
          outputTokenDetails: { reasoningTokens: reasoning },
        },
      })
      expect(stage.heard()[0]!.system).toBe('Be brief')
    })
    it('reasoning, and a second turn after it', async () => {
      stage.says({ reasoning: 'Let me think.', text: ['42'] }, { text: ['Because.'] })
      const question: ModelMessage = { role: 'user', content: 'What?' }
      const first = await ask({ messages: [question] })
      // It shows raw reasoning text, and summaries only of whole answers.
      if (dialect === 'openai-chat') expect(first.reasoningText).toBe('Let me think.')
      expect((await ask({ messages: [question, ...first.messages, { role: 'user', content: 'Why?' }] })).text).toBe('Because.')
      expect(JSON.stringify(stage.heard()[1]!.body)).toContain('"42"')
    })
    it('a multi-step loop of parallel tool calls', async () => {
      stage.says(...WEATHER_TURNS)
      const answer = await ask({ prompt: 'How is the weather in Bern and Oslo?', tools: { weather }, stopWhen: isStepCount(5) })
      expect(answer).toMatchObject({ text: 'Bern is sunny, Oslo is sunny.', finishReason: 'stop' })
      expectWeatherLoop(stage)
    })
    it('structured output', async () => {
      stage.says({ text: ['{"city":"Bern",', '"degrees":21}'] })
      const output = Output.object({ schema: z.object({ city: z.string(), degrees: z.number() }) })
      expect(JSON.parse((await ask({ prompt: 'Bern?', output })).text)).toEqual({ city: 'Bern', degrees: 21 })
      expect(stage.heard()[0]!.schema).toMatchObject({ type: 'object', required: ['city', 'degrees'] })
    })
    it('an image', async () => {
      stage.says({ text: ['A pixel'] })
      await ask({
        messages: [
          {
            role: 'user',
            content: [
              { type: 'file', data: PIXEL.split(',')[1]!, mediaType: 'image/png' },
              { type: 'text', text: 'What?' },
            ],
          },
        ],
      })
      expect(stage.heard()[0]!.images).toEqual([PIXEL])
    })
    it.each([
      ['length', 'length'],
      ['content_filter', 'content-filter'],
    ] as const)('an answer cut by %s', async (finish, finishReason) => {
      stage.says({ text: ['Once upon'], finish })
      expect(await ask({ prompt: 'A story', maxOutputTokens: 16 })).toMatchObject({ text: 'Once upon', finishReason })
    })
    it.each(UPSTREAM_ERRORS)('$name, before the stream, as its typed error', async ({ upstream, status: expected }) => {
      stage.says(status(upstream, { error: { message: 'No luck', type: 'x' } }))
      const error: unknown = await ask({ prompt: 'Hi' }).catch((thrown: unknown) => thrown)
      expect(APICallError.isInstance(error)).toBe(true)
      expect(error).toMatchObject({ statusCode: expected, isRetryable: expected !== 400 })
    })
    it('a failure after the text has begun', async () => {
      stage.says({ text: ['Half an '], fails: 'The engine broke down' })
      const error: unknown = await ask({ prompt: 'Hi' }).catch((thrown: unknown) => thrown)
      // The error's code is an integer in the contract but a string to this client, which therefore keeps the body and reports only the status.
      if (way === 'generateText') expect(error).toMatchObject({ statusCode: 502, responseBody: expect.stringContaining('The engine broke down') })
      else expect(error instanceof Error ? error.message : JSON.stringify(error)).toContain('The engine broke down')
    })
  })

  it('a refusal in a stream, which it leaves out without breaking (in whole answers it breaks on every refusal, whoever sends it)', async () => {
    stage.says({ refusal: 'No.' })
    expect(await stream({ prompt: 'Hi' })).toMatchObject({ text: '', finishReason: 'stop' })
  })

  it.each(['before the first token', 'in the middle of the text'])('an abort reaches the upstream within 100 ms %s', async (when) => {
    stage.says(when === 'before the first token' ? silence() : hesitates(dialect, { text: ['Well, '] }))
    const controller = new AbortController()
    const { fullStream } = streamText({ ...quiet, model: provider(MODEL), prompt: 'Hi', abortSignal: controller.signal, onError: () => undefined })
    let at = 0
    const leave = (): void => {
      at = performance.now()
      controller.abort()
    }
    const read = (async () => {
      for await (const part of fullStream) if (part.type === 'text-delta') leave()
    })()
    await arrived(stage)
    if (when === 'before the first token') leave()
    expect((await stage.hungUp()) - at).toBeLessThan(100)
    await read.catch(() => undefined)
  })
})
