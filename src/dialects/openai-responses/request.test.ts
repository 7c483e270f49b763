import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { InputItem } from '../../core/item.ts'
import { sealReasoning } from '../../core/reasoning-envelope.ts'
import type { ModelRequest, ReasoningOptions } from '../../core/request.ts'
import { failure, target } from './__fixtures__/harness.ts'
import type { TargetParts } from './__fixtures__/harness.ts'
import { openAiResponses } from './index.ts'
import type { ResponsesOptions } from './options.ts'

type Body = { readonly [field: string]: unknown; readonly input: readonly { readonly [field: string]: unknown }[] }

function encode(request: Partial<ModelRequest>, parts: TargetParts = {}): { readonly body: Body; readonly dropped: readonly string[] } {
  const { body, dropped } = openAiResponses.encodeRequest({ input: [], ...request }, target(parts))
  return { body: JSON.parse(body) as Body, dropped }
}

const user = (text: string): InputItem => ({ type: 'message', role: 'user', content: text })
const call = (call_id: string, name = 'f'): InputItem => ({ type: 'function_call', id: 'fc_1', call_id, name, arguments: '{}', status: 'completed' })
const output = (call_id: string, text = 'ok'): InputItem => ({ type: 'function_call_output', id: 'fco_1', call_id, output: text })
const sealed = (more: object = {}): string => sealReasoning({ format: 'openai-responses-v1', scope: 'acme/main', data: 'blob', ...more })
const reasoning = (encrypted_content: string | null = sealed(), more: object = {}): InputItem => ({
  type: 'reasoning',
  id: 'rs_1',
  summary: [{ type: 'summary_text', text: 'S' }],
  encrypted_content,
  ...more,
})
const f = { type: 'function', name: 'f', parameters: { type: 'object', properties: {} } } as const
const without = (...names: readonly string[]): TargetParts => ({
  supports: new Set(openAiResponses.supports.filter((name) => !names.includes(name))),
})

describe('the envelope of a request', () => {
  it('names the upstream model, stores nothing, and streams as told', () => {
    const encoded = openAiResponses.encodeRequest({ model: 'acme/small', input: [user('Hi')], stream: false, store: true }, target())
    expect(encoded).toMatchObject({
      method: 'POST',
      path: '/responses',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      dropped: [],
    })
    expect(JSON.parse(encoded.body)).toEqual({
      model: 'small-1',
      input: [{ type: 'message', role: 'user', content: 'Hi' }],
      stream: true,
      store: false,
    })
    expect(encode({}, { stream: false }).body['stream']).toBe(false)
  })

  it('keeps the fields of the gateway to itself', () => {
    const request = {
      models: ['a'],
      provider: { order: ['x'] },
      plugins: [{ id: 'web' }],
      session_id: 's',
      trace: { trace_id: 't' },
      route: 'x',
      preset: 'p',
      transforms: [],
      cache_control: { type: 'ephemeral' as const },
      debug: {},
      stop_server_tools_when: [],
      max_tool_calls: 3,
      previous_response_id: null,
      stream_options: {},
    }
    expect(Object.keys(encode(request).body).toSorted()).toEqual(['input', 'model', 'store', 'stream'])
  })

  it('sends no tool fields of another format', () => {
    const tool = { type: 'function' as const, name: 'f', eager_input_streaming: true, cache_control: { type: 'ephemeral' } }
    expect((encode({ tools: [tool] }).body['tools'] as object[]).map((sent) => Object.keys(sent))).toEqual([['type', 'name', 'parameters']])
  })

  it('forwards what it does not know, unless told not to', () => {
    const request = { client_metadata: { a: 1 }, truncation: 'auto' as const, instructions: 'Be brief.' }
    expect(encode(request).body).toMatchObject(request)
    const dropped = encode(request, { options: { unknown_fields: 'drop' } })
    expect(dropped.body).not.toHaveProperty('client_metadata')
    expect(dropped.body).toMatchObject({ truncation: 'auto', instructions: 'Be brief.' })
    expect(dropped.dropped).toEqual(['client_metadata'])
  })

  it.each([
    ['forward', true],
    ['drop', false],
  ] as const)('supports stored prompts where unknown fields are set to %s: %s', (unknown_fields, arrives) => {
    const at = target({ options: { unknown_fields } })
    const { body } = openAiResponses.encodeRequest({ input: [], prompt: { id: 'pmpt_1' } }, at)
    expect('prompt' in JSON.parse(body)).toBe(arrives)
    expect(openAiResponses.storedPrompts?.(at)).toBe(arrives)
  })

  it('leaves out null and state on the upstream side', () => {
    const { body, dropped } = encode({ temperature: null, background: true, background_options: { completion_window: '2h' }, conversation: 'c' })
    expect(Object.keys(body).toSorted()).toEqual(['input', 'model', 'store', 'stream'])
    expect(dropped).toEqual(['background', 'background_options', 'conversation'])
    expect(encode({ background: false }).dropped).toEqual([])
  })

  it('merges what the operator adds, but never gives up statelessness', () => {
    expect(encode({ truncation: 'auto' }, { options: { extra_body: { truncation: 'disabled', store: true, x: 1 } } }).body).toMatchObject({
      truncation: 'disabled',
      x: 1,
      store: false,
    })
  })

  it('asks for unpadded streams where told to', () => {
    expect(encode({}, { options: { suppress_obfuscation: true } }).body['stream_options']).toEqual({ include_obfuscation: false })
    expect(encode({}, { stream: false, options: { suppress_obfuscation: true } }).body).not.toHaveProperty('stream_options')
  })
})

