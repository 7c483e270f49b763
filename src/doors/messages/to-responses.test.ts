import { describe, expect, it, vi } from 'vitest'
import { GatewayError } from '../../core/error.ts'
import type { JsonObject } from '../../core/item.ts'
import { parseExact } from '../../lib/exact-json.ts'
import { listSteps } from '../../testing/list-steps.ts'
import { decodeResponsesRequest } from '../responses/decode-request.ts'
import { messagesToResponses } from './to-responses.ts'

const user = { role: 'user', content: 'Hi' }
const ask = (fields: object): { readonly [field: string]: unknown } => messagesToResponses({ messages: [user], ...fields }).body

describe('fields', () => {
  it.each<readonly [string, object, object]>([
    ['max_tokens', { max_tokens: 9 }, { max_output_tokens: 9 }],
    ['max_tokens of zero, which asks for nothing but that the prompt is cached', { max_tokens: 0 }, { prompt_cache_options: { prewarm: true } }],
    ['stop_sequences', { stop_sequences: ['a', 'b'] }, { stop: ['a', 'b'] }],
    ['no stop_sequences', { stop_sequences: [] }, {}],
    ['limits of sampling', { top_p: 0.5, top_k: 4 }, { top_p: 0.5, top_k: 4 }],
    ['the number of older clients for no limits of sampling', { top_p: -1, top_k: -1 }, {}],
    ['a budget of thoughts', { thinking: { type: 'enabled', budget_tokens: 2_000 } }, { reasoning: { enabled: true, max_tokens: 2_000 } }],
    [
      'a budget of thoughts that are part of the limit',
      { thinking: { type: 'enabled', budget_tokens: 2_000 }, max_tokens: 3_000 },
      { reasoning: { enabled: true, max_tokens: 2_000, within_output: true }, max_output_tokens: 3_000 },
    ],
    [
      'thoughts as the model likes, with an effort',
      { thinking: { type: 'adaptive' }, output_config: { effort: 'xhigh' } },
      { reasoning: { enabled: true, effort: 'xhigh' } },
    ],
    ['an effort alone', { output_config: { effort: 'low', format: null } }, { reasoning: { effort: 'low' } }],
    ['no thoughts, whatever the effort', { thinking: { type: 'disabled' }, output_config: { effort: 'max' } }, { reasoning: { enabled: false } }],
    ['thoughts between calls only, which other vendors do not know', { thinking: { type: 'between_tools' } }, { reasoning: { enabled: false } }],
    [
      'a schema of the answer',
      { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } },
      { text: { format: { type: 'json_schema', name: 'answer', schema: { type: 'object' }, strict: true } } },
    ],
    [
      'a schema of the answer, where older clients have it',
      { output_format: { type: 'json_schema', schema: { type: 'object' } }, output_config: { effort: 'low' } },
      { reasoning: { effort: 'low' }, text: { format: { type: 'json_schema', name: 'answer', schema: { type: 'object' }, strict: true } } },
    ],
    ['instructions', { system: 'Be brief' }, { instructions: 'Be brief' }],
    ['no instructions', { system: '' }, {}],
    ['what to try next', { model: 'a/a', fallbacks: [{ model: 'b/b' }, { model: 'c/c' }] }, { model: 'a/a', models: ['b/b', 'c/c'] }],
    ['a tier of the vendor of the format', { service_tier: 'standard_only' }, { service_tier: 'default' }],
    ['its other tier, which is anybody’s choice', { service_tier: 'auto' }, {}],
    ['a tier of the gateway', { service_tier: 'flex', speed: 'fast' }, { service_tier: 'flex', speed: 'fast' }],
    ['a place', { inference_geo: 'us' }, { inference_geo: 'us' }],
    ['no place', { inference_geo: null }, {}],
    ['tiers nobody knows', { service_tier: 'constructor', speed: 'standard' }, {}],
    ['who asks', { metadata: { user_id: 'ada' } }, { user: 'ada' }],
    ['who asks, said twice', { metadata: { user_id: 'ada' }, user: 'bob' }, { user: 'bob' }],
    [
      'who asks, told with the session as an object',
      { metadata: { user_id: '{"device_id":"d1","account_uuid":"a1","session_id":"0123"}' } },
      { user: 'a1' },
    ],
    [
      'who asks without an account, told with the session as an object',
      { metadata: { user_id: '{"device_id":"d1","account_uuid":"","session_id":"0123"}' } },
      { user: 'd1' },
    ],
    [
      'who asks, told with the session as one word',
      { metadata: { user_id: 'user_0a_account_b1_session_01234567-89ab-4cde-8f01-23456789abcd' } },
      { user: 'user_0a_account_b1' },
    ],
    ['an object of its own', { metadata: { user_id: '{"team":"blue"}' } }, { user: '{"team":"blue"}' }],
    ['half an object', { metadata: { user_id: '{"session_id":' } }, { user: '{"session_id":' }],
    ['more than a name', { metadata: { user_id: 'x'.repeat(257) } }, {}],
    [
      'what steers the gateway',
      { provider: { sort: 'price' }, session_id: 's', cache_control: { type: 'ephemeral', ttl: '1h' } },
      { provider: { sort: 'price' }, session_id: 's', cache_control: { type: 'ephemeral', ttl: '1h' } },
    ],
    ['fields nobody here knows, which go no further', { betas: ['x'], input: 'Hi', context_management: { edits: [] } }, {}],
    ['fields that are null', { max_tokens: null, temperature: null, tools: null, thinking: null, stream: null, metadata: null }, {}],
  ])('%s', (_name, sent, body) => {
    const { input: _input, ...rest } = ask(sent)
    expect(rest).toEqual(body)
  })

  it.each<readonly [object, boolean]>([
    [{}, true],
    [{ thinking: { type: 'adaptive', display: 'summarized' } }, true],
    [{ thinking: { type: 'adaptive', display: null } }, true],
    [{ thinking: { type: 'enabled', budget_tokens: 1_024, display: 'omitted' } }, false],
  ])('whether reasoning is shown: %j', (sent, thinking) => {
    expect(messagesToResponses({ messages: [user], ...sent }).preferences).toEqual({ thinking })
  })
})

