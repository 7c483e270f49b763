import { expect, it } from 'vitest'
import { decodeUsage } from './usage.ts'

it('tokens of a modality that is named more than once are added up', () => {
  const usage = decodeUsage({
    promptTokenCount: 100,
    candidatesTokenCount: 40,
    totalTokenCount: 140,
    promptTokensDetails: [
      { modality: 'AUDIO', tokenCount: 30 },
      { modality: 'TEXT', tokenCount: 50 },
      { modality: 'AUDIO', tokenCount: 20 },
      { modality: 'AUDIO' },
    ],
    candidatesTokensDetails: [
      { modality: 'IMAGE', tokenCount: 10 },
      { modality: 'IMAGE', tokenCount: 15 },
    ],
  })
  expect(usage).toMatchObject({ inputTokens: 100, audioInputTokens: 50, imageOutputTokens: 25 })
})