describe('parameters', () => {
  const all = {
    temperature: 0.5,
    top_p: 0.9,
    top_logprobs: 2,
    max_output_tokens: 100,
    seed: 1,
    stop: ['x'],
    presence_penalty: 0,
    frequency_penalty: 0,
    top_k: 3,
  }

  it('sends what the endpoint supports and names the rest', () => {
    const { body, dropped } = encode(all)
    expect(body).toMatchObject({ temperature: 0.5, top_p: 0.9, top_logprobs: 2, max_output_tokens: 100 })
    expect([...dropped].toSorted()).toEqual(['frequency_penalty', 'presence_penalty', 'seed', 'stop', 'top_k'])
    expect(encode(all, { supports: new Set(['seed', 'stop', 'top_k', 'presence_penalty', 'frequency_penalty']) }).dropped.toSorted()).toEqual([
      'max_output_tokens',
      'temperature',
      'top_logprobs',
      'top_p',
    ])
  })

  it('knows endpoints that refuse sampling', () => {
    const parts = { options: { sampling_parameters: 'drop-when-reasoning' as const } }
    expect(encode({ temperature: 1, reasoning: { effort: 'low' } }, parts).dropped).toEqual(['temperature'])
    expect(encode({ temperature: 1, reasoning: { effort: 'none' } }, parts).dropped).toEqual([])
    expect(encode({ temperature: 1 }, { options: { sampling_parameters: 'drop' } }).dropped).toEqual(['temperature'])
    expect(encode({ presence_penalty: 0 }, { supports: new Set(['presence_penalty']), options: { penalties: false } }).dropped).toEqual([
      'presence_penalty',
    ])
  })

  it('keeps sampling from models that reason unless told not to', () => {
    const options = { sampling_parameters: 'drop-when-reasoning' as const, reasoning_models: '^o\\d' }
    const sampling = { temperature: 1, top_logprobs: 2, include: ['message.output_text.logprobs'] }
    const sent = (request: object, upstreamModel: string): string[] => {
      const { body } = encode({ ...sampling, ...request }, { options, upstreamModel })
      return ['temperature', 'top_logprobs', 'include'].filter((field) => field in body)
    }
    expect(sent({}, 'o4-mini')).toEqual([])
    expect(sent({ reasoning: { effort: 'none' } }, 'o4-mini')).toEqual(['temperature', 'top_logprobs', 'include'])
    expect(sent({}, 'gpt-4.1')).toEqual(['temperature', 'top_logprobs', 'include'])
    expect(encode(sampling, { options, upstreamModel: 'o3' }).dropped).toEqual(['temperature', 'top_logprobs', 'logprobs'])
  })

  it('raises an output limit that is too small for the endpoint', () => {
    expect(encode({ max_output_tokens: 5 }, { options: { min_output_tokens: 16 } })).toMatchObject({
      body: { max_output_tokens: 16 },
      dropped: ['max_output_tokens: 5 became 16'],
    })
  })

  it('keeps the fields of the full format from servers that lack them', () => {
    const request = {
      metadata: { a: 'b' },
      prompt_cache_key: 'k',
      prompt_cache_options: { mode: 'explicit' as const },
      safety_identifier: 's',
      user: 'u',
      service_tier: 'flex' as const,
    }
    expect(encode(request)).toMatchObject({ body: request, dropped: [] })
    const none = encode(request, {
      options: { metadata: false, prompt_cache_key: false, prompt_cache_options: false, safety_identifier: false, service_tier: false },
    })
    expect(Object.keys(none.body).toSorted()).toEqual(['input', 'model', 'store', 'stream'])
    expect([...none.dropped].toSorted()).toEqual(Object.keys(request).toSorted())
    expect(encode({ service_tier: 'fast' }).body['service_tier']).toBe('priority')
  })

  it('sends formats and verbosity where they are supported', () => {
    const schema = { type: 'json_schema' as const, name: 'n', schema: {}, strict: null }
    expect(encode({ text: { format: schema, verbosity: 'low' } }).body['text']).toEqual({
      format: { type: 'json_schema', name: 'n', schema: {} },
      verbosity: 'low',
    })
    expect(encode({ text: { format: schema, verbosity: 'low' } }, without('structured_outputs', 'verbosity'))).toMatchObject({
      dropped: ['structured_outputs', 'verbosity'],
    })
    expect(encode({ text: { format: { type: 'json_object' } } }, without('structured_outputs', 'response_format')).dropped).toEqual([
      'response_format',
    ])
    expect(encode({ text: { verbosity: 'max' } })).toMatchObject({ body: { text: { verbosity: 'high' } }, dropped: ['verbosity: max became high'] })
  })
})

