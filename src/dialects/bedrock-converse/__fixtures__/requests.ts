import { sealReasoning } from '../../../core/reasoning-envelope.ts'
import type { MessageItem } from '../../../core/item.ts'
import type { ModelRequest } from '../../../core/request.ts'
import { CLAUDE, LLAMA, MISTRAL, NEW_CLAUDE, NOVA } from './target.ts'
import type { TargetOverrides } from './target.ts'

const weather = { type: 'function', name: 'get_weather', description: 'Weather of a place.', parameters: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] }, strict: true }
const PNG = 'data:image/png;base64,iVBORw0KGgo='
const user = (content: MessageItem['content']) => ({ type: 'message', role: 'user', content }) as const
const FORMAT = 'anthropic-claude-v1'

/** Reasoning, parallel calls with results in another order and an image among them, and a late system message. */
export const toolLoop: ModelRequest = {
  instructions: 'Be brief.',
  input: [
    { type: 'message', role: 'developer', content: 'Use metric units.' },
    user('Weather in Oslo and Rome?'),
    { type: 'reasoning', summary: [], encrypted_content: sealReasoning({ format: FORMAT, scope: 'acme', signature: 'SIG', text: 'Two places,\ntwo calls. ' }) },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I will look.' }] },
    { type: 'function_call', call_id: 'call_oslo', name: 'get_weather', arguments: '{"place":"Oslo","id":12345678901234567890}' },
    { type: 'function_call', call_id: 'call_rome', name: 'get_weather', arguments: '{"place":"Rome"}' },
    { type: 'function_call_output', call_id: 'call_rome', output: '{"sky":"sun"}' },
    { type: 'function_call_output', call_id: 'call_oslo', output: [{ type: 'input_text', text: 'snow' }, { type: 'input_image', image_url: PNG }] },
    user('And tomorrow?'),
    { type: 'message', role: 'system', content: 'The user is in a hurry.' },
  ],
  tools: [weather],
  tool_choice: 'auto',
}

const thinking: ModelRequest = { ...toolLoop, reasoning: { effort: 'high' }, max_output_tokens: 8000, temperature: 0.5, top_p: 0.9, top_k: 20 }
const schema: ModelRequest = {
  input: [user('q')],
  text: { format: { type: 'json_schema', name: 'city', description: 'A city.', schema: { type: 'object', properties: { name: { type: 'string', maxLength: 20 }, tags: { type: 'array', items: { type: 'object', properties: { pattern: { type: 'string' } } } } }, required: ['name'] } } },
}