describe('the arguments of calls', () => {
  const body = (inputs: readonly string[]): string => {
    const blocks = inputs.map((input, at) => `{"type":"tool_use","id":"c${at}","name":"f","input":${input}}`)
    return `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"text","text":"a"},${blocks.join(',')}]}]}`
  }
  const argumentsOf = (text: string, exactly?: () => unknown): readonly unknown[] =>
    (messagesToResponses(JSON.parse(text), exactly).body['input'] as readonly JsonObject[]).flatMap((item) => item['arguments'] ?? [])

  it('keep numbers that no double can represent', () => {
    const text = body(['{"id":1234567890123456789,"n":1}', '{"n":[0.12345678901234567891]}', '{"id":"1234567890123456789"}'])
    expect(argumentsOf(text, () => parseExact(text))).toEqual([
      '{"id":1234567890123456789,"n":1}',
      '{"n":[0.12345678901234567891]}',
      '{"id":"1234567890123456789"}',
    ])
  })

  it('are parsed again only where a number may have changed, and are left where that fails', () => {
    const exactly = vi.fn<() => unknown>()
    expect(argumentsOf(body(['{"n":1.5}', 'null']), exactly)).toEqual(['{"n":1.5}', '{}'])
    expect(exactly).not.toHaveBeenCalled()
    const text = body(['{"id":1234567890123456789}'])
    expect(argumentsOf(text, exactly)).toEqual(argumentsOf(text))
  })
  it('are found in one pass, however many calls a message has', () => {
    const stepsFor = (count: number): number => {
      const text = body(Array.from({ length: count }, () => '{"n":12345678901234567890}'))
      const parsed: unknown = JSON.parse(text)
      return listSteps(() => messagesToResponses(parsed, () => parseExact(text)))
    }
    expect(stepsFor(400)).toBeLessThan(6 * stepsFor(100))
  })
})

