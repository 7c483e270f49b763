import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type GatewayError, isGatewayError } from '../../core/error.ts'
import type { InputItem } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { parseJson } from '../../lib/json.ts'
import { ITEMS, PARTS, TOOLS } from './__fixtures__/examples.ts'
import { PLUGINS, REQUEST, TOOL_CHOICES } from './__fixtures__/option-examples.ts'
import { decodeResponsesRequest } from './decode-request.ts'
import { verifies } from '../../../e2e/requirements.ts'
import { threadTime } from '../../testing/thread-time.ts'

function refusal(body: unknown, headers = {}, options = {}): GatewayError {
  try {
    decodeResponsesRequest(body, headers, options)
  } catch (error) {
    if (isGatewayError(error)) return error
    throw error
  }
  throw new Error('the request was accepted')
}

const ALIAS = (type: string): string => type.replace(/^gateway:/, 'openrouter:')

describe('what a request may hold', () => {
  it('everything at once, each number and length at its limit', () => {
    const decoded = decodeResponsesRequest(REQUEST.ok)
    const { input: _, models: __, previous_response_id: ___, conversation: ____, ...rest } = REQUEST.ok
    expect(decoded).toMatchObject(rest)
  })
  it.each(Object.entries(ITEMS))('item %s', (type, { ok }) => {
    const item = { type, ...ok }
    expect(decodeResponsesRequest({ input: [item] }).input).toEqual([item])
  })
  it.each(Object.entries(ITEMS))('item %s without id and status', (type, { ok }) => {
    const { id: _, status: __, ...rest } = ok
    expect(decodeResponsesRequest({ input: [{ type, ...rest }] }).input).toEqual([{ type, ...rest }])
  })
  it.each(Object.entries(PARTS))('content part %s, in a message of any role', (type, { ok }) => {
    for (const role of ['user', 'assistant', 'system', 'developer']) {
      const item = { type: 'message', role, content: [{ type, ...ok }] }
      expect(decodeResponsesRequest({ input: [item] }).input).toEqual([item])
    }
  })
  it.each(Object.entries(TOOLS))('tool %s', (type, { ok }) => {
    expect(decodeResponsesRequest({ input: 'Hello', tools: [{ type, ...ok }] }).tools).toEqual([{ type, ...ok }])
  })
  it.each(Object.entries(TOOL_CHOICES))('tool choice %s', (type, { ok }) => {
    const tools = [
      { type: 'function', name: 'f' },
      { type: 'custom', name: 'c' },
      { type: 'mcp', server_label: 's' },
    ]
    expect(decodeResponsesRequest({ input: 'Hello', tools, tool_choice: { type, ...ok } }).tool_choice).toEqual({ type, ...ok })
  })
  it.each(Object.entries(PLUGINS))('plugin %s', (id, { ok }) => {
    expect(decodeResponsesRequest({ input: 'Hello', plugins: [{ id, ...ok }] }).plugins).toEqual([{ id, ...ok }])
  })
  const emptied = (value: Readonly<Record<string, unknown>>): object => Object.fromEntries(Object.keys(value).map((key) => [key, null]))
  it.each(Object.entries(PLUGINS))('plugin %s whose settings are written out and empty', (id, { ok }) => {
    expect(() => decodeResponsesRequest({ input: 'Hello', plugins: [{ ...emptied(ok), id }] })).not.toThrow()
  })
  const own = Object.entries(TOOLS).filter(([type]) => type.startsWith('gateway:'))
  it.each(own)('tool %s whose parameters are written out and empty', (type, { ok }) => {
    const parameters = emptied((ok['parameters'] ?? {}) as Readonly<Record<string, unknown>>)
    for (const empty of [null, parameters])
      expect(() => decodeResponsesRequest({ input: 'Hello', tools: [{ type, parameters: empty }] })).not.toThrow()
  })
})

describe('sound', () => {
  it('may not be a URL, which an upstream would read as base64', () => {
    for (const data of ['https://x.example/a.wav', ' HTTP://x.example/a.wav']) {
      const content = [{ type: 'input_audio', input_audio: { data, format: 'wav' } }]
      const error = refusal({ input: [{ type: 'message', role: 'user', content }] })
      expect(error.details.path).toBe('input[0].content[0].input_audio.data')
      expect(error.message).toContain('an address is not fetched')
    }
  })
  it('is base64, or a data URL', () => {
    for (const data of ['SUQz', 'data:audio/mpeg;base64,SUQz']) {
      const content = [{ type: 'input_audio', input_audio: { data, format: 'mp3' } }]
      expect(() => decodeResponsesRequest({ input: [{ type: 'message', role: 'user', content }] })).not.toThrow()
    }
  })
})

