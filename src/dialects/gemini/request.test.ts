import { describe, expect, it } from 'vitest'
import type { InputItem, OtherTool, Tool } from '../../core/item.ts'
import type { ModelRequest, ReasoningOptions } from '../../core/request.ts'
import { REQUESTS } from './__fixtures__/requests.ts'
import { geminiTarget } from './__fixtures__/target.ts'
import type { TargetOverrides } from './__fixtures__/target.ts'
import { gemini } from './index.ts'

const user = (content: unknown): InputItem => ({ type: 'message', role: 'user', content })
type Body = { [field: string]: unknown; contents: { role: string; parts: Record<string, unknown>[] }[] }

function encode(request: Partial<ModelRequest>, overrides: TargetOverrides = {}): { body: Body; dropped: readonly string[]; path: string } {
  const encoded = gemini.encodeRequest({ input: [user('q')], ...request }, geminiTarget(overrides))
  return { body: JSON.parse(encoded.body), dropped: encoded.dropped, path: encoded.path }
}

describe('encoding, by golden file', () => {
  it.each(Object.entries(REQUESTS))('%s', async (name, [request, overrides]) => {
    const { path, body, dropped } = gemini.encodeRequest(request, geminiTarget(overrides))
    // Formatted as text and not by parsing, because long numbers must not change.
    const pretty = `${JSON.stringify({ path, dropped }, undefined, 2)}\n${body.replaceAll(/(?<=[}\]"]),(?=[{"])/g, ',\n')}\n`
    await expect(pretty).toMatchFileSnapshot(`__fixtures__/requests/${name}.txt`)
  })
})

describe('the address', () => {
  it.each<[string, TargetOverrides, string]>([
    ['a stream', {}, '/models/gemini-3-flash-preview:streamGenerateContent?alt=sse'],
    ['a whole answer', { stream: false }, '/models/gemini-3-flash-preview:generateContent'],
    ['a name with its folder', { model: 'models/gemini-x' }, '/models/gemini-x:streamGenerateContent?alt=sse'],
    [
      'a tuned model',
      { model: 'tunedModels/mine', options: { path: '/publishers/google/models' } },
      '/tunedModels/mine:streamGenerateContent?alt=sse',
    ],
    [
      'another root',
      { options: { path: '/publishers/google/models' } },
      '/publishers/google/models/gemini-3-flash-preview:streamGenerateContent?alt=sse',
    ],
    ['a hostile name', { model: 'a:b?c' }, '/models/a%3Ab%3Fc:streamGenerateContent?alt=sse'],
  ])('of %s', (_name, overrides, path) => {
    expect(encode({}, overrides).path).toBe(path)
  })
})

