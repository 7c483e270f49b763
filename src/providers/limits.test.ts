import { describe, expect, it } from 'vitest'
import type { Provider } from '../core/provider.ts'
import type { ModelRequest } from '../core/request.ts'
import { openAiChat } from '../dialects/openai-chat/index.ts'
import { alibaba } from './alibaba.ts'
import { cerebras } from './cerebras.ts'
import { cloudflare } from './cloudflare.ts'
import { deepseek } from './deepseek.ts'
import { groq } from './groq.ts'
import { minimax } from './minimax.ts'
import { moonshotai } from './moonshotai.ts'
import { mistral } from './mistral.ts'
import { openrouter } from './openrouter.ts'
import { xai } from './xai.ts'
import { zai } from './zai.ts'

const format = { type: 'json_schema', name: 'answer', schema: { type: 'object' } } as const

/** The request that a chat-completions model receives, and the parts reported as dropped. */
function ask(
  provider: Provider,
  upstreamModel: string,
  fields: Partial<ModelRequest>,
  bounds: { readonly contextLength?: number; readonly maxOutputTokens?: number } = {},
): { sent: { [field: string]: unknown }; dropped: readonly string[] } {
  const own = provider.dialect === openAiChat.name ? provider.options : provider.dialectOptions?.[openAiChat.name]
  const { supported = [], unsupported = [] } = provider.models ?? {}
  const { body, dropped } = openAiChat.encodeRequest(
    { input: [{ type: 'message', role: 'user', content: 'q' }], ...fields },
    {
      provider: provider.slug,
      providerName: provider.name,
      upstreamModel,
      supports: new Set([...openAiChat.supports.filter((parameter) => !unsupported.includes(parameter)), ...supported]),
      contextLength: 128_000,
      scope: provider.slug,
      stream: true,
      options: openAiChat.options.parse(own),
      ...bounds,
    },
  )
  return { sent: JSON.parse(body) as { [field: string]: unknown }, dropped }
}

describe('a schema', () => {
  it('is requested in one piece where it excludes streams', () => {
    expect(ask(groq, 'openai/gpt-oss-120b', { text: { format } }).sent).toMatchObject({ stream: false, response_format: { type: 'json_schema' } })
    expect(ask(groq, 'openai/gpt-oss-120b', { text: { format } }).sent).not.toHaveProperty('stream_options')
    expect(ask(groq, 'openai/gpt-oss-120b', { text: { format: { type: 'json_object' } } }).sent).toMatchObject({ stream: true })
    expect(ask(groq, 'openai/gpt-oss-120b', {}).sent).toMatchObject({ stream: true, stream_options: { include_usage: true } })
  })
  it.each(['llama-3.3-70b-versatile', 'qwen/qwen3-32b'])('is put into the prompt of %s, which refuses the field', (model) => {
    const { sent } = ask(groq, model, { text: { format } })
    expect(sent).toMatchObject({ stream: true, response_format: { type: 'json_object' } })
    expect(JSON.stringify(sent['messages'])).toContain('JSON schema')
  })
})

describe('a temperature a vendor answers with an error', () => {
  it.each([
    [minimax, 'MiniMax-M3', 0, 0.01, 'temperature: raised to 0.01'],
    [minimax, 'MiniMax-M2.7', 1.5, 1, 'temperature: lowered to 1'],
    [zai, 'glm-4.6', 1.5, 1, 'temperature: lowered to 1'],
    [alibaba, 'qwen3-max', 2, 1.99, 'temperature: lowered to 1.99'],
  ] as const)('becomes a valid one: $name', (provider, model, temperature, sent, note) => {
    expect(ask(provider, model, { temperature })).toMatchObject({ sent: { temperature: sent }, dropped: [note] })
  })
  it('is unchanged where it is valid', () => {
    expect(ask(zai, 'glm-4.6', { temperature: 0 })).toMatchObject({ sent: { temperature: 0 }, dropped: [] })
  })
})

describe('a response format that a vendor ignores', () => {
  it.each([{ text: { format } }, { text: { format: { type: 'json_object' } } }] as const)('is put into the prompt', (fields) => {
    const { sent } = ask(minimax, 'MiniMax-M2.7', fields)
    expect(sent).not.toHaveProperty('response_format')
    expect(JSON.stringify(sent['messages'])).toContain('JSON')
  })
})

