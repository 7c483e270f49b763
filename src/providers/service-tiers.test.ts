import { describe, expect, it } from 'vitest'
import type { Provider } from '../core/provider.ts'
import type { ModelRequest } from '../core/request.ts'
import { openAiChat } from '../dialects/openai-chat/index.ts'
import { openAiResponses } from '../dialects/openai-responses/index.ts'
import { cerebras } from './cerebras.ts'
import { fireworks } from './fireworks.ts'
import { groq } from './groq.ts'
import { mistral } from './mistral.ts'
import { openrouter } from './openrouter.ts'
import { xai } from './xai.ts'

type Tier = NonNullable<ModelRequest['service_tier']>

/** The tier that the vendor receives, and the parts reported as dropped. */
function asked(provider: Provider, dialect: typeof openAiChat | typeof openAiResponses, service_tier: Tier): readonly unknown[] {
  const own = provider.dialect === dialect.name ? provider.options : provider.dialectOptions?.[dialect.name]
  const request = { input: [{ type: 'message', role: 'user', content: 'q' }], service_tier } as const
  const target = {
    provider: provider.slug,
    providerName: provider.name,
    upstreamModel: 'm',
    supports: new Set(dialect.supports),
    contextLength: 128_000,
    scope: provider.slug,
    stream: true,
  }
  const { body, dropped } =
    dialect === openAiChat
      ? openAiChat.encodeRequest(request, { ...target, options: openAiChat.options.parse(own) })
      : openAiResponses.encodeRequest(request, { ...target, options: openAiResponses.options.parse(own) })
  return [(JSON.parse(body) as { service_tier?: string }).service_tier, ...dropped]
}

describe('a service tier', () => {
  it.each([
    [xai, openAiChat],
    [xai, openAiResponses],
    [fireworks, openAiChat],
    [cerebras, openAiChat],
    [openrouter, openAiChat],
    [openrouter, openAiResponses],
  ] as const)('is requested at $slug', (provider, dialect) => {
    expect(asked(provider, dialect, 'priority')).toEqual(['priority'])
    expect(asked(provider, dialect, 'fast')).toEqual(['priority'])
  })
  it('chooses between capacity bought in advance and the rest at mistral', () => {
    expect((['priority', 'default', 'auto', 'flex'] as const).map((tier) => asked(mistral, openAiChat, tier))).toEqual([
      ['auto'],
      ['standard_only'],
      [undefined],
      [undefined, 'service_tier'],
    ])
  })
  it.each([
    [xai, openAiChat, 'flex'],
    [xai, openAiResponses, 'flex'],
    [xai, openAiResponses, 'scale'],
    [fireworks, openAiChat, 'flex'],
    [groq, openAiChat, 'scale'],
    [cerebras, openAiChat, 'scale'],
  ] as const)('is left out at $slug, which has none of that name', (provider, dialect, tier) => {
    expect(asked(provider, dialect, tier)).toEqual([undefined, 'service_tier'])
  })
  it.each([
    [xai, openAiResponses, 'auto'],
    [fireworks, openAiChat, 'auto'],
    [fireworks, openAiChat, 'default'],
  ] as const)('is not sent at $slug where it is the default', (provider, dialect, tier) => {
    expect(asked(provider, dialect, tier)).toEqual([undefined])
  })
})
