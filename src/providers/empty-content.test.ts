import { expect, it } from 'vitest'
import { openAiChat } from '../dialects/openai-chat/index.ts'
import { databricks } from './databricks.ts'
import { requesty } from './requesty.ts'

it.each([
  [databricks, {}],
  [requesty, { content: null }],
])('$slug gets no empty text beside calls, from which it would create a block that Claude refuses', ({ slug, name, options }, content) => {
  const input = [
    { type: 'message' as const, role: 'user' as const, content: 'q' },
    { type: 'function_call' as const, call_id: 'c', name: 'f', arguments: '{}' },
    { type: 'function_call_output' as const, call_id: 'c', output: 'r' },
  ]
  const { body } = openAiChat.encodeRequest(
    { input },
    {
      provider: slug,
      providerName: name,
      upstreamModel: 'claude',
      options: openAiChat.options.parse(options),
      supports: new Set(openAiChat.supports),
      contextLength: 32_000,
      scope: slug,
      stream: true,
    },
  )
  const [, said] = (JSON.parse(body) as { messages: object[] }).messages
  expect(said).toEqual({ role: 'assistant', ...content, tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }] })
})