describe('contents', () => {
  it('alternate and begin with the user', () => {
    const { body } = encode({ input: [{ type: 'message', role: 'assistant', content: 'Hello' }, user('a'), user('b')] })
    expect(body.contents.map(({ role, parts }) => `${role}:${parts.map(({ text }) => text).join('|')}`)).toEqual([
      'user:Continue.',
      'model:Hello',
      'user:a|b',
    ])
  })
  it('are never empty', () => {
    expect(encode({ input: [], instructions: 'i' }).body).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'Continue.' }] }],
      systemInstruction: { parts: [{ text: 'i' }] },
    })
  })
  it('end with the user where the caller spoke after the answer, be it in an instruction that moves to the front', () => {
    const { body } = encode({
      input: [user('q'), { type: 'message', role: 'assistant', content: 'a' }, { type: 'message', role: 'system', content: 's' }],
    })
    expect(body.contents.map(({ role, parts }) => `${role}:${parts.map(({ text }) => text).join('|')}`)).toEqual([
      'user:q',
      'model:a',
      'user:Continue.',
    ])
  })
  it.each([
    ['gemini-3-flash-preview', true],
    ['gemini-3.5-flash', true],
    ['gemini-3.5-flash-lite', false],
    ['gemini-3.6-flash', false],
    ['gemini-4-argon', false],
    ['gemini-flash-latest', false],
  ])('end with a prefilled answer where the model continues it: %s %s', (model, prefill) => {
    const begun: InputItem = { type: 'message', role: 'assistant', content: 'a' }
    const { body, dropped } = encode({ input: [user('q'), begun] }, { model })
    expect(body.contents.map(({ role, parts }) => `${role}:${String(parts[0]!['text'])}`)).toEqual([
      'user:q',
      'model:a',
      ...(prefill ? [] : ['user:Continue.']),
    ])
    expect(dropped).toEqual(prefill ? [] : ['input: an answer begun is not continued but followed'])
    expect(gemini.prefills?.({ input: [] }, geminiTarget({ model }))).toBe(prefill)
    expect(encode({ input: [begun, user('q')] }, { model }).dropped).toEqual([])
  })
  it('hold the bytes of audio in an address, however its scheme is written', () => {
    for (const data of ['data:audio/wav;base64,aGk=', 'DATA:audio/wav;base64,aGk=']) {
      const part = { type: 'input_audio', input_audio: { data, format: 'wav' } } as const
      const { body } = encode({ input: [{ type: 'message', role: 'user', content: [part] }] })
      expect(body.contents[0]!.parts).toEqual([{ inlineData: { mimeType: 'audio/wav', data: 'aGk=' } }])
    }
  })
  it.each([
    ['JVBERi0xLjQ=', 'application/pdf'],
    ['iVBORw0KGgo=', 'image/png'],
    ['aGVsbG8=', 'text/plain'],
    ['AAECAw==', 'application/pdf'],
  ])('hold a file without a name, %j, by what its bytes say', (data, mimeType) => {
    const { body } = encode({ input: [{ type: 'message', role: 'user', content: [{ type: 'input_file', file_data: data }] }] })
    expect(body.contents[0]!.parts).toEqual([{ inlineData: { mimeType, data } }])
  })
  it('hold the results of one turn alone, in the order of the calls, before what the user says', () => {
    const call = (id: string): InputItem => ({ type: 'function_call', call_id: id, name: 'f', arguments: '{}' })
    const output = (id: string): InputItem => ({ type: 'function_call_output', call_id: id, output: id })
    const { body } = encode({ input: [user('q'), call('1'), call('2'), output('2'), user('stop'), output('1')] })
    expect(body.contents.map(({ parts }) => parts.map((part) => Object.keys(part)[0]).join())).toEqual([
      'text',
      'functionCall,functionCall',
      'functionResponse,functionResponse',
      'text',
    ])
    expect(body.contents[2]!.parts.map((part) => (part['functionResponse'] as { id: string }).id)).toEqual(['1', '2'])
  })
  it.each<[string, unknown]>([
    ['plain', { output: 'plain' }],
    ['[1,2]', { output: '[1,2]' }],
    ['{"a":1}', { a: 1 }],
    ['{"a":{"b":[{"$ref":"#/x"}]}}', { output: '{"a":{"b":[{"$ref":"#/x"}]}}' }],
    ['{"$defs":{},"type":"object"}', { output: '{"$defs":{},"type":"object"}' }],
    ['{"broken', { output: '{"broken' }],
    ['', { output: '' }],
  ])('wrap the result %j in an object', (text, response) => {
    const { body } = encode({
      input: [
        user('q'),
        { type: 'function_call', call_id: '1', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: '1', output: text },
      ],
    })
    expect(body.contents[2]!.parts).toEqual([{ functionResponse: { id: '1', name: 'f', response } }])
  })
  it('hold a note where content was encrypted for another model', () => {
    const output = [{ type: 'encrypted_content', encrypted_content: 'zz' }]
    const input = [
      user('q'),
      { type: 'function_call', call_id: '1', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: '1', output },
    ]
    expect(encode({ input }).body.contents.at(-1)?.parts).toEqual([
      { functionResponse: { id: '1', name: 'f', response: { output: '[Encrypted content left out: this model cannot read it]' } } },
    ])
  })
  it('name no ids where the endpoint refuses them', () => {
    const call = (id: string): InputItem => ({ type: 'function_call', call_id: id, name: 'f', arguments: '{}' })
    const output = (id: string): InputItem => ({ type: 'function_call_output', call_id: id, output: id })
    const { body } = encode({ input: [user('q'), call('1'), call('2'), output('2'), output('1')] }, { options: { call_ids: false } })
    const [, calls, results] = body.contents
    expect(calls!.parts.map((part) => part['functionCall'])).toEqual([
      { name: 'f', args: {} },
      { name: 'f', args: {} },
    ])
    expect(results!.parts).toEqual(['1', '2'].map((id) => ({ functionResponse: { name: 'f', response: { output: id } } })))
  })
  it('say so when a call has no result', () => {
    const { body } = encode({ input: [user('q'), { type: 'function_call', call_id: '1', name: 'f', arguments: '{}' }, user('next')] })
    expect(body.contents[2]!.parts).toEqual([
      { functionResponse: { id: '1', name: 'f', response: { error: 'No result is available for this call.' } } },
    ])
  })
})