describe('tools that a vendor answers with an error', () => {
  const named = (name: string, parameters: object): Partial<ModelRequest> => ({
    tools: [{ type: 'function', name, parameters: parameters as never }],
  })
  const offered = (provider: Provider, fields: Partial<ModelRequest>) =>
    (ask(provider, 'm', fields).sent['tools'] as { function: { name: string; parameters: unknown } }[])[0]!.function

  it('are rewritten to its subset of JSON Schema', () => {
    const maybe = { type: 'object', anyOf: [{ properties: { x: { type: 'string' } } }, { type: 'null' }] }
    expect(offered(moonshotai, named('f', { type: 'object', properties: { a: maybe } })).parameters).toEqual({
      type: 'object',
      properties: { a: { anyOf: [{ type: 'object', properties: { x: { type: 'string' } } }, { type: 'null' }] } },
    })
  })
  it('get names that begin with no digit', () => {
    expect(offered(moonshotai, named('21st_builder', { type: 'object' })).name).toMatch(/^_[a-z_]+_[A-Za-z0-9]{8}$/)
  })
  it.each([moonshotai, deepseek])('have their patterns moved to descriptions: $name', (provider) => {
    const path = { type: 'string', pattern: '^(?!/)[^\\0]+$', maxLength: 9 }
    expect(offered(provider, named('f', { type: 'object', properties: { path } })).parameters).toEqual({
      type: 'object',
      properties: { path: { type: 'string', maxLength: 9, description: `Constraints: pattern: ${JSON.stringify(path.pattern)}` } },
    })
  })
})

describe('the order of roles', () => {
  it('keeps later system messages out of the beginning of the prompt at DeepSeek', () => {
    const message = (role: 'system' | 'user' | 'assistant', content: string) => ({ type: 'message', role, content }) as const
    const input = [message('system', 's'), message('user', 'q'), message('assistant', 'a'), message('user', 'r'), message('system', 't')]
    const roles = ask(deepseek, 'deepseek-v4-pro', { input }).sent['messages'] as { role: string; content: string }[]
    expect(roles.map(({ role }) => role).join(' ')).toMatch(/^system user assistant user(?: user)?$/)
    expect(roles.at(-1)?.content).toContain('<system_message>\nt\n</system_message>')
  })
  it('has no system message after an answer or a tool result at Mistral', () => {
    const message = (role: 'system' | 'user' | 'assistant', content: string) => ({ type: 'message', role, content }) as const
    const { sent } = ask(mistral, 'mistral-large-latest', {
      input: [
        message('system', 's'),
        message('user', 'q'),
        message('assistant', 'a'),
        message('system', 't'),
        { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c', output: 'r' },
        message('system', 'u'),
      ],
    })
    expect((sent['messages'] as { role: string }[]).map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
    ])
  })
})

describe('parameters a vendor answers with an error', () => {
  const fields = { temperature: 1, presence_penalty: 0, frequency_penalty: 0.5, stop: ['x'] }
  it.each(['grok-4', 'grok-3-mini', 'grok-4-fast-reasoning', 'grok-code-fast-1', 'grok-4.5'])('do not reach %s, which reasons', (model) => {
    const { sent, dropped } = ask(xai, model, fields)
    expect(Object.keys(sent)).toContain('temperature')
    for (const field of ['presence_penalty', 'frequency_penalty', 'stop']) {
      expect(sent).not.toHaveProperty(field)
      expect(dropped).toContain(field)
    }
  })
  it.each(['grok-3', 'grok-4-fast-non-reasoning', 'grok-2-vision-1212'])('reach %s, which does not', (model) => {
    expect(ask(xai, model, fields)).toMatchObject({ sent: fields, dropped: [] })
  })
  it('do not reach a vendor that knows none of them', () => {
    const { sent, dropped } = ask(cerebras, 'gpt-oss-120b', fields)
    expect(sent).toMatchObject({ temperature: 1, stop: ['x'] })
    expect(sent).not.toHaveProperty('presence_penalty')
    expect(dropped).toEqual(['presence_penalty', 'frequency_penalty'])
  })
})

describe('an answer without a bound', () => {
  it('gets one at a vendor that would cut it off after a few tokens', () => {
    expect(ask(cloudflare, '@cf/zai-org/glm-5.2', {})).toMatchObject({ sent: { max_tokens: 32_000 }, dropped: [] })
    expect(ask(cloudflare, '@cf/zai-org/glm-5.2', {}, { contextLength: 256_000 }).sent).toMatchObject({ max_tokens: 32_768 })
    expect(ask(cloudflare, '@cf/zai-org/glm-5.2', {}, { maxOutputTokens: 8_192 }).sent).toMatchObject({ max_tokens: 8_192 })
    expect(ask(cloudflare, '@cf/zai-org/glm-5.2', { max_output_tokens: 7 }).sent).toMatchObject({ max_tokens: 7 })
  })
  it('has none elsewhere', () => {
    expect(ask(deepseek, 'deepseek-chat', {}).sent).not.toHaveProperty('max_tokens')
  })
})

describe('one call at a time', () => {
  const fields: Partial<ModelRequest> = { tools: [{ type: 'function', name: 'f', parameters: { type: 'object' } }], parallel_tool_calls: false }

  it.each([alibaba, groq, mistral, openrouter])('is requested at $slug', (provider) => {
    const { sent, dropped } = ask(provider, 'm', fields)
    expect(sent).toMatchObject({ parallel_tool_calls: false })
    expect(dropped).toEqual([])
  })

  it('is reported as left out where the field is unknown', () => {
    const { sent, dropped } = ask(deepseek, 'deepseek-chat', fields)
    expect(sent).not.toHaveProperty('parallel_tool_calls')
    expect(dropped).toEqual(['parallel_tool_calls'])
  })
})