describe('the alias of the gateway prefix', () => {
  const own = (name: string): boolean => name.startsWith('gateway:')
  it.each(Object.entries(TOOLS).filter(([name]) => own(name)))('is kept for tool %s', (type, { ok, wrong }) => {
    const [tool] = decodeResponsesRequest({ input: 'Hello', tools: [{ type: ALIAS(type), ...ok }] }).tools ?? []
    expect(tool?.type).toBe(ALIAS(type))
    expect(refusal({ input: 'Hello', tools: [{ type: ALIAS(type), parameters: wrong['parameters'] }] }).details.path).toBe('tools[0].parameters')
  })
  it.each(Object.entries(ITEMS).filter(([name]) => own(name)))('is checked for item %s', (type, { ok }) => {
    expect(decodeResponsesRequest({ input: [{ type: ALIAS(type), ...ok }] }).input[0]?.type).toBe(ALIAS(type))
    expect(refusal({ input: [{ type: ALIAS(type), ...ok, status: 'done' }] }).details.path).toBe('input[0].status')
  })
  it('names the same tool in a choice', () => {
    const tools = [{ type: 'openrouter:web_search' }]
    expect(() => decodeResponsesRequest({ input: 'Hello', tools, tool_choice: { type: 'gateway:web_search' } })).not.toThrow()
  })
})

describe('unknown input is passed on', () => {
  it(verifies('B6', 'fields of the request, of options, of items, of parts, of tools'), () => {
    const body = {
      client_metadata: { a: 1 },
      future: null,
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi', future: 1 }], future: [2] }],
      reasoning: { effort: 'low', future: 3 },
      text: { future: { a: 4 } },
      tools: [{ type: 'function', name: 'f', future: 5 }],
    }
    expect(decodeResponsesRequest(body)).toEqual(body)
  })
  it.each(['ghost_snapshot', 'tool_search_call', 'gateway:from_the_future', 'constructor', '__proto__'])('items of type %s', (type) => {
    const item = { type, status: 17, anything: { goes: [true] } }
    expect(decodeResponsesRequest({ input: [item] }).input).toEqual([item])
  })
  it.each(['tool_search', 'computer', 'gateway:from_the_future', 'toString'])('tools of type %s', (type) => {
    expect(decodeResponsesRequest({ input: 'Hello', tools: [{ type, anything: 1 }] }).tools).toEqual([{ type, anything: 1 }])
  })
  it('tools that a search found, of unknown types, too', () => {
    const item = { type: 'tool_search_output', call_id: 'c', execution: 'client', status: 'completed', tools: [{ type: 'computer', anything: 1 }] }
    expect(decodeResponsesRequest({ input: [item] }).input).toEqual([item])
  })
  it('annotations of other vendors', () => {
    const content = [{ type: 'output_text', text: 'x', annotations: [{ type: 'container_file_citation', container_id: 'c' }] }]
    expect(() => decodeResponsesRequest({ input: [{ role: 'assistant', content }] })).not.toThrow()
  })
  it('but not in provider preferences, where a typo would send data to the wrong place', () => {
    const error = refusal({ input: 'Hello', provider: { onyl: ['acme'] } })
    expect(error.details.path).toBe('provider.onyl')
    expect(error.message).toContain('known are order, only, ignore')
  })
})

describe('tools that a search of the caller found', () => {
  const output = (tools: unknown): object => ({ type: 'tool_search_output', call_id: 'c', execution: 'client', tools })
  it.each([
    [{ type: 'function', description: 'no name' }, 'name'],
    [{ type: 'function', name: 'f', parameters: 'none' }, 'parameters'],
    [{ type: 'namespace', name: 'n', tools: [{ type: 'function', name: '' }] }, 'tools[0].name'],
    [{ name: 'f' }, 'type'],
  ])('are checked as others are: %j', (tool, path) => {
    expect(refusal({ input: [output([{ type: 'function', name: 'ok' }, tool])] }).details.path).toBe(`input[0].tools[1].${path}`)
  })
  it('are a list', () => {
    expect(refusal({ input: [output({})] }).details.path).toBe('input[0].tools')
    expect(refusal({ input: [output(undefined)] }).details.path).toBe('input[0].tools')
  })
  it('may be forced', () => {
    const tool_choice = { type: 'function', name: 'f' }
    expect(decodeResponsesRequest({ input: [output([{ type: 'function', name: 'f' }])], tool_choice }).tool_choice).toEqual(tool_choice)
    expect(refusal({ input: [output([{ type: 'function', name: 'g' }])], tool_choice }).details.path).toBe('tool_choice.name')
  })
})