describe('signatures', () => {
  const call: InputItem = { type: 'function_call', call_id: '1', name: 'f', arguments: '{}' }
  const signed = (fields: object): InputItem => ({ type: 'reasoning', summary: [], ...fields })
  const first = (input: InputItem[], overrides: TargetOverrides = {}): unknown =>
    encode({ input: [user('q'), ...input, call] }, overrides).body.contents[1]!.parts.at(-1)!['thoughtSignature']
  const STAND_IN = Buffer.from('skip_thought_signature_validator').toString('base64')
  it('come back from the plain fields too', () => {
    expect(first([signed({ signature: 's1', format: 'google-gemini-v1' })])).toBe('s1')
  })
  it('of another format are replaced by a placeholder', () => {
    expect(first([signed({ signature: 's1', format: 'anthropic-claude-v1' })])).toBe(STAND_IN)
    expect(first([])).toBe(STAND_IN)
  })
  it('need no placeholder for models that do not require signatures', () => {
    expect(first([], { model: 'gemini-2.5-flash' })).toBeUndefined()
    expect(first([], { options: { call_signatures: false } })).toBeUndefined()
  })
})

describe('thinking', () => {
  it.each<[string, ReasoningOptions | null, string, object | undefined, string[]]>([
    ['nothing said', null, 'gemini-3-flash-preview', undefined, []],
    ['only a summary', { summary: 'auto' }, 'gemini-2.5-pro', { includeThoughts: true }, []],
    ['on', { enabled: true }, 'gemini-3-flash-preview', { includeThoughts: true }, []],
    ['on, by budget', { enabled: true }, 'gemini-2.5-flash', { thinkingBudget: -1, includeThoughts: true }, []],
    ['a level', { effort: 'medium' }, 'gemini-3-flash-preview', { thinkingLevel: 'medium', includeThoughts: true }, []],
    [
      'more than the highest level',
      { effort: 'max' },
      'gemini-3-flash-preview',
      { thinkingLevel: 'high', includeThoughts: true },
      ['reasoning.effort: max became high'],
    ],
    [
      'a level between two',
      { effort: 'medium' },
      'gemini-3-pro-preview',
      { thinkingLevel: 'low', includeThoughts: true },
      ['reasoning.effort: medium became low'],
    ],
    ['a budget as a level', { max_tokens: 1000 }, 'gemini-3-flash-preview', { thinkingLevel: 'minimal', includeThoughts: true }, []],
    ['off where minimal is refused', { effort: 'none' }, 'gemini-3.8-flash', { thinkingLevel: 'low' }, ['reasoning: none']],
    ['off in the fourth generation', { effort: 'none' }, 'gemini-4-argon', { thinkingLevel: 'low' }, ['reasoning: none']],
    [
      'least where minimal is refused',
      { effort: 'minimal' },
      'models/gemini-4-neon',
      { thinkingLevel: 'low', includeThoughts: true },
      ['reasoning.effort: minimal became low'],
    ],
    ['off in the small models', { effort: 'none' }, 'gemini-3.5-flash-lite', { thinkingLevel: 'minimal' }, []],
    ['most where there is more than high', { effort: 'xhigh' }, 'gemini-4-hydrogen', { thinkingLevel: 'xhigh', includeThoughts: true }, []],
    [
      'most where there is not',
      { effort: 'xhigh' },
      'gemini-4-argon',
      { thinkingLevel: 'high', includeThoughts: true },
      ['reasoning.effort: xhigh became high'],
    ],
    ['a level of the newest', { effort: 'high' }, 'gemini-pro-latest', { thinkingLevel: 'high', includeThoughts: true }, []],
    ['off in the newest', { effort: 'none' }, 'gemini-flash-latest', { thinkingLevel: 'low' }, ['reasoning: none']],
    ['off in the newest of the small', { effort: 'none' }, 'gemini-flash-lite-latest', { thinkingLevel: 'minimal' }, []],
    ['on in a model of images', { effort: 'low' }, 'gemini-nano-banana-2.1', undefined, ['reasoning']],
    ['a budget', { max_tokens: 2000 }, 'gemini-2.5-flash', { thinkingBudget: 2000, includeThoughts: true }, []],
    ['too high a budget', { max_tokens: 99_999 }, 'gemini-2.5-pro', { thinkingBudget: 32_768, includeThoughts: true }, []],
    ['too low a budget', { max_tokens: 1 }, 'gemini-2.5-flash-lite', { thinkingBudget: 512, includeThoughts: true }, []],
    ['an effort as a budget', { effort: 'high' }, 'gemini-2.5-flash', { thinkingBudget: 8000, includeThoughts: true }, []],
    ['off', { effort: 'none' }, 'gemini-2.5-flash', { thinkingBudget: 0 }, []],
    ['a budget of no tokens', { max_tokens: 0 }, 'gemini-2.5-flash', { thinkingBudget: 0 }, []],
    ['off where it cannot be', { effort: 'none' }, 'gemini-2.5-pro', { thinkingBudget: 128 }, ['reasoning: none']],
    ['off by the lowest level', { enabled: false }, 'gemini-3-flash-preview', { thinkingLevel: 'minimal' }, []],
    ['off where the lowest is low', { enabled: false }, 'gemini-3.1-pro-preview', { thinkingLevel: 'low' }, ['reasoning: none']],
    ['on where there is none', { effort: 'low' }, 'gemini-2.0-flash', undefined, ['reasoning']],
    ['off where there is none', { effort: 'none' }, 'gemma-3-27b-it', undefined, []],
    ['on where it is on or off', { enabled: true }, 'gemma-4-31b-it', { thinkingLevel: 'high', includeThoughts: true }, []],
    ['a budget where it is on or off', { max_tokens: 1000 }, 'gemma-4-31b-it', { thinkingLevel: 'high', includeThoughts: true }, []],
    ['off where it is on or off', { effort: 'none' }, 'gemma-4-26b-a4b-it', { thinkingLevel: 'minimal' }, []],
    [
      'some where it is on or off',
      { effort: 'low' },
      'gemma-4-31b-it',
      { thinkingLevel: 'high', includeThoughts: true },
      ['reasoning.effort: low became high'],
    ],
    ['a model nobody knows', { effort: 'low' }, 'next-big-thing', { thinkingBudget: 2000, includeThoughts: true }, []],
  ])('%s', (_name, reasoning, model, config, dropped) => {
    const encoded = encode({ reasoning, max_output_tokens: 10_000 }, { model })
    expect((encoded.body['generationConfig'] as { thinkingConfig?: object }).thinkingConfig).toEqual(config)
    expect(encoded.dropped).toEqual(dropped)
  })
  it.each([
    ['gemini-2.5-flash', 'high', 1000, 800],
    ['gemini-2.5-flash', 'minimal', 5000, 500],
    ['gemini-2.5-flash', 'low', 1, 1],
    ['gemini-2.5-pro', 'low', 600, 128],
    ['gemini-2.5-flash-lite', 'xhigh', 2000, 1900],
  ] as const)('%s spends no more on an effort of %s than its share of %i tokens, thoughts counting as output', (model, effort, limit, budget) => {
    const { body } = encode({ reasoning: { effort }, max_output_tokens: limit }, { model })
    expect(body['generationConfig']).toMatchObject({ maxOutputTokens: limit, thinkingConfig: { thinkingBudget: budget } })
  })
  it('can be declared for any model', () => {
    const options: TargetOverrides['options'] = { thinking: 'level', thinking_levels: ['low'], model_rules: [{ match: '.', thinking: 'none' }] }
    expect(encode({ reasoning: { effort: 'high' } }, { options }).body['generationConfig']).toEqual({
      thinkingConfig: { thinkingLevel: 'low', includeThoughts: true },
    })
  })
})

