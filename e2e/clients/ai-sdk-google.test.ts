import { createGoogleGenerativeAI, type GoogleGenerativeAIProvider } from '@ai-sdk/google'
import { type ModelMessage, streamText } from 'ai'
import { beforeAll, describe, expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { casesOfAll, quiet, waysToAsk } from './ai-sdk-cases.ts'
import { arrived, DIALECTS, hesitates, MODEL, setStage } from './stage.ts'

/** A client of generateContent that validates every chunk against a schema. */
describe.each(DIALECTS)(verifies('S2-clients', '@ai-sdk/google in front of an upstream of %s'), (dialect) => {
  const stage = setStage(dialect)
  let provider: GoogleGenerativeAIProvider
  beforeAll(() => {
    provider = createGoogleGenerativeAI({ apiKey: stage.gateway().key, baseURL: `${stage.gateway().url}/api/v1beta` })
  })

  const { generate, stream } = waysToAsk(() => provider(MODEL))

  describe.each([
    ['generateText', generate],
    ['streamText', stream],
  ] as const)('by %s', (_way, ask) => {
    casesOfAll(stage, ask)

    it('a conversation whose earlier turns come back, with thoughts that are shown', async () => {
      stage.says({ reasoning: 'Let me think.', text: ['42'] }, { text: ['Because.'] })
      const question: ModelMessage = { role: 'user', content: 'What is the answer?' }
      const first = await ask({ messages: [question], providerOptions: { google: { thinkingConfig: { includeThoughts: true } } } })
      expect(first.reasoningText).toBe('Let me think.')
      const second = await ask({ messages: [question, ...first.messages, { role: 'user', content: 'Why?' }] })
      expect(second.text).toBe('Because.')
      expect(JSON.stringify(stage.heard()[1]!.body)).toContain('"42"')
    })
  })

  it('a stream that breaks is no answer', async () => {
    stage.says({ text: ['Once upon'], fails: 'Out of ideas' })
    await expect(stream({ prompt: 'A story' })).rejects.toThrow()
  })

  it('a client that disconnects frees the upstream', async () => {
    stage.says(hesitates(dialect, { text: ['Once upon '] }))
    const leave = new AbortController()
    const result = streamText({ ...quiet, model: provider(MODEL), prompt: 'A story', abortSignal: leave.signal, onError: () => undefined })
    void result.consumeStream({ onError: () => undefined })
    await arrived(stage)
    leave.abort()
    expect(await stage.hungUp()).toBeGreaterThan(0)
  })
})
