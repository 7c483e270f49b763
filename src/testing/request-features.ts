import type { InputItem, MessageItem } from '../core/item.ts'
import type { ModelRequest } from '../core/request.ts'

export const user = (content: MessageItem['content']): InputItem => ({ type: 'message', role: 'user', content })
export const tool = (name: string): NonNullable<ModelRequest['tools']>[number] => ({
  type: 'function',
  name,
  description: 'd',
  parameters: { type: 'object', properties: { x: { type: 'string' } }, required: ['x'], additionalProperties: false },
  strict: true,
})
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** A request for each feature of the contract. */
export const FEATURES: { readonly [feature: string]: Partial<ModelRequest> } = {
  'a string of the user': {},
  'instructions and system roles': {
    instructions: 'i',
    input: [{ type: 'message', role: 'developer', content: 'd' }, user('q'), { type: 'message', role: 'system', content: 'later' }],
  },
  'no input at all': { input: [], instructions: 'Say hello.' },
  sampling: { temperature: 0.7, top_p: 0.9, top_k: 10, presence_penalty: 0.1, frequency_penalty: 0.1, seed: 1, stop: ['END'] },
  'an output limit': { max_output_tokens: 100 },
  tools: { tools: [tool('f'), tool('g')] },
  'a tool choice': { tools: [tool('f'), tool('g')], tool_choice: { type: 'function', name: 'g' } },
  'allowed tools': {
    tools: [tool('f'), tool('g')],
    tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'g' }] },
  },
  'one call at a time': { tools: [tool('f')], parallel_tool_calls: false },
  'no call': { tools: [tool('f')], tool_choice: 'none' },
  'free-form and namespaced tools': {
    tools: [
      { type: 'custom', name: 'patch' },
      { type: 'namespace', name: 'git', tools: [tool('log')] },
    ],
  },
  'a JSON schema': {
    text: { format: { type: 'json_schema', name: 'n', schema: { type: 'object', properties: { x: { type: 'string' } } }, strict: true } },
  },
  'a JSON object': { text: { format: { type: 'json_object' } } },
  'a JSON schema beside tools': {
    tools: [tool('f')],
    text: { format: { type: 'json_schema', name: 'n', schema: { type: 'object', properties: {} } } },
  },
  reasoning: { reasoning: { effort: 'high' }, max_output_tokens: 10_000 },
  'a reasoning budget': { reasoning: { max_tokens: 2000 }, max_output_tokens: 10_000 },
  'no reasoning': { reasoning: { effort: 'none' } },
  'an image': {
    input: [
      user([
        { type: 'input_text', text: 'look' },
        { type: 'input_image', image_url: `data:image/png;base64,${PNG}`, detail: 'low' },
      ]),
    ],
  },
  'a text file': {
    input: [
      user([
        { type: 'input_text', text: 'read' },
        { type: 'input_file', file_data: 'data:text/plain;base64,aGk=', filename: 'a.txt' },
      ]),
    ],
  },
  caching: {
    input: [user([{ type: 'input_text', text: 'long', prompt_cache_breakpoint: { mode: 'explicit' } }])],
    cache_control: { type: 'ephemeral', ttl: '1h' },
    prompt_cache_key: 'k',
  },
  'the caller and the account': {
    user: 'u',
    metadata: { a: 'b' },
    safety_identifier: 's',
    service_tier: 'flex',
    include: ['reasoning.encrypted_content', 'message.output_text.logprobs'],
    top_logprobs: 2,
  },
  'fields that are null': {
    temperature: null,
    top_p: null,
    max_output_tokens: null,
    reasoning: null,
    text: null,
    metadata: null,
    user: null,
    service_tier: null,
    cache_control: null,
    instructions: null,
  },
  'calls with results in another order, one missing, one lost': {
    input: [
      user('q'),
      { type: 'function_call', call_id: 'a', name: 'f', arguments: '{"x":"1"}' },
      { type: 'function_call', call_id: 'b', name: 'f', arguments: '' },
      { type: 'function_call', call_id: 'c', name: 'g', arguments: '{"x": ' },
      { type: 'function_call_output', call_id: 'b', output: 'two' },
      {
        type: 'function_call_output',
        call_id: 'a',
        output: [
          { type: 'input_text', text: 'one' },
          { type: 'input_image', image_url: `data:image/png;base64,${PNG}` },
        ],
      },
      { type: 'function_call_output', call_id: 'nobody', output: 'lost' },
      user('go on'),
    ],
    tools: [tool('f'), tool('g')],
  },
  'blank texts': {
    input: [user(' '), { type: 'message', role: 'assistant', content: '' }, user('q'), { type: 'message', role: 'assistant', content: 'a' }],
  },
  'reasoning of others': {
    input: [
      user('q'),
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'foreign-blob', signature: 'foreign-signature', format: 'another-vendor-v1' },
      { type: 'message', role: 'assistant', content: 'a' },
      user('r'),
    ],
  },
}
