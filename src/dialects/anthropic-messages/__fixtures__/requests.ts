import { sealReasoning } from '../../../core/reasoning-envelope.ts'
import type { InputItem } from '../../../core/item.ts'
import type { ModelRequest } from '../../../core/request.ts'
import type { TargetOverrides } from './target.ts'

const weather = {
  type: 'function',
  name: 'get_weather',
  description: 'Weather of a place.',
  parameters: { type: 'object', properties: { place: { type: 'string', minLength: 1 } }, required: ['place'] },
  strict: true,
}
const PNG = 'data:image/png;base64,iVBORw0KGgo='
const user = (content: unknown): InputItem => ({ type: 'message', role: 'user', content })
const format = 'anthropic-claude-v1'
const signed = (text: string, signature: string, scope = 'acme'): InputItem => ({
  type: 'reasoning',
  summary: [],
  encrypted_content: sealReasoning({ format, scope, signature, text }),
})

const toolLoop: ModelRequest = {
  instructions: 'Be brief.',
  input: [
    { type: 'message', role: 'developer', content: 'Use metric units.' },
    user('Weather in Oslo and Rome?'),
    signed('Two places, two calls.', 'SIG1'),
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I will look. ' }] },
    { type: 'function_call', call_id: 'call_oslo', name: 'get_weather', arguments: '{"place":"Oslo"}' },
    { type: 'function_call', call_id: 'call_rome', name: 'get_weather', arguments: '{"place":"Rome"}' },
    { type: 'function_call_output', call_id: 'call_rome', output: 'sun' },
    {
      type: 'function_call_output',
      call_id: 'call_oslo',
      output: [
        { type: 'input_text', text: 'snow' },
        { type: 'input_image', image_url: PNG },
      ],
    },
  ],
  tools: [weather],
  tool_choice: 'auto',
}

const later: ModelRequest = {
  ...toolLoop,
  input: [...toolLoop.input, user('And tomorrow?'), { type: 'message', role: 'system', content: 'The user is in a hurry.' }],
}

const adaptive = { thinking: 'adaptive', thinking_display: 'summarized', efforts: ['low', 'medium', 'high', 'xhigh', 'max'], sampling: 'none', prefill: false, json_schema: 'native', strict_tools: true } as const

