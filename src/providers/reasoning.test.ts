import { describe, expect, test } from 'vitest'
import type { Provider } from '../core/provider.ts'
import type { ModelRequest, ReasoningOptions } from '../core/request.ts'
import { openAiChat } from '../dialects/openai-chat/index.ts'
import { openAiResponses } from '../dialects/openai-responses/index.ts'
import { alibaba } from './alibaba.ts'
import { amazonBedrockMantle } from './amazon-bedrock-mantle.ts'
import { azure } from './azure.ts'
import { cerebras } from './cerebras.ts'
import { deepseek } from './deepseek.ts'
import { fireworks } from './fireworks.ts'
import { groq } from './groq.ts'
import { minimax } from './minimax.ts'
import { mistral } from './mistral.ts'
import { moonshotai } from './moonshotai.ts'
import { novita } from './novita.ts'
import { nvidia } from './nvidia.ts'
import { openai } from './openai.ts'
import { together } from './together.ts'
import { xai } from './xai.ts'
import { zai } from './zai.ts'

type Dialect = typeof openAiChat | typeof openAiResponses
interface Sent {
  reasoning_effort?: string
  reasoning?: { effort?: string }
  thinking?: { type: string }
  enable_thinking?: boolean
  temperature?: number
  tools?: { function: { name: string } }[]
  tool_choice?: unknown
}

/** The body that the model receives, and the parts reported as dropped. */
function encode(
  dialect: Dialect,
  provider: Provider,
  upstreamModel: string,
  fields: Partial<ModelRequest>,
): [sent: Sent, dropped: readonly string[]] {
  const own = provider.dialect === dialect.name ? provider.options : provider.dialectOptions?.[dialect.name]
  const target = {
    provider: provider.slug,
    providerName: provider.name,
    upstreamModel,
    // The catalog has this set for models that reason.
    supports: new Set([...dialect.supports, 'reasoning'] as const),
    contextLength: 128_000,
    scope: provider.slug,
    stream: true,
  }
  const request = { input: [{ type: 'message', role: 'user', content: 'q' }], ...fields }
  const { body, dropped } =
    dialect === openAiChat
      ? openAiChat.encodeRequest(request, { ...target, options: openAiChat.options.parse(own) })
      : openAiResponses.encodeRequest(request, { ...target, options: openAiResponses.options.parse(own) })
  return [JSON.parse(body) as Sent, dropped]
}

/** The effort that the model receives, and the parts reported as dropped. */
function ask(dialect: Dialect, provider: Provider, model: string, reasoning: ReasoningOptions): unknown[] {
  const [sent, dropped] = encode(dialect, provider, model, { reasoning })
  return [sent.reasoning_effort ?? sent.reasoning?.effort, ...dropped]
}

const chat = (provider: Provider, model: string, reasoning: ReasoningOptions): unknown[] => ask(openAiChat, provider, model, reasoning)

