import { APICallError, generateText, isStepCount, type LanguageModel, type ModelMessage, Output, streamText, tool } from 'ai'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { status } from '../../src/testing/fake-upstream.ts'
import { TURN_USAGE } from '../../src/testing/scripted-model.ts'
import { expectWeatherLoop, PIXEL, UPSTREAM_ERRORS, weatherIn, WEATHER_TURNS, type Stage } from './stage.ts'

/** What programs based on the AI SDK do, whichever of its providers connects to the gateway. */

const weather = tool({ description: 'Weather', inputSchema: z.object({ city: z.string() }), execute: ({ city }) => weatherIn(city) })
export const quiet = { maxRetries: 0 }

interface Answered {
  readonly text: string
  readonly finishReason: string
  readonly usage: object
  readonly messages: ModelMessage[]
  readonly steps: number
  readonly warnings: unknown
  readonly reasoningText: string | undefined
}
type Options = Omit<Parameters<typeof generateText>[0], 'model'>
type Ask = (options: Options) => Promise<Answered>

/** The two ways to call a model. */
export function waysToAsk(model: () => LanguageModel): { readonly generate: Ask; readonly stream: Ask } {
  const generate = async (options: Options): Promise<Answered> => {
    const result = await generateText({ ...quiet, model: model(), ...options } as Parameters<typeof generateText>[0])
    const { text, finishReason, totalUsage, response, steps, warnings, reasoningText } = result
    return { text, finishReason, usage: totalUsage, messages: response.messages, steps: steps.length, warnings, reasoningText }
  }
  const stream = async (options: Options): Promise<Answered> => {
    const failures: unknown[] = []
    const onError = ({ error }: { error: unknown }): void => void failures.push(error)
    const result = streamText({ ...quiet, onError, model: model(), ...options } as Parameters<typeof streamText>[0])
    let text = ''
    for await (const part of result.fullStream) if (part.type === 'text-delta') text += part.text
    if (failures.length > 0) throw failures[0]
    expect(text.endsWith(await result.text)).toBe(true)
    return {
      text: await result.text,
      finishReason: await result.finishReason,
      usage: await result.totalUsage,
      messages: (await result.response).messages,
      steps: (await result.steps).length,
      warnings: await result.warnings,
      reasoningText: await result.reasoningText,
    }
  }
  return { generate, stream }
}

/** Tests for every provider and both ways. */
export function casesOfAll(stage: Stage, ask: Ask): void {
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
    if (upstream !== 401) expect((error as Error).message).toContain('No luck')
  })
}
