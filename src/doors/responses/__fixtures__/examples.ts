/**
 * One example of everything a request may contain, and for each field a value of the wrong type or out of range. `openapi.test.ts` compares the fields
 * with the schema, so a new field cannot be forgotten here.
 */

type Value = Readonly<Record<string, unknown>>

export interface Example {
  readonly ok: Value
  /** By field (`action.commands[0]` reaches inside): a value that must be refused there. */
  readonly wrong: Value
}

/** `id` and `status` are the same in nearly all items. */
const known = { id: 1, status: 'done' }
const breakpoint = { mode: 'explicit' }
const search = { max_results: 0, max_uses: 1.5, mode: 'slow', search_context_size: 'huge', engine: 'bing' }
const nativeSearch: Value = {
  engine: 'exa',
  filters: { allowed_domains: ['a.example'], blocked_domains: null, excluded_domains: [] },
  max_results: 5,
  max_uses: 1,
  mode: 'fast',
  search_context_size: 'low',
  user_location: { type: 'approximate', city: 'Bern', country: 'CH', region: null, timezone: 'Europe/Zurich' },
}
const nativeSearchWrong: Value = { ...search, filters: ['a.example'], 'filters.allowed_domains': 'a.example', user_location: 'Bern', 'user_location.city': 7 }
const call = { id: 'x_1', status: 'completed', call_id: 'call_1' }

export const PARTS: Readonly<Record<string, Example>> = {
  input_text: { ok: { text: 'Hello', prompt_cache_breakpoint: breakpoint }, wrong: { text: 7, prompt_cache_breakpoint: [], 'prompt_cache_breakpoint.mode': 'implicit' } },
  input_image: {
    ok: { image_url: 'https://img.example/cat.png', file_id: null, detail: 'auto', prompt_cache_breakpoint: null },
    wrong: { image_url: { url: 'https://img.example/cat.png' }, file_id: 7, detail: 'ultra', prompt_cache_breakpoint: true },
  },
  input_file: {
    ok: { file_data: 'data:application/pdf;base64,QQ==', file_url: null, file_id: null, filename: 'a.pdf', prompt_cache_breakpoint: breakpoint },
    wrong: { file_data: 1, file_url: [], file_id: {}, filename: false, prompt_cache_breakpoint: 'explicit' },
  },
  input_audio: { ok: { input_audio: { data: 'QQ==', format: 'wav' } }, wrong: { input_audio: 'QQ==', 'input_audio.data': 1, 'input_audio.format': 'tape' } },
  input_video: { ok: { video_url: 'https://vid.example/a.mp4' }, wrong: { video_url: { url: 'x' } } },
  output_text: {
    ok: {
      text: 'Hello',
      annotations: [
        { type: 'url_citation', url: 'https://a.example', title: 'A', start_index: 0, end_index: 5, content: 'quoted' },
        { type: 'file_citation', file_id: 'f', filename: 'a.txt', index: 0 },
        { type: 'file_path', file_id: 'f', index: 0 },
        { type: 'page_location', page: 3 },
      ],
      logprobs: [{ token: 'H', logprob: -0.1, bytes: [72], top_logprobs: [{ token: 'H', logprob: -0.1, bytes: [72] }] }],
    },
    wrong: {
      text: null,
      annotations: {},
      'annotations[0].start_index': -1,
      'annotations[1].file_id': 3,
      logprobs: 'none',
      'logprobs[0].logprob': '-0.1',
      'logprobs[0].top_logprobs': 1,
    },
  },
  refusal: { ok: { refusal: 'No.' }, wrong: { refusal: ['No.'] } },
}