describe('input', () => {
  const inputOf = (input: unknown): ModelRequest['input'] => decodeResponsesRequest({ input }).input

  it('a string is one user message', () => {
    expect(inputOf('Hello')).toEqual([{ type: 'message', role: 'user', content: 'Hello' }])
  })
  it('messages get their type', () => {
    expect(inputOf([{ role: 'developer', content: 'Hi' }])).toEqual([{ type: 'message', role: 'developer', content: 'Hi' }])
    expect(inputOf([{ type: null, role: 'user', content: 'Hi' }])).toEqual([{ type: 'message', role: 'user', content: 'Hi' }])
  })
  it.each([null, undefined])('content that is %s is an empty list', (content) => {
    const asked = { type: 'message', role: 'user', content: 'Hi' }
    expect(inputOf([asked, { type: 'message', role: 'assistant', content }])).toEqual([asked, { type: 'message', role: 'assistant', content: [] }])
  })
  it('assistant history may be a string, text parts or a refusal', () => {
    const items = [
      { type: 'message', role: 'assistant', content: 'Hi' },
      { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No' }], id: null, status: null },
    ]
    expect(inputOf(items)).toEqual(items)
  })
  it('orphan tool results pass: dialects know what to do with them', () => {
    expect(() => inputOf([{ type: 'function_call_output', call_id: 'nobody', output: '1' }])).not.toThrow()
  })
  it('items are not copied, and the body is left as it was', () => {
    const item = Object.freeze({ type: 'message', role: 'user', content: Object.freeze([Object.freeze({ type: 'input_text', text: 'Hi' })]) })
    const body = Object.freeze({ input: Object.freeze([item]), stream: null })
    expect(decodeResponsesRequest(body).input[0]).toBe(item)
    expect(body).toEqual({ input: [item], stream: null })
  })

  it('a body of chat completions gets an error that names the field for its messages', () => {
    const body = { model: 'acme/small', messages: [{ role: 'user', content: 'hi' }] }
    expect(() => decodeResponsesRequest(body)).toThrow(/^input is missing: this is the Responses format, in which "input" takes .*"messages"/)
    expect(decodeResponsesRequest({ ...body, input: 'hi' }).input).toHaveLength(1)
  })
  it.each([[{}], [{ input: '' }], [{ input: [] }], [{ input: null, instructions: '' }]])('%j is an empty prompt', (body) => {
    expect(refusal(body)).toMatchObject({ errorType: 'invalid_prompt', status: 400, details: { path: 'input' } })
  })
  it.each([
    [[{ role: 'user', content: '' }]],
    [[{ role: 'user', content: null }]],
    [
      [
        { role: 'system', content: [] },
        { role: 'user', content: [{ type: 'input_text', text: '' }] },
      ],
    ],
    [[{ type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: '' }] }]],
  ])('messages without content are an empty prompt: %j', (input) => {
    expect(refusal({ input })).toMatchObject({ errorType: 'invalid_prompt', status: 400, details: { path: 'input' } })
    expect(decodeResponsesRequest({ input, instructions: 'Greet me' }).input).toHaveLength(input.length)
  })
  it.each([
    [{ role: 'system', content: 'Greet me' }],
    [{ role: 'user', content: [{ type: 'input_image', image_url: 'https://img.example/a.png' }] }],
    [{ type: 'function_call_output', call_id: 'call_1', output: '' }],
  ])('beside %j a message may be empty', (item) => {
    expect(decodeResponsesRequest({ input: [item, { role: 'user', content: '' }] }).input).toHaveLength(2)
  })
  it('instructions, or a stored prompt, are enough', () => {
    expect(decodeResponsesRequest({ instructions: 'Greet me' }).input).toEqual([])
    expect(decodeResponsesRequest({ prompt: { id: 'pmpt_1' } }).input).toEqual([])
  })
  const references: readonly (readonly [object])[] = [[{ type: 'item_reference', id: 'msg_1' }], [{ id: 'msg_1' }], [{ id: 'msg_1', type: null }]]
  it.each(references)('the reference %j becomes the item it names, which is not copied', (reference) => {
    const item = { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] }
    const resolveReference = (id: string): InputItem | undefined => (id === 'msg_1' ? item : undefined)
    expect(decodeResponsesRequest({ input: [reference] }, {}, { resolveReference }).input[0]).toBe(item)
  })
  it.each(references)('the reference %j to an item that is not known is refused in one sentence', (reference) => {
    const error = refusal({ input: [{ role: 'user', content: 'Hi' }, reference] })
    expect(error).toMatchObject({ errorType: 'invalid_request', status: 400, details: { path: 'input[1]' } })
    expect(error.message).toContain('input[1] refers to the item "msg_1"')
    expect(error.message).toContain('send store: false, or the whole items of the conversation')
  })
  it.each([[{ type: 'item_reference' }], [{ type: 'item_reference', id: 7 }], [{ type: 'item_reference', id: '' }]])('%j is no reference', (item) => {
    expect(refusal({ input: [item] }).details.path).toBe('input[0].id')
  })
  it.each([
    [7, 'input[0]', 'must be an item object, not 7'],
    [null, 'input[0]', 'must be an item object, not null'],
    [{}, 'input[0].type', 'is required: it says which item this is'],
    [{ type: 7 }, 'input[0].type', 'must be a string, not a number'],
    [{ type: '' }, 'input[0].type', 'must not be empty'],
    [{ role: 'user', content: 7 }, 'input[0].content', 'must be a string or an array, not 7'],
    [{ role: 'user', content: ['Hi'] }, 'input[0].content[0]', 'must be a content part object, not a string'],
    [{ role: 'user', content: [{}] }, 'input[0].content[0].type', 'is required: it says which content part this is'],
  ])('%j is refused', (item, path, reason) => {
    expect(refusal({ input: [item] })).toMatchObject({ details: { path }, message: expect.stringContaining(reason) })
  })
  it('an unknown role makes the prompt invalid', () => {
    expect(refusal({ input: [{ role: 'tool', content: 'x' }] })).toMatchObject({ errorType: 'invalid_prompt', details: { path: 'input[0].role' } })
  })
  it('the names of another API are translated in the answer', () => {
    const error = refusal({ input: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'x' } }] }] })
    expect(error.message).toBe('input[0].content[0].type is "image_url", a name of another API; here it is "input_image".')
    expect(refusal({ input: 'x', tools: [{ type: 'function', function: { name: 'f' } }] }).message).toContain('is required beside "type"')
  })
})

