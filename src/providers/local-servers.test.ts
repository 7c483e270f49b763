import { expect, it } from 'vitest'
import type { Provider } from '../core/provider.ts'
import type { ModelRequest } from '../core/request.ts'
import { openAiChat } from '../dialects/openai-chat/index.ts'
import { dockerModelRunner } from './docker-model-runner.ts'
import { jan } from './jan.ts'
import { llamacpp } from './llamacpp.ts'
import { llamafile } from './llamafile.ts'
import { lmstudio } from './lmstudio.ts'
import { ollama } from './ollama.ts'
import { perplexity } from './perplexity.ts'
import { sglang } from './sglang.ts'
import { vllm } from './vllm.ts'

/** The body that the model's server receives. */
function sent({ slug, name, options }: Provider, fields: Partial<ModelRequest>, upstreamModel = 'qwen3'): Record<string, unknown> {
  const { body } = openAiChat.encodeRequest(
    { input: [{ type: 'message', role: 'user', content: 'q' }], ...fields },
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
  return JSON.parse(body) as Record<string, unknown>
}

it.each([lmstudio, llamacpp, dockerModelRunner, jan, llamafile])(
  '$slug, which supports only tool_choice strings, is offered only the tool that has to be called',
  (provider) => {
    const tools = ['f', 'g'].map((name) => ({ type: 'function' as const, name }))
    expect(sent(provider, { tools, tool_choice: { type: 'function', name: 'g' } })).toMatchObject({
      tools: [{ function: { name: 'g' } }],
      tool_choice: 'required',
    })
  },
)

it.each([lmstudio, perplexity])('$slug, which supports only formats with a schema, gets the schema of any object for JSON mode', (provider) => {
  const { response_format: format, messages } = sent(provider, { text: { format: { type: 'json_object' } } })
  expect(format).toEqual({ type: 'json_schema', json_schema: { name: 'object', schema: { type: 'object' } } })
  expect(JSON.stringify(messages)).toContain('JSON')
})

it.each([vllm, sglang, llamacpp, dockerModelRunner])('$slug gets each model’s own option for whether to reason, and how much', (provider) => {
  const on = { enable_thinking: true, thinking: true, reasoning_effort: 'low' }
  expect(sent(provider, { reasoning: { effort: 'minimal' } })).toMatchObject({ chat_template_kwargs: on, reasoning_effort: 'low' })
  expect(sent(provider, { reasoning: { effort: 'none' } })).not.toHaveProperty('reasoning_effort')
  // The model reasons whatever the request says, so the least effort is the closest to none.
  expect(sent(provider, { reasoning: { effort: 'none' } }, 'openai/gpt-oss-20b')).toHaveProperty('reasoning_effort', 'low')
})

it.each([
  [vllm, 'reasoning'],
  [ollama, 'reasoning'],
  [sglang, 'reasoning_content'],
  [llamacpp, 'reasoning_content'],
] as const)('$slug gets the reasoning before a call back, without which models repeat or omit calls', (provider, field) => {
  const { messages } = sent(provider, {
    input: [
      { type: 'message', role: 'user', content: 'q' },
      { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'I need f.' }] },
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: 'r' },
    ],
  })
  expect((messages as object[])[1]).toMatchObject({ role: 'assistant', [field]: 'I need f.', tool_calls: [{ id: 'c' }] })
})

it.each([llamacpp, dockerModelRunner, jan, llamafile])(
  '$slug, which builds a grammar for each tool and fails on unsupported bounds, gets bounds in descriptions',
  (provider) => {
    const path = { type: 'string', description: 'Where.', pattern: '\\\\.ts$', maxLength: 65_536 }
    const parameters = {
      type: 'object',
      properties: { paths: { type: 'array', items: path, maxItems: 9_000 }, none: { not: {} }, id: { minimum: 1 } },
    }
    expect(sent(provider, { tools: [{ type: 'function', name: 'f', parameters }] })['tools']).toMatchObject([
      {
        function: {
          parameters: {
            properties: {
              paths: {
                type: 'array',
                items: { type: 'string', description: `Where.\nConstraints: pattern: ${JSON.stringify(path.pattern)}; maxLength: 65536` },
                description: 'Constraints: maxItems: 9000',
              },
              none: { description: 'Constraints: not: {}' },
              id: { minimum: 1 },
            },
          },
        },
      },
    ])
  },
)
