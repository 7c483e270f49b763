import { describe, expect, it } from 'vitest'
import type { InputItem, OtherTool } from '../../core/item.ts'
import type { ModelRequest, ReasoningOptions } from '../../core/request.ts'
import { sealReasoning } from '../../core/reasoning-envelope.ts'
import { REQUESTS } from './__fixtures__/requests.ts'
import { chatTarget } from './__fixtures__/target.ts'
import type { TargetOverrides } from './__fixtures__/target.ts'
import { openAiChat } from './index.ts'

const user = (content: unknown): InputItem => ({ type: 'message', role: 'user', content })

function encode(request: Partial<ModelRequest>, overrides: TargetOverrides = {}): { body: Record<string, unknown>; dropped: readonly string[] } {
  const encoded = openAiChat.encodeRequest({ input: [user('q')], ...request }, chatTarget(overrides))
  return { body: JSON.parse(encoded.body), dropped: encoded.dropped }
}

describe('encoding, by golden file', () => {
  it.each(Object.entries(REQUESTS))('%s', async (name, [request, overrides]) => {
    const { path, headers, body, dropped } = openAiChat.encodeRequest(request, chatTarget(overrides))
    expect(path).toBe('/chat/completions')
    expect(headers['content-type']).toBe('application/json')
    await expect(`${JSON.stringify({ body: JSON.parse(body), dropped }, undefined, 2)}\n`).toMatchFileSnapshot(`__fixtures__/requests/${name}.json`)
  })
})

describe('what is never sent', () => {
  it('nulls, empty lists, fields of the gateway, a choice without tools', () => {
    const { body } = encode({
      temperature: null,
      tools: [],
      tool_choice: 'auto',
      provider: { order: ['a'] },
      plugins: [{ id: 'web' }],
      store: false,
      session_id: 's',
      model: 'a/b',
      parallel_tool_calls: true,
    })
    expect(body).toEqual({ model: 'small-1', messages: [{ role: 'user', content: 'q' }], stream: true, stream_options: { include_usage: true } })
  })
  it('stop sequences that are empty', () => {
    for (const stop of ['', [], ['']]) expect(encode({ stop }).body).not.toHaveProperty('stop')
    expect(encode({ stop: ['', 'x'] }).body).toMatchObject({ stop: ['x'] })
    expect(encode({ stop: 'x' }).body).toMatchObject({ stop: 'x' })
  })
  it('stop sequences that are too many for this server, and says so', () => {
    const five = ['a', 'b', 'c', 'd', 'e']
    expect(encode({ stop: five })).toMatchObject({ body: { stop: five }, dropped: [] })
    expect(encode({ stop: five }, { options: { max_stop_sequences: 4 } })).toMatchObject({
      body: { stop: ['a', 'b', 'c', 'd'] },
      dropped: ['stop: only the first 4'],
    })
  })
  it('stream options for a whole answer, or where usage comes anyway', () => {
    expect(encode({}, { stream: false }).body).toMatchObject({ stream: false })
    expect(encode({}, { stream: false }).body).not.toHaveProperty('stream_options')
    expect(encode({}, { options: { stream_usage: false } }).body).not.toHaveProperty('stream_options')
  })
  it('tools to an endpoint without them, which it names', () => {
    const { body, dropped } = encode({ tools: [{ type: 'function', name: 'f' }], tool_choice: 'required' }, { supports: [] })
    expect(body).not.toHaveProperty('tools')
    expect(dropped).toContain('tools')
  })
  it('drops sampling parameters for the models that refuse them', () => {
    const only = (match: string) => ({ options: { models: [{ match, sampling_with_reasoning: false }] } })
    const asked = { temperature: 0.7, top_p: 1, presence_penalty: 1, stop: ['x'] }
    const fixed = encode(asked, only('^small'))
    expect(fixed.body).not.toHaveProperty('temperature')
    expect(fixed.body).toMatchObject({ stop: ['x'] })
    expect(fixed.dropped).toEqual(['temperature', 'top_p', 'presence_penalty'])
    expect(encode(asked, only('^large')).body).toMatchObject({ temperature: 0.7, top_p: 1, presence_penalty: 1 })
  })
  it('sampling to reasoning models that refuse it', () => {
    const { body, dropped } = encode({ temperature: 1, top_p: 1 }, { options: { sampling_with_reasoning: false } })
    expect(body).not.toHaveProperty('temperature')
    expect(dropped).toEqual(['temperature', 'top_p'])
  })
})

