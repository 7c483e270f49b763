import { describe, expect, it } from 'vitest'
import { dialects } from '../dialects/index.ts'
import { googleAiStudio } from './google-ai-studio.ts'
import { googleVertex } from './google-vertex.ts'
import { openai } from './openai.ts'

/** USD per million tokens of input and output: as listed, and in priority (https://openai.com/api-priority-processing/). */
const LISTED: readonly (readonly [model: string, listed: readonly number[], priority: readonly number[]])[] = [
  ['gpt-5.5', [5, 30], [12.5, 75]],
  ['gpt-5.4', [2.5, 15], [5, 30]],
  ['gpt-5.4-mini', [0.75, 4.5], [1.5, 9]],
  ['gpt-5.2', [1.75, 14], [3.5, 28]],
  ['gpt-5.1-codex', [1.25, 10], [2.5, 20]],
  ['gpt-5-2025-08-07', [1.25, 10], [2.5, 20]],
  ['gpt-5-mini', [0.25, 2], [0.45, 3.6]],
  ['gpt-4.1', [2, 8], [3.5, 14]],
  ['gpt-4.1-mini', [0.4, 1.6], [0.7, 2.8]],
  ['gpt-4.1-nano', [0.1, 0.4], [0.2, 0.8]],
  ['gpt-4o', [2.5, 10], [4.25, 17]],
  ['gpt-4o-2024-05-13', [5, 15], [8.75, 26.25]],
  ['gpt-4o-mini', [0.15, 0.6], [0.25, 1]],
  ['o3', [2, 8], [3.5, 14]],
  ['o4-mini', [1.1, 4.4], [2, 8]],
]

describe.each(['openai-responses', 'openai-chat'])("OpenAI's service tiers in the format %s", (name) => {
  const dialect = dialects.get(name)!
  const options = dialect.options.parse(name === openai.dialect ? openai.options : openai.dialectOptions?.[name])
  const factor = (upstreamModel: string, tier: string): number => dialect.tierFactor!(tier, { options, upstreamModel })

  it.each(LISTED)('%s', (model, listed, priority) => {
    expect(listed.map((price) => Number((price * factor(model, 'priority')).toFixed(9)))).toEqual(priority)
    expect(factor(model, 'flex')).toBe(0.5)
    expect([factor(model, 'default'), factor(model, 'scale')]).toEqual([1, 1])
  })
})

it.each([googleAiStudio, googleVertex])("Google's service tiers: half the price, and 75 to 100 % more ($slug)", (provider) => {
  const dialect = dialects.get('gemini')!
  const options = dialect.options.parse(provider.options)
  const factor = (tier: string): number => dialect.tierFactor!(tier, { options, upstreamModel: 'gemini-3-pro' })
  expect([factor('flex'), factor('priority'), factor('default')]).toEqual([0.5, 1.8, 1])
})