describe('reasoning options', () => {
  it('translates efforts to what the endpoint knows', () => {
    const parts = { options: { reasoning_efforts: ['low' as const, 'medium' as const, 'high' as const] } }
    expect(encode({ reasoning: { effort: 'xhigh' } }, parts)).toMatchObject({
      body: { reasoning: { effort: 'high' } },
      dropped: ['reasoning.effort: xhigh became high'],
    })
    expect(encode({ reasoning: { effort: 'none' } }, parts)).toMatchObject({ body: { reasoning: { effort: 'low' } } })
    expect(encode({ reasoning: { effort: 'high' } }, { options: { reasoning_efforts: [] } }).body).not.toHaveProperty('reasoning')
  })

  it('knows the efforts of single models, where the endpoint declares them', () => {
    const options = {
      models: [
        { match: '^o\\d', reasoning_efforts: ['low' as const, 'high' as const] },
        { match: 'mute', reasoning_efforts: [] },
        { match: '^o1', reasoning_efforts: ['max' as const] },
      ],
    }
    const sent = (upstreamModel: string, reasoning: ReasoningOptions, more: Partial<ResponsesOptions> = {}): unknown[] => {
      const { body, dropped } = encode({ reasoning }, { upstreamModel, options: { ...options, ...more } })
      return [body['reasoning'], ...dropped]
    }
    expect(sent('o1', { effort: 'max' })).toEqual([{ effort: 'high' }, 'reasoning.effort: max became high'])
    expect(sent('o1', { enabled: false })).toEqual([{ effort: 'low' }, 'reasoning.effort: none became low'])
    expect(sent('mute-1', { effort: 'low' })).toEqual([undefined, 'reasoning.effort'])
    expect(sent('other', { effort: 'max' })).toEqual([{ effort: 'max' }])
    expect(sent('o1', { effort: 'max' }, { reasoning_efforts: ['medium'] })).toEqual([{ effort: 'medium' }, 'reasoning.effort: max became medium'])
  })

  it('keeps sampling from models that reason although they were told not to', () => {
    const options = { sampling_parameters: 'drop-when-reasoning' as const, models: [{ match: '^o\\d', reasoning_efforts: ['low' as const] }] }
    const off = { temperature: 1, reasoning: { effort: 'none' as const } }
    expect(encode(off, { options, upstreamModel: 'o3' }).body).not.toHaveProperty('temperature')
    expect(encode(off, { options, upstreamModel: 'gpt-5.1' }).body).toHaveProperty('temperature')
  })

  it('turns budgets and switches into efforts, or sends them where they are understood', () => {
    const request = { reasoning: { max_tokens: 8000 }, max_output_tokens: 10_000 }
    expect(encode(request).body['reasoning']).toEqual({ effort: 'high' })
    expect(encode({ reasoning: { enabled: false } }).body['reasoning']).toEqual({ effort: 'none' })
    expect(encode({ reasoning: { enabled: true } }).body['reasoning']).toEqual({ effort: 'medium' })
    expect(encode(request, { options: { reasoning_budget: true } }).body['reasoning']).toEqual({ max_tokens: 8000 })
  })

  it('leaves out summaries where they are refused, and all options where the endpoint does not reason', () => {
    expect(encode({ reasoning: { effort: 'low', summary: 'auto' } }, { options: { reasoning_summary: false } })).toMatchObject({
      body: { reasoning: { effort: 'low' } },
      dropped: ['reasoning.summary'],
    })
    const none = without('reasoning', 'reasoning_effort', 'include_reasoning')
    expect(encode({ reasoning: { effort: 'low' } }, none)).toMatchObject({ dropped: ['reasoning'] })
    expect(encode({ reasoning: { effort: 'none' } }, none).dropped).toEqual([])
  })

  it('asks for encrypted reasoning when the request is about reasoning', () => {
    const encrypted = ['reasoning.encrypted_content']
    const include = (request: Partial<ModelRequest>, parts?: TargetParts): unknown => encode(request, parts).body['include']
    expect(include({})).toBeUndefined()
    expect(include({ reasoning: { effort: 'low' } })).toEqual(encrypted)
    expect(include({ input: [user('Hi'), reasoning(), { type: 'message', role: 'assistant', content: 'x' }] })).toEqual(encrypted)
    expect(include({ reasoning: { effort: 'none' } })).toBeUndefined()
    expect(include({}, { options: { include_reasoning: 'always' } })).toEqual(encrypted)
    expect(include({ reasoning: { effort: 'low' } }, { options: { include_reasoning: 'asked' } })).toBeUndefined()
    expect(include({ include: ['file_search_call.results', ...encrypted] })).toEqual(['file_search_call.results', ...encrypted])
    expect(encode({ include: encrypted }, { options: { encrypted_reasoning: false } })).toMatchObject({
      dropped: ['include: reasoning.encrypted_content'],
    })
    expect(include({ include: encrypted }, without('reasoning', 'reasoning_effort', 'include_reasoning'))).toBeUndefined()
  })
})

