import { createOpenAI, type OpenAIProvider } from '@ai-sdk/openai'
import { APICallError, generateText, isStepCount, type ModelMessage, Output, streamText, tool } from 'ai'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { silence, status } from '../../src/testing/fake-upstream.ts'
import { TURN_USAGE } from '../../src/testing/scripted-model.ts'
import { arrived, DIALECTS, expectWeatherLoop, hesitates, MODEL, PIXEL, setStage, UPSTREAM_ERRORS, weatherIn, WEATHER_TURNS } from './stage.ts'
import { verifies } from '../requirements.ts'

/**
 * With its default settings this client assumes that the server stores answers: it sends earlier reasoning and text back only by id. These tests keep that
 * setting unless they say otherwise.
 */
const weather = tool({ description: 'Weather', inputSchema: z.object({ city: z.string() }), execute: ({ city }) => weatherIn(city) })
const quiet = { maxRetries: 0 }

describe.each(DIALECTS)(verifies('S2-clients', '@ai-sdk/openai in front of an upstream of %s'), (dialect) => {
  const stage = setStage(dialect)
  let provider: OpenAIProvider
  const sent: string[] = []
  beforeAll(() => {
    const recording = (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
      if (typeof init?.body === 'string') sent.push(init.body)
      return fetch(input, init)
    }
    provider = createOpenAI({ apiKey: stage.gateway().key, baseURL: stage.baseURL(), fetch: recording })
  })

  type Options = Omit<Parameters<typeof generateText>[0], 'model'>
  const generate = async (options: Options) => {
    const result = await generateText({ ...quiet, model: provider(MODEL), ...options } as Parameters<typeof generateText>[0])
    const { text, reasoningText, finishReason, totalUsage, response, warnings } = result
    return { text, reasoningText, finishReason, usage: totalUsage, messages: response.messages as ModelMessage[], warnings }
  }
  const stream = async (options: Options) => {
    const failures: unknown[] = []
    const onError = ({ error }: { error: unknown }): void => void failures.push(error)
    const result = streamText({ ...quiet, onError, model: provider(MODEL), ...options } as Parameters<typeof streamText>[0])
    let text = ''
    for await (const part of result.fullStream) if (part.type === 'text-delta') text += part.text
    if (failures.length > 0) throw failures[0]
    expect(text.endsWith(await result.text)).toBe(true)
    return {
      text: await result.text,
      reasoningText: await result.reasoningText,
      finishReason: await result.finishReason,
      usage: await result.totalUsage,
      messages: (await result.response).messages as ModelMessage[],
      warnings: await result.warnings,
    }
  }

  describe.each([
    ['generateText', generate],
    ['streamText', stream],
  ] as const)('by %s', (way, ask) => {
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
      expect(answer).toMatchObject({ text: 'Bern is sunny, Oslo is sunny.', finishReason: 'stop' })
      expectWeatherLoop(stage)
    })

    it('a conversation whose earlier turns come back by reference, reasoning included', async () => {
      stage.says({ reasoning: 'Let me think.', text: ['42'] }, { text: ['Because.'] })
      const providerOptions = { openai: { forceReasoning: true } }
      const question: ModelMessage = { role: 'user', content: 'What is the answer?' }
      const first = await ask({ messages: [question], providerOptions })
      const second = await ask({ messages: [question, ...first.messages, { role: 'user', content: 'Why?' }], providerOptions })
      expect(second.text).toBe('Because.')
      const types = (JSON.parse(sent.at(-1)!) as { input: { type?: string }[] }).input.map(({ type }) => type)
      expect(types).toEqual([undefined, 'item_reference', 'item_reference', undefined])
      const replayed = JSON.stringify(stage.heard()[1]!.body)
      expect(replayed).toContain('"42"')
      // If the format can contain reasoning of a finished turn, the encrypted content is sent back to the party that created it.
      if (dialect === 'openai-responses') expect(replayed).toContain('gAAAA-upstream')
      expect(replayed).not.toContain('item_reference')
    })

    it('the same with store: false, whole items and no reference', async () => {
      stage.says({ reasoning: 'Let me think.', text: ['42'] }, { text: ['Because.'] })
      const providerOptions = { openai: { store: false, forceReasoning: true, include: ['reasoning.encrypted_content' as const] } }
      const question: ModelMessage = { role: 'user', content: 'What is the answer?' }
      const first = await ask({ messages: [question], providerOptions })
      await ask({ messages: [question, ...first.messages, { role: 'user', content: 'Why?' }], providerOptions })
      expect(sent.at(-1)).not.toContain('item_reference')
      const replayed = JSON.stringify(stage.heard()[1]!.body)
      expect(replayed).toContain('"42"')
      if (dialect === 'openai-responses') expect(replayed).toContain('gAAAA-upstream')
    })

    it('structured output', async () => {
      const schema = z.object({ city: z.string(), degrees: z.number() })
      stage.says({ text: ['{"city":"Bern",', '"degrees":21}'] })
      expect(JSON.parse((await ask({ prompt: 'Bern?', output: Output.object({ schema }) })).text)).toEqual({ city: 'Bern', degrees: 21 })
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

    it('a refusal, which it reads without an error', async () => {
      stage.says({ refusal: 'No.' })
      expect(['', 'No.']).toContain((await ask({ prompt: 'Hi' })).text)
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
      if (way === 'generateText') expect(error).toMatchObject({ statusCode: 502 })
      expect(JSON.stringify(error instanceof Error ? error.message : error)).toContain('The engine broke down')
    })
  })

  it('shows reasoning summaries', async () => {
    stage.says({ reasoning: 'Let me think.', text: ['42'] })
    const { reasoningText } = await stream({ prompt: 'What?' })
    // This client shows summaries but no raw reasoning text.
    expect(reasoningText || undefined).toBe(dialect === 'openai-responses' ? 'Let me think.' : undefined)
  })

  it('a reference to an item the gateway has never seen is a 400 that says what to send', async () => {
    stage.says({ text: ['unreached'] })
    const foreign = { type: 'text' as const, text: 'Hello', providerOptions: { openai: { itemId: 'msg_of_someone_else' } } }
    const error: unknown = await generate({
      messages: [
        { role: 'assistant', content: [foreign] },
        { role: 'user', content: 'Hi' },
      ],
    }).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ statusCode: 400, message: expect.stringContaining('send store: false, or the whole items') })
    expect(stage.heard()).toEqual([])
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