describe('instructions', () => {
  it.each([
    ['before the first turn, where the model takes none', 'gemma-3-27b-it', undefined],
    ['of their own, where it does', 'gemma-4-31b-it', { parts: [{ text: 'Be brief.' }] }],
  ])('are %s', (_name, model, expected) => {
    expect(encode({ instructions: 'Be brief.' }, { model }).body['systemInstruction']).toEqual(expected)
  })
})

describe('tools', () => {
  const tools = [
    { type: 'function', name: 'a' },
    { type: 'function', name: 'b' },
  ]
  const configOf = (request: Partial<ModelRequest>, overrides: TargetOverrides = {}): unknown =>
    (encode(request, overrides).body['toolConfig'] as { functionCallingConfig?: unknown } | undefined)?.functionCallingConfig
  it.each<[string, ModelRequest['tool_choice'], unknown]>([
    ['auto, which is the default', 'auto', undefined],
    ['none', 'none', { mode: 'NONE' }],
    ['required', 'required', { mode: 'ANY' }],
    ['one', { type: 'function', name: 'b' }, { mode: 'ANY', allowedFunctionNames: ['b'] }],
    [
      'some, required',
      { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'b' }] },
      { mode: 'ANY', allowedFunctionNames: ['b'] },
    ],
  ])('choice %s', (_name, tool_choice, config) => {
    const { body } = encode({ tools, tool_choice: tool_choice! })
    expect(configOf({ tools, tool_choice: tool_choice! })).toEqual(config)
    expect((body['tools'] as { functionDeclarations: unknown[] }[])[0]!.functionDeclarations).toHaveLength(2)
  })
  it('choice among some leaves the others out', () => {
    const { body } = encode({ tools, tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'b' }] } })
    expect(body['tools']).toMatchObject([{ functionDeclarations: [{ name: 'b' }] }])
  })
  it('that are strict are validated', () => {
    const strict = [{ type: 'function', name: 'a', strict: true }]
    expect(configOf({ tools: strict })).toEqual({ mode: 'VALIDATED' })
    expect(configOf({ tools: strict, tool_choice: 'required' })).toEqual({ mode: 'ANY' })
    expect(configOf({ tools: strict }, { options: { validated_mode: false } })).toBeUndefined()
  })
  it('search is native, beside functions only where models can', () => {
    expect(encode({ tools: [{ type: 'web_search_2025_08_26' }] }).body['tools']).toEqual([{ googleSearch: {} }])
    const mixed = encode({ tools: [...tools, { type: 'web_search' }] })
    expect(mixed.body['tools']).toMatchObject([{ functionDeclarations: [{}, {}] }, { googleSearch: {} }])
    expect(mixed.body['toolConfig']).toEqual({ includeServerSideToolInvocations: true })
    const silent = encode({ tools: [...tools, { type: 'web_search' }] }, { options: { tool_invocations: false } })
    expect([silent.body['tools'], silent.body['toolConfig']]).toEqual([mixed.body['tools'], undefined])
    const older = encode({ tools: [...tools, { type: 'web_search' }] }, { model: 'gemini-2.5-flash' })
    expect(older.body['tools']).toHaveLength(1)
    expect(older.dropped).toEqual(['tools: web_search beside functions'])
    expect(encode({ tools: [{ type: 'web_search' }] }, { options: { native_tools: [] } }).dropped).toEqual(['tools: web_search'])
  })
  it('say which of them the upstream runs: search without bounds, beside functions only where models can', () => {
    const hosts = (tool: OtherTool, model = 'gemini-3-flash-preview', beside: readonly Tool[] = []): boolean | undefined =>
      gemini.hosts?.(tool, beside, geminiTarget({ model }))
    expect([hosts({ type: 'web_search' }), hosts({ type: 'web_search_preview' }), hosts({ type: 'code_interpreter' })]).toEqual([true, true, true])
    expect([hosts({ type: 'gateway:web_search' }), hosts({ type: 'file_search' })]).toEqual([false, false])
    // This search cannot be restricted to domains, so it does not run a tool with such a filter.
    expect(hosts({ type: 'web_search', filters: { allowed_domains: ['a.test'] } })).toBe(false)
    expect(hosts({ type: 'web_search', filters: {} })).toBe(true)
    expect([hosts({ type: 'web_search' }, 'gemini-2.5-flash'), hosts({ type: 'web_search' }, 'gemini-2.5-flash', tools)]).toEqual([true, false])
    expect(gemini.hosts?.({ type: 'web_search' }, [], geminiTarget({ options: { native_tools: [] } }))).toBe(false)
  })
  it('of the gateway itself are not native', () => {
    expect(encode({ tools: [{ type: 'gateway:web_search' }] }).body['tools']).toBeUndefined()
  })
  it('are left out where the endpoint has none', () => {
    const { body, dropped } = encode({ tools, tool_choice: 'required' }, { supports: [] })
    expect([body['tools'], body['toolConfig'], dropped]).toEqual([undefined, undefined, ['tools']])
  })
  it('are left out where the caller wants no calls and the endpoint cannot be told so', () => {
    const { body, dropped } = encode({ tools, tool_choice: 'none' }, { supports: ['tools'] })
    expect([body['tools'], body['toolConfig'], dropped]).toEqual([undefined, undefined, []])
  })
  it('with names it refuses get others', () => {
    const { body } = encode({
      tools: [
        { type: 'function', name: '1st tool!' },
        { type: 'function', name: 'fine.one' },
      ],
    })
    const names = (body['tools'] as { functionDeclarations: { name: string }[] }[])[0]!.functionDeclarations.map(({ name }) => name)
    expect(names[0]).toMatch(/^_\w*$/)
    expect(names[1]).toBe('fine.one')
  })
})

