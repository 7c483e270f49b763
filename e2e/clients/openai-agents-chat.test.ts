import { Agent, type AgentInputItem, ModelRefusalError, OpenAIChatCompletionsModel, Runner, tool } from '@openai/agents'
import OpenAI from 'openai'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { silence, status } from '../../src/testing/fake-upstream.ts'
import { TURN_USAGE } from '../../src/testing/scripted-model.ts'
import { arrived, DIALECTS, expectWeatherLoop, hesitates, MODEL, PIXEL, setStage, UPSTREAM_ERRORS, weatherIn, WEATHER_TURNS } from './stage.ts'
import { verifies } from '../requirements.ts'

/** Converts the chunks to items itself, and the items back to messages. */
const weather = tool({ name: 'weather', description: 'Weather', parameters: z.object({ city: z.string() }), execute: ({ city }) => weatherIn(city) })

describe.each(DIALECTS)(verifies('S2-clients', '@openai/agents by chat completions in front of an upstream of %s'), (dialect) => {
  const stage = setStage(dialect)
  const runner = new Runner({ tracingDisabled: true })
  let model: OpenAIChatCompletionsModel
  beforeAll(() => {
    const client = new OpenAI({ apiKey: stage.gateway().key, baseURL: stage.baseURL(), maxRetries: 0 })
    model = new OpenAIChatCompletionsModel(client, MODEL)
  })

  type AgentOptions = Omit<ConstructorParameters<typeof Agent>[0], 'name' | 'model'>
  type Input = Parameters<Runner['run']>[1]
  const agent = (options: AgentOptions = {}) => new Agent({ name: 'Guide', instructions: 'Be brief', model, ...options })
  const summarise = (result: {
    finalOutput?: unknown
    history: unknown
    lastAgent?: { name: string } | undefined
    rawResponses: readonly { usage: unknown }[]
  }) => ({
    output: result.finalOutput,
    history: result.history as AgentInputItem[],
    by: result.lastAgent?.name,
    usages: result.rawResponses.map(({ usage }) => usage),
  })
  const whole = async (input: Input, options?: AgentOptions, signal?: AbortSignal) =>
    summarise(await runner.run(agent(options), input, signal === undefined ? {} : { signal }))
  const streamed = async (input: Input, options?: AgentOptions, signal?: AbortSignal) => {
    const result = await runner.run(agent(options), input, { stream: true, ...(signal === undefined ? {} : { signal }) })
    let deltas = ''
    for await (const event of result)
      if (event.type === 'raw_model_stream_event' && event.data.type === 'output_text_delta') deltas += event.data.delta
    await result.completed
    if (signal?.aborted === true) throw new Error('aborted')
    if (typeof result.finalOutput === 'string') expect(deltas.endsWith(result.finalOutput)).toBe(true)
    return summarise(result)
  }

  describe.each([
    ['a whole run', whole],
    ['a streamed run', streamed],
  ] as const)('in %s', (_way, ask) => {
    it('plain text with usage', async () => {
      stage.says({ text: ['Hello ', 'world'] })
      const { output, usages } = await ask('Hi')
      expect(output).toBe('Hello world')
      expect(usages).toMatchObject([{ inputTokens: TURN_USAGE.input, outputTokens: TURN_USAGE.output, totalTokens: TURN_USAGE.total }])
      expect(stage.heard()[0]!.system).toBe('Be brief')
    })
    it('a loop of parallel tool calls with reasoning', async () => {
      stage.says(...WEATHER_TURNS)
      expect((await ask('How is the weather in Bern and Oslo?', { tools: [weather] })).output).toBe('Bern is sunny, Oslo is sunny.')
      expectWeatherLoop(stage)
    })
    it('a handoff to another agent, which has the conversation', async () => {
      stage.says({ calls: [{ id: 'call_1', name: 'transfer_to_Poet', arguments: ['{}'] }] }, { text: ['Roses are red.'] })
      const poet = new Agent({ name: 'Poet', instructions: 'Rhyme', model })
      expect(await ask('A poem, please', { handoffs: [poet] })).toMatchObject({ output: 'Roses are red.', by: 'Poet' })
      const [first, second] = stage.heard()
      expect(first!.tools.map(({ name }) => name)).toEqual(['transfer_to_Poet'])
      expect(second).toMatchObject({ system: 'Rhyme', callTurns: [[{ id: 'call_1', name: 'transfer_to_Poet' }]], results: [{ id: 'call_1' }] })
    })
    it('a second run over the history of the first', async () => {
      stage.says({ reasoning: 'Let me think.', text: ['42'] }, { text: ['Because.'] })
      const { history } = await ask('What is the answer?')
      expect((await ask([...history, { role: 'user', content: 'Why?' }])).output).toBe('Because.')
      expect(JSON.stringify(stage.heard()[1]!.body)).toContain('"42"')
    })
    it('structured output', async () => {
      stage.says({ text: ['{"city":"Bern",', '"degrees":21}'] })
      const { output } = await ask('Bern?', { outputType: z.object({ city: z.string(), degrees: z.number() }) as never })
      expect(output).toEqual({ city: 'Bern', degrees: 21 })
      expect(stage.heard()[0]!.schema).toMatchObject({ type: 'object', required: ['city', 'degrees'] })
    })
    it('an image', async () => {
      stage.says({ text: ['A pixel'] })
      const content = [
        { type: 'input_text' as const, text: 'What?' },
        { type: 'input_image' as const, image: PIXEL },
      ]
      await ask([{ role: 'user', content }])
      expect(stage.heard()[0]!.images).toEqual([PIXEL])
    })
    it('an answer cut by length, which this client takes as it is', async () => {
      stage.says({ text: ['Once upon'], finish: 'length' })
      expect((await ask('A story', { modelSettings: { maxTokens: 16 } })).output).toBe('Once upon')
    })
    it('a refusal as its typed error', async () => {
      stage.says({ refusal: 'No.' })
      await expect(ask('Hi')).rejects.toBeInstanceOf(ModelRefusalError)
    })
    it.each(UPSTREAM_ERRORS)('$name, before the stream, as its typed error', async ({ upstream, status: expected }) => {
      stage.says(status(upstream, { error: { message: 'No luck', type: 'x' } }))
      await expect(ask('Hi')).rejects.toMatchObject({ status: expected })
    })
    it('a failure after the text has begun', async () => {
      stage.says({ text: ['Half an '], fails: 'The engine broke down' })
      await expect(ask('Hi')).rejects.toThrow('The engine broke down')
    })
    it.each(['before the first token', 'in the middle of the text'])('an abort reaches the upstream within 100 ms %s', async (when) => {
      stage.says(when === 'before the first token' ? silence() : hesitates(dialect, { text: ['Well, '] }))
      const controller = new AbortController()
      const asked = ask('Hi', {}, controller.signal).catch(() => undefined)
      await arrived(stage)
      await new Promise((resolve) => setTimeout(resolve, 30))
      const at = performance.now()
      controller.abort()
      expect((await stage.hungUp()) - at).toBeLessThan(100)
      await asked
    })
  })
})
