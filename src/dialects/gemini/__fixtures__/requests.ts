import { sealReasoning } from '../../../core/reasoning-envelope.ts'
import type { InputItem } from '../../../core/item.ts'
import type { ModelRequest } from '../../../core/request.ts'
import type { TargetOverrides } from './target.ts'

const FORMAT = 'google-gemini-v1'
const user = (content: unknown): InputItem => ({ type: 'message', role: 'user', content })
const sealed = (signature: string, scope = 'acme'): InputItem => ({ type: 'reasoning', summary: [], encrypted_content: sealReasoning({ format: FORMAT, scope, signature }) })
const PNG = 'data:image/png;base64,iVBORw0KGgo='

/** A conversation with thoughts, parallel calls and their results, as this dialect's own answers left it. */
export const toolLoop: ModelRequest = {
  instructions: 'Be brief.',
  input: [
    { type: 'message', role: 'system', content: 'Use tools.' },
    user([{ type: 'input_text', text: 'Weather in Paris and Rome?' }, { type: 'input_image', image_url: PNG }]),
    { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Two cities.' }], encrypted_content: sealReasoning({ format: FORMAT, scope: 'acme', signature: 'c2lnMQ==' }) },
    { type: 'function_call', call_id: 'call_1', name: 'get_weather', arguments: '{"city":"Paris","id":12345678901234567890}' },
    { type: 'function_call', call_id: 'call_2', name: 'get_weather', arguments: '{"city":"Rome"}' },
    { type: 'function_call_output', call_id: 'call_2', output: '{"temperature":24.0}' },
    { type: 'function_call_output', call_id: 'call_1', output: 'sunny' },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Sunny, and 24 degrees.' }] },
    sealed('c2lnMg=='),
    { type: 'message', role: 'developer', content: 'Answer in French.' },
    user('Merci. And tomorrow?'),
  ],
  tools: [
    {
      type: 'function', name: 'get_weather', description: 'Current weather.', strict: true,
      parameters: { type: 'object', properties: { city: { $ref: '#/definitions/City', title: 'City' } }, required: ['city'], definitions: { City: { type: 'string' } }, $schema: 'x' },
    },
  ],
  parallel_tool_calls: false,
}

/** Our own requests, each with the endpoint that it goes to. The files next to this one contain the encoded requests. */
export const REQUESTS: { readonly [name: string]: readonly [ModelRequest, TargetOverrides] } = {
  'plain': [{ input: [user('Hi')] }, {}],
  'tool-loop': [toolLoop, {}],
  'tool-loop-older-model': [toolLoop, { model: 'gemini-2.5-flash', options: { schemas: 'openapi', later_system: 'user-text', validated_mode: false } }],
  'tool-loop-without-system-instruction': [toolLoop, { model: 'gemma-3-27b-it', supports: [] }],
  'foreign-history': [
    {
      input: [
        user('q'),
        { type: 'reasoning', summary: [], encrypted_content: sealReasoning({ format: 'anthropic-claude-v1', scope: 'other', signature: 'theirs', text: 'secret' }) },
        { type: 'function_call', call_id: 'toolu_1', name: 'f', arguments: '{}' },
        { type: 'function_call', call_id: 'toolu_2', name: 'f', arguments: '{"broken' },
        { type: 'function_call_output', call_id: 'toolu_1', output: 'one' },
        sealed('b3RoZXI=', 'another party'),
        { type: 'function_call', call_id: 'toolu_3', name: 'f', arguments: '' },
      ],
    },
    {},
  ],
  'items-of-its-own': [
    {
      input: [
        user('draw and compute'),
        sealed('c2ln'),
        { type: 'code_interpreter_call', code: 'print(1)', container_id: 'code_execution:e1', outputs: [{ type: 'logs', logs: '1' }], status: 'completed' },
        { type: 'reasoning', summary: [], encrypted_content: sealReasoning({ format: FORMAT, scope: 'acme', data: '{"toolCall":{"toolType":"GOOGLE_SEARCH_WEB","id":"t1"},"thoughtSignature":"c3Q="}' }) },
        { type: 'image_generation_call', result: 'iVBORw0KGgo=' },
        { type: 'code_interpreter_call', code: 'theirs', container_id: 'cntr_1', outputs: null },
        { type: 'web_search_call', status: 'completed' },
        { type: 'message', role: 'assistant', content: 'Done.' },
      ],
      tools: [{ type: 'code_interpreter', container: { type: 'auto' } }, { type: 'web_search_preview' }],
      image_config: { aspect_ratio: '16:9', image_size: '2K', unknown: 1 },
      modalities: ['text', 'image'],
    },
    { model: 'gemini-3-pro-image-preview' },
  ],
  'media': [
    {
      input: [
        user([
          { type: 'input_text', text: 'Look:' },
          { type: 'input_image', image_url: 'https://example.test/a', detail: 'high' },
          { type: 'input_image', image_url: 'gs://bucket/b.webp' },
          { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
          { type: 'input_file', file_data: 'JVBERi0=', filename: 'a.pdf' },
          { type: 'input_file', file_data: 'data:text/plain,hello%20you', filename: 'n.txt' },
          { type: 'input_file', file_id: 'https://generativelanguage.googleapis.com/v1beta/files/abc' },
          { type: 'input_video', video_url: 'https://www.youtube.com/watch?v=1' },
        ]),
      ],
    },
    { media: new Map([['https://example.test/a', { mimeType: 'image/jpeg', data: '/9j/' }]]) },
  ],
  'media-in-results': [
    {
      input: [
        user('q'),
        { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
        { type: 'function_call', call_id: 'b', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'a', output: [{ type: 'input_text', text: 'See:' }, { type: 'input_image', image_url: PNG }, { type: 'input_file', file_id: 'file-theirs' }] },
        { type: 'function_call_output', call_id: 'b', output: [{ type: 'input_image', image_url: PNG }] },
      ],
    },
    {},
  ],
  'media-in-results-older-model': [
    {
      input: [
        user('q'),
        { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'a', output: [{ type: 'input_text', text: '{"n":1}' }, { type: 'input_image', image_url: PNG }] },
        user('And?'),
      ],
    },
    { model: 'gemini-2.5-pro' },
  ],
  'schema': [{ input: [user('q')], text: { format: { type: 'json_schema', name: 'n', schema: { type: 'object', properties: { a: { type: 'string' } } }, strict: true }, verbosity: 'low' } }, {}],
  'schema-beside-tools-older-model': [
    { input: [user('q')], tools: [{ type: 'function', name: 'f' }], text: { format: { type: 'json_schema', name: 'n', schema: { type: 'object' } } } },
    { model: 'gemini-2.5-flash' },
  ],
  'free-form-and-namespace-tools': [
    {
      input: [
        user('q'),
        { type: 'custom_tool_call', call_id: 'p', name: 'apply_patch', input: '*** Begin' },
        { type: 'custom_tool_call_output', call_id: 'p', output: 'ok' },
        { type: 'function_call', call_id: 'n', name: 'log', namespace: 'git', arguments: '{}' },
        { type: 'function_call_output', call_id: 'n', output: 'ok' },
      ],
      tools: [
        { type: 'custom', name: 'apply_patch', description: 'Patches files.', format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' } },
        { type: 'namespace', name: 'git', description: 'd', tools: [{ type: 'function', name: 'log', parameters: null }] },
        { type: 'web_search' },
        { type: 'file_search' },
      ],
      tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'custom', name: 'apply_patch' }] },
    },
    {},
  ],
  'every-parameter': [
    {
      input: [user('q')],
      temperature: 1.8, top_p: 0.9, top_k: 40, presence_penalty: 0.1, frequency_penalty: 0.2, top_logprobs: 3, max_output_tokens: 9000, seed: 7, stop: ['1', '2', '3', '4', '5', '6'], user: 'u',
      metadata: { 'Team Name': 'Ü x' }, prompt_cache_key: 'key', service_tier: 'flex', safety_identifier: 's', truncation: 'auto', unknown_field: 1, modelArmorConfig: { a: 1 }, logit_bias: { 1: 1 },
    },
    { model: 'small-1', options: { labels: true, service_tier: true, safety_settings: [{ category: 'C', threshold: 'T' }], pass_through: ['modelArmorConfig'], extra_body: { generationConfig: { mediaResolution: 'LOW' } } }, maxOutputTokens: 8000 },
  ],
}