export const ITEMS: Readonly<Record<string, Example>> = {
  message: {
    ok: { role: 'assistant', id: 'msg_1', status: 'completed', phase: 'final_answer', content: [{ type: 'output_text', text: 'Hi' }] },
    wrong: { ...known, role: 'tool', phase: 'thinking', content: { text: 'Hi' } },
  },
  reasoning: {
    ok: {
      id: 'rs_1',
      status: 'completed',
      summary: [{ type: 'summary_text', text: 'Thought' }],
      content: [{ type: 'reasoning_text', text: 'Thinking' }],
      encrypted_content: 'gAAAA',
      signature: 'sig',
      format: 'anthropic-claude-v1',
    },
    wrong: {
      ...known,
      summary: 'Thought',
      'summary[0].text': 7,
      content: 'Thinking',
      'content[0].type': 'output_text',
      encrypted_content: {},
      signature: 1,
      format: 'unheard-of-v9',
    },
  },
  function_call: {
    ok: { ...call, name: 'weather', arguments: '{}', namespace: 'maps', subagent_id: 'a', subagent_items: [{ type: 'message' }] },
    wrong: { ...known, call_id: '', name: null, arguments: {}, namespace: 1, subagent_id: 1, subagent_items: {}, 'subagent_items[0].type': 1 },
  },
  function_call_output: {
    ok: { ...call, output: [{ type: 'input_text', text: 'sunny' }], namespace: null },
    wrong: { ...known, call_id: 7, output: { temperature: 21 }, namespace: [] },
  },
  custom_tool_call: {
    ok: { ...call, name: 'sql', input: 'select 1', namespace: 'db' },
    wrong: { ...known, call_id: null, name: '', input: { q: 1 }, namespace: 1 },
  },
  custom_tool_call_output: { ok: { ...call, output: '1', namespace: null }, wrong: { ...known, call_id: [], output: 1, namespace: 1 } },
  apply_patch_call: {
    ok: { ...call, operation: { type: 'update_file', path: 'a.ts', diff: '@@' } },
    wrong: { ...known, call_id: 1, operation: 'rm', 'operation.type': 'rename_file', 'operation.path': null, 'operation.diff': 1 },
  },
  apply_patch_call_output: { ok: { ...call, output: 'done' }, wrong: { ...known, call_id: {}, output: {} } },
  shell_call: {
    ok: { ...call, action: { commands: ['ls'], max_output_length: 100, timeout_ms: null }, arguments: '{}', environment: { type: 'local' } },
    wrong: { ...known, call_id: '', action: [], 'action.commands': 'ls', 'action.timeout_ms': 'soon', 'action.max_output_length': 1.5, arguments: {} },
  },
  shell_call_output: {
    ok: { ...call, output: [{ stdout: 'a', stderr: '', outcome: { type: 'exit', exit_code: 0 } }], max_output_length: 10 },
    wrong: { ...known, call_id: 1, output: 'a', 'output[0].stdout': 1, 'output[0].outcome.type': 'crash', 'output[0].outcome.exit_code': '0', max_output_length: 'x' },
  },
  local_shell_call: {
    ok: { ...call, action: { type: 'exec', command: ['ls'], env: { A: '1' }, timeout_ms: 5, user: null, working_directory: '/' } },
    wrong: {
      ...known,
      call_id: 1,
      action: 'ls',
      'action.type': 'spawn',
      'action.command': 'ls',
      'action.env': 'A=1',
      'action.env.A': 1,
      'action.timeout_ms': '5',
      'action.user': 1,
      'action.working_directory': 1,
    },
  },
  local_shell_call_output: { ok: { id: 'x', status: 'incomplete', output: 'a' }, wrong: { ...known, output: ['a'] } },
  web_search_call: {
    ok: {
      id: 'ws_1',
      status: 'searching',
      action: { type: 'search', query: 'q', queries: ['q'], sources: [{ type: 'url', url: 'https://a.example' }, { type: 'api', name: 'a-weather' }] },
    },
    wrong: {
      ...known,
      action: 'search',
      'action.query': 1,
      'action.queries': 'q',
      'action.sources': {},
      'action.sources[0].type': 'feed',
      'action.sources[1].name': 1,
    },
  },
  file_search_call: { ok: { id: 'fs_1', status: 'completed', queries: ['q'], results: null }, wrong: { ...known, queries: 'q', results: 'none' } },
  image_generation_call: {
    ok: { id: 'ig_1', status: 'generating', result: null, prompt: 'a cat' },
    wrong: { ...known, result: [], prompt: 1 },
  },
  code_interpreter_call: {
    ok: { id: 'ci_1', status: 'interpreting', code: '1', container_id: 'c', outputs: [{ type: 'logs', logs: '1' }, { type: 'file', id: 'f' }] },
    wrong: { ...known, code: 1, container_id: 1, outputs: {}, 'outputs[0].logs': 1, 'outputs[1].size_bytes': 'big' },
  },
  computer_call: {
    ok: { ...call, action: { type: 'click', x: 1 }, pending_safety_checks: [{ id: 's', code: 'c', message: 'm' }] },
    wrong: { ...known, call_id: 1, pending_safety_checks: true, 'pending_safety_checks[0].code': 1 },
  },
  mcp_list_tools: {
    ok: { id: 'm', server_label: 's', error: null, tools: [{ name: 't', description: null, input_schema: {}, annotations: {} }] },
    wrong: { id: 1, server_label: null, error: 7, tools: {}, 'tools[0].name': 1, 'tools[0].input_schema': 'any' },
  },
  mcp_approval_request: { ok: { id: 'm', server_label: 's', name: 'n', arguments: '{}' }, wrong: { id: 1, server_label: 1, name: 1, arguments: {} } },
  mcp_approval_response: {
    ok: { id: null, approval_request_id: 'm', approve: true, reason: 'fine' },
    wrong: { id: 1, approval_request_id: 1, approve: 'yes', reason: 1 },
  },
  mcp_call: {
    ok: { id: 'm', status: 'failed', server_label: 's', name: 'n', arguments: '{}', output: null, error: { code: 1 }, approval_request_id: null },
    wrong: { ...known, server_label: 1, name: 1, arguments: {}, output: {}, error: false, approval_request_id: 1 },
  },
  compaction: { ok: { id: null, encrypted_content: 'x' }, wrong: { id: 1, encrypted_content: null } },
  context_compaction: { ok: { id: null, encrypted_content: null }, wrong: { id: 1, encrypted_content: 7 } },
  additional_tools: {
    ok: { id: null, role: 'developer', tools: [{ type: 'function', name: 'f', parameters: {} }, { type: 'from_the_future' }] },
    wrong: { id: 1, role: 'nobody', tools: {}, 'tools[0].name': '' },
  },
  configuration_update: {
    ok: { id: null, reasoning: { effort: 'high' }, text: { format: { type: 'json_schema', name: 'n', schema: {} } } },
    wrong: { id: 1, reasoning: 'high', 'reasoning.effort': 'some', text: 'json', 'text.format.type': 'yaml', 'text.format.name': '' },
  },
  tool_search_output: {
    ok: { id: null, call_id: 'c', execution: 'client', tools: [{ type: 'function', name: 'f', defer_loading: true }, { type: 'from_the_future' }] },
    wrong: { id: 1, call_id: 1, tools: {}, 'tools[0].name': '' },
  },
  agent_message: {
    ok: { id: null, author: 'a', recipient: 'b', content: [{ type: 'encrypted_content', encrypted_content: 'x' }], agent: { agent_name: 'a' } },
    wrong: { id: 1, author: 1, recipient: 1, content: 'hello', 'content[0].encrypted_content': 1, agent: 'a', 'agent.agent_name': 1 },
  },

  'gateway:web_search': {
    ok: { id: 'x', status: 'completed', action: { type: 'search', query: 'q', sources: [{ type: 'url', url: 'https://a.example' }] } },
    wrong: { ...known, action: 'q', 'action.query': 1, 'action.sources[0].url': 1 },
  },
  'gateway:web_fetch': {
    ok: { id: 'x', status: 'completed', url: 'u', title: 't', content: 'c', error: null, httpStatus: 200 },
    wrong: { ...known, url: 1, title: 1, content: 1, error: {}, httpStatus: '200' },
  },
  'gateway:browser_use': { ok: { id: 'x', status: 'completed', action: 'click', screenshotB64: 'QQ' }, wrong: { ...known, action: {}, screenshotB64: 1 } },
  'gateway:bash': {
    ok: { ...call, arguments: '{}', command: 'ls', stdout: 'a', stderr: '', exitCode: 0 },
    wrong: { ...known, call_id: 1, arguments: {}, command: [], stdout: 1, stderr: 1, exitCode: '0' },
  },
  'gateway:shell': {
    ok: { ...call, arguments: null, action: { commands: ['ls'] }, output: [{ stdout: '', stderr: '', outcome: { type: 'timeout' } }] },
    wrong: { ...known, call_id: 1, arguments: 1, action: 'ls', 'action.commands': 'ls', output: 'a', 'output[0].outcome': 'timeout' },
  },
  'gateway:code_interpreter': {
    ok: { id: 'x', status: 'completed', code: '1', language: 'python', stdout: '1', stderr: '', exitCode: 0 },
    wrong: { ...known, code: 1, language: 1, stdout: 1, stderr: 1, exitCode: 0.5 },
  },
  'gateway:apply_patch': {
    ok: { ...call, operation: { type: 'delete_file', path: 'a' } },
    wrong: { ...known, call_id: 1, operation: 'rm', 'operation.path': 1 },
  },
  'gateway:text_editor': { ok: { id: 'x', status: 'completed', command: 'view', filePath: 'a' }, wrong: { ...known, command: 'open', filePath: 1 } },
  'gateway:files': {
    ok: { ...call, arguments: '{}', operation: 'read', file_id: 'f', filename: 'a', result: 'r', error: null },
    wrong: { ...known, call_id: 1, arguments: 1, operation: 1, file_id: 1, filename: 1, result: {}, error: {} },
  },
  'gateway:advisor': {
    ok: { id: 'x', status: 'failed', instance_name: 'i', model: 'm', prompt: 'p', advice: 'a', error: 'e' },
    wrong: { ...known, instance_name: 1, model: 1, prompt: 1, advice: 1, error: 1 },
  },
  'gateway:subagent': {
    ok: { ...call, name: 'n', instance_name: 'i', model: 'm', task_name: 't', task_description: 'd', outcome: 'o', error: 'e' },
    wrong: { ...known, call_id: 1, name: 1, instance_name: 1, model: 1, task_name: 1, task_description: 1, outcome: 1, error: 1 },
  },
  'gateway:fusion': {
    ok: {
      id: 'x',
      status: 'completed',
      analysis: {
        consensus: ['c'],
        blind_spots: ['b'],
        contradictions: [{ topic: 't', stances: [{ model: 'm', stance: 's' }] }],
        partial_coverage: [{ point: 'p', models: ['m'] }],
        unique_insights: [{ model: 'm', insight: 'i' }],
      },
      responses: [{ model: 'm', content: 'c' }],
      failed_models: [{ model: 'm', error: 'e', status_code: 500 }],
      failure_reason: 'r',
      error: 'e',
      sources: [{ url: 'u', title: 't' }],
    },
    wrong: {
      ...known,
      analysis: [],
      'analysis.consensus': 'c',
      'analysis.blind_spots': 'b',
      'analysis.contradictions[0].topic': 1,
      'analysis.partial_coverage[0].models': 'm',
      'analysis.unique_insights[0].insight': 1,
      responses: {},
      'failed_models[0].status_code': '500',
      failed_models: 1,
      failure_reason: 1,
      error: 1,
      sources: 'u',
    },
  },
  'gateway:datetime': { ok: { id: 'x', status: 'completed', datetime: 'd', timezone: 'UTC' }, wrong: { ...known, datetime: 1, timezone: 1 } },
  'gateway:file_search': { ok: { id: 'x', status: 'completed', queries: ['q'] }, wrong: { ...known, queries: 'q' } },
  'gateway:image_generation': {
    ok: { id: 'x', status: 'completed', prompt: 'p', revisedPrompt: 'r', result: null, imageB64: 'b', imageUrl: 'u' },
    wrong: { ...known, prompt: 1, revisedPrompt: 1, result: 1, imageB64: 1, imageUrl: 1 },
  },
  'gateway:tool_search': { ok: { id: 'x', status: 'completed', query: 'q' }, wrong: { ...known, query: 1 } },
  'gateway:memory': { ok: { id: 'x', status: 'completed', action: 'read', key: 'k', value: { a: 1 } }, wrong: { ...known, action: 'forget', key: 1 } },
  'gateway:mcp': { ok: { id: 'x', status: 'completed', serverLabel: 's', toolName: 't' }, wrong: { ...known, serverLabel: 1, toolName: 1 } },
  'gateway:experimental__search_models': {
    ok: { id: 'x', status: 'completed', query: 'q', arguments: '{}' },
    wrong: { ...known, query: 1, arguments: {} },
  },
}

