type Body = { readonly [field: string]: unknown }

const user = (content: unknown): Body => ({ role: 'user', content })
const hello = [user('hello')]
const marked = { cache_control: { type: 'ephemeral', ttl: '1h' } }
const look = { type: 'function', function: { name: 'look', description: 'Looks.', parameters: { type: 'object', properties: {} }, strict: true } }
const grammar = { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: "a"' } }
const write = { type: 'custom', custom: { name: 'write', description: 'Writes.', format: grammar } }

const calls = [
  { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"x":1}' } },
  { id: 'call_2', type: 'custom', custom: { name: 'write', input: 'a' } },
]
const thoughts = [
  { type: 'reasoning.text', text: 'hm', signature: 's', id: 'rs_1', format: 'anthropic-claude-v1', index: 0 },
  { type: 'reasoning.summary', summary: 'so', id: 'rs_2', format: null, index: 1 },
  { type: 'reasoning.encrypted', data: 'blob', id: 'rs_2', format: 'openai-responses-v1', index: 2 },
  { type: 'reasoning.server_tool_call', tool_name: 't', arguments: '{}', result: 'r' },
]

/** Valid bodies that together contain every field and variant a request of this format may have. */
export const BODIES: readonly Body[] = [
  { messages: hello },
  {
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'Be brief.', ...marked }], name: 'house' },
      { role: 'developer', content: 'And kind.' },
      {
        role: 'user',
        name: 'ann',
        content: [
          { type: 'text', text: 'look', prompt_cache_breakpoint: { mode: 'explicit' } },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,QQ==', detail: 'low' }, ...marked },
          { type: 'image_url', image_url: 'https://acme.example/a.png' },
          { type: 'file', file: { file_data: 'data:application/pdf;base64,QQ==', filename: 'a.pdf' } },
          { type: 'file', file: { file_id: 'file_1' } },
          { type: 'input_audio', input_audio: { data: 'QQ==', format: 'm4a' } },
          { type: 'video_url', video_url: { url: 'https://acme.example/a.mp4' } },
          { type: 'input_video', video_url: { url: 'https://acme.example/b.mp4' } },
        ],
      },
      { role: 'assistant', content: null, refusal: null, reasoning: 'hm', reasoning_details: thoughts, tool_calls: calls },
      { role: 'tool', tool_call_id: 'call_1', content: 'seen' },
      { role: 'tool', tool_call_id: 'call_2', content: [{ type: 'text', text: 'written' }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'So it is.' },
          { type: 'refusal', refusal: 'No more.' },
        ],
        images: [{ image_url: { url: 'data:image/png;base64,QQ==' } }],
        name: 'bob',
      },
      user([{ type: 'text', text: 'and?' }]),
    ],
    tools: [look, write, { type: 'gateway:datetime' }, { type: 'openrouter:web_search', parameters: { max_results: 2 } }],
    tool_choice: { type: 'function', function: { name: 'look' } },
    parallel_tool_calls: false,
  },
  {
    messages: hello,
    tools: [look, write],
    tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'look' } }] } },
  },
  { messages: hello, tools: [write], tool_choice: { type: 'custom', custom: { name: 'write' } } },
  {
    messages: hello,
    tools: [
      { type: 'web_search', engine: 'auto', max_results: 2, user_location: { type: 'approximate', country: 'NO' }, filters: { allowed_domains: ['a.example'] } },
      { type: 'web_search_preview', parameters: { search_context_size: 'low' } },
    ],
    tool_choice: { type: 'web_search' },
  },
  {
    messages: hello,
    models: ['acme/other'],
    max_completion_tokens: 9,
    max_tokens: 8,
    temperature: 0.5,
    top_p: 0.9,
    top_k: 5,
    min_p: 0.1,
    top_a: 0.1,
    presence_penalty: 0.1,
    frequency_penalty: 0.1,
    repetition_penalty: 1,
    seed: 7,
    stop: ['.', '!'],
    logit_bias: { 5: 1 },
    logprobs: true,
    top_logprobs: 2,
    prediction: { type: 'content', content: 'x' },
    stream_options: { include_usage: true },
    n: 1,
    user: 'u',
    session_id: 's',
    metadata: { a: 'b' },
    trace: { trace_id: 't', more: 1 },
    store: false,
    service_tier: 'auto',
  },
  {
    messages: hello,
    reasoning: { effort: 'low', summary: 'auto', exclude: true },
    reasoning_effort: 'high',
    include_reasoning: false,
    verbosity: 'low',
    response_format: { type: 'json_schema', json_schema: { name: 's', description: 'd', schema: { type: 'object' }, strict: true } },
    modalities: ['text'],
    image_config: { size: '1K' },
    cache_control: { type: 'ephemeral' },
    prompt_cache_key: 'k',
    prompt_cache_options: { mode: 'implicit' },
    safety_identifier: 'i',
    provider: { order: ['acme'], allow_fallbacks: false },
    plugins: [{ id: 'web', enabled: false }],
    debug: { echo_upstream_body: true },
    max_tool_calls: 3,
    stop_server_tools_when: [{ type: 'step_count_is', step_count: 2 }],
    route: 'fallback',
    usage: { include: true },
  },
  { messages: hello, response_format: { type: 'json_object' }, stop: '.', tool_choice: 'none', tools: [] },
]