describe('reasoning of earlier turns', () => {
  const said: InputItem = { type: 'message', role: 'assistant', content: 'x' }

  it('goes back to the endpoint that minted it, without id and envelope', () => {
    expect(encode({ input: [reasoning(), said] })).toMatchObject({
      body: { input: [{ type: 'reasoning', summary: [{ type: 'summary_text', text: 'S' }], encrypted_content: 'blob' }, { type: 'message' }] },
      dropped: [],
    })
    expect(encode({ input: [reasoning(sealed(), { summary: null }), said] }).body.input[0]).toEqual({
      type: 'reasoning',
      summary: [],
      encrypted_content: 'blob',
    })
  })

  it.each([
    ['another organisation', sealed({ scope: 'acme/other' })],
    ['another format', sealed({ format: 'anthropic-claude-v1' })],
    ['another gateway', 'gAAAAAB'],
  ])('is dropped when it comes from %s', (_, encrypted) => {
    const { body, dropped } = encode({ input: [reasoning(encrypted), said] })
    expect(body.input.map((item) => item['type'])).toEqual(['message'])
    expect(dropped).toEqual(['reasoning of another endpoint'])
  })

  it('goes back to a router in any format, with signature and text', () => {
    const encrypted = sealReasoning({ format: 'anthropic-claude-v1', scope: 'acme/main', signature: 'sig', text: 'because' })
    expect(encode({ input: [reasoning(encrypted), said] }, { options: { replay_formats: 'any' } }).body.input[0]).toEqual({
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: 'S' }],
      format: 'anthropic-claude-v1',
      signature: 'sig',
      content: [{ type: 'reasoning_text', text: 'because' }],
    })
  })

  it('goes back as text where the endpoint takes text', () => {
    const sealed = sealReasoning({ format: 'unknown', scope: 'elsewhere', text: 'raw' })
    expect(encode({ input: [reasoning(sealed), said] }, { options: { reasoning_text: true } }).body.input[0]).toMatchObject({
      content: [{ type: 'reasoning_text', text: 'raw' }],
    })
    const item = reasoning(null, { content: [{ type: 'reasoning_text', text: 'raw' }] })
    expect(encode({ input: [item, said] }, { options: { reasoning_text: true, reasoning_ids: true } }).body.input[0]).toEqual({
      type: 'reasoning',
      id: 'rs_0',
      summary: [{ type: 'summary_text', text: 'S' }],
      content: [{ type: 'reasoning_text', text: 'raw' }],
    })
    expect(encode({ input: [item, said] }).dropped).toEqual(['reasoning of another endpoint'])
  })

  it('is never sent without the item it led to', () => {
    const types = (input: readonly InputItem[]): unknown[] =>
      encode({ input }, { options: { builtin_tools: false } }).body.input.map((item) => item['type'])
    expect(types([reasoning()])).toEqual([])
    expect(types([reasoning(), user('Hi')])).toEqual(['message'])
    expect(types([reasoning(), { type: 'gateway:web_search', status: 'completed' }, said])).toEqual(['message'])
    expect(types([reasoning(), { type: 'message', role: 'assistant', content: [] }, said])).toEqual(['message'])
    expect(types([reasoning(), reasoning(), call('c'), output('c')])).toEqual(['reasoning', 'reasoning', 'function_call', 'function_call_output'])
    expect(types([reasoning(sealed({ scope: 'other' })), reasoning(), call('c'), output('c')])).toEqual([
      'reasoning',
      'function_call',
      'function_call_output',
    ])
    expect(encode({ input: [reasoning()] }).dropped).toEqual(['reasoning without the item it led to'])
  })

  it('opens what other items carry encrypted, or leaves them out', () => {
    const compaction = (encrypted_content: string): InputItem => ({ type: 'compaction', id: 'cmp_1', encrypted_content })
    expect(encode({ input: [compaction(sealed())] }).body.input).toEqual([{ type: 'compaction', encrypted_content: 'blob' }])
    expect(encode({ input: [compaction('foreign')] })).toMatchObject({ body: { input: [] }, dropped: ['input: compaction of another endpoint'] })
  })
})

