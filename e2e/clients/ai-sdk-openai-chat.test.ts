import { createOpenAI, type OpenAIProvider } from '@ai-sdk/openai'
import { type ModelMessage, streamText } from 'ai'
import { beforeAll, describe, expect, it } from 'vitest'
import { silence } from '../../src/testing/fake-upstream.ts'
import { verifies } from '../requirements.ts'
import { casesOfAll, quiet, waysToAsk } from './ai-sdk-cases.ts'
import { arrived, DIALECTS, hesitates, MODEL, setStage } from './stage.ts'

/** Throws at the first chunk that does not match its schema, and ignores what its schema lacks: reasoning, and errors next to choices. */
describe.each(DIALECTS)(verifies('S2-clients', '@ai-sdk/openai by chat completions in front of an upstream of %s'), (dialect) => {
  const stage = setStage(dialect)
  let provider: OpenAIProvider
  beforeAll(() => {
    provider = createOpenAI({ apiKey: stage.gateway().key, baseURL: stage.baseURL() })
  })

  const { generate, stream } = waysToAsk(() => provider.chat(MODEL))

  describe.each([
    ['generateText', generate],
    ['streamText', stream],
  ] as const)('by %s', (_way, ask) => {
    casesOfAll(stage, ask)

    it('a conversation whose earlier turns come back', async () => {
      stage.says({ reasoning: 'Let me think.', text: ['42'] }, { text: ['Because.'] })
      const question: ModelMessage = { role: 'user', content: 'What is the answer?' }
      const first = await ask({ messages: [question] })
      const second = await ask({ messages: [question, ...first.messages, { role: 'user', content: 'Why?' }] })
      expect(second.text).toBe('Because.')
      expect(JSON.stringify(stage.heard()[1]!.body)).toContain('"42"')
    })

    it('a refusal', async () => {
      stage.says({ refusal: 'No.' })
      expect(await ask({ prompt: 'Hi' })).toMatchObject({ text: 'No.', finishReason: 'content-filter' })
    })
  })

  it('a failure after the text has begun, of a whole answer', async () => {
    stage.says({ text: ['Half an '], fails: 'The engine broke down' })
    const error: unknown = await generate({ prompt: 'Hi' }).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ statusCode: 502, message: expect.stringContaining('The engine broke down') })
  })

  it('a failure after the text has begun, of a stream: ignored in a chunk with choices, reported if it comes in a chunk of its own', async () => {
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