describe('the schema of a function', () => {
  const members = { url: { type: 'string' }, id: { type: 'string' } }
  const parameters = { type: 'object', oneOf: [{ properties: { url: members.url }, required: ['url'] }, { properties: { id: members.id } }] }
  const declared = (overrides: TargetOverrides): unknown => {
    const [tools] = encode({ tools: [{ type: 'function', name: 'f', parameters }] }, overrides).body['tools'] as [{ functionDeclarations: unknown[] }]
    return tools.functionDeclarations[0]
  }
  it('is an object at its top, and keeps its members, in either form', () => {
    expect(declared({})).toMatchObject({ name: 'f', parametersJsonSchema: { type: 'object', properties: members } })
    expect(declared({ options: { schemas: 'openapi' } })).toMatchObject({
      parameters: { type: 'OBJECT', properties: { url: { type: 'STRING' }, id: { type: 'STRING' } } },
    })
  })
})

describe('the number of words to choose among', () => {
  it('is sent where there is one: zero means none, and is out of range here', () => {
    expect(encode({ top_k: 40 }).body['generationConfig']).toMatchObject({ topK: 40 })
    const without = encode({ top_k: 0 })
    expect(without.body['generationConfig'] ?? {}).not.toHaveProperty('topK')
    expect(without.dropped).toEqual([])
  })
})