describe('messages', () => {
  it('loses ids and status, and gives every role its own kind of text', () => {
    const input: InputItem[] = [
      {
        type: 'message',
        role: 'user',
        id: 'msg_1',
        status: 'completed',
        content: [
          { type: 'output_text', text: 'a' },
          { type: 'input_text', text: 'b', prompt_cache_breakpoint: { mode: 'explicit' } },
        ],
      },
      {
        type: 'message',
        role: 'assistant',
        id: 'msg_2',
        phase: 'commentary',
        content: [
          { type: 'input_text', text: 'c' },
          { type: 'refusal', refusal: 'd' },
          { type: 'output_text', text: 'e', logprobs: [] },
        ],
      },
    ]
    expect(encode({ input }).body.input).toEqual([
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'a' },
          { type: 'input_text', text: 'b', prompt_cache_breakpoint: { mode: 'explicit' } },
        ],
      },
      {
        type: 'message',
        role: 'assistant',
        phase: 'commentary',
        content: [
          { type: 'output_text', text: 'c', annotations: [] },
          { type: 'refusal', refusal: 'd' },
          { type: 'output_text', text: 'e', annotations: [] },
        ],
      },
    ])
    expect(encode({ input }, { options: { assistant_parts: false } }).body.input[1]).toEqual({
      type: 'message',
      role: 'assistant',
      phase: 'commentary',
      content: 'cde',
    })
    const poor = encode({ input }, { options: { prompt_cache_options: false, phase: false } }).body.input
    expect(JSON.stringify(poor)).not.toMatch(/breakpoint|phase/)
  })

  it('sends media as they came', () => {
    const content = [
      { type: 'input_image', image_url: 'https://i.test/a.png', detail: 'low' },
      { type: 'input_file', file_url: 'https://f.test/a.pdf' },
      { type: 'input_file', file_data: 'data:application/pdf;base64,AA', filename: 'a.pdf' },
      { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
      { type: 'input_video', video_url: 'https://v.test/a.mp4' },
    ] as const
    const { body, dropped } = encode(
      { input: [{ type: 'message', role: 'user', content }] },
      { options: { input_parts: ['input_text', 'input_image', 'input_file', 'input_audio', 'input_video'] } },
    )
    expect([body.input[0]?.['content'], dropped]).toEqual([content, []])
  })

  it('says what bare bytes of a file are, and sends those of a sound alone', () => {
    const content = [
      { type: 'input_file' as const, file_data: 'JVBERi0=', filename: 'a.pdf' },
      { type: 'input_file' as const, file_data: 'aGk=', filename: 'a.txt' },
      { type: 'input_audio' as const, input_audio: { data: 'data:audio/wav;base64,AAAA', format: 'wav' } },
    ]
    const { body } = encode(
      { input: [{ type: 'message', role: 'user', content }] },
      { options: { input_parts: ['input_text', 'input_file', 'input_audio'] } },
    )
    expect(body.input[0]?.['content']).toEqual([
      { type: 'input_file', file_data: 'data:application/pdf;base64,JVBERi0=', filename: 'a.pdf' },
      { type: 'input_file', file_data: 'data:text/plain;base64,aGk=', filename: 'a.txt' },
      { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
    ])
  })

  it('replaces media the endpoint does not take by a sentence', () => {
    const content = [
      { type: 'input_video' as const, video_url: 'https://v.test/a.mp4' },
      { type: 'input_image' as const, image_url: 'data:image/png;base64,AA', detail: null },
    ]
    const { body, dropped } = encode({ input: [{ type: 'message', role: 'user', content }] })
    expect(body.input[0]?.['content']).toEqual([
      { type: 'input_text', text: '[video left out: this endpoint does not take it]' },
      { type: 'input_image', image_url: 'data:image/png;base64,AA' },
    ])
    expect(dropped).toEqual(['input: input_video'])
  })

  it('turns developers into systems where there are none', () => {
    const input: InputItem[] = [{ type: 'message', role: 'developer', content: 'x' }]
    expect(encode({ input }, { options: { developer_role: false } }).body.input[0]?.['role']).toBe('system')
  })

  it('sends the bytes of remote media to servers that cannot fetch', () => {
    const url = 'https://i.test/a.png'
    const doc = 'https://i.test/b/report.pdf'
    const input: InputItem[] = [
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_image', image_url: url },
          { type: 'input_file', file_url: doc },
        ],
      },
    ]
    expect(openAiResponses.mediaUrls?.({ input }, target())).toEqual([])
    expect(openAiResponses.mediaUrls?.({ input }, target({ options: { inline_media: true } }))).toEqual([url, doc])
    const media = new Map([
      [url, { mimeType: 'image/png', data: 'AA' }],
      [doc, { mimeType: 'application/pdf', data: 'BB' }],
    ])
    expect(encode({ input }, { options: { inline_media: true }, media }).body.input[0]?.['content']).toEqual([
      { type: 'input_image', image_url: 'data:image/png;base64,AA' },
      { type: 'input_file', file_data: 'data:application/pdf;base64,BB', filename: 'report.pdf' },
    ])
  })
})

