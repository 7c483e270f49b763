import { sealReasoning } from '../../../core/reasoning-envelope.ts'
import type { ModelRequest } from '../../../core/request.ts'
import type { TargetOverrides } from './target.ts'

const weather = { type: 'function', name: 'get_weather', description: 'Weather of a place.', parameters: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] }, strict: true }
const PNG = 'data:image/png;base64,iVBORw0KGgo='

const toolLoop: ModelRequest = {
  instructions: 'Be brief.',
  input: [
    { type: 'message', role: 'developer', content: 'Use metric units.' },
    { type: 'message', role: 'user', content: 'Weather in Oslo and Rome?' },
    { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'Two places, two calls.' }] },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I will look.' }] },
    { type: 'function_call', call_id: 'call_oslo', name: 'get_weather', arguments: '{"place":"Oslo"}' },
    { type: 'function_call', call_id: 'call_rome', name: 'get_weather', arguments: '{"place":"Rome"}' },
    { type: 'function_call_output', call_id: 'call_rome', output: 'sun' },
    { type: 'function_call_output', call_id: 'call_oslo', output: [{ type: 'input_text', text: 'snow' }, { type: 'input_image', image_url: PNG }] },
    { type: 'message', role: 'user', content: 'And tomorrow?' },
    { type: 'message', role: 'system', content: 'The user is in a hurry.' },
  ],
  tools: [weather],
  tool_choice: 'auto',
}