describe('structured output', () => {
  const schema = { type: 'json_schema', name: 'n', schema: { type: 'object' } } as const
  it('is native where it may be', () => {
    expect(encode({ text: { format: schema } }).body['generationConfig']).toEqual({
      responseMimeType: 'application/json',
      responseJsonSchema: { type: 'object' },
    })
    expect(encode({ text: { format: schema } }, { options: { schemas: 'openapi' } }).body['generationConfig']).toEqual({
      responseMimeType: 'application/json',
      responseSchema: { type: 'OBJECT' },
    })
    expect(encode({ text: { format: { type: 'json_object' } } }).body['generationConfig']).toEqual({ responseMimeType: 'application/json' })
  })
  it('stands beside tools where models can', () => {
    const tools = [{ type: 'function', name: 'f' }]
    expect(encode({ text: { format: schema }, tools }).body['generationConfig']).toBeDefined()
    const older = encode({ text: { format: { type: 'json_object' } }, tools }, { model: 'gemini-2.5-flash' })
    expect([older.body['generationConfig'], older.dropped]).toEqual([undefined, ['text.format: asked for in the prompt']])
    expect(encode({ text: { format: schema }, tools, tool_choice: 'none' }, { model: 'gemini-2.5-flash' }).body['generationConfig']).toBeDefined()
  })
})