/** Requests and the endpoints that they go to; each has a golden file of the same name. */
export const REQUESTS: { readonly [name: string]: readonly [ModelRequest, TargetOverrides] } = {
  plain: [{ input: [user('Hi')] }, {}],
  'tool-loop-with-budget': [{ ...toolLoop, reasoning: { effort: 'high' }, max_output_tokens: 4000, temperature: 0.5 }, { maxOutputTokens: 64_000 }],
  'tool-loop-with-effort': [{ ...toolLoop, reasoning: { effort: 'xhigh' }, temperature: 0.5 }, { options: adaptive, maxOutputTokens: 64_000 }],
  'tool-loop-continued': [{ ...later, parallel_tool_calls: false }, {}],
  'tool-loop-of-another-party': [
    {
      ...toolLoop,
      input: toolLoop.input.map((item) => (item.type === 'reasoning' ? { type: 'reasoning', summary: [], encrypted_content: 'gAAAA-other' } : item)),
      reasoning: { effort: 'high' },
    },
    {},
  ],
  'forced-tool-with-thinking': [{ input: [user('q')], tools: [weather], tool_choice: { type: 'function', name: 'get_weather' }, reasoning: { effort: 'low' } }, {}],
  'forced-tool-where-none-can-be': [
    { input: [user('q')], tools: [weather, { type: 'function', name: 'other' }], tool_choice: { type: 'function', name: 'get_weather' }, reasoning: { effort: 'low' } },
    { options: { ...adaptive, forced_tools: 'never' } },
  ],
  'schema-native': [
    {
      input: [user('q')],
      text: {
        format: {
          type: 'json_schema',
          name: 'n',
          strict: true,
          schema: {
            $schema: 'https://json-schema.org/draft/2020-12/schema',
            type: 'object',
            properties: {
              age: { type: 'integer', minimum: 0, maximum: 150 },
              tag: { oneOf: [{ type: 'string', pattern: '^a' }, { $ref: '#/$defs/tag', description: 'beside' }] },
              mail: { type: 'string', format: 'email' },
              color: { type: 'string', format: 'color' },
              list: { type: 'array', items: { type: 'object', properties: {} }, minItems: 3 },
            },
            $defs: { tag: { type: 'object', properties: { id: { type: 'string', maxLength: 4 } }, additionalProperties: { type: 'string' } } },
          },
        },
      },
    },
    { options: adaptive },
  ],
  'schema-as-tool': [
    { input: [user('q')], text: { format: { type: 'json_schema', name: 'n', schema: { type: 'object', properties: {} } } }, tools: [weather], reasoning: { effort: 'low' } },
    {},
  ],
  'schema-in-prompt': [
    { instructions: 'i', input: [user('q')], text: { format: { type: 'json_schema', name: 'n', schema: { type: 'array' } } } },
    {},
  ],
  'free-form-and-namespace-tools': [
    {
      input: [
        user('q'),
        { type: 'custom_tool_call', call_id: 'p', name: 'apply_patch', input: '*** Begin' },
        { type: 'custom_tool_call_output', call_id: 'p', output: 'ok' },
        { type: 'function_call', call_id: 'n.1', name: 'log', namespace: 'git', arguments: 'broken {' },
        { type: 'function_call_output', call_id: 'n.1', output: '' },
      ],
      tools: [
        { type: 'custom', name: 'apply_patch', description: 'Patches files.', format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' } },
        { type: 'namespace', name: 'git', description: 'd', tools: [{ type: 'function', name: 'log', parameters: { anyOf: [{ type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }, { type: 'object', properties: { b: { type: 'string' } }, required: ['a', 'b'] }] } }] },
        { type: 'file_search', vector_store_ids: [] },
      ],
      tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'custom', name: 'apply_patch' }] },
    },
    {},
  ],
  'web-search-and-native-tools': [
    {
      input: [user('q')],
      tools: [
        { type: 'web_search', filters: { allowed_domains: ['example.test'] }, max_uses: 3, search_context_size: 'low', user_location: { type: 'approximate', city: 'Oslo', country: null } },
        { type: 'web_fetch_20250910', name: 'web_fetch', max_uses: 1 },
      ],
      tool_choice: { type: 'web_search' },
    },
    { options: { web_search_tool: 'web_search_20250305', native_tools: ['^web_fetch_\\d+$'] } },
  ],
  media: [
    {
      input: [
        user([
          { type: 'input_text', text: 'Look:' },
          { type: 'input_text', text: '  ' },
          { type: 'input_image', image_url: 'https://example.test/a.png', detail: 'high' },
          { type: 'input_image', image_url: 'data:image/png;base64,/9j/AAAA' },
          { type: 'input_file', file_data: 'JVBERi0=', filename: 'a.pdf' },
          { type: 'input_file', file_url: 'https://example.test/b.pdf' },
          { type: 'input_file', file_data: 'data:text/plain;base64,aGVsbG8=', filename: 'n.txt' },
        ]),
      ],
    },
    { options: { document_citations: true } },
  ],
  'media-inlined': [
    {
      input: [
        user([
          { type: 'input_image', image_url: 'https://example.test/a' },
          { type: 'input_file', file_url: 'https://example.test/b.pdf' },
          { type: 'input_file', file_url: 'https://example.test/c.md?x=1' },
        ]),
      ],
    },
    {
      options: { image_urls: false, document_urls: false },
      media: new Map([
        ['https://example.test/a', { mimeType: 'application/octet-stream', data: 'UklGRgAAAABXRUJQ' }],
        ['https://example.test/b.pdf', { mimeType: 'application/pdf', data: 'JVBERi0=' }],
        ['https://example.test/c.md?x=1', { mimeType: 'text/markdown', data: 'IyBUaXRsZQ==' }],
      ]),
    },
  ],
  'every-parameter': [
    {
      input: [user('q')],
      temperature: 1.8, top_p: 0.9, top_k: 40, presence_penalty: 0.1, frequency_penalty: 0.2, top_logprobs: 3, max_output_tokens: 9000, seed: 7, stop: ['END', ' '],
      user: 'u', metadata: { k: 'v' }, prompt_cache_key: 'key', service_tier: 'default', truncation: 'auto', unknown_field: 1, known_field: 2,
      include: ['message.output_text.logprobs'], text: { verbosity: 'low' },
    },
    { options: { sampling: 'one', forward_user: true, service_tier: true, pass_through: ['known_field'], extra_body: { safe: true }, betas: ['one-2025-01-01', 'two-2025-01-01'] }, maxOutputTokens: 8000 },
  ],
  'cache-breakpoints': [
    {
      instructions: 'i',
      input: [
        { type: 'message', role: 'system', content: [{ type: 'input_text', text: 'rules', prompt_cache_breakpoint: { mode: 'explicit' } }] },
        ...[1, 2, 3].map((n) => user([{ type: 'input_text', text: `part ${n}`, prompt_cache_breakpoint: { mode: 'explicit' } }])),
        signed('thought', 'SIG'),
        { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'a', output: 'r' },
      ],
      cache_control: { type: 'ephemeral', ttl: '1h' },
    },
    {},
  ],
  'on-vertex': [
    { input: [user('q')] },
    { model: 'claude-opus-4-6@20260205', options: { path: '/publishers/anthropic/models/{model}:rawPredict', stream_path: '/publishers/anthropic/models/{model}:streamRawPredict', version: 'vertex-2023-10-16', version_in: 'body', model_in_body: false, betas: ['b'] } },
  ],
}
