import { expect, it } from 'vitest'
import type { Provider } from '../core/provider.ts'
import { openAiChat } from '../dialects/openai-chat/index.ts'
import { openAiResponses } from '../dialects/openai-responses/index.ts'
import { amazonBedrock } from './amazon-bedrock.ts'
import { amazonBedrockMantle } from './amazon-bedrock-mantle.ts'
import { azure } from './azure.ts'
import { litellm } from './litellm.ts'
import { openai } from './openai.ts'
import { requesty } from './requesty.ts'
import { vercel } from './vercel.ts'

const prompt_cache_breakpoint = { mode: 'explicit', ttl: '1h' } as const
const request = {
  input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'q', prompt_cache_breakpoint }] }],
  prompt_cache_options: { mode: 'explicit' },
} as const

/** The cache settings of the caller that reach the model. */
function marks(provider: Provider, upstreamModel: string): readonly string[] {
  const own = provider.dialect === openAiResponses.name ? provider.options : provider.dialectOptions?.[openAiResponses.name]
  const { body } = openAiResponses.encodeRequest(request, {
    provider: provider.slug,
    providerName: provider.name,
    upstreamModel,
    options: openAiResponses.options.parse(own),
    supports: new Set(openAiResponses.supports),
    contextLength: 128_000,
    scope: provider.slug,
    stream: true,
  })
  return ['prompt_cache_breakpoint', 'prompt_cache_options'].filter((mark) => body.includes(`"${mark}"`))
}

const BOTH = ['prompt_cache_breakpoint', 'prompt_cache_options']

it.each([
  ['gpt-4o', []],
  ['o3', []],
  ['gpt-5-mini', []],
  ['gpt-5.5-2026-04-23', []],
  ['ft:gpt-4.1:acme::1', []],
  ['gpt-5.6-sol', BOTH],
  ['gpt-5.10', BOTH],
  ['gpt-6.1-terra', BOTH],
  ['gpt-10', BOTH],
  ['ft:gpt-5.6-luna:acme::1', BOTH],
])('%s gets cache breakpoints only if it supports them, because older models refuse the call', (model, expected) => {
  expect(marks(openai, model)).toEqual(expected)
  expect(marks(azure, model)).toEqual(expected)
})

it.each([
  ['openai.gpt-5.5', []],
  ['openai.gpt-oss-120b', []],
  ['openai.gpt-5.6-sol', BOTH],
])('%s on Bedrock gets them if it supports them', (model, expected) => {
  expect(marks(amazonBedrock, model)).toEqual(expected)
  expect(marks(amazonBedrockMantle, model)).toEqual(expected)
})

it.each([litellm, requesty, vercel])('$slug, which passes them on to Claude, gets them', ({ slug, name, options }) => {
  const { body } = openAiChat.encodeRequest(
    { input: request.input },
    {
      provider: slug,
      providerName: name,
      upstreamModel: 'anthropic/claude-opus-4.8',
      options: openAiChat.options.parse(options),
      supports: new Set(openAiChat.supports),
      contextLength: 128_000,
      scope: slug,
      stream: true,
    },
  )
  expect((JSON.parse(body) as { messages: unknown[] }).messages).toEqual([
    { role: 'user', content: [{ type: 'text', text: 'q', cache_control: { type: 'ephemeral', ttl: '1h' } }] },
  ])
})
