import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../core/error.ts'
import { decodeResponsesRequest } from '../responses/decode-request.ts'
import { toResponses } from './to-responses.ts'

const user = { role: 'user', content: 'Hi' }
const ask = (fields: object): { readonly [field: string]: unknown } => toResponses({ messages: [user], ...fields }).body

describe('fields', () => {
  it.each<readonly [string, object, object]>([
    ['max_completion_tokens', { max_completion_tokens: 9 }, { max_output_tokens: 9 }],
    ['max_tokens, its older name, which gives way', { max_tokens: 5, max_completion_tokens: 9 }, { max_output_tokens: 9 }],
    ['max_tokens alone', { max_tokens: 5, max_completion_tokens: null }, { max_output_tokens: 5 }],
    ['random_seed, another name of seed', { random_seed: 3 }, { seed: 3 }],
    ['seed beside it', { random_seed: 3, seed: 4 }, { seed: 4 }],
    ['reasoning_effort', { reasoning_effort: 'high' }, { reasoning: { effort: 'high' } }],
    ['reasoning.effort, which wins', { reasoning_effort: 'high', reasoning: { effort: 'low' } }, { reasoning: { effort: 'low' } }],
    ['thinking, as several vendors have it', { thinking: { type: 'disabled' } }, { reasoning: { enabled: false } }],
    ['thinking beside an effort', { thinking: { type: 'enabled' }, reasoning_effort: 'high' }, { reasoning: { enabled: true, effort: 'high' } }],
    [
      'thinking with an effort of its own',
      { thinking: { type: 'enabled', effort: 'high', keep: 'all' } },
      { reasoning: { enabled: true, effort: 'high' } },
    ],
    ['thinking that is off, whatever the effort', { thinking: { type: 'disabled' }, reasoning_effort: 'high' }, { reasoning: { enabled: false } }],
    ['reasoning, which wins over thinking', { thinking: { type: 'disabled' }, reasoning: { effort: 'low' } }, { reasoning: { effort: 'low' } }],
    ['thinking nobody knows, which goes on as it is', { thinking: { type: 'deep' } }, { thinking: { type: 'deep' } }],
    ['a budget of thoughts', { reasoning: { max_tokens: 2_000, exclude: true } }, { reasoning: { max_tokens: 2_000 } }],
    ['verbosity', { verbosity: 'low' }, { text: { verbosity: 'low' } }],
    ['response_format: json_object', { response_format: { type: 'json_object' } }, { text: { format: { type: 'json_object' } } }],
    [
      'response_format: json_schema',
      { response_format: { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object' }, strict: true, description: null } } },
      { text: { format: { type: 'json_schema', name: 'a', schema: { type: 'object' }, strict: true } } },
    ],
    ['logprobs', { logprobs: true, top_logprobs: 2 }, { include: ['message.output_text.logprobs'], top_logprobs: 2 }],
    [
      'stop, seed and what else only some upstreams know',
      { stop: ['a'], seed: 7, min_p: 0.1, logit_bias: { 50: -1 } },
      { stop: ['a'], seed: 7, min_p: 0.1, logit_bias: { 50: -1 } },
    ],
    [
      'what steers the gateway',
      { models: ['b/c'], provider: { sort: 'price' }, session_id: 's' },
      { models: ['b/c'], provider: { sort: 'price' }, session_id: 's' },
    ],
    ['fields nobody knows', { vendor_word: { a: 1 } }, { vendor_word: { a: 1 } }],
  ])('%s', (_name, sent, body) => {
    const { input: _input, ...rest } = ask(sent)
    expect(rest).toEqual(body)
  })

  it('that are null count as absent, and those about the answer are not passed on', () => {
    const { body } = toResponses({
      messages: [user],
      temperature: null,
      stop: null,
      n: 1,
      stream_options: { include_usage: true },
      usage: { include: true },
    })
    expect(Object.keys(body)).toEqual(['input'])
  })

  it('a schema is strict only where the caller says so: in the other format its absence means it', () => {
    const tool = (extra: object) => ask({ tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' }, ...extra } }] })['tools']
    expect(tool({})).toEqual([{ type: 'function', name: 'f', parameters: { type: 'object' }, strict: false }])
    expect(tool({ strict: true, description: 'd' })).toEqual([
      { type: 'function', name: 'f', description: 'd', parameters: { type: 'object' }, strict: true },
    ])
  })

  it('a tool with a cache breakpoint', () => {
    const tool = { type: 'function', function: { name: 'f' }, cache_control: { type: 'ephemeral', ttl: '1h' } }
    const mark = { prompt_cache_breakpoint: { mode: 'explicit', ttl: '1h' } }
    expect(ask({ tools: [tool] })['tools']).toEqual([{ type: 'function', name: 'f', strict: false, ...mark }])
  })

  it('tools of free text, with their grammar', () => {
    const custom = { name: 'c', format: { type: 'grammar', grammar: { syntax: 'regex', definition: 'a+' } } }
    expect(ask({ tools: [{ type: 'custom', custom }] })['tools']).toEqual([
      { type: 'custom', name: 'c', format: { type: 'grammar', syntax: 'regex', definition: 'a+' } },
    ])
  })

  it('a search in the vendors’ spelling is the gateway’s, its settings beside the type or in an object of their own', () => {
    const search = (tool: object) => ask({ tools: [{ type: 'web_search', ...tool }] })['tools']
    expect(search({})).toEqual([{ type: 'gateway:web_search' }])
    expect(search({ max_uses: 2, allowed_domains: ['a.example'], search_context_size: null })).toEqual([
      { type: 'gateway:web_search', parameters: { max_uses: 2, allowed_domains: ['a.example'] } },
    ])
    expect(search({ max_uses: 2, parameters: { max_uses: 3 } })).toEqual([{ type: 'gateway:web_search', parameters: { max_uses: 3 } }])
    expect(search({ filters: { blocked_domains: ['b.example'] } })).toEqual([
      { type: 'gateway:web_search', parameters: { excluded_domains: ['b.example'] } },
    ])
  })

  it.each<readonly [unknown, unknown]>([
    ['required', 'required'],
    ['any', 'required'],
    [
      { type: 'function', function: { name: 'f' } },
      { type: 'function', name: 'f' },
    ],
    [
      { type: 'custom', custom: { name: 'c' } },
      { type: 'custom', name: 'c' },
    ],
    [
      { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'f' } }] } },
      { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'f' }] },
    ],
    [{ type: 'web_search' }, { type: 'gateway:web_search' }],
  ])('tool_choice %j', (choice, translated) => {
    expect(ask({ tool_choice: choice })['tool_choice']).toEqual(translated)
  })

  it('accepts files and reasoning as content parts, too', () => {
    const file = { type: 'document_url', document_url: 'https://a.example/a.pdf', document_name: 'a.pdf' }
    const inline = { type: 'document_url', document_url: 'data:application/pdf;base64,AA' }
    const thinking = {
      type: 'thinking',
      thinking: [
        { type: 'text', text: 'Hm. ' },
        { type: 'reference', reference_ids: [1] },
        { type: 'text', text: 'Yes.' },
      ],
      closed: true,
    }
    const messages = [
      { role: 'user', content: [{ type: 'text', text: 'Read' }, file, inline] },
      { role: 'assistant', content: [thinking, { type: 'text', text: 'Done' }] },
      { role: 'user', content: 'Thanks' },
    ]
    expect(ask({ messages })['input']).toEqual([
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'Read' },
          { type: 'input_file', file_url: 'https://a.example/a.pdf', filename: 'a.pdf' },
          { type: 'input_file', file_data: 'data:application/pdf;base64,AA' },
        ],
      },
      { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'Hm. Yes.' }] },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Done' }] },
      { type: 'message', role: 'user', content: 'Thanks' },
    ])
  })

  it('gives a request that the other format accepts', () => {
    const { body } = toResponses({
      model: 'a/b',
      messages: [{ role: 'system', content: 'S' }, user],
      tools: [{ type: 'function', function: { name: 'f' } }, { type: 'openrouter:datetime' }],
      tool_choice: { type: 'function', function: { name: 'f' } },
      response_format: { type: 'json_schema', json_schema: { name: 'x' } },
      logprobs: true,
      reasoning: { exclude: true },
      metadata: { team: 'blue' },
    })
    expect(decodeResponsesRequest(body)).toMatchObject({ model: 'a/b', input: [{ role: 'system' }, { role: 'user' }], tool_choice: { name: 'f' } })
  })
})