describe('sampling', () => {
  const asked = { temperature: 0.2, top_p: 0.5, top_k: 8, seed: 1 }
  const sent = (model: string, options = {}) => {
    const { body, dropped } = encode(asked, { model, options })
    return [body['generationConfig'], dropped]
  }
  const all = [{ temperature: 0.2, topP: 0.5, topK: 8, seed: 1 }, []]
  it.each(['gemini-2.5-flash', 'gemini-3-flash-preview', 'gemini-3.1-pro-preview', 'gemini-3.5-flash', 'models/gemma-4-31b-it'])(
    'is as the caller wants it: %s',
    (model) => expect(sent(model)).toEqual(all),
  )
  it.each([
    'gemini-3.5-flash-lite',
    'gemini-3.6-flash',
    'publishers/google/models/gemini-3.8-flash',
    'gemini-3.10-pro',
    'gemini-4-flash',
    'gemini-flash-latest',
  ])('is fixed and reported to the caller: %s', (model) => {
    expect(sent(model)).toEqual([{ seed: 1 }, ['temperature', 'top_p', 'top_k']])
    expect(sent(model, { sampling: true })).toEqual(all)
  })
})

describe('media', () => {
  const part = (content: object): ModelRequest => ({ input: [user([content])] })
  const urls = (request: ModelRequest, overrides: TargetOverrides = {}): readonly string[] => gemini.mediaUrls!(request, geminiTarget(overrides))
  it('the endpoint cannot read itself are asked for, once each, in results of tools too', () => {
    const image = { type: 'input_image', image_url: 'https://x.test/a.png' } as const
    expect(
      urls({ input: [user([image, image]), { type: 'function_call_output', call_id: '1', output: [{ ...image, image_url: 'http://y.test/b' }] }] }),
    ).toEqual(['https://x.test/a.png', 'http://y.test/b'])
    expect(urls({ input: [user('https://x.test/a.png'), { type: 'reasoning', summary: [] }] })).toEqual([])
  })
  it('that another server drew and gave by their address are sent as data, like all pictures', () => {
    const [url, model] = ['https://x.test/drawn', 'gemini-3-pro-image-preview']
    const drawn = (result: string) => ({ type: 'image_generation_call', status: 'completed', result })
    const input = [user('draw'), drawn(url), drawn('data:image/webp;base64,UklG'), drawn('/9j/'), user('bluer')]
    const media = new Map([[url, { mimeType: 'image/png', data: 'iVBORw0KGgo=' }]])
    expect([urls({ input }, { model }), urls({ input }, { model: 'gemini-3-flash-preview' })]).toEqual([[url], []])
    const { body, dropped } = encode({ input }, { model, media })
    expect(body.contents[1]!.parts.map((each) => each['inlineData'])).toEqual([
      { mimeType: 'image/png', data: 'iVBORw0KGgo=' },
      { mimeType: 'image/webp', data: 'UklG' },
      { mimeType: 'image/jpeg', data: '/9j/' },
    ])
    expect(dropped).toEqual([])
  })
  it.each(['gs://b/a.mp4', 'https://youtu.be/x', 'https://generativelanguage.googleapis.com/v1beta/files/a', 'data:video/mp4;base64,AA'])(
    '%s is not fetched',
    (video_url) => {
      expect(urls(part({ type: 'input_video', video_url }))).toEqual([])
      expect(() => encode(part({ type: 'input_video', video_url }))).not.toThrow()
    },
  )
  it.each([
    ['a picture', { type: 'input_image', image_url: 'data:;base64,iVBORw0KGgo=' }, 'image/png'],
    ['a text', { type: 'input_file', file_data: 'data:;base64,SGVsbG8=' }, 'text/plain'],
    ['a file with a name', { type: 'input_file', filename: 'a.csv', file_data: 'data:;base64,SGVsbG8=' }, 'text/plain'],
    ['a picture nobody knows', { type: 'input_image', image_url: 'data:;base64,/////w==' }, 'image/jpeg'],
  ])('of a data URL that does not say what it is are known by name and bytes: %s', (_name, content, mimeType) => {
    expect(encode(part(content)).body.contents[0]!.parts).toMatchObject([{ inlineData: { mimeType } }])
  })
  it('that are text are sent as plain text, whatever kind it is: few others are taken everywhere', () => {
    const kinds = ['text/csv', 'text/markdown', 'TEXT/HTML', 'application/json', 'application/xml', 'application/x-yaml', 'application/ld+json']
    const parts = kinds.map((type) => ({ type: 'input_file', filename: 'a', file_data: `data:${type};base64,SGVsbG8=` }))
    const address = 'https://x.test/a'
    const media = new Map([[address, { mimeType: 'application/json', data: 'e30=' }]])
    const fetched = { type: 'input_file', file_url: address }
    const kept = ['application/pdf', 'image/png'].map((type) => ({ type: 'input_file', file_data: `data:${type};base64,SGVsbG8=` }))
    const bucket = { type: 'input_file', file_url: 'gs://b/a.md' }
    const bare = { type: 'input_file', filename: 'a.json', file_data: 'e30=' }
    const sent = encode({ input: [user([...parts, fetched, bucket, bare, ...kept])] }, { media }).body.contents[0]!.parts
    const types = sent.map((each) => (each['inlineData'] ?? each['fileData']) as { readonly mimeType: string }).map(({ mimeType }) => mimeType)
    expect(types).toEqual([...kinds.map(() => 'text/plain'), 'text/plain', 'text/plain', 'text/plain', 'application/pdf', 'image/png'])
  })
  it('that were not fetched are an error', () => {
    expect(() => encode(part({ type: 'input_image', image_url: 'https://x.test/a.png' }))).toThrow(
      expect.objectContaining({ errorType: 'image_download_failed' }),
    )
  })
  it.each([
    { type: 'input_image', file_id: 'file-1' },
    { type: 'input_file', file_id: 'file-1' },
    { type: 'input_file' },
    { type: 'input_image', image_url: 'ftp://x/y' },
  ])('%j is for another endpoint', (content) => {
    expect(() => encode(part(content))).toThrow(expect.objectContaining({ errorType: 'invalid_prompt', failover: 'next' }))
  })
  it('images are asked for only where the model makes them', () => {
    expect(encode({ modalities: ['image'] }).dropped).toEqual(['modalities: image'])
    const image_config = { aspect_ratio: '1:1' }
    expect(encode({ modalities: ['image'], image_config }).dropped).toEqual(['modalities: image', 'image_config'])
    expect(encode({ image_config }).dropped).toEqual(['image_config'])
    expect(encode({ modalities: ['text'], image_config }, { model: 'gemini-2.5-flash-image' }).dropped).toEqual(['image_config'])
    const made = encode({ image_config: { ...image_config, quality: 'high' } }, { model: 'gemini-2.5-flash-image' })
    expect([made.body['generationConfig'], made.dropped]).toEqual([
      { responseModalities: ['TEXT', 'IMAGE'], imageConfig: { aspectRatio: '1:1' } },
      ['image_config: fields it does not know'],
    ])
    expect(encode({}, { model: 'gemini-2.5-flash-image' }).body['generationConfig']).toEqual({ responseModalities: ['TEXT', 'IMAGE'] })
    expect(encode({ modalities: ['image'] }, { model: 'gemini-2.5-flash-image' }).body['generationConfig']).toEqual({ responseModalities: ['IMAGE'] })
  })
})

describe('the service tier', () => {
  const target = geminiTarget({ options: { service_tier_header: 'x-tier' } })
  const sent = (service_tier: ModelRequest['service_tier'], tier?: 'default' | 'flex' | 'priority') => {
    const { headers, body, dropped } = gemini.encodeRequest(
      { input: [user('q')], service_tier: service_tier ?? null },
      tier === undefined ? target : { ...target, tier },
    )
    expect(body).not.toContain('Tier')
    return [headers['x-tier'], dropped]
  }
  it('is sent in a header where one is declared, the default tier by leaving it out', () => {
    expect(sent('flex')).toEqual(['flex', []])
    expect(sent('default')).toEqual([undefined, []])
    expect(sent('scale')).toEqual([undefined, ['service_tier']])
    expect(sent(undefined, 'priority')).toEqual(['priority', []])
    expect(sent('priority', 'default')).toEqual([undefined, ['service_tier']])
  })
})
