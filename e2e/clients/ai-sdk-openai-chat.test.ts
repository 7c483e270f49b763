import { createOpenAI, type OpenAIProvider } from '@ai-sdk/openai'
import { APICallError, generateText, isStepCount, type ModelMessage, Output, streamText, tool } from 'ai'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { silence, status } from '../../src/testing/fake-upstream.ts'
import { TURN_USAGE } from '../../src/testing/scripted-model.ts'
import { arrived, DIALECTS, expectWeatherLoop, hesitates, MODEL, PIXEL, setStage, UPSTREAM_ERRORS, weatherIn, WEATHER_TURNS } from './stage.ts'
import { verifies } from '../requirements.ts'

/** Throws at the first chunk that fails its schema, and sees nothing its schema does not have: reasoning, and errors beside choices. */
const weather = tool({ description: 'Weather', inputSchema: z.object({ city: z.string() }), execute: ({ city }) => weatherIn(city) })
const quiet = { maxRetries: 0 }

describe.each(DIALECTS)(verifies('S2-clients', '@ai-sdk/openai by chat completions in front of an upstream of %s'), (dialect) => {
  const stage = setStage(dialect)
  let provider: OpenAIProvider
  beforeAll(() => {
    provider = createOpenAI({ apiKey: stage.gateway().key, baseURL: stage.baseURL() })
  })

  type Options = Omit<Parameters<typeof generateText>[0], 'model'>
  const generate = async (options: Options) => {
    const result = await generateText({ ...quiet, model: provider.chat(MODEL), ...options } as Parameters<typeof generateText>[0])
    const { text, finishReason, totalUsage, response, steps, warnings } = result
    return { text, finishReason, usage: totalUsage, messages: response.messages as ModelMessage[], steps: steps.length, warnings }
  }
  const stream = async (options: Options) => {
    const failures: unknown[] = []
    const onError = ({ error }: { error: unknown }): void => void failures.push(error)
    const result = streamText({ ...quiet, onError, model: provider.chat(MODEL), ...options } as Parameters<typeof streamText>[0])
    let text = ''
    for await (const part of result.fullStream) if (part.type === 'text-delta') text += part.text
    if (failures.length > 0) throw failures[0]
    expect(text.endsWith(await result.text)).toBe(true)
    return {
      text: await result.text,
      finishReason: await result.finishReason,
      usage: await result.totalUsage,
      messages: (await result.response).messages as ModelMessage[],
      steps: (await result.steps).length,
      warnings: await result.warnings,
    }
  }

  describe.each([
    ['generateText', generate],
    ['streamText', stream],
  ] as const)('by %s', (_way, ask) => {
    it('plain text with usage', async () => {
      stage.says({ text: ['Hello ', 'world'] })
      const answer = await ask({ prompt: 'Hi', instructions: 'Be brief' })
      const { input, cached, output, reasoning } = TURN_USAGE
      expect(answer).toMatchObject({
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

    it('a conversation whose earlier turns come back', async () => {
      stage.says({ reasoning: 'Let me think.', text: ['42'] }, { text: ['Because.'] })
      const question: ModelMessage = { role: 'user', content: 'What is the answer?' }
      const first = await ask({ messages: [question] })
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

    it('a refusal', async () => {
      stage.says({ refusal: 'No.' })
      expect(await ask({ prompt: 'Hi' })).toMatchObject({ text: 'No.', finishReason: 'content-filter' })
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
      if (upstream !== 401) expect((error as Error).message).toContain('No luck')
    })
  })

  it('a failure after the text has begun, of a whole answer', async () => {
    stage.says({ text: ['Half an '], fails: 'The engine broke down' })
    const error: unknown = await generate({ prompt: 'Hi' }).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ statusCode: 502, message: expect.stringContaining('The engine broke down') })
  })

  it('a failure after the text has begun, of a stream: passed over in a chunk with choices, told where it comes as one of its own', async () => {
    stage.says({ text: ['Half an '], fails: 'The engine broke down' })
    expect(await stream({ prompt: 'Hi' })).toMatchObject({ text: 'Half an ', finishReason: 'other' })
    const error: unknown = await stream({ prompt: 'Hi', headers: { 'X-Gateway-Error-Event': 'on' } }).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ message: expect.stringContaining('The engine broke down') })
    stage.says({ text: ['whole'] })
    expect(await stream({ prompt: 'Hi', headers: { 'X-Gateway-Error-Event': 'on' } })).toMatchObject({ text: 'whole', finishReason: 'stop' })
  })

  it.each(['before the first token', 'in the middle of the text'])('an abort reaches the upstream within 100 ms %s', async (when) => {
    stage.says(when === 'before the first token' ? silence() : hesitates(dialect, { text: ['Well, '] }))
    const controller = new AbortController()
    const { signal: abortSignal } = controller
    const { fullStream } = streamText({ ...quiet, model: provider.chat(MODEL), prompt: 'Hi', abortSignal, onError: () => undefined })
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