/** Requests and the endpoints that they go to; each has a golden file of the same name. */
export const REQUESTS: { readonly [name: string]: readonly [ModelRequest, TargetOverrides] } = {
  'plain': [{ input: [user('Hi')] }, { model: 'unknown.model-v1:0' }],
  'tool-loop-claude': [toolLoop, { model: CLAUDE }],
  'tool-loop-nova': [toolLoop, { model: NOVA, options: { tool_result_json: true } }],
  'tool-loop-mistral': [{ ...toolLoop, tool_choice: { type: 'function', name: 'get_weather' } }, { model: MISTRAL }],
  'tool-loop-llama': [{ ...toolLoop, tool_choice: 'required' }, { model: LLAMA }],
  'tool-loop-without-tools': [toolLoop, { model: 'us.deepseek.r1-v1:0' }],
  'thinking-budget': [thinking, { model: CLAUDE, maxOutputTokens: 64_000 }],
  'thinking-adaptive': [thinking, { model: NEW_CLAUDE }],
  'thinking-effort-nova': [thinking, { model: NOVA }],
  'thinking-effort-gpt': [{ ...thinking, reasoning: { effort: 'xhigh' } }, { model: 'openai.gpt-oss-120b-1:0' }],
  'thinking-config-qwen': [{ input: [user('q')], reasoning: { max_tokens: 2000 }, max_output_tokens: 10_000 }, { model: 'qwen.qwen3-32b-v1:0' }],
  'redacted-thinking': [
    {
      input: [
        user('q'),
        { type: 'reasoning', summary: [], encrypted_content: sealReasoning({ format: FORMAT, scope: 'acme', data: 'Eu8ECk' }) },
        { type: 'message', role: 'assistant', content: 'done' },
        { type: 'reasoning', summary: [], encrypted_content: sealReasoning({ format: FORMAT, scope: 'another account', data: 'secret' }) },
        { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'plain fields' }], signature: 'S2', format: FORMAT },
        { type: 'message', role: 'assistant', content: 'more' },
        user('go on'),
      ],
    },
    {},
  ],
  'media': [
    {
      input: [
        user([
          { type: 'input_image', image_url: 'https://example.test/a.png' },
          { type: 'input_file', file_data: 'JVBERi0xLjQ=', filename: 'Report: 2024/final.pdf' },
          { type: 'input_file', file_data: 'data:text/csv;base64,YSxiCg==', filename: 'Report: 2024/final.csv' },
          { type: 'input_file', file_data: 'data:application/json,%7B%7D', filename: 'x.json' },
          { type: 'input_file', file_url: 'https://example.test/notes.md' },
          { type: 'input_video', video_url: 's3://bucket/clip.mp4' },
        ]),
      ],
    },
    { model: NOVA, media: new Map([['https://example.test/a.png', { mimeType: 'image/png', data: '/9j/4AAQ' }], ['https://example.test/notes.md', { mimeType: 'text/markdown', data: 'IyBIaQ==' }]]) },
  ],
  'cache-points': [
    {
      instructions: 'i',
      input: [
        { type: 'message', role: 'system', content: [{ type: 'input_text', text: 'long', prompt_cache_breakpoint: { mode: 'explicit' } }] },
        user([{ type: 'input_text', text: 'a', prompt_cache_breakpoint: { mode: 'explicit' } }, { type: 'input_text', text: 'b', prompt_cache_breakpoint: { mode: 'explicit' } }]),
        { type: 'message', role: 'assistant', content: 'c' },
        user([{ type: 'input_text', text: 'd', prompt_cache_breakpoint: { mode: 'explicit' } }, { type: 'input_text', text: 'e' }]),
      ],
      cache_control: { type: 'ephemeral', ttl: '1h' },
    },
    {},
  ],
  'schema-native': [schema, {}],
  'schema-as-tool': [schema, { model: 'amazon.nova-pro-v1:0' }],
  'schema-in-prompt': [schema, { model: 'amazon.titan-text-express-v1' }],
  'blank-texts': [
    { instructions: ' ', input: [user(' '), { type: 'message', role: 'assistant', content: 'Prefill: \n' }] },
    {},
  ],
  'calls-of-tools-no-longer-offered': [{ ...toolLoop, tools: [] }, {}],
  'no-tool-may-be-called': [{ ...toolLoop, tool_choice: 'none' }, {}],
  'no-tool-may-be-called-nova': [{ ...toolLoop, tool_choice: 'none' }, { model: NOVA }],
  'broken-and-missing': [
    { input: [user('q'), { type: 'function_call', call_id: 'x:y', name: 'f', arguments: '{"a": ' }, { type: 'function_call_output', call_id: 'orphan', output: 'lost' }] },
    {},
  ],
  'every-parameter': [
    {
      input: [user('q')],
      tools: [weather],
      temperature: 1.8, top_p: 0.9, top_k: 40, presence_penalty: 0.1, frequency_penalty: 0.2, top_logprobs: 3, max_output_tokens: 9000, seed: 7, stop: ['END', ' '], user: 'u',
      metadata: { team: 'a|b' }, prompt_cache_key: 'key', service_tier: 'flex', safety_identifier: 's', truncation: 'auto', parallel_tool_calls: false, include: ['message.output_text.logprobs'],
      text: { verbosity: 'low' },
    },
    {
      maxOutputTokens: 8000,
      options: {
        forward_metadata: true, betas: ['a-beta-2025-01-01'], extra_fields: { x: 1 }, latency: 'optimized', response_field_paths: ['/delta/stop_sequence'],
        guardrail: { guardrailIdentifier: 'g', guardrailVersion: '1' },
      },
    },
  ],
}