describe('reasoning through chat completions', () => {
  test.each([
    ['llama-3.3-70b-versatile', [undefined, 'reasoning'], [undefined]],
    ['moonshotai/kimi-k2-instruct', [undefined, 'reasoning'], [undefined]],
    ['deepseek-r1-distill-llama-70b', [undefined, 'reasoning'], [undefined]],
    ['openai/gpt-oss-120b', ['medium'], ['low', 'reasoning: none']],
    ['qwen/qwen3-32b', [undefined, 'reasoning.effort'], ['none']],
  ])('groq: %s', (model, on, off) => {
    expect(chat(groq, model, { effort: 'medium' })).toEqual(on)
    expect(chat(groq, model, { effort: 'none' })).toEqual(off)
    expect(chat(groq, model, { enabled: false })).toEqual(off)
  })

  test.each([
    'mistral-large-2411',
    'mistral-medium-2508',
    'mistral-medium-3-1',
    'mistral-small-2506',
    'mistral-small-3.2-24b-instruct',
    'codestral-2508',
  ])('mistral: %s does not reason', (model) => {
    expect(chat(mistral, model, { effort: 'low' })).toEqual([undefined, 'reasoning'])
    expect(chat(mistral, model, { enabled: false })).toEqual([undefined])
  })
  test.each(['mistral-small-latest', 'mistral-small-2603', 'mistral-medium-3-5', 'mistral-medium-2604', 'mistral-medium-latest', 'magistral-medium'])(
    'mistral: %s does',
    (model) => {
      expect(chat(mistral, model, { effort: 'low' })).toEqual(['high', 'reasoning.effort: low became high'])
      expect(chat(mistral, model, { enabled: false })).toEqual(['none'])
    },
  )

  test.each(['minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const)('deepseek: %s is sent as it is', (effort) => {
    expect(chat(deepseek, 'deepseek-flash', { effort })).toEqual([effort])
  })

  test.each([
    ['gpt-4o-search-preview', [undefined, 'reasoning'], [undefined]],
    ['gpt-audio', [undefined, 'reasoning'], [undefined]],
    ['o3', ['high', 'reasoning.effort: xhigh became high'], ['low', 'reasoning: none']],
    ['gpt-5', ['high', 'reasoning.effort: xhigh became high'], ['minimal', 'reasoning: none']],
    ['gpt-5.1', ['high', 'reasoning.effort: xhigh became high'], ['none']],
    ['gpt-5.4-mini', ['xhigh'], ['none']],
    ['gpt-6-sol', ['xhigh'], ['none']],
    ['gpt-6-astra', ['xhigh'], ['low', 'reasoning: none']],
  ])('openai: %s', (model, most, off) => {
    expect(chat(openai, model, { effort: 'xhigh' })).toEqual(most)
    expect(chat(openai, model, { enabled: false })).toEqual(off)
  })

  test.each([
    'openai/gpt-oss-20b',
    'accounts/fireworks/models/gpt-oss-120b',
    'databricks-gpt-oss-120b',
    'GPT-OSS-120B',
    'o3',
    'openai/gpt-5-mini',
    'openai/gpt-6-astra',
  ])('everywhere: %s always reasons, and gets the lowest effort when told not to', (model) =>
    expect(chat(together, model, { enabled: false })).toEqual(['low', 'reasoning: none']),
  )
  test.each(['deepseek-ai/DeepSeek-V4-Pro', 'zai-org/GLM-5.1', 'moonshotai/Kimi-K2.6', 'Qwen/Qwen3.5-9B', 'deepcogito/cogito-v2-1-671b'])(
    'together: %s is switched off by another field than it is configured by',
    (model) => {
      const [sent, dropped] = encode(openAiChat, together, model, { reasoning: { enabled: false } })
      expect([sent.reasoning, sent.reasoning_effort, dropped]).toEqual([{ enabled: false }, undefined, []])
      expect(chat(together, model, { effort: 'low' })).toEqual(['low'])
    },
  )
  test.each([
    ['glm-5p2', ['none'], ['max']],
    ['deepseek-v4-pro-0813', ['none'], ['max']],
    ['glm-5p3', ['low', 'reasoning: none'], ['max']],
    ['gpt-oss-120b', ['low', 'reasoning: none'], ['high', 'reasoning.effort: max became high']],
    ['kimi-k2p6', [undefined, 'reasoning: none'], ['high', 'reasoning.effort: max became high']],
  ])('fireworks: %s', (model, off, most) => {
    expect(chat(fireworks, `accounts/fireworks/models/${model}`, { enabled: false })).toEqual(off)
    expect(chat(fireworks, `accounts/fireworks/models/${model}`, { effort: 'max' })).toEqual(most)
  })
  test.each(['zai-org/GLM-5.3', 'MiniMaxAI/MiniMax-M2.7'])('together: %s is not', (model) => {
    expect(chat(together, model, { enabled: false })).toEqual([undefined, 'reasoning: none'])
  })
  test.each(['llama-3.3-70b', 'openai/gpt-5.1', 'openai/gpt-5-chat', 'openai/gpt-6-sol', 'gpt-4o', 'solar-pro2'])(
    'everywhere: %s is not switched on by being told not to',
    (model) => {
      expect(chat(together, model, { enabled: false })).toEqual([undefined, 'reasoning: none'])
      expect(chat(together, model, { effort: 'low' })).toEqual(['low'])
    },
  )
})