describe('tools', () => {
  const schema = { type: 'object', properties: {} }
  it.each<readonly [string, object, object]>([
    [
      'of the caller, of a type or none',
      { name: 'f', description: 'd', input_schema: schema, cache_control: null },
      { type: 'function', name: 'f', description: 'd', parameters: schema, strict: false },
    ],
    [
      'with which what is cached ends',
      { name: 'f', input_schema: schema, cache_control: { type: 'ephemeral', ttl: '1h' } },
      { type: 'function', name: 'f', parameters: schema, strict: false, prompt_cache_breakpoint: { mode: 'explicit', ttl: '1h' } },
    ],
    [
      'whose arguments come as they are made',
      { name: 'f', input_schema: schema, eager_input_streaming: true },
      { type: 'function', name: 'f', parameters: schema, strict: false, eager_input_streaming: true },
    ],
    [
      'with examples of its input',
      { name: 'f', input_schema: schema, input_examples: [{ city: 'Paris' }] },
      { type: 'function', name: 'f', parameters: schema, strict: false, input_examples: [{ city: 'Paris' }] },
    ],
    [
      'of a type, strict',
      { type: 'custom', name: 'f', input_schema: schema, strict: true },
      { type: 'function', name: 'f', parameters: schema, strict: true },
    ],
    ['a search', { type: 'web_search_20250305', name: 'web_search' }, { type: 'gateway:web_search' }],
    ['pages', { type: 'web_fetch_20250910', name: 'web_fetch', citations: { enabled: true } }, { type: 'gateway:web_fetch' }],
    [
      'pages within bounds',
      { type: 'web_fetch_20260318', name: 'web_fetch', blocked_domains: ['b.example'], max_uses: 2, max_content_tokens: 900 },
      { type: 'gateway:web_fetch', parameters: { blocked_domains: ['b.example'], max_uses: 2, max_content_tokens: 900 } },
    ],
    [
      'a search with its bounds',
      { type: 'web_search_20260209', name: 'web_search', blocked_domains: ['a.example'], max_uses: 2, allowed_domains: null },
      { type: 'gateway:web_search', parameters: { excluded_domains: ['a.example'], max_uses: 2 } },
    ],
    [
      'a search of the latest version, whose results are all shown',
      { type: 'web_search_20260318', name: 'web_search', response_inclusion: 'full' },
      { type: 'gateway:web_search' },
    ],
    [
      'a consultation',
      { type: 'advisor_20260301', name: 'advisor', model: 'a/b', max_uses: 1 },
      { type: 'gateway:advisor', parameters: { model: 'a/b' } },
    ],
    ['a search for tools', { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' }, { type: 'gateway:tool_search' }],
    ['one by words', { type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' }, { type: 'gateway:tool_search' }],
    ['one by words, of whatever version', { type: 'tool_search_tool_bm25', name: 'tool_search_tool_bm25' }, { type: 'gateway:tool_search' }],
    [
      'the shell of the caller',
      { type: 'bash_20250124', name: 'bash' },
      { type: 'function', name: 'bash', description: expect.any(String), parameters: expect.any(Object), strict: false },
    ],
    [
      'the editor of the caller',
      { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool', max_characters: 9 },
      {
        type: 'function',
        name: 'str_replace_based_edit_tool',
        description: expect.any(String),
        parameters: expect.objectContaining({ required: ['command', 'path'] }),
        strict: false,
      },
    ],
    [
      'the memory of the caller',
      { type: 'memory_20250818', name: 'memory' },
      {
        type: 'function',
        name: 'memory',
        description: expect.stringContaining('/memories'),
        parameters: expect.objectContaining({ required: ['command'] }),
        strict: false,
      },
    ],
    ['of the gateway', { type: 'openrouter:datetime' }, { type: 'openrouter:datetime' }],
  ])('%s', (_name, tool, translated) => {
    expect(ask({ tools: [tool] })['tools']).toEqual([translated])
  })

  it.each([
    ['bash_20241022', 'bash', 'bash_20250124'],
    ['text_editor_20241022', 'str_replace_editor', 'text_editor_20250124'],
  ])('of the caller may be of the first version: %s', (type, name, later) => {
    const [first, second] = ask({ tools: [{ type, name }] })['tools'] as readonly object[]
    expect([first, second]).toEqual([...(ask({ tools: [{ type: later, name }] })['tools'] as readonly object[]), undefined])
  })

  it('of the caller keep what is said about them, whether or not their type describes them', () => {
    const said = { cache_control: { type: 'ephemeral', ttl: '1h' }, defer_loading: true, eager_input_streaming: true, input_examples: [{ a: 1 }] }
    const [own, shell] = ask({
      tools: [{ name: 'f', input_schema: schema, ...said }, { type: 'bash_20250124', name: 'bash', ...said }, { type: 'gateway:tool_search' }],
    })['tools'] as readonly object[]
    const kept = {
      prompt_cache_breakpoint: { mode: 'explicit', ttl: '1h' },
      defer_loading: true,
      eager_input_streaming: true,
      input_examples: [{ a: 1 }],
      strict: false,
    }
    expect(own).toMatchObject({ name: 'f', ...kept })
    expect(shell).toMatchObject({ name: 'bash', ...kept })
  })

  it('are searched by one tool, however many kinds of search are named', () => {
    const both = ['tool_search_tool_regex', 'tool_search_tool_bm25'].map((name) => ({ type: `${name}_20251119`, name }))
    const deferred = { name: 'f', input_schema: schema, defer_loading: true }
    expect(ask({ tools: [...both, deferred] })['tools']).toMatchObject([{ type: 'gateway:tool_search' }, { name: 'f', defer_loading: true }])
    expect(ask({ tools: [{ type: 'gateway:tool_search' }, ...both] })['tools']).toEqual([{ type: 'gateway:tool_search' }])
  })

  it('are deferred only if the request has a tool search', () => {
    const deferred = { name: 'f', input_schema: schema, defer_loading: true }
    expect(ask({ tools: [deferred] })['tools']).toEqual([{ type: 'function', name: 'f', parameters: schema, strict: false }])
    expect(ask({ tools: [deferred, { type: 'gateway:tool_search' }] })['tools']).toMatchObject([{ defer_loading: true }, {}])
    const native = { type: 'tool_search_tool_regex', name: 'tool_search_tool_regex' }
    expect(ask({ tools: [deferred, native] })['tools']).toMatchObject([{ defer_loading: true }, {}])
  })

  const tools = [
    { name: 'f', input_schema: schema },
    { type: 'web_search_20250305', name: 'web_search' },
    { type: 'openrouter:datetime' },
    { type: 'bash_20250124', name: 'bash' },
  ]
  it.each<readonly [object, object]>([
    [{ type: 'auto' }, { tool_choice: 'auto' }],
    [{ type: 'any' }, { tool_choice: 'required' }],
    [{ type: 'none' }, { tool_choice: 'none' }],
    [{ type: 'tool', name: 'f' }, { tool_choice: { type: 'function', name: 'f' } }],
    [{ type: 'tool', name: 'web_search' }, { tool_choice: { type: 'gateway:web_search' } }],
    [{ type: 'tool', name: 'bash' }, { tool_choice: { type: 'function', name: 'bash' } }],
    [{ type: 'tool', name: 'datetime' }, { tool_choice: { type: 'openrouter:datetime' } }],
    [
      { type: 'auto', disable_parallel_tool_use: true },
      { tool_choice: 'auto', parallel_tool_calls: false },
    ],
  ])('tool_choice %j', (choice, translated) => {
    const { tools: _tools, input: _input, ...rest } = ask({ tools, tool_choice: choice })
    expect(rest).toEqual(translated)
    expect(() => decodeResponsesRequest(ask({ tools, tool_choice: choice }))).not.toThrow()
  })
})

describe('what is refused', () => {
  /** The refusal of either validation: the second is that of Responses, and must not mention that format. */
  const refused = (body: unknown): readonly [string, unknown, string] => {
    try {
      decodeResponsesRequest(messagesToResponses(body).body)
    } catch (error) {
      if (error instanceof GatewayError) return [error.errorType, error.details.path, error.message]
      throw error
    }
    throw new Error('it was taken')
  }
  const says = (...content: readonly object[]): object => ({ messages: [{ role: 'user', content }] })

  it.each<readonly [string, unknown, string, string, RegExp]>([
    ['no object', 'Hi', 'invalid_request', 'body', /must be an object/],
    [
      'a mark on a shell that is none',
      { messages: [user], tools: [{ type: 'bash_20250124', name: 'bash', cache_control: { type: 'ephemeral', ttl: '2h' } }] },
      'invalid_request',
      'tools[0].cache_control.ttl',
      /must be one of/,
    ],
    ['no messages', {}, 'invalid_request', 'messages', /is required/],
    ['an empty list of them', { messages: [] }, 'invalid_prompt', 'messages', /is empty/],
    ['messages that say nothing', says(), 'invalid_prompt', 'messages', /say nothing/],
    [
      'messages that say nothing to instructions',
      { system: [{ type: 'text', text: 'S' }], messages: [{ role: 'assistant', content: '' }] },
      'invalid_prompt',
      'messages',
      /say nothing/,
    ],
    [
      'another limit for what is tried next',
      { messages: [user], fallbacks: [{ model: 'a/b', max_tokens: 9 }] },
      'invalid_request',
      'fallbacks[0].max_tokens',
      /known are model/,
    ],
    [
      'two lists of what is tried next',
      { messages: [user], models: ['a/b'], fallbacks: [{ model: 'c/d' }] },
      'invalid_request',
      'fallbacks',
      /"models"/,
    ],
    [
      'a search in places of no end',
      { messages: [user], tools: [{ type: 'web_search_20250305', name: 'web_search', allowed_domains: ['x'.repeat(2_049)] }] },
      'invalid_request',
      'tools[0].allowed_domains[0]',
      /at most 2048/,
    ],
    [
      'a search for tools the gateway does not have',
      { messages: [user], tools: [{ type: 'tool_search_tool_vector', name: 'tool_search_tool_vector' }] },
      'invalid_request',
      'tools[0].type',
      /tool_search_tool_regex/,
    ],
    [
      'a search for tools under the name of another',
      { messages: [user], tools: [{ type: 'tool_search_tool_bm25', name: 'tool_search_tool_regex' }] },
      'invalid_request',
      'tools[0].name',
      /tool_search_tool_bm25/,
    ],
    ['a role nobody knows', { messages: [user, { role: 'developer', content: 'x' }] }, 'invalid_prompt', 'messages[1].role', /"developer"/],
    ['a message without content', { messages: [{ role: 'user' }] }, 'invalid_request', 'messages[0].content', /is required/],
    ['a part of another format', says({ type: 'input_text', text: 'a' }), 'invalid_request', 'messages[0].content[0].type', /here it is "text"/],
    [
      'a picture without data',
      says({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: '' } }),
      'invalid_request',
      'messages[0].content[0].source.data',
      /must not be empty/,
    ],
    [
      'a kind of picture that is none',
      says({ type: 'image', source: { type: 'base64', media_type: 'image/bmp', data: 'AA' } }),
      'invalid_request',
      'messages[0].content[0].source.media_type',
      /"image\/bmp"/,
    ],
    [
      'a result that answers nothing',
      says({ type: 'tool_result', content: '1' }),
      'invalid_request',
      'messages[0].content[0].tool_use_id',
      /is required/,
    ],
    ['a tool without a schema', { messages: [user], tools: [{ name: 'f' }] }, 'invalid_request', 'tools[0].input_schema', /is required/],
    [
      'a tool nobody runs',
      { messages: [user], tools: [{ type: 'computer_20250124', name: 'computer' }] },
      'invalid_request',
      'tools[0].type',
      /computer_20250124/,
    ],
    [
      'a tool whose work is the caller’s',
      { messages: [user], tools: [{ type: 'gateway:apply_patch' }] },
      'invalid_request',
      'tools[0].type',
      /apply_patch/,
    ],
    ['a forced tool that is not offered', { messages: [user], tool_choice: { type: 'tool', name: 'f' } }, 'unprocessable', 'tool_choice.name', /"f"/],
    ['servers of tools', { messages: [user], mcp_servers: [] }, 'invalid_request', 'mcp_servers', /\/api\/v1\/responses/],
    [
      'a format nobody knows, where older clients have it',
      { messages: [user], output_format: { type: 'xml' } },
      'invalid_request',
      'output_format.type',
      /json_schema/,
    ],
    ['a conversation to be kept', { messages: [user], thread: { type: 'create' } }, 'invalid_request', 'thread', /nothing is stored/],
    [
      'to go on from an earlier answer',
      { messages: [user], thread: { type: 'continue', previous_message_id: 'gen-1' } },
      'invalid_request',
      'thread',
      /whole conversation/,
    ],
    ['to be stored', { messages: [user], store: true }, 'invalid_request', 'store', /nothing is stored/],
    [
      'a budget of nothing',
      { messages: [user], thinking: { type: 'enabled', budget_tokens: 0 } },
      'invalid_request',
      'thinking.budget_tokens',
      /at least 1/,
    ],
    [
      'far too many fields',
      { messages: [user], ...Object.fromEntries(Array.from({ length: 1_024 }, (_, n) => [`x${n}`, n])) },
      'invalid_request',
      'body',
      /1024 fields/,
    ],
  ])('%s', (_name, body, type, path, reason) => {
    expect(refused(body)).toEqual([type, path, expect.stringMatching(reason)])
  })
})