describe('model and models', () => {
  const order = (body: object): unknown[] => {
    const { model, models } = decodeResponsesRequest({ input: 'Hello', ...body })
    return [model, models]
  }
  it.each([
    [{}, [undefined, undefined]],
    [{ model: 'a' }, ['a', undefined]],
    [{ models: ['a', 'b'] }, ['a', ['b']]],
    [{ models: ['a'] }, ['a', undefined]],
    [{ models: [] }, [undefined, undefined]],
    [{ model: 'b', models: ['a', 'b', 'a', 'c'] }, ['b', ['a', 'c']]],
    [{ model: null, models: ['a', 'a'] }, ['a', undefined]],
    [{ model: 'a', models: null }, ['a', undefined]],
  ])('%j', (body, expected) => {
    expect(order(body)).toEqual(expected)
  })
})

describe('session', () => {
  const session = (body: object, sessionId?: string): unknown =>
    decodeResponsesRequest({ input: 'Hello', ...body }, sessionId === undefined ? {} : { sessionId }).session_id
  it('comes from the body, else from the header', () => {
    expect(session({ session_id: 'body' }, 'header')).toBe('body')
    expect(session({}, 'header')).toBe('header')
    expect(session({ session_id: null }, 'header')).toBe('header')
    expect(session({ session_id: '' }, '')).toBeUndefined()
  })
  it('is at most 256 characters long in either', () => {
    expect(session({}, 's'.repeat(256))).toHaveLength(256)
    expect(refusal({ input: 'Hello' }, { sessionId: 's'.repeat(257) }).details.path).toBe('x-session-id')
  })
})