describe('options for the answer', () => {
  it.each<readonly [object, object]>([
    [{}, { usage: undefined, reasoning: true }],
    [{ stream_options: { include_usage: true } }, { usage: true, reasoning: true }],
    [{ stream_options: { include_usage: false } }, { usage: false, reasoning: true }],
    [
      { stream_options: null, reasoning: { exclude: true } },
      { usage: undefined, reasoning: false },
    ],
    [{ include_reasoning: false }, { usage: undefined, reasoning: false }],
    [
      { include_reasoning: false, reasoning: { exclude: false } },
      { usage: undefined, reasoning: true },
    ],
  ])('%j', (sent, preferences) => {
    expect(toResponses({ messages: [user], ...sent }).preferences).toEqual(preferences)
  })
})

describe('what is refused', () => {
  const refused = (body: unknown): readonly [string, unknown, string] => {
    try {
      toResponses(body)
    } catch (error) {
      if (error instanceof GatewayError) return [error.errorType, error.details.path, error.message]
      throw error
    }
    throw new Error('it was taken')
  }

  it.each<readonly [string, unknown, string, string, RegExp]>([
    ['no object', 'Hi', 'invalid_request', 'body', /must be an object/],
    ['no messages', {}, 'invalid_request', 'messages', /is required/],
    ['an empty list of them', { messages: [] }, 'invalid_prompt', 'messages', /is empty/],
    ['the body of the other format', { input: 'Hi' }, 'invalid_prompt', 'messages', /what Responses call "input"/],
    ['a role nobody knows', { messages: [user, { role: 'robot' }] }, 'invalid_prompt', 'messages[1].role', /"robot"/],
    [
      'the older role of results',
      { messages: [{ role: 'function', name: 'f', content: '1' }] },
      'invalid_prompt',
      'messages[0].role',
      /tool_call_id/,
    ],
    ['a result that answers nothing', { messages: [{ role: 'tool', content: '1' }] }, 'invalid_request', 'messages[0].tool_call_id', /is required/],
    [
      'a part of the other format',
      { messages: [{ role: 'user', content: [{ type: 'input_text', text: 'a' }] }] },
      'invalid_request',
      'messages[0].content[0].type',
      /here it is "text"/,
    ],
    [
      'an image without an address',
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: '' } }] }] },
      'invalid_request',
      'messages[0].content[0].image_url.url',
      /empty/,
    ],
    [
      'a file that shows nothing',
      { messages: [{ role: 'user', content: [{ type: 'file', file: {} }] }] },
      'invalid_request',
      'messages[0].content[0].file',
      /shows nothing/,
    ],
    [
      'arguments that are no text',
      { messages: [{ role: 'assistant', tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: {} } }] }] },
      'invalid_request',
      'messages[0].tool_calls[0].function.arguments',
      /a string of JSON/,
    ],
    ['several answers at once', { messages: [user], n: 2 }, 'invalid_request', 'n', /one choice/],
    ['an answer in sound', { messages: [user], audio: { voice: 'a' } }, 'invalid_request', 'audio', /not supported/],
    ['the older form of tools', { messages: [user], functions: [] }, 'invalid_request', 'functions', /"tools"/],
    ['to be stored', { messages: [user], store: true }, 'invalid_request', 'store', /nothing is stored/],
    [
      'a tool whose work is the caller’s',
      { messages: [user], tools: [{ type: 'gateway:apply_patch' }] },
      'invalid_request',
      'tools[0].type',
      /no place in this format/,
    ],
    [
      'a tool in the other format',
      { messages: [user], tools: [{ type: 'function', name: 'f' }] },
      'invalid_request',
      'tools[0].function',
      /is required/,
    ],
    [
      'a setting of a search that is none',
      { messages: [user], tools: [{ type: 'web_search', max_uses: 0 }] },
      'invalid_request',
      'tools[0].max_uses',
      /at least 1/,
    ],
  ])('%s', (_name, body, type, path, reason) => {
    expect(refused(body)).toEqual([type, path, expect.stringMatching(reason)])
  })
})