describe('a conversation without a user message', () => {
  const asked = { role: 'user', content: 'Continue.' }
  it('is opened by the user', () => {
    expect(encode({ input: [user('')] }).body['messages']).toEqual([asked])
    expect(encode({ input: [], instructions: 'i' }).body['messages']).toEqual([{ role: 'system', content: 'i' }, asked])
  })
  it('never marks an answer before an empty user message as one to be continued', () => {
    const input = [user('q'), { type: 'message', role: 'assistant', content: 'a' } as const, user('')]
    expect(encode({ input }, { options: { prefill_field: 'prefix' } }).body['messages']).toEqual([
      { role: 'user', content: 'q' },
      { role: 'assistant', content: 'a' },
      asked,
    ])
  })
})

describe('tool choice', () => {
  const tools = [
    { type: 'function', name: 'a' },
    { type: 'function', name: 'b' },
  ]
  it.each<[string, ModelRequest['tool_choice'], TargetOverrides, unknown, number]>([
    ['none', 'none', {}, 'none', 2],
    ['none where the word is unknown', 'none', { options: { none_tool_choice: false } }, undefined, 0],
    ['none where nothing can be chosen', 'none', { supports: ['tools'] }, undefined, 0],
    ['required', 'required', {}, 'required', 2],
    ['required under another word', 'required', { options: { required_word: 'any' } }, 'any', 2],
    ['one tool', { type: 'function', name: 'b' }, {}, { type: 'function', function: { name: 'b' } }, 2],
    ['one tool where none can be named', { type: 'function', name: 'b' }, { options: { named_tool_choice: false } }, 'required', 1],
  ])('%s', (_name, tool_choice, overrides, choice, count) => {
    const { body } = encode({ tools, ...(tool_choice === undefined ? {} : { tool_choice }) }, overrides)
    expect(body['tool_choice']).toEqual(choice)
    expect((body['tools'] as unknown[] | undefined)?.length ?? 0).toBe(count)
  })
})

const OFF_ONLY = { reasoning_style: 'effort' as const, reasoning_efforts: ['none' as const] }

