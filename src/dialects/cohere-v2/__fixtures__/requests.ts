import { sealReasoning } from '../../../core/reasoning-envelope.ts'
import type { MessageItem } from '../../../core/item.ts'
import type { ModelRequest } from '../../../core/request.ts'
import type { TargetOverrides } from './target.ts'

const weather = { type: 'function', name: 'get-weather', description: 'Weather of a place.', parameters: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] }, strict: true }
const time = { type: 'function', name: 'get_time', parameters: null }
const PNG = 'data:image/png;base64,iVBORw0KGgo='
const user = (content: MessageItem['content']) => ({ type: 'message', role: 'user', content }) as const
const own = (text: string, data: string, scope = 'acme') => ({ type: 'reasoning', summary: [], encrypted_content: sealReasoning({ format: 'unknown', scope, text, data }) }) as const

export const toolLoop: ModelRequest = {
  instructions: 'Be brief.',
  input: [
    { type: 'message', role: 'developer', content: 'Use metric units.' },
    user('Weather in Oslo and Rome?'),
    own('Two places, two calls.', 'thinking'),
    own('I will look both up.', 'tool_plan'),
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'One moment.' }] },
    { type: 'function_call', call_id: 'call:oslo', name: 'get-weather', arguments: '{"place":"Oslo"}' },
    { type: 'function_call', call_id: 'call:rome', name: 'get-weather', arguments: '' },
    { type: 'function_call_output', call_id: 'call:rome', output: '[{"url":"https://a.test/rome","text":"sun"},{"text":"wind"}]' },
    { type: 'function_call_output', call_id: 'call:oslo', output: [{ type: 'input_text', text: 'snow' }, { type: 'input_image', image_url: PNG }] },
    user('And tomorrow?'),
    { type: 'message', role: 'system', content: 'The user is in a hurry.' },
  ],
  tools: [weather, time],
  tool_choice: 'auto',
}

const schema: ModelRequest = { input: [user('q')], text: { format: { type: 'json_schema', name: 'n', schema: { type: 'object', properties: { x: { type: 'string' } } } } } }

/** Requests and the endpoints that they go to; each has a golden file of the same name. */
export const REQUESTS: { readonly [name: string]: readonly [ModelRequest, TargetOverrides] } = {
  'plain': [{ input: [user('Hi')] }, {}],
  'tool-loop': [toolLoop, {}],
  'tool-loop-text-model': [{ ...toolLoop, tool_choice: { type: 'function', name: 'get_time' } }, { model: 'command-a-03-2025', options: { tool_result_documents: false, reasoning_replay: 'plan' } }],
  'reasoning-of-others': [
    { input: [user('q'), own('theirs', 'thinking', 'other'), { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'plain' }] }, { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' }, { type: 'function_call_output', call_id: 'a', output: '' }] },
    {},
  ],
  'documents-and-images': [
    {
      input: [
        user([
          { type: 'input_text', text: 'Compare:' },
          { type: 'input_image', image_url: 'https://example.test/a.png', detail: 'high' },
          { type: 'input_file', file_data: 'data:text/plain;base64,aGVsbG8=', filename: 'facts.txt' },
          { type: 'input_file', file_url: 'https://example.test/b.md' },
        ]),
      ],
    },
    { media: new Map([['https://example.test/b.md', { mimeType: 'text/markdown', data: 'IyBIaQ==' }]]) },
  ],
  'schema': [schema, {}],
  'schema-beside-tools': [{ ...schema, tools: [time] }, {}],
  'json-object': [{ input: [user('q')], text: { format: { type: 'json_object' } } }, {}],
  'every-parameter': [
    {
      input: [user('q')],
      tools: [weather], tool_choice: 'required', parallel_tool_calls: false,
      temperature: 1.8, top_p: 1, top_k: 40, presence_penalty: -0.5, frequency_penalty: 0.2, top_logprobs: 3, max_output_tokens: 9000, seed: 7, stop: ['END'], user: 'u',
      metadata: { k: 'v' }, prompt_cache_key: 'key', service_tier: 'flex', reasoning: { effort: 'high' }, truncation: 'disabled', text: { verbosity: 'low' },
    },
    { maxOutputTokens: 8000, options: { strict_tools: true, safety_mode: 'STRICT', citation_mode: 'FAST' } },
  ],
  'thinking-off': [{ input: [user('q')], reasoning: { effort: 'none' } }, { model: 'command-a-reasoning-08-2025' }],
  'thinking-where-there-is-none': [{ input: [user('q')], reasoning: { effort: 'low' } }, { model: 'command-r7b-12-2024' }],
}
