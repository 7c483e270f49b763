import { describe, expect, it } from 'vitest'
import type { ModelRequest } from '../../core/request.ts'
import { MAX_JSON_DEPTH, parseJson } from '../../lib/json.ts'
import { sealReasoning } from '../../core/reasoning-envelope.ts'
import { decodeResponsesRequest } from '../../doors/responses/decode-request.ts'
import { verifies } from '../../../e2e/requirements.ts'
import { collectTexts, replaceTexts } from './request-texts.ts'

const request: ModelRequest = {
  model: 'acme/model',
  instructions: 'instructions',
  user: 'user-field',
  metadata: { name: 'metadata-value' },
  trace: { trace_id: 'trace-id', trace_name: 'trace-name', note: 'trace-value', parent_span_id: 'span-id', tags: ['tag'] },
  session_id: 'session',
  reasoning: { effort: 'high' },
  provider: { only: ['acme'] },
  text: { format: { type: 'json_schema', name: 'schema-name', schema: { description: 'schema-text' } } },
  tools: [
    { type: 'function', name: 'tool-name', description: 'tool-text', parameters: { properties: { a: { description: 'parameter-text' } } } },
    { type: 'mcp', server_label: 'label', server_url: 'https://example.com', authorization: 'secret', headers: { key: 'secret' } },
  ],
  input: [
    { type: 'message', role: 'user', content: 'plain' },
    {
      type: 'message',
      role: 'user',
      content: [
        { type: 'input_text', text: 'part-1' },
        { type: 'input_text', text: 'part-2' },
        { type: 'input_image', image_url: 'https://example.com/a.png' },
        { type: 'input_text', text: 'part-3' },
      ],
    },
    {
      type: 'message',
      role: 'assistant',
      content: [
        { type: 'output_text', text: 'answer' },
        { type: 'refusal', refusal: 'refusal' },
      ],
    },
    { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'thought' }], encrypted_content: 'blob' },
    { type: 'function_call', call_id: 'call', name: 'tool-name', arguments: 'arguments' },
    { type: 'function_call_output', call_id: 'call', output: [{ type: 'input_text', text: 'output' }] },
    { type: 'custom_tool_call', call_id: 'c2', name: 'n', input: 'custom-input' },
    {
      type: 'agent_message',
      content: [
        { type: 'encrypted_content', encrypted_content: 'a task in plain words' },
        { type: 'encrypted_content', encrypted_content: 'c2VhbGVk'.repeat(10) },
      ],
    },
    { type: 'gateway:image_generation', id: 'ig', prompt: 'a cat', imageUrl: 'data:image/png;base64,AAAA', result: 'AAAA' },
    { type: 'gateway:web_search', id: 'ws', action: { query: 'query', sources: [{ url: 'https://example.com/page' }] } },
  ],
}