describe('reasoning', () => {
  it.each<[string, ReasoningOptions, TargetOverrides['options'], object]>([
    ['effort', { effort: 'high' }, { reasoning_style: 'effort' }, { reasoning_effort: 'high' }],
    ['the nearest effort', { effort: 'xhigh' }, { reasoning_style: 'effort' }, { reasoning_effort: 'high' }],
    ['an effort for a budget', { max_tokens: 500 }, { reasoning_style: 'effort' }, { reasoning_effort: 'low' }],
    ['off', { effort: 'none' }, { reasoning_style: 'effort', reasoning_efforts: ['none', 'low'] }, { reasoning_effort: 'none' }],
    // In an unknown model, the least effort might switch on what was off.
    ['off where nobody knows whether it can be', { enabled: false }, { reasoning_style: 'effort' }, {}],
    ['off where it cannot be', { enabled: false }, { reasoning_style: 'effort', models: [{ match: 'small' }] }, { reasoning_effort: 'low' }],
    ['off, the only word a model knows', { effort: 'none' }, { models: [{ match: 'small', ...OFF_ONLY }] }, { reasoning_effort: 'none' }],
    ['on by itself', { effort: 'high' }, { models: [{ match: 'small', ...OFF_ONLY }] }, {}],
    ['the way of the model', { effort: 'low' }, { models: [{ match: 'small', reasoning_style: 'think' }] }, { think: true }],
    ['an effort where an endpoint reasons and nobody says how', { effort: 'low' }, { models: [{ match: 'large' }] }, { reasoning_effort: 'low' }],
    ['the way of another model', { effort: 'low' }, { models: [{ match: 'large', reasoning_style: 'think' }] }, {}],
    ['an object', { effort: 'low' }, { reasoning_style: 'reasoning-object' }, { reasoning: { effort: 'low' } }],
    ['an object, off', { enabled: false }, { reasoning_style: 'reasoning-object' }, { reasoning: { enabled: false } }],
    ['a switch', { enabled: true }, { reasoning_style: 'thinking-type' }, { thinking: { type: 'enabled' } }],
    ['a switch, off', { effort: 'none' }, { reasoning_style: 'thinking-type', reasoning_efforts: ['high'] }, { thinking: { type: 'disabled' } }],
    [
      'a switch with efforts',
      { effort: 'max' },
      { reasoning_style: 'thinking-type', reasoning_efforts: ['high', 'max'] },
      { thinking: { type: 'enabled' }, reasoning_effort: 'max' },
    ],
    ['a flag with a budget', { effort: 'medium' }, { reasoning_style: 'enable-thinking' }, { enable_thinking: true, thinking_budget: 5000 }],
    ['a flag, off', { enabled: false }, { reasoning_style: 'enable-thinking' }, { enable_thinking: false }],
    [
      'template arguments',
      { enabled: false },
      { reasoning_style: 'template-kwargs' },
      { chat_template_kwargs: { enable_thinking: false, thinking: false } },
    ],
    [
      'template arguments without a level',
      { enabled: true },
      { reasoning_style: 'template-kwargs' },
      { chat_template_kwargs: { enable_thinking: true, thinking: true } },
    ],
    [
      'template arguments with a level',
      { effort: 'high' },
      { reasoning_style: 'template-kwargs' },
      { chat_template_kwargs: { enable_thinking: true, thinking: true, reasoning_effort: 'high' }, reasoning_effort: 'high' },
    ],
    ['think', { effort: 'high' }, { reasoning_style: 'think' }, { think: true }],
    ['think with levels', { effort: 'high' }, { reasoning_style: 'think', reasoning_efforts: ['low', 'high'] }, { think: 'high' }],
    ['nothing said', { summary: 'auto' }, { reasoning_style: 'effort' }, {}],
  ])('%s', (_name, reasoning, options, expected) => {
    const { body } = encode({ reasoning, max_output_tokens: 10_000 }, options === undefined ? {} : { options })
    const { model: _m, messages: _me, stream: _s, stream_options: _so, max_tokens: _mt, ...rest } = body
    expect(rest).toEqual(expected)
  })
  it('is named when the server has no way to say it', () => {
    const named = (reasoning: ReasoningOptions, options: TargetOverrides['options']): unknown => encode({ reasoning }, { options }).dropped
    expect(named({ effort: 'low' }, { reasoning_style: 'none' })).toEqual(['reasoning'])
    expect(named({ effort: 'none' }, { reasoning_style: 'none' })).toEqual([])
    expect(named({ effort: 'low' }, { models: [{ match: 'large', reasoning_style: 'effort' }] })).toEqual(['reasoning'])
    expect(named({ enabled: false }, { models: [{ match: 'large', reasoning_style: 'effort' }] })).toEqual([])
    expect(named({ effort: 'low' }, { models: [{ match: 'small', ...OFF_ONLY }] })).toEqual(['reasoning.effort'])
    expect(named({ enabled: true }, { models: [{ match: 'small', ...OFF_ONLY }] })).toEqual([])
    expect(named({ enabled: false }, { reasoning_style: 'effort' })).toEqual(['reasoning: none'])
  })
})

describe('a turn with nothing but reasoning', () => {
  const cut: readonly InputItem[] = [
    user('a'),
    { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'hm' }] },
    user([{ type: 'input_text', text: 'b' }]),
  ]
  const sent = (options: TargetOverrides['options'], input = cut): unknown => encode({ input }, { options }).body['messages']
  const one = { role: 'user', content: 'a' }
  it('is not a message where reasoning is not sent back', () => {
    expect(sent({ reasoning_replay: 'reasoning_content' })).toEqual([one, { role: 'user', content: 'b' }])
    expect(sent({ reasoning_replay: 'reasoning_content' }, cut.slice(0, 2))).toEqual([one])
    expect(sent({ reasoning_replay: 'reasoning_content', alternating_roles: true })).toEqual([{ role: 'user', content: 'a\n\nb' }])
  })
  it('is one where its reasoning is', () => {
    const thought = { role: 'assistant', content: '', reasoning_content: 'hm' }
    expect(sent({ reasoning_replay: 'reasoning_content', reasoning_replay_turns: 'all' })).toEqual([one, thought, { role: 'user', content: 'b' }])
  })
})