/** Requests and the endpoints that they go to; each has a golden file of the same name. */
export const REQUESTS: { readonly [name: string]: readonly [ModelRequest, TargetOverrides] } = {
  'plain': [{ input: [{ type: 'message', role: 'user', content: 'Hi' }] }, {}],
  'tool-loop-unknown-server': [toolLoop, {}],
  'tool-loop-strict-template': [
    toolLoop,
    { options: { alternating_roles: true, user_after_tool_filler: '.', empty_content: 'null', tool_result_name: true, tool_ids: { pattern: '^[a-zA-Z0-9]{9}$', max: 9, length: 9 }, required_word: 'any' } },
  ],
  'tool-loop-developer-role': [
    { ...toolLoop, parallel_tool_calls: false, tool_choice: { type: 'function', name: 'get_weather' } },
    {
      options: { system_role: 'developer', strict_tools: true, tool_result_images: true, max_tokens_field: 'max_completion_tokens' },
      supports: ['tools', 'tool_choice', 'parallel_tool_calls', 'max_tokens'],
    },
  ],
  'reasoning-text-required': [
    { ...toolLoop, input: [...toolLoop.input, { type: 'function_call', call_id: 'x', name: 'get_weather', arguments: '' }], reasoning: { effort: 'high' } },
    { options: { reasoning_replay: 'reasoning_content', reasoning_replay_required: true, reasoning_style: 'thinking-type', reasoning_efforts: ['high', 'max'] } },
  ],
  'reasoning-details': [
    {
      input: [
        { type: 'message', role: 'user', content: 'q' },
        {
          type: 'reasoning',
          summary: [],
          encrypted_content: sealReasoning({ format: 'f-v1', scope: 'acme', data: '[{"type":"reasoning.text","text":"because","signature":"sig","format":"f-v1","index":0}]' }),
        },
        { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'a', output: 'ok' },
        { type: 'reasoning', summary: [], encrypted_content: sealReasoning({ format: 'f-v1', scope: 'another party', data: '[{"type":"reasoning.encrypted","data":"secret"}]' }) },
        { type: 'message', role: 'assistant', content: 'done' },
      ],
      reasoning: { max_tokens: 2000 },
    },
    { options: { reasoning_replay: 'reasoning_details', reasoning_replay_turns: 'all', reasoning_style: 'reasoning-object' } },
  ],
  'thinking-parts': [
    { ...toolLoop, reasoning: { effort: 'none' } },
    { options: { reasoning_replay: 'thinking-part', reasoning_replay_turns: 'all', reasoning_style: 'effort', reasoning_efforts: ['none', 'high'] } },
  ],
  'signed-calls': [
    {
      input: [
        { type: 'message', role: 'user', content: 'q' },
        { type: 'reasoning', summary: [], encrypted_content: sealReasoning({ format: 'f-v1', scope: 'acme', signature: 'sig' }) },
        { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
        { type: 'function_call', call_id: 'b', name: 'f', arguments: '{}' },
      ],
    },
    { options: { tool_signature_path: ['extra', 'signature'], reasoning_format: 'f-v1' } },
  ],
  'media': [
    {
      input: [
        {
          type: 'message',
          role: 'user',
          content: [
            { type: 'input_text', text: 'Look:' },
            { type: 'input_image', image_url: 'https://example.test/a.png', detail: 'high' },
            { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
            { type: 'input_file', file_data: 'JVBERi0=', filename: 'a.pdf' },
            { type: 'input_file', file_url: 'https://example.test/b.pdf' },
            { type: 'input_video', video_url: 'https://example.test/c.mp4' },
          ],
        },
      ],
    },
    { options: { file: 'file', file_urls: true, video: 'video_url' } },
  ],
  'media-inlined': [
    { input: [{ type: 'message', role: 'user', content: [{ type: 'input_image', image_url: 'https://example.test/a.png', detail: 'low' }, { type: 'input_file', file_data: 'data:text/plain;base64,aGVsbG8=', filename: 'n.txt' }] }] },
    { options: { inline_images: true, image_url: 'string' }, media: new Map([['https://example.test/a.png', { mimeType: 'image/png', data: 'iVBO' }]]) },
  ],
  'schema-native': [{ input: [{ type: 'message', role: 'user', content: 'q' }], text: { format: { type: 'json_schema', name: 'n', schema: { type: 'object' }, strict: true }, verbosity: 'low' } }, {}],
  'schema-in-prompt': [
    { instructions: 'i', input: [{ type: 'message', role: 'user', content: 'q' }], text: { format: { type: 'json_schema', name: 'n', schema: { type: 'object' }, strict: true } } },
    { supports: ['response_format'] },
  ],
  'schema-as-tool': [
    { input: [{ type: 'message', role: 'user', content: 'q' }], text: { format: { type: 'json_schema', name: 'n', schema: { type: 'object' }, strict: true } } },
    { options: { json_schema: 'tool' }, supports: ['tools', 'tool_choice'] },
  ],
  'free-form-and-namespace-tools': [
    {
      input: [
        { type: 'message', role: 'user', content: 'q' },
        { type: 'custom_tool_call', call_id: 'p', name: 'apply_patch', input: '*** Begin' },
        { type: 'custom_tool_call_output', call_id: 'p', output: 'ok' },
        { type: 'function_call', call_id: 'n', name: 'log', namespace: 'git', arguments: '{}' },
        { type: 'function_call_output', call_id: 'n', output: 'ok' },
      ],
      tools: [
        { type: 'custom', name: 'apply_patch', description: 'Patches files.', format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' } },
        { type: 'namespace', name: 'git', description: 'd', tools: [{ type: 'function', name: 'log', parameters: null }] },
        { type: 'web_search' },
      ],
      tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'custom', name: 'apply_patch' }] },
    },
    {},
  ],
  'every-parameter': [
    {
      input: [{ type: 'message', role: 'user', content: 'q' }],
      temperature: 1.8, top_p: 0.9, top_k: 40, presence_penalty: 0.1, frequency_penalty: 0.2, top_logprobs: 3, max_output_tokens: 9000, seed: 7, stop: ['END'], user: 'u', metadata: { k: 'v' },
      prompt_cache_key: 'key', service_tier: 'flex', safety_identifier: 's', truncation: 'auto', unknown_field: 1, known_field: 2, include: ['message.output_text.logprobs'],
    },
    {
      supports: ['temperature', 'top_p', 'top_k', 'presence_penalty', 'frequency_penalty', 'logprobs', 'top_logprobs', 'max_tokens', 'seed', 'stop'],
      options: { max_temperature: 1.5, forward: ['user', 'prompt_cache_key'], pass_through: ['known_field'], field_names: { seed: 'random_seed' }, extra_body: { stream_options: { include_obfuscation: false }, safe: true } },
      maxOutputTokens: 8000,
    },
  ],
  'cache-control': [
    {
      instructions: 'i',
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'long', prompt_cache_breakpoint: { mode: 'explicit' } }, { type: 'input_text', text: 'short' }] }, { type: 'message', role: 'user', content: 'q' }],
      cache_control: { type: 'ephemeral', ttl: '1h' },
    },
    { options: { cache_breakpoints: true, system_role: 'system' } },
  ],
}
