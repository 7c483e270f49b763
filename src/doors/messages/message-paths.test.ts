import { expect, it } from 'vitest'
import { messagesToResponses } from './to-responses.ts'

const image = { type: 'image', source: { type: 'url', url: 'https://a.example/p.png' } }
const { body, pathOf } = messagesToResponses({
  system: [{ type: 'text', text: 'S', cache_control: { type: 'ephemeral' } }],
  messages: [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'look', input: {} }] },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'a', content: [image] },
        { type: 'text', text: 'Well?' },
      ],
    },
  ],
})

it('errors found after translation have the path of the original message', () => {
  expect((body['input'] as readonly { readonly type: string }[]).map(({ type }) => type)).toEqual([
    'message',
    'message',
    'function_call',
    'function_call_output',
    'message',
  ])
  expect(['input[0]', 'input[1].content', 'input[2].name', 'input[3].output[0].image_url', 'input[4]', 'input', 'input[9]'].map(pathOf)).toEqual([
    'system',
    'messages[0]',
    'messages[1]',
    'messages[2]',
    'messages[2]',
    'messages',
    'messages',
  ])
})

it('fields have their names of this format', () => {
  expect(['max_output_tokens', 'instructions', 'tools[0].name', 'text.format'].map(pathOf)).toEqual([
    'max_tokens',
    'system',
    'tools[0].name',
    'output_config.format',
  ])
})