describe('calls and their outputs', () => {
  const items = (input: readonly InputItem[], parts?: TargetParts): readonly { readonly [field: string]: unknown }[] =>
    encode({ input }, parts).body.input

  it('lose the ids the gateway minted', () => {
    expect(items([call('c'), output('c')])).toEqual([
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: 'ok' },
    ])
  })

  it('share a short id where theirs is too long', () => {
    const [a, b] = ['a'.repeat(65), 'b'.repeat(65)]
    const once = items([call(a), call(b), output(a), output(b)])
    const ids = once.map((item) => String(item['call_id']))
    expect(ids[0]).toBe(ids[2])
    expect(ids[1]).toBe(ids[3])
    expect(ids[0]).not.toBe(ids[1])
    expect(ids.every((id) => id.length <= 64)).toBe(true)
    expect(items([call(a), call(b), output(a), output(b)])).toEqual(once)
  })

  it('are told apart when an upstream reused an id in a later turn', () => {
    const ids = items([call('call_0'), output('call_0', 'first'), call('call_0'), output('call_0', 'second')]).map((item) => item['call_id'])
    expect(ids[0]).toBe('call_0')
    expect(ids[1]).toBe(ids[0])
    expect(ids[3]).toBe(ids[2])
    expect(ids[2]).not.toBe(ids[0])
  })

  it('belong together by turn where ids come twice', () => {
    const pair = [call('c'), call('c'), output('c', 'one'), output('c', 'two')]
    const sent = items([call('c'), user('stop'), ...pair])
    const said = (at: number): unknown[] =>
      sent.filter((item) => item['type'] === 'function_call_output' && item['call_id'] === sent[at]!['call_id']).map((item) => item['output'])
    expect(sent.map((item) => String(item['type']).replace('function_call', 'f'))).toEqual([
      'f',
      'f_output',
      'message',
      'f',
      'f',
      'f_output',
      'f_output',
    ])
    expect([said(0), said(3), said(4)]).toEqual([['No result is available for this call.'], ['one'], ['two']])
  })
  it('have arguments that are JSON, whatever a cut answer left of them', () => {
    const sent = (args: string): unknown => items([{ type: 'function_call', call_id: 'c', name: 'f', arguments: args }])[0]!['arguments']
    expect(['{"a":', '{"a":1.0}', ' ', 'null'].map(sent)).toEqual(['{"_raw":"{\\"a\\":"}', '{"a":1.0}', '{}', '{}'])
  })

  it('always come in pairs', () => {
    expect(items([call('a'), user('never mind')])).toMatchObject([
      { type: 'function_call' },
      { type: 'function_call_output', call_id: 'a' },
      { type: 'message' },
    ])
    const orphan = encode({ input: [output('gone', 'result')] })
    expect(orphan.body.input[0]).toMatchObject({ type: 'message', role: 'user', content: [{}, { type: 'input_text', text: 'result' }] })
    expect(orphan.dropped).toEqual(['input: output without its call became text'])
  })

  it('belong together when the output came before its call', () => {
    const early = encode({ input: [output('a', 'result'), user('go on'), call('a'), call('b'), output('b')] })
    expect(early.dropped).toEqual([])
    const order = (input: readonly InputItem[], parts?: TargetParts): unknown[] =>
      items(input, parts).map((item) => [item['type'], item['call_id'] ?? item['content'], ...('output' in item ? [item['output']] : [])])
    expect(order([output('a', 'early'), user('go on'), call('a'), call('b'), output('b', 'late')])).toEqual([
      ['message', 'go on'],
      ['function_call', 'a'],
      ['function_call_output', 'a', 'early'],
      ['function_call', 'b'],
      ['function_call_output', 'b', 'late'],
    ])
    const own: InputItem = { type: 'custom_tool_call_output', call_id: 'x'.repeat(70), output: 'rows' }
    const custom = items([own, { type: 'custom_tool_call', call_id: 'x'.repeat(70), name: 'sql', input: '' }])
    expect(custom.map(({ type }) => type)).toEqual(['custom_tool_call', 'custom_tool_call_output'])
    expect(custom[1]!['call_id']).toBe(custom[0]!['call_id'])
    // A call that a later output answers needs no other.
    expect(encode({ input: [output('a', 'stray'), call('a'), output('a', 'own')] }).dropped).toEqual(['input: output without its call became text'])
  })

  it('stand together where the endpoint insists', () => {
    const input = [
      call('a'),
      { type: 'message', role: 'assistant', content: 'thinking' } as const,
      call('b'),
      output('b'),
      user('go on'),
      output('a'),
    ]
    const order = (parts?: TargetParts): unknown[] => items(input, parts).map((item) => item['call_id'] ?? item['content'])
    expect(order()).toEqual(['a', 'thinking', 'b', 'b', 'go on', 'a'])
    expect(order({ options: { tool_outputs: 'adjacent' } })).toEqual(['a', 'a', 'thinking', 'b', 'b', 'go on'])
    const parallel = [call('a'), call('b'), output('b'), output('a')]
    expect(items(parallel, { options: { tool_outputs: 'adjacent' } }).map((item) => [item['type'], item['call_id']])).toEqual([
      ['function_call', 'a'],
      ['function_call', 'b'],
      ['function_call_output', 'a'],
      ['function_call_output', 'b'],
    ])
  })

  it('move media out of results where they cannot stay', () => {
    const image = { type: 'input_image', image_url: 'data:image/png;base64,AA' } as const
    const input: InputItem[] = [
      call('a'),
      call('b'),
      { type: 'function_call_output', call_id: 'a', output: [{ type: 'input_text', text: 'see' }, image] },
      output('b'),
    ]
    expect(items(input)[2]?.['output']).toEqual([{ type: 'input_text', text: 'see' }, image])
    expect(items(input, { options: { tool_output_parts: false } }).slice(2)).toEqual([
      { type: 'function_call_output', call_id: 'a', output: 'see\n\n[the media of this result follow in the next message]' },
      { type: 'function_call_output', call_id: 'b', output: 'ok' },
      { type: 'message', role: 'user', content: [image] },
    ])
  })

  it('of free-form tools become functions where there are none', () => {
    const input: InputItem[] = [
      { type: 'custom_tool_call', call_id: 'c', name: 'sql', input: 'SELECT "a"' },
      { type: 'custom_tool_call_output', call_id: 'c', output: '1' },
    ]
    expect(items(input)).toEqual([
      { type: 'custom_tool_call', call_id: 'c', name: 'sql', input: 'SELECT "a"' },
      { type: 'custom_tool_call_output', call_id: 'c', output: '1' },
    ])
    expect(items(input, { options: { custom_tools: false } })).toEqual([
      { type: 'function_call', call_id: 'c', name: 'sql', arguments: '{"input":"SELECT \\"a\\""}' },
      { type: 'function_call_output', call_id: 'c', output: '1' },
    ])
  })

  it('of tools the caller runs survive as functions, other built-in items do not', () => {
    const input: InputItem[] = [
      { type: 'shell_call', id: 'sh', call_id: 'c', action: { commands: ['ls'] }, status: 'completed' },
      { type: 'shell_call_output', call_id: 'c', output: [{ stdout: 'a' }] },
      { type: 'web_search_call', id: 'ws', status: 'completed', action: { type: 'search' } },
      { type: 'gateway:web_search', status: 'completed' },
    ]
    const poor = encode({ input }, { options: { builtin_tools: false } })
    expect(poor.body.input).toEqual([
      { type: 'function_call', call_id: 'c', name: 'shell', arguments: '{"commands":["ls"]}' },
      { type: 'function_call_output', call_id: 'c', output: '[{"stdout":"a"}]' },
    ])
    expect(poor.dropped).toContain('input: web_search_call')
    expect(poor.dropped).toContain('input: gateway:web_search')
    expect(items(input, { options: { builtin_tools: ['web_search_preview'] } }).at(-1)).toEqual({
      type: 'web_search_call',
      status: 'completed',
      action: { type: 'search' },
    })
    expect(items(input).map((item) => item['type'])).toEqual(['shell_call', 'shell_call_output', 'web_search_call'])
  })

  it('have no ids for tool searches, because the vendor refuses ids that it did not create', () => {
    const search = { type: 'tool_search_call', call_id: 'c', execution: 'client', arguments: { query: 'docs' }, status: 'completed' } as const
    const found = {
      type: 'tool_search_output',
      call_id: 'c',
      execution: 'client',
      tools: [{ type: 'function', name: 'f' }],
      status: 'completed',
    } as const
    expect(
      items([
        { ...search, id: 'item_1' },
        { ...found, id: 'tso_1' },
      ]),
    ).toEqual([search, found])
  })

  it('cannot refer to stored items', () => {
    expect(failure(() => encode({ input: [{ type: 'item_reference', id: 'msg_1' }] }))).toMatchObject({
      errorType: 'invalid_prompt',
      failover: 'never',
    })
  })

  it('end up in pairs with fitting ids for any history', () => {
    const id = fc.constantFrom('a', 'b', 'c'.repeat(70), 'd'.repeat(64))
    const item = fc.oneof(
      id.map((callId) => call(callId)),
      id.map((callId) => output(callId)),
      fc.constant(user('x')),
      fc.constant(reasoning()),
      fc.constant<InputItem>({ type: 'message', role: 'assistant', content: 'y' }),
      id.map((call_id): InputItem => ({ type: 'custom_tool_call', call_id, name: 'sql', input: '' })),
    )
    fc.assert(
      fc.property(
        fc.array(item, { maxLength: 14 }),
        fc.constantFrom('as-sent' as const, 'adjacent' as const),
        fc.boolean(),
        (input, tool_outputs, custom_tools) => {
          const encoded = items(input, { options: { tool_outputs, custom_tools } })
          const calls = encoded.filter((entry) => String(entry['type']).endsWith('_call')).map((entry) => entry['call_id'])
          const outputs = encoded.filter((entry) => String(entry['type']).endsWith('_output')).map((entry) => entry['call_id'])
          expect(new Set(calls).size).toBe(calls.length)
          expect(outputs.toSorted()).toEqual(calls.toSorted())
          expect(calls.every((callId) => String(callId).length <= 64)).toBe(true)
          for (const [index, entry] of encoded.entries()) {
            if (String(entry['type']).endsWith('_output'))
              expect(encoded.slice(0, index).some((before) => before['call_id'] === entry['call_id'])).toBe(true)
            if (entry['type'] !== 'reasoning') continue
            const next = encoded.slice(index).find((after) => after['type'] !== 'reasoning')
            expect(next?.['role'] === 'assistant' || String(next?.['type']).endsWith('_call')).toBe(true)
          }
        },
      ),
      { numRuns: 500 },
    )
  })
})