describe('arguments that a cut-off answer left incomplete', () => {
  it('are sent back as JSON that contains them, because servers that parse them would refuse the conversation forever', () => {
    const calls = ['{"a":', '{"a":1.0}', ''].map((args, at): InputItem => ({ type: 'function_call', call_id: `c${at}`, name: 'f', arguments: args }))
    const [, message] = encode({ input: [user('q'), ...calls] }).body['messages'] as { tool_calls: { function: { arguments: string } }[] }[]
    expect(message?.tool_calls.map((each) => each.function.arguments)).toEqual(['{"_raw":"{\\"a\\":"}', '{"a":1.0}', '{}'])
  })
})

describe('reasoning that is never sent back to a server', () => {
  it('is reported when it is signed or encrypted, and not when it is plain text', () => {
    const dropped = (more: object): readonly string[] =>
      encode({ input: [user('q'), { type: 'reasoning', summary: [], ...more }, user('q')] }).dropped
    expect(dropped({ encrypted_content: 'gAAAA' })).toEqual(['input: reasoning of another provider'])
    expect(dropped({ content: [{ type: 'reasoning_text', text: 't' }], signature: 's', format: 'f' })).toEqual([
      'input: reasoning of another provider',
    ])
    expect(dropped({ content: [{ type: 'reasoning_text', text: 't' }] })).toEqual([])
  })
})

describe('structured output', () => {
  it('puts the word JSON into the prompt where the server insists on it', () => {
    const format = { text: { format: { type: 'json_object' } } } as const
    expect(encode(format).body['messages']).toEqual([
      { role: 'system', content: 'Answer with one JSON object.' },
      { role: 'user', content: 'q' },
    ])
    expect(encode({ ...format, instructions: 'Reply in json' }).body['messages']).toHaveLength(2)
    // The bytes of a picture and the name of a function do not count as words of the prompt.
    const picture = user([{ type: 'input_image', image_url: 'data:image/png;base64,AAjSonAA' }])
    const call: InputItem = { type: 'function_call', call_id: 'c', name: 'to_json', arguments: '{"as":"json"}' }
    expect((encode({ ...format, input: [picture, call] }).body['messages'] as { content: unknown }[])[0]?.content).toBe(
      'Answer with one JSON object.',
    )
    expect(encode({ ...format, input: [user([{ type: 'input_text', text: 'as JSON' }])] }).body['messages']).toHaveLength(1)
  })
  it('is asked for in the prompt beside tools where the two refuse each other', () => {
    const options = { formats_with_tools: false }
    const tools = [{ type: 'function', name: 'f' }]
    const schema = { format: { type: 'json_schema' as const, name: 'n', schema: { type: 'object' } } }
    for (const text of [schema, { format: { type: 'json_object' as const } }]) {
      const { body, dropped } = encode({ text, tools }, { options })
      expect([body['response_format'], dropped]).toEqual([undefined, ['text.format: asked for in the prompt']])
      expect(encode({ text }, { options }).body).toHaveProperty('response_format')
      expect(encode({ text, tools, tool_choice: 'none' }, { options }).body).toHaveProperty('response_format')
    }
  })
  it.each(['json-object', 'tool', 'auto'])(
    'that is no object is asked for in the prompt, where the server makes objects alone: %s',
    (json_schema) => {
      const text = { format: { type: 'json_schema' as const, name: 'n', schema: { type: 'array', items: {} } } }
      const { body, dropped } = encode({ text }, { options: { json_schema }, supports: ['tools', 'response_format'] })
      expect(body).not.toHaveProperty('response_format')
      expect(body).not.toHaveProperty('tools')
      expect(dropped).toEqual(['text.format: asked for in the prompt'])
      expect(JSON.stringify(body['messages'])).toContain('Answer with one JSON value')
    },
  )
  it('by a hidden tool leaves the caller the choice it made', () => {
    const text = { format: { type: 'json_schema' as const, name: 'n', schema: { type: 'object' } } }
    const tools = [{ type: 'function', name: 'f' }]
    const sent = (more: Partial<ModelRequest>, options: object = {}): unknown[] => {
      const { body } = encode({ text, tools, ...more }, { options: { json_schema: 'tool', ...options } })
      const names = (body['tools'] as { function: { name: string } }[]).map((tool) => tool.function.name)
      return [names, body['tool_choice']]
    }
    const answer = { type: 'function', function: { name: 'structured_answer' } }
    expect(sent({})).toEqual([['f', 'structured_answer'], 'required'])
    expect(sent({ tool_choice: 'none' })).toEqual([['f', 'structured_answer'], answer])
    expect(sent({ tool_choice: 'none' }, { named_tool_choice: false })).toEqual([['structured_answer'], 'required'])
    expect(sent({ tool_choice: 'required' })).toEqual([['f'], 'required'])
    expect(sent({ tool_choice: { type: 'function', name: 'f' } })).toEqual([['f'], { type: 'function', function: { name: 'f' } }])
    expect(sent({ tool_choice: 'none', tools: [] })).toEqual([['structured_answer'], answer])
    // Only a forced call is certain.
    expect(sent({}, { forced_tools: 'never' })).toEqual([['f'], undefined])
  })
  it('says when the format is only asked for', () => {
    expect(encode({ text: { format: { type: 'json_object' } } }, { supports: [] }).dropped).toEqual(['text.format: asked for in the prompt'])
  })
})