const sandbox: Value = { engine: 'auto', environment: { type: 'container_reference', container_id: 'box-1' }, sleep_after_seconds: 60 }
const sandboxWrong: Value = {
  parameters: 'none',
  'parameters.engine': 'docker',
  'parameters.environment.type': 'vm',
  'parameters.environment.container_id': 'far too long a container id',
  'parameters.sleep_after_seconds': 0,
}
const agentTool: Value = {
  name: 'Second opinion',
  model: 'acme/large',
  instructions: 'Be brief',
  max_completion_tokens: 100,
  reasoning: { effort: 'low', max_tokens: 10 },
  temperature: 0.5,
}
const agentToolWrong: Value = {
  parameters: [],
  'parameters.name': 'no/slashes',
  'parameters.model': 1,
  'parameters.instructions': 1,
  'parameters.max_completion_tokens': 0,
  'parameters.reasoning': 'low',
  'parameters.reasoning.effort': 'most',
  'parameters.reasoning.max_tokens': -1,
  'parameters.temperature': 2.1,
}

export const TOOLS: Readonly<Record<string, Example>> = {
  function: {
    ok: { name: 'f', description: null, parameters: { type: 'object' }, strict: null, defer_loading: true, eager_input_streaming: true, output_schema: {}, allowed_callers: ['direct'] },
    wrong: { name: 1, description: {}, parameters: 'none', strict: 'yes', defer_loading: 1, eager_input_streaming: 'yes', output_schema: [], allowed_callers: 'direct' },
  },
  custom: {
    ok: { name: 'c', description: 'd', format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' } },
    wrong: { name: '', description: 1, format: 'text', 'format.type': 'xml', 'format.syntax': 'peg', 'format.definition': 1 },
  },
  namespace: {
    ok: { name: 'n', description: 'd', tools: [{ type: 'function', name: 'f', parameters: null }, { type: 'custom', name: 'c' }, { type: 'new_kind' }] },
    wrong: { name: 1, description: 1, tools: {}, 'tools[0].name': 1, 'tools[1].name': '' },
  },
  web_search: { ok: nativeSearch, wrong: nativeSearchWrong },
  web_search_2025_08_26: { ok: nativeSearch, wrong: nativeSearchWrong },
  web_search_preview: { ok: nativeSearch, wrong: nativeSearchWrong },
  web_search_preview_2025_03_11: { ok: nativeSearch, wrong: nativeSearchWrong },
  file_search: {
    ok: {
      vector_store_ids: ['vs'],
      filters: { type: 'eq', key: 'k', value: [1, 'a'] },
      max_num_results: 5,
      ranking_options: { ranker: 'auto', score_threshold: 0.5 },
    },
    wrong: {
      vector_store_ids: 'vs',
      filters: [],
      'filters.type': 'like',
      'filters.key': 1,
      'filters.value': {},
      max_num_results: 0,
      ranking_options: 1,
      'ranking_options.ranker': 'best',
      'ranking_options.score_threshold': 2,
    },
  },
  mcp: {
    ok: {
      server_label: 's',
      server_url: 'https://mcp.example',
      server_description: 'd',
      authorization: 'token',
      connector_id: 'connector_gmail',
      tunnel_id: 'tunnel_1',
      headers: { 'x-a': '1' },
      allowed_tools: { read_only: true, tool_names: ['t'] },
      require_approval: { always: { tool_names: ['t'] }, never: null },
    },
    wrong: {
      server_label: '',
      server_url: 1,
      server_description: 1,
      authorization: 1,
      connector_id: 'connector_fax',
      tunnel_id: 1,
      headers: 'x-a: 1',
      'headers.x-a': 1,
      allowed_tools: 'all',
      'allowed_tools.read_only': 'yes',
      require_approval: 'sometimes',
      'require_approval.always': [],
    },
  },
  image_generation: {
    ok: {
      model: 'm',
      size: '1024x1024',
      background: 'auto',
      input_fidelity: null,
      input_image_mask: { file_id: 'f', image_url: 'u' },
      moderation: 'low',
      output_compression: 100,
      output_format: 'png',
      partial_images: 2,
      quality: 'high',
    },
    wrong: {
      model: 1,
      size: 1024,
      background: 'red',
      input_fidelity: 'max',
      input_image_mask: 'f',
      'input_image_mask.image_url': 1,
      moderation: 'off',
      output_compression: 101,
      output_format: 'bmp',
      partial_images: -1,
      quality: 'best',
    },
  },
  code_interpreter: {
    ok: { container: { type: 'auto', file_ids: ['f'], memory_limit: '4g' } },
    wrong: { container: 1, 'container.type': 'manual', 'container.file_ids': 'f', 'container.memory_limit': '2g' },
  },
  computer_use_preview: {
    ok: { display_height: 600, display_width: 800, environment: 'browser' },
    wrong: { display_height: '600', display_width: 0, environment: 'amiga' },
  },
  local_shell: { ok: {}, wrong: {} },
  shell: { ok: {}, wrong: {} },
  apply_patch: { ok: {}, wrong: {} },

  'gateway:web_search': {
    ok: {
      parameters: {
        engine: 'auto',
        allowed_domains: ['a.example'],
        excluded_domains: [],
        max_characters: 1000,
        max_results: 3,
        max_total_results: 9,
        max_uses: 2,
        mode: 'deep',
        search_context_size: 'high',
        user_location: { city: 'Bern' },
      },
    },
    wrong: {
      parameters: 1,
      'parameters.engine': 'bing',
      'parameters.allowed_domains': 'a.example',
      'parameters.excluded_domains': 1,
      'parameters.allowed_domains[0]': 1,
      'parameters.max_characters': 0,
      'parameters.max_results': -1,
      'parameters.max_total_results': '9',
      'parameters.max_uses': 0.5,
      'parameters.mode': 'slow',
      'parameters.search_context_size': 'huge',
      'parameters.user_location': 'Bern',
    },
  },
  'gateway:web_fetch': {
    ok: { parameters: { engine: 'native', allowed_domains: [], blocked_domains: ['b.example'], max_content_tokens: 10, max_uses: 1 } },
    wrong: {
      parameters: [],
      'parameters.engine': 'curl',
      'parameters.allowed_domains': {},
      'parameters.blocked_domains': 'b.example',
      'parameters.max_content_tokens': 0,
      'parameters.max_uses': 0,
    },
  },
  'gateway:datetime': { ok: { parameters: { timezone: 'UTC' } }, wrong: { parameters: 'UTC', 'parameters.timezone': 1 } },
  'gateway:files': { ok: { parameters: {} }, wrong: { parameters: true } },
  'gateway:image_generation': { ok: { parameters: { model: 'm', size: '1x1' } }, wrong: { parameters: 'm', 'parameters.model': 1 } },
  'gateway:experimental__search_models': { ok: { parameters: { max_results: 1 } }, wrong: { parameters: 1, 'parameters.max_results': 0 } },
  'gateway:tool_search': { ok: { parameters: { max_results: 1 } }, wrong: { parameters: 1, 'parameters.max_results': 'all' } },
  'gateway:apply_patch': { ok: { parameters: { engine: 'gateway' } }, wrong: { parameters: 1, 'parameters.engine': 'git' } },
  'gateway:bash': { ok: { parameters: sandbox }, wrong: sandboxWrong },
  'gateway:shell': { ok: { parameters: sandbox }, wrong: sandboxWrong },
  'gateway:advisor': {
    ok: { parameters: { ...agentTool, forward_transcript: true, stream: false } },
    wrong: { ...agentToolWrong, 'parameters.forward_transcript': 'yes', 'parameters.stream': 1 },
  },
  'gateway:subagent': {
    ok: { parameters: { ...agentTool, inherit_functions: true, inherited_function_names: ['f'], max_tool_calls: 25, tools: [{ type: 'x', parameters: {} }] } },
    wrong: {
      ...agentToolWrong,
      'parameters.inherit_functions': 'all',
      'parameters.inherited_function_names': 'f',
      'parameters.inherited_function_names[0]': '',
      'parameters.max_tool_calls': 26,
      'parameters.tools': 'x',
      'parameters.tools[0].type': 1,
    },
  },
  'gateway:fusion': {
    ok: {
      parameters: {
        model: 'm',
        analysis_models: ['a'],
        cache_control: { type: 'ephemeral', ttl: '1h' },
        max_completion_tokens: 1,
        max_tool_calls: 16,
        reasoning: { effort: 'none' },
        temperature: 0,
        tools: [],
      },
    },
    wrong: {
      parameters: 1,
      'parameters.model': 1,
      'parameters.analysis_models': [],
      'parameters.cache_control.ttl': '2h',
      'parameters.max_completion_tokens': 0,
      'parameters.max_tool_calls': 17,
      'parameters.reasoning.effort': 'some',
      'parameters.temperature': -1,
      'parameters.tools': Array(9).fill({ type: 'x' }),
    },
  },
}
