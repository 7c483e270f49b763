import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalName, createNamingIndex } from './canonical-slug.ts'

const naming = createNamingIndex([
  'anthropic/claude-3.5-haiku',
  'anthropic/claude-opus-4',
  'anthropic/claude-sonnet-4.5',
  'deepseek/deepseek-chat',
  'deepseek/deepseek-v3.2',
  'google/gemma-2-9b-it',
  'meta-llama/llama-3.1-405b',
  'meta-llama/llama-3.1-405b-instruct',
  'meta-llama/llama-3.1-8b-instruct',
  'meta-llama/llama-3.3-70b-instruct',
  'meta-llama/llama-4-maverick',
  'mistralai/mistral-large-2512',
  'moonshotai/kimi-k2.5',
  'openai/gpt-4o',
  'openai/gpt-4o-2024-05-13',
  'openai/gpt-5',
  'openai/gpt-oss-120b',
  'qwen/qwen3-32b',
  'x-ai/grok-4.20',
  'z-ai/glm-4.7',
  'z-ai/glm-5',
  'z-ai/glm-5-turbo',
])
const slugOf = (id: string, author = 'acme') => canonicalName(id, author, naming).slug

describe('one model, many spellings', () => {
  test.each([
    ['gpt-5', 'openai/gpt-5'],
    ['openai/gpt-oss-120b', 'openai/gpt-oss-120b'],
    ['@cf/openai/gpt-oss-120b', 'openai/gpt-oss-120b'],
    ['openai.gpt-oss-120b-1:0', 'openai/gpt-oss-120b'],
    ['llama-3.3-70b-versatile', 'meta-llama/llama-3.3-70b-instruct'],
    ['meta-llama/Llama-3.3-70B-Instruct-Turbo', 'meta-llama/llama-3.3-70b-instruct'],
    ['Meta-Llama-3_3-70B-Instruct', 'meta-llama/llama-3.3-70b-instruct'],
    ['us.meta.llama3-3-70b-instruct-v1:0', 'meta-llama/llama-3.3-70b-instruct'],
    ['llama-v3p1-8b-instruct', 'meta-llama/llama-3.1-8b-instruct'],
    ['@cf/meta/llama-3.1-8b-instruct-fp8', 'meta-llama/llama-3.1-8b-instruct'],
    ['Meta-Llama-3.1-405B-Instruct-Turbo', 'meta-llama/llama-3.1-405b-instruct'],
    ['meta-llama/llama-4-maverick-17b-128e-instruct', 'meta-llama/llama-4-maverick'],
    ['claude-sonnet-4-5-20250929', 'anthropic/claude-sonnet-4.5'],
    ['global.anthropic.claude-sonnet-4-5-20250929-v1:0', 'anthropic/claude-sonnet-4.5'],
    ['claude-3-5-haiku-latest', 'anthropic/claude-3.5-haiku'],
    ['claude-opus-4-0', 'anthropic/claude-opus-4'],
    ['deepseek-v3p2', 'deepseek/deepseek-v3.2'],
    ['deepseek-ai/DeepSeek-V3.2', 'deepseek/deepseek-v3.2'],
    ['kimi-k2p5', 'moonshotai/kimi-k2.5'],
    ['Qwen/Qwen3-32B', 'qwen/qwen3-32b'],
    ['qwen-3-32b', 'qwen/qwen3-32b'],
    ['zai-glm-4.7', 'z-ai/glm-4.7'],
    ['zai-org/GLM-4.7-FP8', 'z-ai/glm-4.7'],
    ['gemma2-9b-it', 'google/gemma-2-9b-it'],
    ['mistral-large-2512', 'mistralai/mistral-large-2512'],
    ['grok-4.20', 'x-ai/grok-4.20'],
  ])('%s is %s', (id, slug) => expect(slugOf(id)).toBe(slug))
})

describe('different models stay apart', () => {
  test.each([
    ['gpt-4o-2024-05-13', 'openai/gpt-4o-2024-05-13'],
    ['gpt-4o-2024-08-06', 'openai/gpt-4o'],
    ['meta-llama/llama-3.1-405b', 'meta-llama/llama-3.1-405b'],
    ['GLM-5', 'z-ai/glm-5'],
    ['GLM-5-Turbo', 'z-ai/glm-5-turbo'],
    ['kimi-k2p5-fast', 'moonshotai/kimi-k2.5-fast'],
  ])('%s is %s', (id, slug) => expect(slugOf(id)).toBe(slug))
})

test('an id of no known family belongs to its vendor', () => {
  expect(slugOf('frobnicator-9000', 'acme')).toBe('acme/frobnicator-9000')
  expect(slugOf('Some-Org/Thing-7B', 'acme')).toBe('some-org/thing-7b')
})

test('a variant is split off, a colon of another kind is not', () => {
  expect(canonicalName('meta-llama/llama-3.3-70b-instruct:free', 'acme', naming)).toEqual({
    slug: 'meta-llama/llama-3.3-70b-instruct',
    variant: 'free',
  })
  expect(canonicalName('llama3.2:3b', 'acme', naming).variant).toBeUndefined()
})

test("any id gives a slug of two parts, and the catalog's own names give themselves", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'abz019.-_/:@p') }), (id) => {
      expect(slugOf(id)).toMatch(/^[^/]*\/[^/]*$/)
    }),
  )
  for (const slug of ['meta-llama/llama-3.1-405b', 'openai/gpt-5', 'z-ai/glm-5-turbo']) expect(slugOf(slug)).toBe(slug)
})