describe('reasoning through responses', () => {
  const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const
  const taken = (provider: Provider, model: string): string[] =>
    EFFORTS.filter((effort) => ask(openAiResponses, provider, model, { effort }).join() === effort)

  test.each([
    ['o1', 'low medium high'],
    ['o3-2025-04-16', 'low medium high'],
    ['o4-mini', 'low medium high'],
    ['codex-mini-latest', 'low medium high'],
    ['o3-deep-research', 'medium'],
    ['o1-mini', ''],
    ['gpt-5', 'minimal low medium high'],
    ['gpt-5-2025-08-07', 'minimal low medium high'],
    ['gpt-5-nano', 'minimal low medium high'],
    ['gpt-5-codex', 'low medium high'],
    ['gpt-5-pro', 'high'],
    ['gpt-5-chat-latest', ''],
    ['gpt-5.1', 'none low medium high'],
    ['ft:gpt-5-mini-2025-08-07:acme::abc123', 'minimal low medium high'],
    ['ft:o4-mini-2025-04-16:acme:o9:abc123', 'low medium high'],
    ['gpt-5.1-2025-11-13', 'none low medium high'],
    ['gpt-5.1-codex', 'low medium high'],
    ['gpt-5.1-codex-mini', 'low medium high'],
    ['gpt-5.1-codex-max', 'low medium high xhigh'],
    ['gpt-5.2', 'none low medium high xhigh'],
    ['gpt-5.2-chat-latest', 'medium'],
    ['gpt-5.2-codex', 'low medium high xhigh'],
    ['gpt-5.2-pro-2025-12-11', 'medium high xhigh'],
    ['gpt-5.3-chat-latest', ''],
    ['gpt-5.3-codex', 'low medium high xhigh'],
    ['gpt-5.4-mini-2026-03-17', 'none low medium high xhigh'],
    ['gpt-5.5', 'none low medium high xhigh'],
    ['gpt-5.5-pro', 'medium high xhigh'],
    ['gpt-5.6', 'none low medium high xhigh max'],
    ['gpt-5.6-luna', 'none low medium high xhigh max'],
    ['gpt-5.10', 'low medium high xhigh max'],
    ['gpt-6-sol', 'none low medium high xhigh max'],
    ['gpt-6-luna', 'none low medium high xhigh max'],
    ['gpt-6-astra', 'low medium high xhigh max'],
    ['gpt-6.1-terra', 'none low medium high xhigh max'],
    ['gpt-6.1-sol', 'low medium high xhigh max'],
    ['gpt-7', 'low medium high xhigh max'],
  ])('openai: %s takes %s', (model, efforts) => {
    expect(taken(openai, model).join(' ')).toBe(efforts)
    expect(taken(azure, model).join(' ')).toBe(efforts)
    expect(taken(amazonBedrockMantle, `openai.${model}`).join(' ')).toBe(efforts)
  })

  test('the nearest effort is sent, and reported', () => {
    expect(ask(openAiResponses, openai, 'gpt-5', { enabled: false })).toEqual(['minimal', 'reasoning.effort: none became minimal'])
    expect(ask(openAiResponses, openai, 'o3', { effort: 'none' })).toEqual(['low', 'reasoning.effort: none became low'])
    expect(ask(openAiResponses, openai, 'gpt-5', { effort: 'max' })).toEqual(['high', 'reasoning.effort: max became high'])
    expect(ask(openAiResponses, openai, 'gpt-6-sol', { effort: 'minimal' })).toEqual(['low', 'reasoning.effort: minimal became low'])
    expect(ask(openAiResponses, openai, 'gpt-6-astra', { enabled: false })).toEqual(['low', 'reasoning.effort: none became low'])
  })

  test.each([
    ['gpt-4.1', true, true],
    ['gpt-35-turbo', true, true],
    ['gpt-5-chat-latest', true, true],
    ['o3', false, false],
    ['gpt-5', false, false],
    ['ft:o4-mini-2025-04-16:acme::abc123', false, false],
    ['ft:gpt-4.1-2025-04-14:acme:o9:abc123', true, true],
    ['gpt-5.6', false, true],
    ['gpt-6-sol', false, true],
    ['gpt-6-astra', false, false],
    ['gpt-6.1-terra', false, true],
    ['gpt-rosalind-research', false, false],
  ])('%s takes a temperature: %s, told not to reason: %s', (model, byDefault, off) => {
    const taken = (provider: Provider, name: string, reasoning: ReasoningOptions | null): boolean =>
      encode(openAiResponses, provider, name, { temperature: 1, reasoning })[0].temperature === 1
    for (const [provider, name] of [
      [openai, model],
      [azure, model],
      [amazonBedrockMantle, `openai.${model}`],
    ] as const) {
      expect([taken(provider, name, null), taken(provider, name, { effort: 'none' })]).toEqual([byDefault, off])
    }
  })
})

