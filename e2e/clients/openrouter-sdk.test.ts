import { OpenRouter } from '@openrouter/sdk'
import type { OpenResponsesResult, ResponsesRequest, StreamEvents } from '@openrouter/sdk/models'
import * as errors from '@openrouter/sdk/models/errors'
import { beforeAll, describe, expect, it } from 'vitest'
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
import { expectKnown } from './expect-known.ts'
import { verifies } from '../requirements.ts'

/**
 * The strictest client regarding presence and types, and a silent one: whatever does not match its schema becomes UNKNOWN and loses its content. Therefore
 * these tests search every event and every answer for that.
 */
type Body = Omit<ResponsesRequest, 'stream'>

describe.each(DIALECTS)(verifies('S2-clients', 'P44', '@openrouter/sdk in front of an upstream of %s'), (dialect) => {
  const stage = setStage(dialect)
  let client: OpenRouter
  beforeAll(() => {
    client = new OpenRouter({ apiKey: stage.gateway().key, serverURL: stage.baseURL(), retryConfig: { strategy: 'none' } })
  })

  async function collect(body: Body): Promise<StreamEvents[]> {
    const events: StreamEvents[] = []
    const stream = (await client.beta.responses.send({ responsesRequest: { ...body, stream: true } })) as AsyncIterable<StreamEvents>
    for await (const event of stream) {
      expectKnown(event)
      events.push(event)
    }
    return events
  }
  const create = async (body: Body): Promise<OpenResponsesResult> => {
    const answer = (await client.beta.responses.send({ responsesRequest: { ...body, stream: false } })) as OpenResponsesResult
    expectKnown(answer)
    return answer
  }
  const streamed = async (body: Body): Promise<OpenResponsesResult> => {
    const last = (await collect(body)).at(-1)!
    if (!('response' in last)) throw new Error(`the last event is ${last.type}`)
    return last.response
  }

  describe.each([
    ['create', create],
    ['stream', streamed],
  ] as const)('by %s', (way, ask) => {
    it('plain text with usage', async () => {
      stage.says({ text: ['Hello ', 'world'] })
      const answer = await ask({ model: MODEL, input: 'Hi', instructions: 'Be brief' })
      expect(answer).toMatchObject({ status: 'completed', output: [{ type: 'message', content: [{ type: 'output_text', text: 'Hello world' }] }] })
      const { input, cached, output, reasoning, total } = TURN_USAGE
      expect(answer.usage).toMatchObject({
        inputTokens: input,
        outputTokens: output,
        totalTokens: total,
        inputTokensDetails: { cachedTokens: cached },
        outputTokensDetails: { reasoningTokens: reasoning },
      })
      expect(answer.usage?.cost).toBeGreaterThan(0)
    })
    it('reasoning, which goes back as it came', async () => {
      stage.says({ reasoning: 'Let me think.', text: ['42'] }, { text: ['Because.'] })
      const first = await ask({ model: MODEL, input: 'What?' })
      expect(first.output.map(({ type }) => type)).toEqual(['reasoning', 'message'])
      const again = await ask({
        model: MODEL,
        input: [{ role: 'user', content: 'What?' }, ...(first.output as never[]), { role: 'user', content: 'Why?' }],
      })
      expect(again.output).toHaveLength(1)
    })
    it('a loop of parallel tool calls', async () => {
      stage.says(...WEATHER_TURNS)
      const tools: Body['tools'] = [{ type: 'function', name: 'weather', parameters: { ...WEATHER_SCHEMA }, strict: true }]
      const question = { role: 'user' as const, content: 'How is the weather in Bern and Oslo?' }
      const first = await ask({ model: MODEL, input: [question], tools })
      const calls = first.output.filter((item) => item.type === 'function_call')
      const results = calls.map((call) => {
        const { callId, arguments: args } = call as { callId: string; arguments: string }
        return { type: 'function_call_output' as const, callId, output: weatherIn((JSON.parse(args) as { city: string }).city) }
      })
      await ask({ model: MODEL, input: [question, ...(first.output as never[]), ...results], tools })
      expectWeatherLoop(stage)
    })
    it('structured output', async () => {
      stage.says({ text: ['{"city":"Bern"}'] })
      const format = { type: 'json_schema' as const, name: 'report', schema: { ...WEATHER_SCHEMA }, strict: true }
      await ask({ model: MODEL, input: 'Where?', text: { format } })
      expect(stage.heard()[0]!.schema).toEqual(WEATHER_SCHEMA)
    })
    it('an image', async () => {
      stage.says({ text: ['A pixel'] })
      await ask({ model: MODEL, input: [{ role: 'user', content: [{ type: 'input_image', imageUrl: PIXEL, detail: 'auto' }] }] })
      expect(stage.heard()[0]!.images).toEqual([PIXEL])
    })
    it('a refusal', async () => {
      stage.says({ refusal: 'No.' })
      expect(await ask({ model: MODEL, input: 'Hi' })).toMatchObject({ output: [{ content: [{ type: 'refusal', refusal: 'No.' }] }] })
    })
    it('an answer cut by length', async () => {
      stage.says({ text: ['Once upon'], finish: 'length' })
      const answer = await ask({ model: MODEL, input: 'A story', maxOutputTokens: 16 })
      expect(answer).toMatchObject({ status: 'incomplete', incompleteDetails: { reason: 'max_output_tokens' } })
    })
    it.each(UPSTREAM_ERRORS)('$name, before the stream, as its typed error', async ({ upstream, status: expected, message }) => {
      stage.says(status(upstream, { error: { message, type: 'x' } }))
      const classes = {
        400: errors.BadRequestResponseError,
        429: errors.TooManyRequestsResponseError,
        503: errors.ServiceUnavailableResponseError,
        502: errors.BadGatewayResponseError,
      }
      const error: unknown = await ask({ model: MODEL, input: 'Hi' }).catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(classes[expected])
      expect((error as errors.BadRequestResponseError).error.code).toBe(expected)
    })
    it("the gateway's own refusals as typed errors", async () => {
      await expect(ask({ model: 'nobody/nothing', input: 'Hi' })).rejects.toBeInstanceOf(errors.NotFoundResponseError)
      await expect(ask({ model: MODEL, input: 'Hi', temperature: 7 })).rejects.toBeInstanceOf(errors.BadRequestResponseError)
      await expect(ask({ model: MODEL, input: 'Hi', toolChoice: { type: 'function', name: 'x' } })).rejects.toBeInstanceOf(
        errors.UnprocessableEntityResponseError,
      )
      const stranger = new OpenRouter({ apiKey: 'sk-sb-v1-unknown', serverURL: stage.baseURL(), retryConfig: { strategy: 'none' } })
      const refused = stranger.beta.responses.send({ responsesRequest: { model: MODEL, input: 'Hi' } })
      await expect(refused).rejects.toBeInstanceOf(errors.UnauthorizedResponseError)
    })
    it('a failure after the text has begun', async () => {
      stage.says({ text: ['Half an '], fails: 'The engine broke down' })
      const asked = ask({ model: MODEL, input: 'Hi' })
      if (way === 'create') await expect(asked).rejects.toBeInstanceOf(errors.BadGatewayResponseError)
      else expect(await asked).toMatchObject({ status: 'failed', error: { code: 'server_error' }, output: [{ content: [{ text: 'Half an ' }] }] })
    })
  })

  it('events of every kind a plain answer has', async () => {
    stage.says({ reasoning: 'Hm.', text: ['a', 'b'], calls: WEATHER_TURNS[0]!.calls! })
    const types = (await collect({ model: MODEL, input: 'Hi', tools: [{ type: 'function', name: 'weather', parameters: {} }] })).map(
      ({ type }) => type,
    )
    const thinking = dialect === 'openai-chat' ? 'response.reasoning_text' : 'response.reasoning_summary_text'
    for (const type of [
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      `${thinking}.delta`,
      `${thinking}.done`,
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'response.output_item.done',
      'response.completed',
    ]) {
      expect(types).toContain(type)
    }
  })

  it('routing metadata under the names this client knows', async () => {
    stage.says({ text: ['Hi'] })
    const request = { xOpenRouterMetadata: 'enabled' as const, responsesRequest: { model: MODEL, input: 'Hi' } }
    const answer = (await client.beta.responses.send(request)) as OpenResponsesResult
    expectKnown(answer)
    expect(answer.openrouterMetadata).toMatchObject({ requested: MODEL, attempt: 1, attempts: [{ status: 200 }] })
  })

  it('the endpoints of a model', async () => {
    const { data } = await client.endpoints.list({ author: 'acme', slug: 'small' })
    expect(data.endpoints.length).toBeGreaterThan(0)
    expect(data.endpoints[0]!.supportsToolChoice).toEqual({ auto: true, function: true, none: true, required: true })
  })

  it('an abort reaches the upstream within 100 ms', async () => {
    const controller = new AbortController()
    const fetchOptions = { signal: controller.signal }
    stage.says(silence())
    const waiting = client.beta.responses.send({ responsesRequest: { model: MODEL, input: 'Hi' } }, { fetchOptions })
    const outcome = waiting.catch((thrown: unknown) => thrown)
    await arrived(stage)
    const at = performance.now()
    controller.abort()
    expect((await stage.hungUp()) - at).toBeLessThan(100)
    expect(await outcome).toBeInstanceOf(Error)
  })
  it('leaving a stream in the middle reaches the upstream within 100 ms', async () => {
    stage.says(hesitates(dialect, { text: ['Well, '] }))
    const events = (await client.beta.responses.send({
      responsesRequest: { model: MODEL, input: 'Hi', stream: true },
    })) as AsyncIterable<StreamEvents>
    let at = 0
    for await (const event of events) {
      if (event.type !== 'response.output_text.delta') continue
      at = performance.now()
      break
    }
    expect((await stage.hungUp()) - at).toBeLessThan(100)
  })
})
