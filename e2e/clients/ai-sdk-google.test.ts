import { createGoogleGenerativeAI, type GoogleGenerativeAIProvider } from '@ai-sdk/google'
import { APICallError, generateText, isStepCount, type ModelMessage, Output, streamText, tool } from 'ai'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { status } from '../../src/testing/fake-upstream.ts'
import { TURN_USAGE } from '../../src/testing/scripted-model.ts'
import { verifies } from '../requirements.ts'
import { arrived, DIALECTS, expectWeatherLoop, hesitates, MODEL, PIXEL, setStage, UPSTREAM_ERRORS, weatherIn, WEATHER_TURNS } from './stage.ts'

/** A client of generateContent that checks every chunk against a schema. */
const weather = tool({ description: 'Weather', inputSchema: z.object({ city: z.string() }), execute: ({ city }) => weatherIn(city) })
const quiet = { maxRetries: 0 }

describe.each(DIALECTS)(verifies('S2-clients', '@ai-sdk/google in front of an upstream of %s'), (dialect) => {
  const stage = setStage(dialect)
  let provider: GoogleGenerativeAIProvider
  beforeAll(() => {
    provider = createGoogleGenerativeAI({ apiKey: stage.gateway().key, baseURL: `${stage.gateway().url}/api/v1beta` })
  })

  type Options = Omit<Parameters<typeof generateText>[0], 'model'>
  const generate = async (options: Options) => {
    const result = await generateText({ ...quiet, model: provider(MODEL), ...options } as Parameters<typeof generateText>[0])
    const { text, finishReason, totalUsage, response, steps, reasoningText } = result
    return { text, finishReason, usage: totalUsage, messages: response.messages as ModelMessage[], steps: steps.length, reasoningText }
  }
  const stream = async (options: Options) => {
    const failures: unknown[] = []
    const onError = ({ error }: { error: unknown }): void => void failures.push(error)
    const result = streamText({ ...quiet, onError, model: provider(MODEL), ...options } as Parameters<typeof streamText>[0])
    for await (const part of result.fullStream) if (part.type === 'error') failures.push(part.error)
    if (failures.length > 0) throw failures[0]
    return {
      text: await result.text,
      finishReason: await result.finishReason,
      usage: await result.totalUsage,
      messages: (await result.response).messages as ModelMessage[],
      steps: (await result.steps).length,
      reasoningText: await result.reasoningText,
    }
  }

  describe.each([
    ['generateText', generate],
    ['streamText', stream],
  ] as const)('by %s', (_way, ask) => {
    it('plain text with usage', async () => {
      stage.says({ text: ['Hello ', 'world ✓', '\n"quoted"'] })
      const answer = await ask({ prompt: 'Hi', instructions: 'Be brief' })
      const { input, cached, output, reasoning } = TURN_USAGE
      expect(answer).toMatchObject({
        text: 'Hello world ✓\n"quoted"',
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

    it('a multi-step loop of parallel tool calls', async () => {
      stage.says(...WEATHER_TURNS)
      const answer = await ask({ prompt: 'How is the weather in Bern and Oslo?', tools: { weather }, stopWhen: isStepCount(5) })
      expect(answer).toMatchObject({ text: 'Bern is sunny, Oslo is sunny.', finishReason: 'stop', steps: 2 })
      expectWeatherLoop(stage)
    })

    it('text before the calls of a turn, and a tool that has to be called', async () => {
      stage.says({ text: ['Let me see.'], calls: WEATHER_TURNS[0]!.calls! })
      const answer = await ask({ prompt: 'Bern?', tools: { weather }, toolChoice: { type: 'tool', toolName: 'weather' } })
      expect(answer).toMatchObject({ text: 'Let me see.', finishReason: 'tool-calls', steps: 1 })
      expect(JSON.stringify(stage.heard()[0]!.body['tool_choice'])).toContain('weather')
    })

    it('a conversation whose earlier turns come back, with thoughts that are shown', async () => {
      stage.says({ reasoning: 'Let me think.', text: ['42'] }, { text: ['Because.'] })
      const question: ModelMessage = { role: 'user', content: 'What is the answer?' }
      const first = await ask({ messages: [question], providerOptions: { google: { thinkingConfig: { includeThoughts: true } } } })
      expect(first.reasoningText).toBe('Let me think.')
      const second = await ask({ messages: [question, ...first.messages, { role: 'user', content: 'Why?' }] })
      expect(second.text).toBe('Because.')
      expect(JSON.stringify(stage.heard()[1]!.body)).toContain('"42"')
    })

    it('structured output', async () => {
      const schema = z.object({ city: z.string(), degrees: z.number() })
      stage.says({ text: ['{"city":"Bern",', '"degrees":21}'] })
      expect(JSON.parse((await ask({ prompt: 'Bern?', output: Output.object({ schema }) })).text)).toEqual({ city: 'Bern', degrees: 21 })
      expect(stage.heard()[0]!.schema).toMatchObject({ type: 'object', required: ['city', 'degrees'] })
    })

    it('an image', async () => {
      stage.says({ text: ['A pixel'] })
      const picture = { type: 'file' as const, data: PIXEL.split(',')[1]!, mediaType: 'image/png' }
      await ask({ messages: [{ role: 'user', content: [picture, { type: 'text', text: 'What?' }] }] })
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
  })

  it('a stream that breaks is no answer', async () => {
    stage.says({ text: ['Once upon'], fails: 'Out of ideas' })
    await expect(stream({ prompt: 'A story' })).rejects.toThrow()
  })

  it('who hangs up frees the upstream', async () => {
    stage.says(hesitates(dialect, { text: ['Once upon '] }))
    const leave = new AbortController()
    const result = streamText({ ...quiet, model: provider(MODEL), prompt: 'A story', abortSignal: leave.signal, onError: () => undefined })
    void result.consumeStream({ onError: () => undefined })
    await arrived(stage)
    leave.abort()
    expect(await stage.hungUp()).toBeGreaterThan(0)
  })
})