describe('answers with images', () => {
  it('are requested where the fields are supported, else reported', () => {
    const fields = { modalities: ['image'], image_config: { size: '1K' } }
    expect(encode(fields, { options: { image_output: true } })).toMatchObject({ body: fields, dropped: [] })
    const plain = encode(fields)
    expect(plain.body).not.toHaveProperty('modalities')
    expect(plain.dropped).toEqual(['modalities: image', 'image_config'])
  })
})

describe('tools', () => {
  const custom = {
    type: 'custom',
    name: 'sql',
    description: 'runs SQL',
    format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
  } as const
  const namespace = { type: 'namespace', name: 'mail', description: 'd', tools: [{ type: 'function', name: 'send', parameters: {} }] }

  it('go out as they came where the endpoint knows them', () => {
    const tools = [{ ...f, strict: null }, custom, namespace, { type: 'web_search' }]
    expect(encode({ tools, tool_choice: 'auto', parallel_tool_calls: false })).toMatchObject({
      body: { tools, tool_choice: 'auto', parallel_tool_calls: false },
      dropped: [],
    })
  })

  it('of the gateway never go out', () => {
    const { body, dropped } = encode({ tools: [{ type: 'gateway:datetime' }, { type: 'openrouter:web_search' }, f] })
    expect(body['tools']).toEqual([f])
    expect(dropped).toEqual(['tools: gateway:datetime', 'tools: openrouter:web_search'])
  })

  it('of the vendor go out only where they are known', () => {
    const tools = [{ type: 'web_search_preview' }, { type: 'file_search' }]
    expect(encode({ tools }, { options: { builtin_tools: ['web_search'] } }).dropped).toEqual(['tools: file_search'])
    expect(encode({ tools, tool_choice: 'required' }, { options: { builtin_tools: false } }).body).not.toHaveProperty('tool_choice')
  })

  it('are renamed, wrapped and flattened where they must be', () => {
    const { body } = encode({ tools: [{ ...f, name: 'a.b' }, custom, namespace] }, { options: { custom_tools: false, namespace_tools: false } })
    const [renamed, wrapped, flat] = body['tools'] as { readonly [field: string]: unknown }[]
    expect(renamed?.['name']).toMatch(/^a_b_[0-9A-Za-z]{8}$/)
    expect(wrapped).toMatchObject({ type: 'function', name: 'sql', strict: false, parameters: { required: ['input'] } })
    expect(wrapped?.['description']).toContain('start: "x"')
    expect(flat).toMatchObject({ type: 'function', name: 'mail__send' })
  })

  it('carry strict as the endpoint wants it', () => {
    const strict = (value: boolean | undefined, mode: 'forward' | 'only-true' | 'drop'): unknown =>
      (
        encode({ tools: [{ ...f, ...(value === undefined ? {} : { strict: value }) }] }, { options: { strict: mode } }).body['tools'] as {
          strict?: boolean
        }[]
      )[0]?.strict
    expect([strict(true, 'forward'), strict(false, 'forward'), strict(undefined, 'forward')]).toEqual([true, false, undefined])
    expect([strict(true, 'only-true'), strict(false, 'only-true')]).toEqual([true, undefined])
    expect(strict(true, 'drop')).toBeUndefined()
  })

  it('are dropped where the endpoint has none', () => {
    const { body, dropped } = encode({ tools: [f], tool_choice: 'auto', parallel_tool_calls: true }, without('tools'))
    expect(Object.keys(body).toSorted()).toEqual(['input', 'model', 'store', 'stream'])
    expect(dropped).toEqual(['tools'])
  })

  it('are chosen by the name the endpoint knows', () => {
    const choice = (tool_choice: ModelRequest['tool_choice'], options: TargetParts['options'] = {}): unknown =>
      encode(
        { tools: [f, { ...f, name: 'a.b' }, custom, { type: 'web_search' }], ...(tool_choice === undefined ? {} : { tool_choice }) },
        { options },
      ).body['tool_choice']
    expect(choice({ type: 'function', name: 'f' })).toEqual({ type: 'function', name: 'f' })
    expect(choice({ type: 'function', name: 'a.b' })).toMatchObject({ type: 'function', name: expect.stringMatching(/^a_b_/) })
    expect(choice({ type: 'custom', name: 'sql' })).toEqual({ type: 'custom', name: 'sql' })
    expect(choice({ type: 'custom', name: 'sql' }, { custom_tools: false })).toEqual({ type: 'function', name: 'sql' })
    expect(choice({ type: 'web_search' })).toEqual({ type: 'web_search' })
    expect(choice({ type: 'web_search' }, { builtin_tools: false })).toBeUndefined()
    expect(choice({ type: 'function', name: 'nope' })).toBeUndefined()
  })

  it('are reduced to the allowed ones, by the endpoint or by the gateway', () => {
    const request = {
      tools: [f, { ...f, name: 'g' }],
      tool_choice: { type: 'allowed_tools' as const, mode: 'required' as const, tools: [{ type: 'function', name: 'g' }] },
    }
    expect(encode(request).body).toMatchObject({
      tools: [{ name: 'f' }, { name: 'g' }],
      tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'g' }] },
    })
    expect(encode(request, { options: { allowed_tools: false } }).body).toMatchObject({ tools: [{ name: 'g' }], tool_choice: 'required' })
  })

  it('vanish for the choice "none" where the endpoint knows no choice', () => {
    expect(encode({ tools: [f], tool_choice: 'none' }, without('tool_choice')).body).not.toHaveProperty('tools')
    expect(encode({ tools: [f], tool_choice: 'required' }, without('tool_choice')).dropped).toEqual(['tool_choice'])
  })
})