describe('xai', () => {
  test.each([
    'grok-3',
    'grok-4-0709',
    'grok-4-fast-reasoning',
    'grok-4-1-fast-non-reasoning',
    'grok-4.20-0309-reasoning',
    'grok-code-fast-1',
    'grok-build',
    'grok-composer-2.5-fast',
  ])('%s refuses every effort', (model) => {
    for (const dialect of [openAiResponses, openAiChat])
      for (const effort of ['high', 'none'] as const) expect(ask(dialect, xai, model, { effort })[0]).toBeUndefined()
  })
  test.each([
    ['grok-3-mini', ['low', 'low', 'high']],
    ['grok-4', ['none', 'low', 'high']],
    ['grok-4.3', ['none', 'low', 'high']],
    ['grok-4.20-multi-agent-0309', ['low', 'low', 'xhigh']],
    ['grok-4.5', ['low', 'low', 'high']],
    ['grok-4-6', ['low', 'low', 'xhigh']],
    ['grok-4.7', ['low', 'low', 'xhigh']],
    ['grok-5', ['low', 'low', 'high']],
  ])('%s takes those it knows', (model, expected) => {
    for (const dialect of [openAiResponses, openAiChat])
      expect((['none', 'low', 'xhigh'] as const).map((effort) => ask(dialect, xai, model, { effort })[0])).toEqual(expected)
  })
})

test.each([
  ['MiniMax-M3', [undefined], ['disabled']],
  ['minimax-m2.7', [undefined], [undefined, 'reasoning: none']],
])('minimax: %s gets the fields by which it can be told whether to reason', (model, on, off) => {
  const how = (reasoning: ReasoningOptions): unknown[] => {
    const [sent, dropped] = encode(openAiChat, minimax, model, { reasoning })
    expect(sent).not.toHaveProperty('reasoning_effort')
    return [sent.thinking?.type, ...dropped]
  }
  expect(how({ enabled: true })).toEqual(on)
  expect(how({ enabled: false })).toEqual(off)
})