describe('media', () => {
  it('that are converted to text are one string with the text beside them, for servers that accept nothing else', () => {
    const file = { type: 'input_file', filename: 'a.csv', file_data: 'data:text/csv;base64,YSxi' }
    const content = [{ type: 'input_text', text: 'q' }, file]
    expect(encode({ input: [user(content)] }).body['messages']).toEqual([{ role: 'user', content: 'q\n\n<file name="a.csv">\na,b\n</file>' }])
    const picture = { type: 'input_image', image_url: 'data:,x' }
    const [sent] = encode({ input: [user([...content, picture])] }).body['messages'] as [{ content: unknown }]
    expect(sent.content).toHaveLength(3)
  })
  it.each<[string, unknown, TargetOverrides]>([
    ['images', { type: 'input_image', image_url: 'data:image/png;base64,AA' }, { options: { image_url: 'none' } }],
    ['images by id', { type: 'input_image', file_id: 'f' }, {}],
    ['audio', { type: 'input_audio', input_audio: { data: 'A', format: 'wav' } }, { options: { audio: 'none' } }],
    ['video', { type: 'input_video', video_url: 'https://x' }, {}],
    ['binary files', { type: 'input_file', file_data: 'data:application/pdf;base64,AA' }, {}],
  ])('%s that the endpoint cannot take lead to another endpoint', (_name, part, overrides) => {
    expect(() => encode({ input: [user([part])] }, overrides)).toThrowError(
      expect.objectContaining({ errorType: 'invalid_prompt', details: expect.objectContaining({ failover: 'next' }) }),
    )
  })
  it('degrade to a note in results of tools', () => {
    const input: InputItem[] = [
      user('q'),
      { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'a', output: [{ type: 'input_image', image_url: 'data:,x' }] },
    ]
    expect(encode({ input }, { options: { image_url: 'none' } }).body['messages']).toContainEqual({
      role: 'tool',
      tool_call_id: 'a',
      content: '[1 attachment left out: this model cannot read them]',
    })
  })
  it('of audio are plain base64, whatever the caller put around it', () => {
    for (const data of ['data:audio/wav;base64,AAAA', 'data:audio/wav;rate=8000; base64,AAAA', 'data:audio/wav,%00%00%00']) {
      const audio = { type: 'input_audio', input_audio: { data, format: 'wav' } }
      expect(encode({ input: [user([audio])] }, { options: { audio: 'input_audio' } }).body['messages']).toEqual([
        { role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }] },
      ])
    }
  })
  it('are fetched first where the endpoint wants bytes', () => {
    const request = {
      input: [
        user([
          { type: 'input_image', image_url: 'https://x/a.png' },
          { type: 'input_image', image_url: 'data:image/png;base64,AA' },
          { type: 'input_file', file_url: 'https://x/b.pdf' },
        ]),
      ],
    }
    expect(openAiChat.mediaUrls?.(request, chatTarget({ options: { inline_images: true, file: 'file' } }))).toEqual([
      'https://x/a.png',
      'https://x/b.pdf',
    ])
    expect(openAiChat.mediaUrls?.(request, chatTarget({ options: { file: 'document_url' } }))).toEqual([])
  })
})