describe('metadata of a header', () => {
  const metadata = (body: object, header: string): unknown => decodeResponsesRequest({ input: 'Hello', ...body }, { metadata: header }).metadata
  it('stands beside that of the body, which wins', () => {
    expect(metadata({}, '{"team":"search","app":"a"}')).toEqual({ team: 'search', app: 'a' })
    expect(metadata({ metadata: { app: 'b' } }, '{"team":"search","app":"a"}')).toEqual({ team: 'search', app: 'b' })
    expect(metadata({ metadata: null }, '{}')).toEqual({})
  })
  it.each([
    ['no JSON', 'team=search', 'x-gateway-metadata'],
    ['a list', '["search"]', 'x-gateway-metadata'],
    ['a number', '{"team":1}', 'x-gateway-metadata.team'],
    ['a key with brackets', '{"a[0]":"b"}', 'x-gateway-metadata'],
    ['a long text', `{"team":"${'x'.repeat(513)}"}`, 'x-gateway-metadata.team'],
  ])('%s is refused, and the header named', (_, header, path) => {
    expect(refusal({ input: 'Hello' }, { metadata: header }).details.path).toBe(path)
  })
  it('has no more pairs with it than metadata may have', () => {
    const own = Object.fromEntries(Array.from({ length: 16 }, (_, n) => [`k${n}`, 'v']))
    expect(metadata({ metadata: own }, '{"k0":"other"}')).toEqual(own)
    expect(refusal({ input: 'Hello', metadata: own }, { metadata: '{"team":"a"}' }).message).toContain('at most 16 pairs')
  })
})

describe('null counts as absent', () => {
  it('for every field of the request', () => {
    const nulls = Object.fromEntries(Object.keys(REQUEST.ok).map((field) => [field, null]))
    expect(decodeResponsesRequest({ ...nulls, input: 'Hello' })).toEqual({ input: [{ type: 'message', role: 'user', content: 'Hello' }] })
  })
  it.each(['debug', 'prompt_cache_options', 'provider', 'reasoning', 'text', 'trace'])('for every field inside %s', (field) => {
    const inner = Object.keys((REQUEST.ok as Record<string, object>)[field]!)
    const nulls = Object.fromEntries(inner.map((name) => [name, null]))
    expect(decodeResponsesRequest({ input: 'Hello', [field]: nulls })).toMatchObject({ [field]: nulls })
  })
})

describe('a tool choice that no tool satisfies is a 422', () => {
  const weather = { type: 'function', name: 'weather' }
  it.each([
    [{ type: 'function', name: 'weather' }, undefined, 'tool_choice.name'],
    [{ type: 'function', name: 'forecast' }, [weather], 'tool_choice.name'],
    [{ type: 'custom', name: 'weather' }, [weather], 'tool_choice.name'],
    ['required', undefined, 'tool_choice'],
    ['required', [], 'tool_choice'],
    [{ type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'x' }] }, [weather], 'tool_choice.tools'],
    [{ type: 'mcp', server_label: 'a' }, [{ type: 'mcp', server_label: 'b' }], 'tool_choice.server_label'],
    [{ type: 'web_search_preview' }, [weather], 'tool_choice.type'],
    [{ type: 'shell' }, [weather], 'tool_choice.type'],
    [{ type: 'datetime' }, [{ type: 'gateway:datetime' }], 'tool_choice.type'],
  ])('%j with %j', (choice, tools, path) => {
    const error = refusal({ input: 'Hello', tools, tool_choice: choice })
    expect(error).toMatchObject({ errorType: 'unprocessable', status: 422, details: { path } })
    expect(error.message.length).toBeLessThan(1024)
  })
  it.each([
    ['auto', undefined],
    ['none', undefined],
    ['required', [weather]],
    [weather, [weather]],
    [weather, [{ type: 'namespace', name: 'maps', tools: [weather] }]],
    [{ type: 'web_search_preview' }, [{ type: 'web_search' }]],
    [{ type: 'computer_use' }, [{ type: 'computer' }]],
    [{ type: 'apply_patch' }, [{ type: 'apply_patch' }]],
    [{ type: 'apply_patch' }, [{ type: 'gateway:apply_patch' }]],
    [{ type: 'shell' }, [{ type: 'openrouter:shell' }]],
    [{ type: 'web_search_preview' }, [{ type: 'gateway:web_search' }]],
    [{ type: 'gateway:web_search' }, [{ type: 'web_search' }]],
    [{ type: 'image_generation' }, [{ type: 'gateway:image_generation' }]],
    [{ type: 'allowed_tools', mode: 'required', tools: [{ type: 'web_search_preview' }] }, [{ type: 'openrouter:web_search' }]],
    [{ type: 'mcp', server_label: 's', name: 'n' }, [{ type: 'mcp', server_label: 's' }]],
    [{ type: 'allowed_tools', mode: 'auto', tools: [] }, undefined],
    [{ type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'x' }, weather] }, [weather]],
    [{ type: 'new_kind' }, [{ type: 'new_kind' }]],
  ])('%j with %j is fine', (choice, tools) => {
    expect(() => decodeResponsesRequest({ input: 'Hello', tools, tool_choice: choice })).not.toThrow()
  })
  it('tools may come with the input', () => {
    const input = [{ type: 'additional_tools', role: 'developer', tools: [weather] }]
    expect(() => decodeResponsesRequest({ input, tool_choice: weather })).not.toThrow()
  })
})