test.each([
  ['glm-4.7', ['enabled', undefined], ['enabled', undefined], ['disabled', undefined]],
  ['glm-5', ['enabled', undefined], ['enabled', undefined], ['disabled', undefined]],
  ['glm-5.2', ['enabled', 'low'], ['enabled', 'medium'], ['disabled', undefined]],
  ['glm-5.3', [undefined, 'low'], [undefined, undefined], [undefined, 'low', 'reasoning: none']],
  ['glm-5.3-flash', [undefined, 'low'], [undefined, undefined], [undefined, 'low', 'reasoning: none']],
])('zai: %s gets the fields by which it can be told whether to reason', (model, low, on, off) => {
  const how = (reasoning: ReasoningOptions): unknown[] => {
    const [sent, dropped] = encode(openAiChat, zai, model, { reasoning })
    return [sent.thinking?.type, sent.reasoning_effort, ...dropped]
  }
  expect(how({ effort: 'low' })).toEqual(low)
  expect(how({ enabled: true })).toEqual(on)
  expect(how({ enabled: false })).toEqual(off)
})

test.each([
  ['zai-glm-4.7', ['high', 'reasoning.effort: max became high'], ['none']],
  ['qwen-3.8-27b', ['high', 'reasoning.effort: max became high'], ['none']],
  ['gpt-oss-120b', ['high', 'reasoning.effort: max became high'], ['low', 'reasoning: none']],
])('cerebras: %s', (model, most, off) => {
  expect(chat(cerebras, model, { effort: 'max' })).toEqual(most)
  expect(chat(cerebras, model, { enabled: false })).toEqual(off)
})

test.each([
  ['deepseek/deepseek-v3.1', { enable_thinking: true }, { enable_thinking: false }],
  ['zai-org/glm-4.5', { enable_thinking: true }, { enable_thinking: false }],
  ['openai/gpt-oss-120b', { reasoning_effort: 'low' }, { reasoning_effort: 'low' }],
])('novita: %s gets the fields by which it can be told whether to reason', (model, on, off) => {
  const asked = (reasoning: ReasoningOptions): object => {
    const {
      model: _,
      messages: __,
      stream: ___,
      stream_options: ____,
      ...rest
    } = encode(openAiChat, novita, model, { reasoning })[0] as Record<string, unknown>
    return rest
  }
  expect(asked({ effort: 'low' })).toEqual(on)
  expect(asked({ enabled: false })).toEqual(off)
})

test.each([
  ['deepseek-ai/deepseek-v3.1', true],
  ['z-ai/glm5', true],
  ['nvidia/nemotron-3-nano-30b-a3b', true],
])('nvidia: %s is told by template arguments whether to reason', (model, thinks) => {
  const asked = (reasoning: ReasoningOptions): unknown => encode(openAiChat, nvidia, model, { reasoning })[0]
  const kwargs = (on: boolean) => ({ chat_template_kwargs: { enable_thinking: on, thinking: on } })
  expect(asked({ enabled: true })).toMatchObject(kwargs(thinks))
  expect(asked({ enabled: false })).toMatchObject(kwargs(false))
})