describe('a prefilled answer', () => {
  const begun = [user('q'), { type: 'message', role: 'assistant', content: 'The answer is' }] as const
  const lastOf = (input: readonly InputItem[], options: TargetOverrides['options']): unknown =>
    (encode({ input }, { options }).body['messages'] as unknown[]).at(-1)
  it('has the field that makes the server continue it', () => {
    expect(lastOf(begun, { prefill_field: 'prefix' })).toEqual({ role: 'assistant', content: 'The answer is', prefix: true })
    expect(lastOf(begun, {})).toEqual({ role: 'assistant', content: 'The answer is' })
    expect(lastOf([...begun, user('go on')], { prefill_field: 'prefix' })).toEqual({ role: 'user', content: 'go on' })
    expect(JSON.stringify(encode({ input: [...begun, user('go on')] }, { options: { prefill_field: 'prefix' } }).body)).not.toContain('prefix')
  })
  it('is known to be continued, or not', () => {
    const prefills = (options: TargetOverrides['options']): boolean | undefined => openAiChat.prefills?.({ input: begun }, chatTarget({ options }))
    expect([prefills({}), prefills({ prefill_field: 'partial' }), prefills({ prefill: false, prefill_field: 'x' })]).toEqual([undefined, true, false])
  })
})

describe('answers with images', () => {
  const fields: Partial<ModelRequest> = { modalities: ['text', 'image'], image_config: { aspect_ratio: '16:9' } }
  it('are asked for where the server knows how', () => {
    const { body, dropped } = encode(fields, { options: { image_output: true } })
    expect([body['modalities'], body['image_config'], dropped]).toEqual([['text', 'image'], { aspect_ratio: '16:9' }, []])
    expect(encode({ modalities: [], image_config: {} }, { options: { image_output: true } }).body).not.toHaveProperty('modalities')
    expect([encode({ image_config: fields.image_config! }).dropped, encode({ image_config: {} }).dropped]).toEqual([['image_config'], []])
  })
  it('are named where it does not', () => {
    const { body, dropped } = encode(fields)
    expect([body['modalities'], body['image_config'], dropped]).toEqual([undefined, undefined, ['modalities: image', 'image_config']])
    expect(encode({ modalities: ['text'] }).dropped).toEqual([])
  })
  it('go back to a model that takes or makes pictures, so that it can change them', () => {
    const picture = (fields: object): InputItem => ({ type: 'image_generation_call', status: 'completed', ...fields })
    const said: InputItem = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Here' }] }
    const input = [user('draw'), said, picture({ result: 'AAAA' }), picture({ result: 'BBBB', output_format: 'webp' }), user('bluer')]
    const { body, dropped } = encode({ input }, { options: { image_output: true }, pictures: true })
    const image = (url: string): object => ({ type: 'image_url', image_url: { url } })
    const images = [image('data:image/png;base64,AAAA'), image('data:image/webp;base64,BBBB')]
    expect([body['messages'], dropped]).toEqual([
      [
        { role: 'user', content: 'draw' },
        { role: 'assistant', content: 'Here', images },
        { role: 'user', content: 'bluer' },
      ],
      [],
    ])
    const drawn = encode(
      { input: [user('draw'), picture({ result: 'https://a.test/1' }), user('bluer')] },
      { options: { image_output: true }, pictures: true },
    )
    expect((drawn.body['messages'] as object[])[1]).toEqual({ role: 'assistant', content: '', images: [image('https://a.test/1')] })
    for (const [item, image_output, pictures] of [
      [picture({ result: '' }), true, true],
      [picture({ result: 'AAAA' }), false, true],
      [picture({ result: 'AAAA' }), true, false],
    ] as const)
      expect(encode({ input: [user('draw'), item, user('bluer')] }, { options: { image_output }, pictures }).dropped).toEqual([
        'input: image_generation_call',
      ])
  })
})