describe('the texts of a request', () => {
  it('include a format that an item of the input replaces, because some endpoints are sent both', () => {
    const format = (description: string): object => ({ type: 'json_schema', name: 'n', schema: { description } })
    const decoded = decodeResponsesRequest({
      text: { format: format('before') },
      input: [
        { type: 'message', role: 'user', content: 'q' },
        { type: 'configuration_update', text: { format: format('after') } },
      ],
    })
    const texts = collectTexts(decoded).map(({ text }) => text)
    expect(texts).toEqual(expect.arrayContaining(['before', 'after']))
    const clean = replaceTexts(decoded, new Map(texts.flatMap((text, n) => (text === 'before' || text === 'after' ? [[n, 'X'] as const] : []))))
    expect(JSON.stringify(clean)).not.toMatch(/before|after/)
    expect(clean.initial_settings?.text).toEqual({ format: format('X') })
  })
  it('are all a model may read, and nothing that is no text', () => {
    expect(collectTexts(request).map(({ text }) => text)).toEqual([
      'instructions',
      'user-field',
      'name',
      'metadata-value',
      'trace-name',
      'note',
      'trace-value',
      'tags',
      'tag',
      'schema-text',
      'tool-text',
      'parameter-text',
      'plain',
      'part-1',
      'part-2',
      'part-3',
      'answer',
      'refusal',
      'thought',
      'arguments',
      'output',
      'custom-input',
      'a task in plain words',
      'a cat',
      'query',
      'https://example.com/page',
    ])
  })

  it('say whether a user wrote them, and where parts of one message go on', () => {
    const slots = collectTexts(request)
    const of = (text: string) => slots.find((slot) => slot.text === text)
    expect(['plain', 'part-1', 'answer', 'output', 'instructions'].map((text) => of(text)?.from)).toEqual(['user', 'user', 'other', 'other', 'other'])
    expect(['part-1', 'part-2', 'part-3', 'refusal', 'plain'].map((text) => of(text)?.joins)).toEqual([false, true, false, true, false])
  })

  it('are results of tools, but not images', () => {
    const result = (type: string) => collectTexts({ input: [{ type, result: 'result' }] }).length
    expect(['gateway:files', 'openrouter:files', 'x'].map(result)).toEqual([1, 1, 1])
    expect(['image_generation_call', 'gateway:image_generation', 'openrouter:image_generation'].map(result)).toEqual([0, 0, 0])
  })

  it('are replaced in place, and nothing else changes', () => {
    const index = (text: string): number => collectTexts(request).findIndex((slot) => slot.text === text)
    const changed = replaceTexts(request, new Map([index('part-2'), index('parameter-text'), index('arguments')].map((place) => [place, 'X'])))
    expect(changed).toEqual(
      JSON.parse(JSON.stringify(request).replace('part-2', 'X').replace('parameter-text', 'X').replace('"arguments":"arguments"', '"arguments":"X"')),
    )
    expect(changed.input[0]).toBe(request.input[0])
    expect(replaceTexts(request, new Map())).toBe(request)
  })

  it('are inline text files, however they are given, and no others (K3)', () => {
    const base64 = (text: string): string => Buffer.from(text).toString('base64')
    const asked = (part: object): ModelRequest => ({
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_file', ...part } as never] }],
    })
    const textsOf = (part: object) => collectTexts(asked(part)).map(({ text }) => text)
    const inline: readonly object[] = [
      { file_data: `data:text/csv;base64,${base64('secret')}` },
      { file_data: 'data:text/plain,%73ecret' },
      { file_data: base64('secret') },
      { file_data: `data:application/octet-stream;base64,${base64('secret')}` },
      { file_url: `data:text/plain;base64,${base64('secret')}`, file_data: null },
    ]
    for (const part of inline) expect(textsOf(part)).toEqual(['secret'])
    expect(textsOf({ file_data: base64('%PDF-secret'), filename: 'a.txt' })).toEqual(['%PDF-secret', 'a.txt'])
    expect(textsOf({ file_data: 'data:text/plain,two', file_url: 'data:text/plain,one' }).toSorted()).toEqual(['one', 'two'])
    // Some servers read what such an address contains as what it says it is, wherever it stands.
    for (const field of ['image_url', 'video_url'])
      expect(textsOf({ type: 'input_image', [field]: `data:text/plain;base64,${base64('secret')}` })).toEqual(['secret'])
    for (const file_data of [base64('%PDF-1.7 \u0000'), 'data:image/png;base64,iVBORw0KGgo=', 'https://example.com/a.txt', base64('a\u0000b')])
      expect(textsOf({ file_data })).toEqual([])
    expect(replaceTexts(asked(inline[0]!), new Map([[0, 'X']]))).toEqual(asked({ file_data: `data:text/csv;base64,${base64('X')}` }))
    // Whoever reads it must not take the new text for one in the charset that it declares.
    const declared = '<?xml version="1.0" encoding="ISO-8859-1"?><a>é</a>'
    const xml = { file_data: `data:text/xml;base64,${Buffer.from(declared, 'latin1').toString('base64')}` }
    expect(textsOf(xml)).toEqual([declared])
    expect(collectTexts(replaceTexts(asked(xml), new Map([[0, `${declared}!`]])))[0]!.text).toBe(`${declared}!`)
  })

  it('are replaced in a trace, whose ids stay', () => {
    const asked: ModelRequest = { input: [], trace: { trace_id: 'same', trace_name: 'same', same: 'same', parent_span_id: 'same' } }
    const all = new Map(collectTexts(asked).map((_slot, place) => [place, `X${place}`]))
    expect(replaceTexts(asked, all).trace).toEqual({ trace_id: 'same', parent_span_id: 'same', trace_name: 'X0', X1: 'X2' })
  })

  it('include plugin settings that reach the model, but not those that choose models', () => {
    const tools = [{ type: 'gateway:mcp', server_label: 'label', server_description: 'server-text', authorization: 'secret' }]
    const asked: ModelRequest = {
      input: [],
      image_config: { aspect_ratio: '16:9', font_inputs: ['drawn-text'] },
      plugins: [
        { id: 'web', engine: 'hound', mode: 'fast', max_results: 3, search_prompt: 'prompt-text', include_domains: ['a.example'] },
        { id: 'auto-router', allowed_models: ['acme/*'], cost_tier: 'low' },
        { id: 'fusion', model: 'acme/small', analysis_models: ['acme/large'], preset: 'general-high', tools },
        { id: 'own', hint: 'hint-text' },
      ],
    }
    const texts = ['16:9', 'drawn-text', 'prompt-text', 'server-text', 'hint-text']
    expect(collectTexts(asked).map(({ text }) => text)).toEqual(texts)
    const changed = replaceTexts(asked, new Map([[texts.indexOf('prompt-text'), 'X']]))
    expect(changed).toEqual(JSON.parse(JSON.stringify(asked).replace('prompt-text', 'X')))
    expect(changed.plugins![3]).toBe(asked.plugins![3])
  })

  it('include the values of a stored prompt, whatever their names are', () => {
    const image = { type: 'input_image', image_url: 'data:image/png;base64,AAAA' }
    const variables = { name: 'name-text', data: 'data-text', headers: 'headers-text', file: { type: 'input_text', text: 'part-text' }, image }
    const asked: ModelRequest = { input: [], prompt: { id: 'pmpt_1', variables, version: '2' } }
    const texts = collectTexts(asked).map(({ text }) => text)
    expect(texts.toSorted()).toEqual(['2', 'data-text', 'headers-text', 'name-text', 'part-text'])
    const changed = replaceTexts(asked, new Map([[texts.indexOf('data-text'), 'X']]))
    expect(changed['prompt']).toEqual({ id: 'pmpt_1', variables: { ...variables, data: 'X' }, version: '2' })
    expect(replaceTexts(asked, new Map())).toBe(asked)
  })

  it('include everything in a schema except keywords', () => {
    const schema = {
      type: 'object',
      properties: { plain: { type: 'string', format: 'date-time' }, 'some words': { type: ['string', 'null'], format: 'format words' } },
      default: { name: 'default-name', data: 'default-data', headers: { id: 'header-id' } },
      required: ['some words'],
    }
    const words = ['some words', 'string', 'null', 'format words', 'default-name', 'default-data', 'header-id', 'some words']
    const format = { type: 'json_schema' as const, name: 'n', schema }
    for (const asked of [
      { input: [], text: { format } },
      { input: [], tools: [{ type: 'function', name: 'f', parameters: schema }] },
      { input: [{ type: 'mcp_list_tools', server_label: 'l', tools: [{ name: 't', input_schema: schema }] }] },
    ] as readonly ModelRequest[]) {
      expect(collectTexts(asked).map(({ text }) => text)).toEqual(words)
      const changed = replaceTexts(asked, new Map(words.map((word, place) => [place, word === 'some words' ? 'X' : word])))
      expect(JSON.stringify(changed)).toBe(JSON.stringify(asked).replaceAll('some words', 'X'))
    }
  })

  it('include input and output of tools the caller runs, because both are sent as JSON', () => {
    const words = { data: 'in data', id: 'in id', 'not a name': 'in a value' }
    const asked = ['in data', 'in id', 'not a name', 'in a value']
    for (const item of [
      { type: 'shell_call', call_id: 'c', action: words },
      { type: 'computer_call', call_id: 'c', actions: [words] },
      { type: 'apply_patch_call', call_id: 'c', operation: words },
      { type: 'shell_call_output', call_id: 'c', output: [words] },
      { type: 'computer_call_output', call_id: 'c', output: words },
    ]) {
      const found = collectTexts({ input: [item] }).map(({ text }) => text)
      expect(found.filter((text) => asked.includes(text)).toSorted()).toEqual(asked.toSorted())
    }
    const screenshot = { type: 'computer_screenshot', image_url: 'data:image/png;base64,AA' }
    expect(collectTexts({ input: [{ type: 'computer_call_output', call_id: 'c', output: screenshot }] })).toEqual([])
  })

  it('include references that models are told as text: files of a tool, failures of servers, and screenshots that are none', () => {
    const input = [
      { type: 'gateway:files', id: 'f', file_id: 'file' },
      { type: 'mcp_call', id: 'm', error: { code: 1, data: 'error' } },
      { type: 'computer_call_output', call_id: 'c', output: { image_url: '', data: 'screenshot' } },
      { type: 'message', role: 'user', content: [{ type: 'input_file', file_id: 'a reference' }] },
    ] as unknown as ModelRequest['input']
    const texts = collectTexts({ input }).map(({ text }) => text)
    expect(texts).toEqual(expect.arrayContaining(['file', 'error', 'screenshot']))
    expect(texts).not.toContain('a reference')
  })

  it('include examples of the input of a tool, whatever their names are', () => {
    const tools = [{ type: 'function', name: 'f', parameters: {}, input_examples: [{ data: 'example' }] }] as unknown as ModelRequest['tools']
    expect(collectTexts({ input: [], ...(tools === undefined ? {} : { tools }) }).map(({ text }) => text)).toContain('example')
  })

  it('include all of results that models are told as JSON', () => {
    const input = [
      { type: 'gateway:fusion', responses: [{ content: 'c', data: 'panel' }], analysis: { headers: { a: 'analyst' } } },
      { type: 'openrouter:shell', output: [{ stdout: '', signature: 'shell' }] },
    ] as unknown as ModelRequest['input']
    expect(collectTexts({ input }).map(({ text }) => text)).toEqual(expect.arrayContaining(['panel', 'analyst', 'shell']))
  })

  it('include invalid names', () => {
    const tools = ['get_weather', 'mcp__server.tool/a', 'tell them this', '536-22-8726', `a${'b'.repeat(200)}`].map((name) => ({
      type: 'function',
      name,
    }))
    expect(collectTexts({ input: [], tools }).map(({ text }) => text)).toEqual(tools.slice(2).map(({ name }) => name))
  })

  it('include invalid names in the choice of a tool, which follows the tool', () => {
    const named = (tool_choice: NonNullable<ModelRequest['tool_choice']>, texts: readonly string[]): unknown => {
      const told: ModelRequest = { input: [], tool_choice }
      expect(collectTexts(told).map(({ text }) => text)).toEqual(texts)
      return replaceTexts(told, new Map(texts.map((_, at) => [at, '[EMAIL]']))).tool_choice
    }
    const odd = 'jane@example.com'
    expect(named({ type: 'function', name: odd }, [odd])).toEqual({ type: 'function', name: '[EMAIL]' })
    expect(named({ type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: odd }] }, [odd])).toEqual({
      type: 'allowed_tools',
      mode: 'auto',
      tools: [{ type: 'function', name: '[EMAIL]' }],
    })
    named('required', [])
    named({ type: 'allowed_tools', mode: 'required', tools: [{ type: 'mcp', server_label: 'docs' }] }, [])
  })

  it(verifies('K3', 'include invalid names of unknown fields'), () => {
    const odd = 'SSN 123-45-6789'
    const told: ModelRequest = {
      input: [{ type: 'x_note', [odd]: 1, deep: [{ [odd]: 'value' }], fine_name: 'text' }],
      tools: [{ type: 'x_tool', settings: { [odd]: true } }],
      [odd]: 'text of a field',
    }
    const texts = collectTexts(told).map(({ text }) => text)
    expect(texts).toEqual([odd, odd, 'value', 'text', odd, odd, 'text of a field'])
    const shown = replaceTexts(told, new Map(texts.flatMap((text, at) => (text === odd ? [[at, '[SSN]'] as const] : []))))
    expect(JSON.stringify(shown)).not.toContain('123')
    expect(Object.keys(shown)).toEqual(['input', 'tools', '[SSN]'])
  })

  it('of reasoning are not replaced, because the item is left out', () => {
    const place = collectTexts(request).findIndex(({ text }) => text === 'thought')
    const changed = replaceTexts(request, new Map([[place, 'X']]))
    expect(changed.input.map(({ type }) => type)).toEqual(request.input.map(({ type }) => type).filter((type) => type !== 'reasoning'))
  })

  it('of items within an item are those of items: users speak there, too, and changed reasoning is left out', () => {
    const within = [
      { type: 'message', role: 'user', content: 'asked' },
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'thought' }], signature: 'c2ln' },
      { type: 'function_call', call_id: 'c', name: 'n', arguments: 'inner' },
    ] as ModelRequest['input']
    const call = { type: 'function_call', call_id: 'c', name: 'n', arguments: 'outer', subagent_id: 's', subagent_items: within } as const
    const asked: ModelRequest = { input: [call, { type: 'message', role: 'user', content: 'last' }] }
    const slots = collectTexts(asked)
    expect(slots.filter(({ from }) => from === 'user').map(({ text }) => text)).toEqual(['asked', 'last'])
    const changed = replaceTexts(asked, new Map(slots.map(({ text }, index) => [index, text.toUpperCase()])))
    expect(changed.input[0]).toMatchObject({
      arguments: 'OUTER',
      subagent_items: [
        { type: 'message', content: 'ASKED' },
        { type: 'function_call', arguments: 'INNER' },
      ],
    })
    expect(replaceTexts(asked, new Map())).toBe(asked)
  })

  it('include the content of a reasoning envelope, which anyone can forge: if it would change, it is left out', () => {
    const about = { format: 'anthropic-claude-v1', scope: 'scope' }
    const blob = 'c2VhbGVk'.repeat(20)
    const blocks = JSON.stringify([
      { type: 'text', text: 'block-text' },
      { type: 'redacted_thinking', data: blob },
    ])
    const items: ModelRequest['input'] = [
      { type: 'reasoning', summary: [], encrypted_content: sealReasoning({ ...about, text: 'enclosed', signature: 'c2ln' }) },
      { type: 'reasoning', summary: [], encrypted_content: sealReasoning({ ...about, data: blocks }) },
      { type: 'web_search_call', id: 'ws', encrypted_content: sealReasoning({ ...about, data: blocks }) },
      { type: 'compaction', encrypted_content: sealReasoning({ ...about, data: 'in plain words' }) },
      { type: 'reasoning', summary: [], encrypted_content: sealReasoning({ ...about, data: blob }) },
      { type: 'reasoning', summary: [], encrypted_content: blob },
    ]
    const asked: ModelRequest = { input: items }
    expect(collectTexts(asked).map(({ text }) => text)).toEqual(['enclosed', 'block-text', 'block-text', 'in plain words'])
    expect(replaceTexts(asked, new Map())).toBe(asked)
    const changed = replaceTexts(asked, new Map([0, 1, 2, 3].map((place) => [place, 'X'])))
    expect(changed.input).toEqual([{ type: 'web_search_call', id: 'ws' }, { type: 'compaction' }, items[4], items[5]])
  })

  it('are found at any depth the parser lets a body have', () => {
    const nested = (levels: number): string => `${'{"not":'.repeat(levels)}"bottom"${'}'.repeat(levels)}`
    // Three levels are the body, the list of tools and the tool.
    const body = `{"input":[],"tools":[{"type":"function","name":"f","parameters":${nested(MAX_JSON_DEPTH - 3)}}]}`
    const request = parseJson(Buffer.from(body)) as ModelRequest
    expect(collectTexts(request).map(({ text }) => text)).toEqual(['bottom'])
    expect(JSON.stringify(replaceTexts(request, new Map([[0, 'X']])))).toContain('"not":"X"')
  })

  it('join their neighbours however deep the lists are that hold them', () => {
    const joins = (content: unknown): readonly boolean[] =>
      collectTexts({ input: [{ type: 'message', role: 'user', content }] }).map((slot) => slot.joins)
    expect(joins(['a', 'b', ['c', 'd']])).toEqual([false, true, true, true])
    expect(joins([['a'], [[], 'b'], 1, ['c'], { x: 'd', y: 'e' }])).toEqual([false, true, false, true, false])
    // What is empty stands between nothing, and begins nothing either.
    expect(joins(['', 'a', '', [{ text: '' }], 'b', { x: '' }, 1, '', 'c'])).toEqual([false, true, false])
  })

  it('are found at any depth a request may have, and deeper ones cost bounded time', () => {
    let nested: unknown = 'bottom'
    for (let i = 0; i < 200_000; i++) nested = [nested]
    expect(collectTexts({ input: [{ type: 'x', nested }] })).toEqual([])
  })
})