describe('a forced call', () => {
  const tools = ['f', 'g'].map((name) => ({ type: 'function', name }))
  /** The tools offered, the tool choice, whether the model reasons, and the parts reported as dropped. */
  const asked = (provider: Provider, model: string, fields: Partial<ModelRequest>): unknown[] => {
    const [sent, dropped] = encode(openAiChat, provider, model, { tools, ...fields })
    return [sent.tools?.map((tool) => tool.function.name).join(), sent.tool_choice, sent.thinking?.type ?? sent.enable_thinking, ...dropped]
  }
  const named = { tool_choice: { type: 'function', name: 'g' } } as const
  test.each([
    ['deepseek-flash', deepseek, ['f,g', 'required', 'disabled'], ['f,g', { type: 'function', function: { name: 'g' } }, 'disabled']],
    ['qwen3.8-max', alibaba, ['f,g', 'required', false], ['f,g', { type: 'function', function: { name: 'g' } }, false]],
    [
      'qwen3-next-80b-a3b-thinking',
      alibaba,
      ['f,g', undefined, undefined, 'tool_choice: cannot be forced'],
      ['g', undefined, undefined, 'tool_choice: cannot be forced'],
    ],
    [
      'deepseek-r1-0528',
      alibaba,
      ['f,g', undefined, undefined, 'tool_choice: cannot be forced'],
      ['g', undefined, undefined, 'tool_choice: cannot be forced'],
    ],
    ['kimi-k2.6', moonshotai, ['f,g', 'required', 'disabled'], ['g', 'required', 'disabled']],
    ['kimi-k3', moonshotai, ['f,g', 'required', undefined], ['g', 'required', undefined]],
    [
      'kimi-k2.7-code',
      moonshotai,
      ['f,g', undefined, undefined, 'tool_choice: cannot be forced'],
      ['g', undefined, undefined, 'tool_choice: cannot be forced'],
    ],
    ['glm-5.3', zai, ['f,g', undefined, undefined, 'tool_choice: cannot be forced'], ['g', undefined, undefined, 'tool_choice: cannot be forced']],
  ])('%s', (model, provider, any, one) => {
    expect(asked(provider, model, { tool_choice: 'required' })).toEqual(any)
    expect(asked(provider, model, named)).toEqual(one)
  })
  test('and requested reasoning exclude each other', () => {
    expect(asked(deepseek, 'deepseek-flash', { tool_choice: 'required', reasoning: { effort: 'high' } })).toEqual([
      'f,g',
      'required',
      'disabled',
      'reasoning: not with a forced tool choice',
    ])
    expect(asked(deepseek, 'deepseek-flash', { tool_choice: 'auto', reasoning: { effort: 'high' } })).toEqual(['f,g', undefined, 'enabled'])
  })
})

describe('moonshotai', () => {
  test.each([
    ['kimi-k2-thinking', ['enabled'], ['disabled']],
    ['kimi-k2.6', ['enabled'], ['disabled']],
    ['kimi-k2.7-code-highspeed', [undefined, 'reasoning.effort'], [undefined, 'reasoning: none']],
    ['kimi-k3', ['low'], ['low', 'reasoning: none']],
    ['kimi-k3.1-pro', ['low'], ['low', 'reasoning: none']],
  ])('%s gets the fields by which it can be told whether to reason', (model, on, off) => {
    const how = (reasoning: ReasoningOptions): unknown[] => {
      const [{ thinking, reasoning_effort: effort }, dropped] = encode(openAiChat, moonshotai, model, { reasoning })
      return [thinking?.type ?? effort, ...dropped]
    }
    expect(how({ effort: 'low' })).toEqual(on)
    expect(how({ enabled: false })).toEqual(off)
  })
  test('kimi-k3 gets the nearest effort, which is reported', () => {
    expect(chat(moonshotai, 'kimi-k3', { effort: 'medium' })).toEqual(['low', 'reasoning.effort: medium became low'])
    expect(chat(moonshotai, 'kimi-k3', { effort: 'max' })).toEqual(['max'])
  })
  const sent = (upstreamModel: string): unknown => {
    const options = openAiChat.options.parse(moonshotai.options)
    const supports = new Set(openAiChat.supports)
    const target = { provider: 'moonshotai', providerName: 'm', upstreamModel, supports, contextLength: 1, scope: 's', stream: true, options }
    const { body } = openAiChat.encodeRequest({ input: [{ type: 'message', role: 'user', content: 'q' }], temperature: 0.7 }, target)
    return (JSON.parse(body) as { temperature?: number }).temperature
  }
  test.each(['kimi-k2.5', 'kimi-k2.6', 'kimi-k2.7-code', 'kimi-k3'])('%s has a temperature of its own', (model) =>
    expect(sent(model)).toBeUndefined(),
  )
  test.each(['kimi-k2-0905-preview', 'kimi-k2-thinking', 'moonshot-v1-8k'])('%s accepts a temperature', (model) => expect(sent(model)).toBe(0.7))
})