describe('web search', () => {
  const search = {
    type: 'web_search',
    search_context_size: 'high',
    user_location: { type: 'approximate', country: 'NO', city: null },
    filters: { blocked_domains: ['a.test'] },
  }
  const hosts = (tool: OtherTool, way: 'none' | 'options' | 'plugin'): boolean | undefined =>
    openAiChat.hosts?.(tool, [], chatTarget({ options: { web_search: way } }))
  it('is the server’s own by fields of the request, beside functions and without them', () => {
    const { body, dropped } = encode({ tools: [search, { type: 'function', name: 'f' }] }, { options: { web_search: 'options' } })
    expect(body['web_search_options']).toEqual({ search_context_size: 'high', user_location: { country: 'NO' } })
    expect(body['search_domain_filter']).toEqual(['-a.test'])
    expect([body['tools'], dropped]).toMatchObject([[{ function: { name: 'f' } }], []])
    const alone = encode(
      { tools: [{ type: 'web_search_preview', filters: { allowed_domains: ['b.test'] } }] },
      { options: { web_search: 'options' }, supports: [] },
    )
    expect([alone.body['search_domain_filter'], alone.body['tools'], alone.dropped]).toEqual([['b.test'], undefined, []])
  })
  it('is the server’s own by a plugin', () => {
    const { body } = encode({ tools: [{ type: 'web_search', max_results: 3 }] }, { options: { web_search: 'plugin' } })
    expect([body['plugins'], body['web_search_options']]).toEqual([[{ id: 'web', max_results: 3 }], undefined])
  })
  it('is not requested where calls are forbidden, or the server has no search', () => {
    expect(encode({ tools: [search], tool_choice: 'none' }, { options: { web_search: 'options' } }).body).not.toHaveProperty('web_search_options')
    const { body, dropped } = encode({ tools: [search] })
    expect([body['web_search_options'], dropped]).toEqual([undefined, ['tools: web_search']])
  })
  it('is run by the server only within limits it supports', () => {
    expect([hosts(search, 'none'), hosts(search, 'options'), hosts(search, 'plugin')]).toEqual([false, true, false])
    expect([hosts({ type: 'web_search' }, 'plugin'), hosts({ type: 'gateway:web_search' }, 'plugin')]).toEqual([true, false])
  })
})

describe('the schema of a function', () => {
  it('has strict only where it is true, because vendors behind routers refuse the field', () => {
    const strict = (value: boolean | undefined): unknown => {
      const tool = { type: 'function' as const, name: 'f', ...(value === undefined ? {} : { strict: value }) }
      return (encode({ tools: [tool] }, { options: { strict_tools: true } }).body['tools'] as { function: { strict?: boolean } }[])[0]!.function
        .strict
    }
    expect([true, false, undefined].map(strict)).toEqual([true, undefined, undefined])
  })
  it('is an object at its top and nothing else, for which all functions would be refused', () => {
    const members = { url: { type: 'string' }, id: { type: 'string' } }
    const parameters = { type: 'object', anyOf: [{ properties: { url: members.url }, required: ['url'] }, { properties: { id: members.id } }] }
    const { body } = encode({ tools: [{ type: 'function', name: 'f', parameters, strict: true }] }, { options: { strict_tools: true } })
    expect(body['tools']).toEqual([{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: members } } }])
  })
})

