import { describe, expect, it } from 'vitest'
import type { Provider } from '../core/provider.ts'
import { openAiChat } from '../dialects/openai-chat/index.ts'
import { cerebras } from './cerebras.ts'
import { groq } from './groq.ts'
import { novita } from './novita.ts'
import { together } from './together.ts'

/** The encoded message that contains the call. */
function replayed({ slug, name, options }: Provider, upstreamModel: string): unknown {
  const { body } = openAiChat.encodeRequest(
    {
      input: [
        { type: 'message', role: 'user', content: 'q' },
        { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'I need f.' }] },
        { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c', output: 'r' },
      ],
    },
    {
      provider: slug,
      providerName: name,
      upstreamModel,
      options: openAiChat.options.parse(options),
      supports: new Set([...openAiChat.supports, 'reasoning'] as const),
      contextLength: 32_000,
      scope: slug,
      stream: true,
    },
  )
  return (JSON.parse(body) as { messages: unknown[] }).messages[1]
}

describe('the reasoning before a call', () => {
  it.each([
    [cerebras, 'zai-glm-4.7', 'reasoning'],
    [cerebras, 'gpt-oss-120b', 'reasoning'],
    [groq, 'openai/gpt-oss-120b', 'reasoning'],
    [groq, 'qwen/qwen3.6-27b', 'reasoning'],
    [together, 'zai-org/GLM-5', 'reasoning'],
    [novita, 'minimax/minimax-m2', 'reasoning_content'],
  ])('is sent back to $slug, which reads it from %s', (provider, model, field) => {
    expect(replayed(provider, model)).toMatchObject({ [field]: 'I need f.', tool_calls: [{ id: 'c' }] })
  })
  it.each(['llama-3.3-70b-versatile', 'moonshotai/kimi-k2-instruct'])('is not sent to %s on groq, which refuses the field', (model) => {
    expect(replayed(groq, model)).not.toHaveProperty('reasoning')
  })
})