describe('plugins', () => {
  it('an unknown id is a 400 that lists the known ones', () => {
    const error = refusal({ input: 'Hello', plugins: [{ id: 'web' }, { id: 'time-machine' }] })
    expect(error).toMatchObject({ status: 400, details: { path: 'plugins[1].id' } })
    expect(error.message).toMatch(/is "time-machine", which is not a known plugin; known are auto-router, /)
  })
})

describe('metadata', () => {
  const metadata = (value: unknown): GatewayError => refusal({ input: 'Hello', metadata: value })
  it.each([
    [{ ['k'.repeat(65)]: 'v' }, 'metadata', 'keys of at most 64 characters'],
    [{ 'a[b': 'v' }, 'metadata', 'keys without square brackets; rename "a[b"'],
    [{ 'a]': 'v' }, 'metadata', 'keys without square brackets'],
    [{ key: 'v'.repeat(513) }, 'metadata.key', 'at most 512 characters, not 513'],
    [{ key: '😀'.repeat(513) }, 'metadata.key', 'at most 512 characters, not 513'],
    [{ ['😀'.repeat(65)]: 'v' }, 'metadata', 'has 65'],
    [{ key: 7 }, 'metadata.key', 'must be a string, not 7'],
    [{ 'odd key': null }, 'metadata["odd key"]', 'must be a string, not null'],
  ])('%j', (value, path, reason) => {
    expect(metadata(value)).toMatchObject({ details: { path }, message: expect.stringContaining(reason) })
  })
})

describe('empty media', () => {
  const output = (part: object): object => ({ type: 'function_call_output', call_id: 'c', output: [part] })
  it.each([
    [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'look' },
          { type: 'input_image', detail: 'auto' },
        ],
      },
      'input[1].content[1]',
      'image_url',
    ],
    [{ role: 'user', content: [{ type: 'input_image', image_url: null, file_id: '' }] }, 'input[1].content[0]', 'file_id'],
    [{ role: 'user', content: [{ type: 'input_file', filename: 'a.pdf', file_data: '' }] }, 'input[1].content[0]', 'file_data'],
    [output({ type: 'input_image', image_url: '' }), 'input[1].output[0]', 'image_url'],
    [output({ type: 'input_file' }), 'input[1].output[0]', 'file_url'],
    [{ type: 'agent_message', author: 'a', recipient: 'b', content: [{ type: 'input_image' }] }, 'input[1].content[0]', 'image_url'],
  ])('%j is refused with its path and what to set', (item, path, field) => {
    const error = refusal({ input: [{ role: 'user', content: 'Hello' }, item] })
    expect(error).toMatchObject({ status: 400, errorType: 'invalid_prompt', details: { path } })
    expect(error.message).toContain(`shows nothing: set "`)
    expect(error.message).toContain(`"${field}"`)
  })
  it('are not looked for in items of unknown types', () => {
    const item = { type: 'holodeck_call', content: [{ type: 'input_image' }] }
    expect(decodeResponsesRequest({ input: [item] }).input).toEqual([item])
  })
})