describe('ids of calls', () => {
  const call = (id: string): InputItem[] => [
    { type: 'function_call', call_id: id, name: 'get_weather', arguments: '{}' },
    { type: 'function_call_output', call_id: id, output: 'snow' },
  ]
  const sent = (id: string, overrides: TargetOverrides = {}): unknown[] => {
    const messages = encode({ input: [user('q'), ...call(id)] }, overrides).body['messages'] as {
      tool_call_id?: string
      tool_calls?: { id: string }[]
    }[]
    return [messages[1]!.tool_calls![0]!.id, messages[2]!.tool_call_id]
  }
  const own = 'functions.get_weather:0'
  const long = `functions.mcp__${'x'.repeat(40)}:12`
  const isRewritten = (ids: unknown[]): boolean => ids[0] === ids[1] && /^[a-zA-Z0-9]{24}$/.test(ids[0] as string)

  it.each(['kimi-k2-0905-preview', 'moonshotai/Kimi-K2-Instruct', 'accounts/x/models/kimi-k2p5'])(
    'of the form that %s writes are sent back unchanged, because it imitates them and no server parses another form as a call',
    (upstreamModel) => {
      for (const id of [own, long, 'get_weather:0']) expect(sent(id, { upstreamModel })).toEqual([id, id])
    },
  )
  it('of that form continue counting where a server starts over in every turn', () => {
    const input = [user('q'), ...call(own), ...call(own), ...call('functions.get_weather:1')]
    const messages = encode({ input }, { upstreamModel: 'kimi-k2' }).body['messages'] as { tool_call_id?: string }[]
    const ids = messages.flatMap(({ tool_call_id: id }) => id ?? [])
    expect(ids).toEqual([own, 'functions.get_weather:1', 'functions.get_weather:2'])
  })
  it('of that form are replaced for every other model, as ids of any foreign form are for all', () => {
    expect(isRewritten(sent(own))).toBe(true)
    expect(isRewritten(sent('call:x', { upstreamModel: 'kimi-k2' }))).toBe(true)
  })
})

describe('options', () => {
  it('have defaults for all, refuse unknown ones and bad patterns', () => {
    expect(openAiChat.options.safeParse({}).success).toBe(true)
    expect(openAiChat.options.safeParse({ nonsense: 1 }).success).toBe(false)
    expect(openAiChat.options.safeParse({ tool_ids: { pattern: '(' } }).success).toBe(false)
  })
})

describe('the service tier', () => {
  const options: TargetOverrides['options'] = { forward: ['service_tier'], tier_names: { default: 'on_demand', priority: 'performance' } }
  it.each([
    ['auto', 'auto'],
    ['default', 'on_demand'],
    ['flex', 'flex'],
    ['priority', 'performance'],
    ['fast', 'performance'],
  ] as const)('%s is sent under the server’s name for it', (asked, word) => {
    expect(encode({ service_tier: asked }, { options })).toMatchObject({ body: { service_tier: word }, dropped: [] })
  })
  it('is not sent when the server does not support tiers, and no endpoint has one', () => {
    expect(encode({ service_tier: 'flex' })).toMatchObject({ body: expect.not.objectContaining({ service_tier: 'flex' }), dropped: ['service_tier'] })
  })
})

describe('what a server has said of a call', () => {
  const said = { vendor: { thought_signature: 'sig' } }
  const envelope = (scope: string): InputItem => ({
    type: 'reasoning',
    summary: [],
    encrypted_content: sealReasoning({ format: 'unknown', scope, data: JSON.stringify(said), signs: 'call' }),
  })
  const asked = (...items: readonly InputItem[]): unknown =>
    (encode({ input: [user('q'), ...items] }).body['messages'] as { tool_calls?: unknown }[]).flatMap(({ tool_calls: calls }) => calls ?? [])
  const call = (id: string): InputItem => ({ type: 'function_call', call_id: id, name: 'f', arguments: '{}' })
  const plain = (id: string): object => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } })

  it('goes back with that call, as it came', () => {
    expect(asked(envelope('acme'), call('a'), call('b'))).toEqual([{ ...plain('a'), extra_content: said }, plain('b')])
    expect(asked(call('a'), envelope('acme'), call('b'))).toEqual([plain('a'), { ...plain('b'), extra_content: said }])
  })
  it('is sent to no other provider', () => {
    expect(asked(envelope('other'), call('a'))).toEqual([plain('a')])
  })
})