describe('limits on texts', () => {
  it('count characters everywhere, not the units they take', () => {
    const body = { input: 'Hello', metadata: { ['😀'.repeat(64)]: '😀'.repeat(512) }, user: '😀'.repeat(256) }
    expect(decodeResponsesRequest(body, { sessionId: '😀'.repeat(256) })).toMatchObject({ metadata: body.metadata })
    expect(refusal({ input: 'Hello', user: '😀'.repeat(257) }).message).toContain('at most 256 characters, not 257')
    expect(refusal({ input: 'Hello' }, { sessionId: '😀'.repeat(257) }).message).toContain('at most 256 characters, not 257')
  })
})

describe('any input', () => {
  const words = [
    'type',
    'role',
    'content',
    'input',
    'message',
    'user',
    'tools',
    'function',
    'name',
    'tool_choice',
    'plugins',
    'id',
    'model',
    'models',
    'provider',
    'metadata',
    '__proto__',
    'constructor',
    'prototype',
    'toString',
  ]
  const word = fc.oneof(fc.constantFrom(...words), fc.string())
  const { json } = fc.letrec<{ json: unknown }>((tie) => ({
    json: fc.oneof(
      { depthSize: 'small' },
      word,
      fc.integer(),
      fc.double(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('json')),
      fc.dictionary(word, tie('json')),
    ),
  }))
  const likely = fc.record(
    { input: json, model: json, tools: json, tool_choice: json, plugins: json, provider: json, metadata: json, text: json, trace: json },
    { requiredKeys: ['input'] },
  )

  it('the answer is a request or a GatewayError with one short sentence', () => {
    fc.assert(
      fc.property(fc.oneof(json, likely), (body) => {
        try {
          expect(Array.isArray(decodeResponsesRequest(body).input)).toBe(true)
        } catch (error) {
          expect(isGatewayError(error)).toBe(true)
          const { status, message, details } = error as GatewayError
          expect([400, 422]).toContain(status)
          expect(Buffer.byteLength(message)).toBeLessThan(1024)
          expect(message).not.toContain('\n')
          expect(details.path).toBeTruthy()
        }
      }),
      { numRuns: 2000 },
    )
  })

  it.each(['{"input":"x","constructor":{"prototype":{"polluted":1}}}', '{"input":"x","metadata":{"constructor":"a","prototype":"b"}}'])(
    '%s pollutes nothing',
    (text) => {
      const decoded = decodeResponsesRequest(parseJson(Buffer.from(text)))
      expect(Object.getPrototypeOf(decoded)).toBe(Object.prototype)
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
    },
  )
  it('an own key __proto__, from a parser less careful, stays data', () => {
    const body: unknown = JSON.parse('{"input":[{"role":"user","content":"x","__proto__":{"polluted":1}}],"__proto__":{"model":"evil"}}')
    const decoded = decodeResponsesRequest(body)
    expect(decoded.model).toBeUndefined()
    expect(Object.getPrototypeOf(decoded)).toBe(Object.prototype)
    expect((decoded.input[0] as { polluted?: unknown }).polluted).toBeUndefined()
  })
  it('a million wrong entries cost one error, not a million', () => {
    const started = threadTime()
    expect(refusal({ input: Array(1_000_000).fill(7) }).details.path).toBe('input[0]')
    expect(refusal({ input: 'x', models: Array(1_000_000).fill(7) }).details.path).toBe('models[0]')
    const endless = `acme/small${':nitro'.repeat(200)}`
    expect(refusal({ input: 'x', model: endless }).details.path).toBe('model')
    expect(refusal({ input: 'x', models: ['acme/small', endless] }).details.path).toBe('models[1]')
    expect(threadTime() - started).toBeLessThan(1000)
  })
  it('a caller cannot make the message long', () => {
    const long = 'x'.repeat(100_000)
    for (const body of [
      { input: 'x', [long]: 1, provider: { [long]: 1 } },
      { input: 'x', service_tier: long },
      { input: 'x', plugins: [{ id: long }] },
      { input: [{ role: 'user', content: [{ type: long }] }] },
      { input: 'x', image_config: { [long]: null } },
      { input: 'x', metadata: { [`${long}[`]: 'v' } },
      { input: 'x', tool_choice: { type: 'function', name: long } },
    ]) {
      expect(Buffer.byteLength(refusal(body).message)).toBeLessThan(1024)
      expect(Buffer.byteLength(refusal(body).details.path ?? '')).toBeLessThan(200)
    }
  })
})
