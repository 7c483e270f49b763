import { describe, expect, it } from 'vitest'
import type { ModelEvent } from '../../core/event.ts'
import type { InputItem, InputPart, JsonObject } from '../../core/item.ts'
import { sealReasoning } from '../../core/reasoning-envelope.ts'
import type { ModelRequest, ReasoningOptions } from '../../core/request.ts'
import { REQUESTS } from './__fixtures__/requests.ts'
import { messagesTarget } from './__fixtures__/target.ts'
import type { TargetOverrides } from './__fixtures__/target.ts'
import { anthropicMessages } from './index.ts'
import { invokeModel } from './invoke-model.ts'
import { sealBlocks } from './server-blocks.ts'

type Block = { readonly type: string; readonly [field: string]: unknown }
interface Body {
  readonly messages: readonly { readonly role: string; readonly content: readonly Block[] }[]
  readonly [field: string]: unknown
}

const user = (content: unknown): InputItem => ({ type: 'message', role: 'user', content })
const assistant = (content: unknown): InputItem => ({ type: 'message', role: 'assistant', content })
const call = (call_id: string, name = 'f'): InputItem => ({ type: 'function_call', call_id, name, arguments: '{}' })
const output = (call_id: string, result: unknown = 'r'): InputItem => ({ type: 'function_call_output', call_id, output: result })
const format = 'anthropic-claude-v1'

function encode(request: Partial<ModelRequest>, overrides: TargetOverrides = {}): { body: Body; dropped: readonly string[] } {
  const encoded = anthropicMessages.encodeRequest({ input: [user('q')], ...request }, messagesTarget(overrides))
  return { body: JSON.parse(encoded.body) as Body, dropped: encoded.dropped }
}
const messages = (input: readonly InputItem[], overrides: TargetOverrides = {}, more: Partial<ModelRequest> = {}): Body['messages'] =>
  encode({ input, ...more }, overrides).body.messages

describe('encoding, by golden file', () => {
  it.each(Object.entries(REQUESTS))('%s', async (name, [request, overrides]) => {
    const { path, headers, body, dropped } = anthropicMessages.encodeRequest(request, messagesTarget(overrides))
    await expect(`${JSON.stringify({ path, headers, body: JSON.parse(body), dropped }, undefined, 2)}\n`).toMatchFileSnapshot(
      `__fixtures__/requests/${name}.json`,
    )
  })
})

describe('what is never sent', () => {
  it('nulls, empty lists, fields of the gateway, a choice without tools', () => {
    const { body, dropped } = encode({
      temperature: null,
      tools: [],
      tool_choice: 'auto',
      provider: { order: ['a'] },
      plugins: [{ id: 'web' }],
      store: false,
      session_id: 's',
      model: 'a/b',
      metadata: {},
      truncation: 'disabled',
      background: false,
      top_logprobs: 0,
      prompt_cache_key: 'k',
    })
    expect(body).toEqual({ model: 'small-1', max_tokens: 8192, messages: [{ role: 'user', content: [{ type: 'text', text: 'q' }] }], stream: true })
    expect(dropped).toEqual([])
  })
  it('tools to an endpoint without them, which it names', () => {
    const { body, dropped } = encode({ tools: [{ type: 'function', name: 'f' }], tool_choice: 'required' }, { supports: [] })
    expect(body).not.toHaveProperty('tools')
    expect(dropped).toContain('tools')
  })
  it('a wish for images, which it names', () => {
    const { body, dropped } = encode({ modalities: ['image'] })
    expect([body, dropped]).toEqual([encode({}).body, ['modalities: image']])
  })
  it('text that is empty or only whitespace, and turns without other content', () => {
    expect(
      messages([
        user('a'),
        assistant(' \n'),
        user([
          { type: 'input_text', text: '' },
          { type: 'input_text', text: 'b' },
        ]),
        user(' '),
      ]),
    ).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
    ])
  })
})

describe('the user of the caller', () => {
  const sent = (value: string): unknown =>
    (encode({ user: value }, { options: { forward_user: true } }).body['metadata'] as { readonly user_id: string }).user_id
  it('is sent unchanged', () => {
    for (const name of ['user-17', 'b1946ac9', '123456']) expect(sent(name)).toBe(name)
  })
  it.each(['jane@example.com', '<Jane> jane@example.com', '+49 (30) 1234-567', '5551234567', 'x'.repeat(257)])(
    'is sent as a hash where the call would be refused: %s',
    (name) => {
      expect(sent(name)).toMatch(/^[0-9A-Za-z]{32}$/)
      expect(sent(name)).toBe(sent(name))
      expect(sent(name)).not.toBe(sent(`${name}0`))
    },
  )
})

describe('turns', () => {
  it('begin with the user', () => {
    expect(messages([assistant('Hello.'), user('q')]).map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
    expect(messages([], {}, { instructions: 'only this' })).toEqual([{ role: 'user', content: [{ type: 'text', text: 'Continue.' }] }])
  })
  it('have all results of a turn first in the one message that follows, whatever order they came in', () => {
    const [, turn, results] = messages([user('q'), call('a'), call('b'), user('wait'), output('b', 'B'), output('a', 'A')])
    expect(turn?.content.map(({ id }) => id)).toEqual(['a', 'b'])
    expect(results?.content).toEqual([
      { type: 'tool_result', tool_use_id: 'a', content: 'A' },
      { type: 'tool_result', tool_use_id: 'b', content: 'B' },
      { type: 'text', text: 'wait' },
    ])
  })
  it('add a failed result to a call without one', () => {
    expect(messages([user('q'), call('a'), user('go on')])[2]?.content[0]).toMatchObject({ type: 'tool_result', tool_use_id: 'a', is_error: true })
  })
  it('give calls ids and objects the endpoint accepts, the same to their results', () => {
    const odd = 'call:1|x'
    const [, turn, results] = messages([user('q'), { type: 'function_call', call_id: odd, name: 'f', arguments: '[1]' }, output(odd)])
    expect(turn?.content[0]).toMatchObject({ type: 'tool_use', id: expect.stringMatching(/^[a-zA-Z0-9]{24}$/), input: { _raw: '[1]' } })
    expect(results?.content[0]?.['tool_use_id']).toBe(turn?.content[0]?.['id'])
  })
  it('keep long numbers of arguments', () => {
    const item = { type: 'function_call', call_id: 'a', name: 'f', arguments: '{"id":12345678901234567890,"x":1.0}' }
    expect(anthropicMessages.encodeRequest({ input: [user('q'), item] }, messagesTarget()).body).toContain(
      '"input":{"id":12345678901234567890,"x":1.0}',
    )
  })
  it('keep system text in the middle in its place, or as text of the user', () => {
    const input = [user('a'), { type: 'message', role: 'system', content: 'S' }, user('b')]
    expect(messages(input)).toHaveLength(1)
    expect(messages(input, { options: { later_system: 'in-place' } }).map(({ role }) => role)).toEqual(['user', 'system', 'user'])
  })
  it('describe unreadable parts of a result', () => {
    expect(
      messages([user('q'), call('a'), output('a', [{ type: 'input_audio', input_audio: { data: 'A', format: 'wav' } }])])[2]?.content[0],
    ).toMatchObject({
      content: [{ type: 'text', text: '[1 attachment left out: this model cannot read them]' }],
    })
  })
  it('offer the tools of the history when none are offered any more, but no call', () => {
    const { body } = encode({ input: [user('q'), call('a', 'gone'), output('a')] })
    expect(body).toMatchObject({ tools: [{ name: 'gone', input_schema: { type: 'object' } }], tool_choice: { type: 'none' } })
  })
})

describe('an answer begun', () => {
  it('is continued, without whitespace at its end and without thoughts', () => {
    const thought = { type: 'reasoning', summary: [], encrypted_content: sealReasoning({ format, scope: 'acme', signature: 'S', text: 't' }) }
    expect(messages([user('q'), thought, assistant('The answer is \n')])[1]).toEqual({
      role: 'assistant',
      content: [{ type: 'text', text: 'The answer is' }],
    })
  })
  it('is followed by the user where it may not be', () => {
    for (const overrides of [{ options: { prefill: false } }, { options: { thinking: 'adaptive' as const } }]) {
      const { body, dropped } = encode({ input: [user('q'), assistant('The')], reasoning: { effort: 'low' } }, overrides)
      expect(body.messages.at(-1)).toEqual({ role: 'user', content: [{ type: 'text', text: 'Continue.' }] })
      expect(dropped.join()).toContain('an answer begun')
    }
  })
})

describe('tool choice', () => {
  const tools = [
    { type: 'function', name: 'a' },
    { type: 'function', name: 'b' },
  ]
  it.each<[string, Partial<ModelRequest>, TargetOverrides, unknown, number]>([
    ['nothing', {}, {}, undefined, 2],
    ['auto', { tool_choice: 'auto' }, {}, { type: 'auto' }, 2],
    ['none', { tool_choice: 'none' }, {}, { type: 'none' }, 2],
    ['required', { tool_choice: 'required' }, {}, { type: 'any' }, 2],
    ['one tool', { tool_choice: { type: 'function', name: 'b' } }, {}, { type: 'tool', name: 'b' }, 2],
    ['one at a time', { parallel_tool_calls: false }, {}, { type: 'auto', disable_parallel_tool_use: true }, 2],
    ['one at a time, required', { parallel_tool_calls: false, tool_choice: 'required' }, {}, { type: 'any', disable_parallel_tool_use: true }, 2],
    ['required where nothing can be forced', { tool_choice: 'required' }, { options: { forced_tools: 'never' } }, { type: 'auto' }, 2],
    [
      'one tool where nothing can be forced',
      { tool_choice: { type: 'function', name: 'b' } },
      { options: { forced_tools: 'never' } },
      { type: 'auto' },
      1,
    ],
    ['anything where it cannot be chosen', { tool_choice: 'required' }, { supports: ['tools'] }, undefined, 2],
  ])('%s', (_name, request, overrides, choice, count) => {
    const { body } = encode({ tools, ...request }, overrides)
    expect(body['tool_choice']).toEqual(choice)
    expect(body['tools']).toHaveLength(count)
  })
  it('none where it cannot be chosen leaves the tools out', () => {
    const { body, dropped } = encode({ tools, tool_choice: 'none' }, { supports: ['tools'] })
    expect([body['tools'], body['tool_choice'], dropped]).toEqual([undefined, undefined, []])
  })
})

describe('a tool the endpoint runs itself', () => {
  const own = { type: 'function', name: 'web_search', parameters: { type: 'object' } } as const
  const overrides = { options: { web_search_tool: 'web_search_20250305' } }
  it('gives the caller’s function of the same name another one, which is mapped back', () => {
    const request = { tools: [own, { type: 'web_search' }], tool_choice: { type: 'function', name: 'web_search' } } as const
    const { body } = encode({ ...request, input: [user('q'), call('c', 'web_search'), output('c')] }, overrides)
    const [first, second] = body['tools'] as readonly { readonly type?: string; readonly name: string }[]
    expect(second).toEqual({ type: 'web_search_20250305', name: 'web_search' })
    expect(first!.name).toMatch(/^web_search_[\w-]+$/)
    expect(body['tool_choice']).toEqual({ type: 'tool', name: first!.name })
    expect(body.messages[1]!.content[0]).toMatchObject({ type: 'tool_use', name: first!.name })
    const out: ModelEvent[] = []
    const block = { type: 'tool_use', id: 't', name: first!.name, input: {} }
    const message = { type: 'message', id: 'm', content: [block], stop_reason: 'tool_use' }
    anthropicMessages.decoder({ input: [], ...request }, messagesTarget(overrides)).body(JSON.stringify(message), out)
    expect(out.find((event) => event.type === 'item-start')).toMatchObject({ item: { name: 'web_search' } })
  })
  it('changes no name where it is not offered', () => {
    expect(encode({ tools: [own] }, overrides).body['tools']).toMatchObject([{ name: 'web_search' }])
  })
})

describe('a bound on calls of tools', () => {
  const uses = (tool: { readonly type: string }, max_tool_calls: number): unknown => {
    const { body, dropped } = encode(
      { tools: [tool], max_tool_calls },
      {
        options: { web_search_tool: 'web_search_20250305', native_tools: ['^code_execution', '^web_fetch'] },
      },
    )
    return [(body['tools'] as readonly { readonly max_uses?: number }[])[0]?.max_uses, dropped]
  }
  it('holds for searches the server runs', () => {
    expect(uses({ type: 'web_search' }, 2)).toEqual([2, []])
    expect(uses({ type: 'web_search' }, 99)).toEqual([30, []])
    expect(uses({ type: 'web_search', max_uses: 1 } as never, 5)).toEqual([1, []])
    expect(uses({ type: 'web_fetch_20250910' }, 3)).toEqual([3, []])
  })
  it('is reported where a tool has none', () => {
    expect(uses({ type: 'code_execution_20250825' }, 2)).toEqual([undefined, ['max_tool_calls']])
  })
})

describe('examples of the input of a tool', () => {
  const parameters = (name: string) => ({ type: 'object', properties: { [name]: { type: 'string' } } })
  const tool = (name: string): object => ({
    type: 'function',
    name: 'f',
    description: 'D',
    parameters: parameters(name),
    input_examples: [{ [name]: 'x' }],
  })
  const sent = (name: string, tool_examples: boolean): JsonObject =>
    (encode({ tools: [tool(name)] as never }, { options: { tool_examples } }).body['tools'] as JsonObject[])[0]!
  it('have a field of their own at the vendor, and stand in the description elsewhere', () => {
    expect(sent('a', true)).toMatchObject({ description: 'D', input_examples: [{ a: 'x' }] })
    expect(sent('a', false)).toMatchObject({ description: 'D\n\nExamples of its input:\n{"a":"x"}' })
    expect(sent('a', false)).not.toHaveProperty('input_examples')
  })
  it('are in the description, too, where they would not match the reduced schema', () => {
    expect(sent('$filter', true)['description']).toContain('Examples of its input:\n{"$filter":"x"}')
    expect(sent('$filter', true)).not.toHaveProperty('input_examples')
  })
})

describe('tools whose arguments come as they are made', () => {
  const tools: ModelRequest['tools'] = [
    { type: 'function', name: 'write', eager_input_streaming: true },
    { type: 'function', name: 'read' },
  ]
  const sent = (eager_tools: boolean) => encode({ tools }, { options: { eager_tools } })
  const said = (eager_tools: boolean): unknown => (sent(eager_tools).body['tools'] as JsonObject[]).map((tool) => tool['eager_input_streaming'])
  it('are asked for where that is known', () => {
    expect(said(true)).toEqual([true, undefined])
    expect(sent(true).dropped).toEqual([])
    expect(said(false)).toEqual([undefined, undefined])
    expect(sent(false).dropped).toEqual(['tools: eager_input_streaming'])
  })
})

describe('strict tools', () => {
  const tools = (count: number): ModelRequest['tools'] => Array.from({ length: count }, (_, n) => ({ type: 'function', name: `f${n}`, strict: true }))
  it('are strict where that is known, as long as they are few', () => {
    const strict = (count: number, strict_tools: boolean): unknown =>
      (encode({ tools: tools(count)! }, { options: { strict_tools } }).body['tools'] as JsonObject[])[0]?.['strict']
    expect([strict(20, true), strict(21, true), strict(1, false)]).toEqual([true, undefined, undefined])
  })
  it('are not strict with a map, which would always be empty', () => {
    const parameters = { type: 'object', properties: { env: { type: 'object', additionalProperties: { type: 'string' } } } }
    const { body, dropped } = encode({ tools: [{ type: 'function', name: 'f', parameters, strict: true }] }, { options: { strict_tools: true } })
    expect([body['tools'], dropped]).toEqual([[{ name: 'f', input_schema: parameters }], ['tools: strict: objects whose members are not named']])
  })
})

describe('members of a tool with names that the endpoint refuses', () => {
  it('are listed in its description, and the tool is not strict', () => {
    const parameters = { type: 'object', properties: { id: { type: 'string' }, 'filter[id]': { type: 'string' } }, additionalProperties: false }
    const tool = { type: 'function' as const, name: 'f', description: 'Lists.', parameters, strict: true }
    const { body, dropped } = encode({ tools: [tool] }, { options: { strict_tools: true } })
    const [sent] = body['tools'] as JsonObject[]
    expect(sent).toEqual({
      name: 'f',
      description: expect.stringMatching(/^Lists\.\n\n.*\n\{"properties":\{"filter\[id\]":\{"type":"string"\}\}\}$/),
      input_schema: { type: 'object', properties: { id: { type: 'string' } } },
    })
    expect(dropped).toEqual(['tools: strict, for the names of members'])
  })
})

describe('thinking', () => {
  const adaptive = { thinking: 'adaptive', thinking_display: 'summarized', efforts: ['low', 'medium', 'high', 'max'] } as const
  it.each<[string, ReasoningOptions, TargetOverrides['options'], object]>([
    [
      'a budget for an effort, on top of the answer',
      { effort: 'high' },
      {},
      { thinking: { type: 'enabled', budget_tokens: 8000 }, max_tokens: 18_000 },
    ],
    ['a budget as given', { max_tokens: 2000 }, {}, { thinking: { type: 'enabled', budget_tokens: 2000 }, max_tokens: 12_000 }],
    [
      'a budget within the limit of its caller, who bounds both together',
      { max_tokens: 2000, within_output: true },
      {},
      { thinking: { type: 'enabled', budget_tokens: 2000 }, max_tokens: 10_000 },
    ],
    [
      'no budget as large as a limit for both',
      { max_tokens: 30_000, within_output: true },
      {},
      { thinking: { type: 'enabled', budget_tokens: 8976 }, max_tokens: 10_000 },
    ],
    ['no budget below the least', { max_tokens: 10 }, {}, { thinking: { type: 'enabled', budget_tokens: 1024 }, max_tokens: 11_024 }],
    [
      'a budget below the limit of the model',
      { max_tokens: 30_000 },
      { max_output_tokens: 20_000 },
      { thinking: { type: 'enabled', budget_tokens: 18_976 }, max_tokens: 20_000 },
    ],
    [
      'an effort',
      { effort: 'medium' },
      adaptive,
      { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'medium' }, max_tokens: 10_000 },
    ],
    [
      'the nearest effort',
      { effort: 'xhigh' },
      adaptive,
      { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'high' }, max_tokens: 10_000 },
    ],
    [
      'an effort for a budget',
      { max_tokens: 900 },
      adaptive,
      { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'low' }, max_tokens: 10_000 },
    ],
    ['no effort when none is named', { enabled: true }, adaptive, { thinking: { type: 'adaptive', display: 'summarized' }, max_tokens: 10_000 }],
    [
      'a budget where both are known and a budget is given',
      { max_tokens: 2000 },
      { thinking: 'adaptive-or-budget' },
      { thinking: { type: 'enabled', budget_tokens: 2000 }, max_tokens: 12_000 },
    ],
    [
      'an effort where both are known',
      { effort: 'low' },
      { thinking: 'adaptive-or-budget' },
      { thinking: { type: 'adaptive' }, output_config: { effort: 'low' }, max_tokens: 10_000 },
    ],
    ['off', { effort: 'none' }, {}, { thinking: { type: 'disabled' }, max_tokens: 10_000 }],
    ['off where it is off anyway', { enabled: false }, { thinking_off: 'omit' }, { max_tokens: 10_000 }],
    [
      'off where it goes on between tools',
      { enabled: false },
      { thinking_off: 'between-tools' },
      { thinking: { type: 'between_tools' }, max_tokens: 10_000 },
    ],
    [
      'off where it cannot be',
      { enabled: false },
      { ...adaptive, thinking_off: 'lowest-effort' },
      { output_config: { effort: 'low' }, max_tokens: 10_000 },
    ],
    ['nothing said', { summary: 'auto' }, adaptive, { max_tokens: 10_000 }],
    ['nothing where there is none', { effort: 'low' }, { thinking: 'none' }, { max_tokens: 10_000 }],
  ])('%s', (_name, reasoning, options, expected) => {
    const {
      model: _model,
      messages: _messages,
      stream: _stream,
      ...rest
    } = encode({ reasoning, max_output_tokens: 10_000 }, options === undefined ? {} : { options }).body
    expect(rest).toEqual(expected)
  })
  it('reports an effort that was replaced by another', () => {
    const dropped = (reasoning: ReasoningOptions): unknown => encode({ reasoning }, { options: adaptive }).dropped
    expect(dropped({ effort: 'xhigh' })).toEqual(['reasoning.effort: xhigh became high'])
    expect([dropped({ effort: 'high' }), dropped({ max_tokens: 900 })]).toEqual([[], []])
  })
  it('is reported when it is left out', () => {
    expect(encode({ reasoning: { effort: 'low' } }, { supports: [] }).dropped).toContain('reasoning')
    expect(encode({ reasoning: { effort: 'low' } }, { maxOutputTokens: 1000 }).dropped).toContain('reasoning: the answer is too short for it')
  })
  it('is switched off for a forced call of models that reason by default', () => {
    const forced = (options: TargetOverrides['options'], reasoning?: ReasoningOptions): unknown => {
      const request = {
        tools: [{ type: 'function', name: 'f' }],
        tool_choice: 'required',
        ...(reasoning === undefined ? {} : { reasoning }),
      } as const
      return encode(request, options === undefined ? {} : { options }).body['thinking']
    }
    const off = { type: 'disabled' }
    expect([forced(adaptive), forced(adaptive, { effort: 'high' })]).toEqual([off, off])
    expect(forced({ ...adaptive, thinking_off: 'omit' }, { effort: 'high' })).toBeUndefined()
    expect(forced({ ...adaptive, thinking_off: 'lowest-effort' })).toBeUndefined()
    // A budget is never used unless it was requested.
    expect(forced({ thinking: 'budget' }, { effort: 'high' })).toBeUndefined()
  })
  it('removes sampling parameters', () => {
    const { body, dropped } = encode({ reasoning: { effort: 'low' }, temperature: 0.5, top_p: 0.5, top_k: 5 })
    expect(body).not.toHaveProperty('temperature')
    expect(dropped).toEqual(['temperature', 'top_p', 'top_k'])
  })

  describe('in a tool loop', () => {
    const unsigned = [user('q'), call('a'), output('a')]
    it('stays off when the loop began without it, where the endpoint requires that', () => {
      const { body, dropped } = encode({ input: unsigned, reasoning: { effort: 'low' } })
      expect(body).not.toHaveProperty('thinking')
      expect(dropped).toContain('reasoning: the running tool loop began without it')
      expect(encode({ input: unsigned, reasoning: { effort: 'low' } }, { options: { thinking: 'adaptive' } }).body).toHaveProperty('thinking')
    })
    it('continues when only a later turn lacks it', () => {
      const thought = { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 't' }], signature: 'S', format }
      const input = [user('q'), thought, call('a'), output('a'), call('b'), output('b')]
      expect(encode({ input, reasoning: { effort: 'low' } }).body).toHaveProperty('thinking')
      // The thoughts of a finished loop do not count.
      expect(
        encode({ input: [...input, assistant('done'), user('q'), call('c'), output('c')], reasoning: { effort: 'low' } }).body,
      ).not.toHaveProperty('thinking')
      expect(encode({ input: [...unsigned, assistant('done'), user('q')], reasoning: { effort: 'low' } }).body).toHaveProperty('thinking')
    })
  })
})

describe('reasoning of the history', () => {
  const thinking = (reasoning: JsonObject, overrides: TargetOverrides = {}): unknown =>
    messages([user('q'), { type: 'reasoning', summary: [], ...reasoning }, assistant('a'), user('q')], overrides)[1]?.content[0]
  it('comes back from the envelope and from plain fields, byte for byte', () => {
    const text = ' thought\n\u00e9 '
    const block = { type: 'thinking', thinking: text, signature: 'S' }
    expect(thinking({ encrypted_content: sealReasoning({ format, scope: 'acme', signature: 'S', text }) })).toEqual(block)
    expect(thinking({ content: [{ type: 'reasoning_text', text }], signature: 'S', format })).toEqual(block)
    expect(thinking({ summary: [{ type: 'summary_text', text }], signature: 'S', format })).toEqual(block)
    expect(thinking({ encrypted_content: sealReasoning({ format, scope: 'acme', signature: 'S', text: '' }) })).toEqual({ ...block, thinking: '' })
    expect(thinking({ encrypted_content: sealReasoning({ format, scope: 'acme', data: 'BLOB' }) })).toEqual({
      type: 'redacted_thinking',
      data: 'BLOB',
    })
  })
  it('comes back to the party that signed it, and to others of the format only where that is declared', () => {
    const foreign = { encrypted_content: sealReasoning({ format, scope: 'elsewhere', signature: 'S', text: 't' }) }
    expect(thinking(foreign)).toMatchObject({ type: 'text' })
    expect(thinking(foreign, { options: { signature_scope: 'format' } })).toMatchObject({ type: 'thinking' })
    // A turn's thoughts come back complete: a missing one among signed ones makes it a changed turn.
    const redacted = { encrypted_content: sealReasoning({ format, scope: 'elsewhere', data: 'BLOB' }) }
    expect(thinking(redacted)).toMatchObject({ type: 'text' })
    expect(thinking(redacted, { options: { signature_scope: 'format' } })).toMatchObject({ type: 'redacted_thinking' })
  })
  it.each<[string, JsonObject]>([
    ['another format', { content: [{ type: 'reasoning_text', text: 't' }], signature: 'S', format: 'google-gemini-v1' }],
    ['no signature', { content: [{ type: 'reasoning_text', text: 't' }], format }],
    ['a blob of unknown origin', { encrypted_content: 'gAAAAAB', format }],
  ])('is left out and reported: %s', (_name, reasoning) => {
    const { body, dropped } = encode({ input: [user('q'), { type: 'reasoning', summary: [], ...reasoning }, assistant('a'), user('q')] })
    expect(body.messages[1]?.content).toEqual([{ type: 'text', text: 'a' }])
    expect(dropped).toEqual(['input: reasoning this endpoint cannot read'])
  })
  it('without an item after it is left out', () => {
    const thought = { type: 'reasoning', summary: [], encrypted_content: sealReasoning({ format, scope: 'acme', signature: 'S', text: 't' }) }
    expect(messages([user('q'), thought, user('again')])).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'q' },
          { type: 'text', text: 'again' },
        ],
      },
    ])
  })
  it('may be unsigned where the server accepts that', () => {
    const plain = { content: [{ type: 'reasoning_text', text: 't' }] }
    expect(thinking(plain, { options: { unsigned_thinking: true } })).toEqual({ type: 'thinking', thinking: 't' })
  })
  it('is sent before every call where the server has required it', () => {
    const plain: InputItem = { type: 'reasoning', id: 'rs_1', summary: [], content: [{ type: 'reasoning_text', text: 't' }] }
    const step = (id: string): InputItem[] => [call(id), output(id)]
    const told = messages(
      [user('q'), plain, ...step('c1'), ...step('c2'), assistant('a'), user('q')],
      {},
      { request_forms: { reasoning_replayed: true } },
    )
    expect(told.flatMap(({ role, content }) => (role === 'assistant' ? [content] : []))).toMatchObject([
      [{ type: 'thinking', thinking: 't', signature: '' }, { type: 'tool_use' }],
      [{ type: 'thinking', thinking: ' ', signature: '' }, { type: 'tool_use' }],
      [{ type: 'text', text: 'a' }],
    ])
  })
})

describe('blocks of server tools', () => {
  const blocks = [
    { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'q' } },
    { type: 'web_search_tool_result', tool_use_id: 's1', content: [{ type: 'web_search_result', encrypted_content: 'E' }] },
  ]
  const options = { web_search_tool: 'web_search_20250305' }
  const item = (scope = 'acme'): InputItem => ({
    type: 'web_search_call',
    id: 'ws_1',
    status: 'completed',
    encrypted_content: sealBlocks(blocks, messagesTarget({ scope })),
  })
  const content = (history: InputItem, tools: ModelRequest['tools'], overrides: TargetOverrides = { options }): unknown =>
    messages([user('q'), history, assistant('a'), user('q')], overrides, tools === undefined ? {} : { tools })[1]?.content
  const search = [{ type: 'web_search' }]
  it('are sent back while their tool is offered, to the account that wrote them', () => {
    expect(content(item(), search)).toEqual([...blocks, { type: 'text', text: 'a' }])
    expect(content(item(), [])).toEqual([{ type: 'text', text: 'a' }])
    expect(content(item('elsewhere'), search)).toEqual([{ type: 'text', text: 'a' }])
  })
  it('come back from a reasoning item, those of no call always', () => {
    const compaction = [{ type: 'compaction', content: 'sum' }]
    const carrier = (scope: string): InputItem => ({
      type: 'reasoning',
      summary: [],
      encrypted_content: sealBlocks(compaction, messagesTarget({ scope })),
    })
    expect(content(carrier('acme'), [])).toEqual([...compaction, { type: 'text', text: 'a' }])
    expect(content(carrier('elsewhere'), [])).toEqual([{ type: 'text', text: 'a' }])
  })
  it('of searches nobody carried are named', () => {
    expect(encode({ input: [user('q'), { type: 'web_search_call', status: 'completed' }, user('q')] }).dropped).toEqual(['input: web_search_call'])
  })
})

describe('media', () => {
  it.each<[string, unknown, TargetOverrides]>([
    ['images by id', { type: 'input_image', file_id: 'f' }, {}],
    ['files by id', { type: 'input_file', file_id: 'f' }, {}],
    ['audio', { type: 'input_audio', input_audio: { data: 'A', format: 'wav' } }, {}],
    ['video', { type: 'input_video', video_url: 'https://x' }, {}],
    ['binary files', { type: 'input_file', file_data: 'data:application/zip;base64,AA' }, {}],
    ['documents', { type: 'input_file', file_data: 'JVBERi0=' }, { options: { documents: false } }],
  ])('%s that the endpoint cannot take lead to another endpoint', (_name, part, overrides) => {
    expect(() => encode({ input: [user([part])] }, overrides)).toThrowError(
      expect.objectContaining({ errorType: 'invalid_prompt', details: expect.objectContaining({ failover: 'next' }) }),
    )
  })
  it('of an unknown type are refused as such', () => {
    const part = { type: 'input_image', image_url: 'data:image/tiff;base64,AA' }
    expect(() => encode({ input: [user([part])] })).toThrowError(expect.objectContaining({ errorType: 'unsupported_image_format' }))
  })
  it('by file id are sent where ids are supported', () => {
    const part = { type: 'input_file', file_id: 'file_1' }
    expect(messages([user([part])], { options: { file_ids: true } })[0]?.content).toEqual([
      { type: 'document', source: { type: 'file', file_id: 'file_1' } },
    ])
  })
  it('are fetched first where the endpoint wants bytes', () => {
    const request = {
      input: [
        user([
          { type: 'input_image', image_url: 'https://x/a.png' },
          { type: 'input_image', image_url: 'data:image/png;base64,AA' },
          { type: 'input_file', file_url: 'https://x/b.pdf' },
          { type: 'input_file', file_url: 'https://x/c.md' },
        ]),
      ],
    }
    const urls = (options: TargetOverrides['options'] = {}): unknown => anthropicMessages.mediaUrls?.(request, messagesTarget({ options }))
    expect(urls()).toEqual(['https://x/c.md'])
    expect(urls({ image_urls: false, document_urls: false })).toEqual(['https://x/a.png', 'https://x/b.pdf', 'https://x/c.md'])
    expect(() => encode(request)).toThrowError(expect.objectContaining({ errorType: 'image_download_failed' }))
  })
  it('are fetched first where their address is not one of HTTPS, which is refused', () => {
    const [image, file] = ['http://x/a.png', 'http://x/b.pdf']
    const request = {
      input: [
        user([
          { type: 'input_image', image_url: image },
          { type: 'input_file', file_url: file },
        ]),
      ],
    }
    expect(anthropicMessages.mediaUrls?.(request, messagesTarget())).toEqual([image, file])
    const media = new Map([
      [image, { mimeType: 'image/png', data: 'AA' }],
      [file, { mimeType: 'application/pdf', data: 'BB' }],
    ])
    expect(messages(request.input, { media })[0]?.content).toEqual([
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA' } },
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'BB' } },
    ])
  })
})

describe('documents that are to be cited', () => {
  const sent = (part: InputPart, options: TargetOverrides['options'] = {}): unknown =>
    encode({ input: [user([part])] }, { options }).body.messages[0]!.content[0]
  const cited = { citations: { enabled: true } }
  it('are marked as such', () => {
    const pdf = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' }
    expect(sent({ type: 'input_file', file_data: 'JVBERi0=', cited: {} })).toEqual({ type: 'document', source: pdf, ...cited })
    expect(sent({ type: 'input_file', file_data: 'JVBERi0=' })).toEqual({ type: 'document', source: pdf })
  })
  it('are made of text, under the title of its first line', () => {
    const source = { type: 'text', media_type: 'text/plain', data: 'a\nb' }
    const mark = { prompt_cache_breakpoint: { mode: 'explicit' as const } }
    const titled = { type: 'input_text' as const, text: 'T\na\nb', cited: { titled: true } }
    expect(sent({ ...titled, ...mark })).toEqual({ type: 'document', source, title: 'T', ...cited, cache_control: { type: 'ephemeral' } })
    expect(sent({ ...titled, text: 'a\nb', cited: { titled: false } })).toEqual({ type: 'document', source, ...cited })
    expect(sent({ ...titled, text: 'T\n ' })).toEqual({ type: 'text', text: 'T\n ' })
    expect(sent(titled, { documents: false })).toEqual({ type: 'text', text: 'T\na\nb' })
  })
  it('keep the texts they are made of, which citations count', () => {
    const words = (text: string) => ({ type: 'text', text })
    const found = { type: 'input_text' as const, text: 'T\nhttps://a.example\na\nb\n\nc', cited: { titled: true, sourced: true, blocks: [1, 4] } }
    const result = { type: 'search_result', source: 'https://a.example', title: 'T', ...cited }
    expect(sent(found)).toEqual({ ...result, content: [words('a'), words('b\n\nc')] })
    expect(sent({ ...found, text: found.text.replace('c', '[EMAIL]') })).toEqual({ ...result, content: [words('a\nb\n\n[EMAIL]')] })
    expect(sent({ ...found, cited: { ...found.cited, blocks: [1, 1, 0, 1] } })).toEqual({ ...result, content: [words('a\nb\n\nc')] })
    const { sourced: _, ...document } = found.cited
    expect(sent({ ...found, text: 'T\na\nb\n\nc', cited: document })).toEqual({
      type: 'document',
      source: { type: 'content', content: [words('a'), words('b\n\nc')] },
      title: 'T',
      ...cited,
    })
  })
  it('may be what a tool has found', () => {
    const found = { type: 'input_text' as const, text: 'T\ns\na', cited: { titled: true, sourced: true, blocks: [1] } }
    const input: InputItem[] = [
      user('q'),
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: [found] },
    ]
    const content = (more: Partial<ModelRequest> = {}): unknown =>
      (encode({ input, ...more }, { options: { json_schema: 'native' } }).body.messages[2]!.content[0] as JsonObject)['content']
    const result = { type: 'search_result', source: 's', title: 'T', content: [{ type: 'text', text: 'a' }] }
    expect(content()).toEqual([{ ...result, ...cited }])
    // Citations and structured output exclude each other.
    expect(content({ text: { format: { type: 'json_schema', name: 'n', schema: { type: 'string' } } } })).toEqual([result])
  })
})

describe('structured output', () => {
  it('and citations exclude each other: citations are dropped', () => {
    const { body } = encode(
      {
        input: [user([{ type: 'input_file', file_data: 'JVBERi0=' }])],
        text: { format: { type: 'json_schema', name: 'n', schema: { type: 'string' } } },
      },
      { options: { json_schema: 'native', document_citations: true } },
    )
    expect(body.messages[0]?.content[0]).not.toHaveProperty('citations')
  })
  it('by a hidden tool leaves the caller the choice it made', () => {
    const text = { format: { type: 'json_schema' as const, name: 'n', schema: { type: 'object' } } }
    const sent = (more: Partial<ModelRequest>): unknown[] => {
      const { body } = encode({ text, tools: [{ type: 'function', name: 'f' }], ...more }, { options: { json_schema: 'tool' } })
      return [(body['tools'] as { name: string }[]).map(({ name }) => name), body['tool_choice']]
    }
    const single = { disable_parallel_tool_use: true }
    expect(sent({})).toEqual([['f', 'structured_answer'], { type: 'any', ...single }])
    expect(sent({ tool_choice: 'none' })).toEqual([['f', 'structured_answer'], { type: 'tool', name: 'structured_answer', ...single }])
    expect(sent({ tool_choice: 'required' })).toEqual([['f'], { type: 'any' }])
    expect(sent({ tool_choice: { type: 'function', name: 'f' } })).toEqual([['f'], { type: 'tool', name: 'f' }])
  })
  it('with a map is requested in the prompt, because a closed object would always be empty', () => {
    const schema = { type: 'object', properties: { names: { type: 'object', additionalProperties: { type: 'string' } } } }
    const { body, dropped } = encode({ text: { format: { type: 'json_schema', name: 'n', schema } } }, { options: { json_schema: 'native' } })
    expect(body).not.toHaveProperty('output_config')
    expect(JSON.stringify(body['system'])).toContain('additionalProperties')
    expect(dropped).toEqual(['text.format: asked for in the prompt'])
  })
  it('is reported when it is only requested in the prompt', () => {
    expect(encode({ text: { format: { type: 'json_object' } } }).dropped).toEqual(['text.format: asked for in the prompt'])
    const schema = { text: { format: { type: 'json_schema', name: 'n', schema: { type: 'object' } } } } as const
    expect(encode(schema, { supports: [], options: { json_schema: 'native' } }).dropped).toEqual(['text.format: asked for in the prompt'])
  })
})

describe('cache breakpoints', () => {
  it('never change the prefix that is cached', () => {
    const grow = (n: number): ModelRequest => ({
      instructions: 'i',
      input: Array.from({ length: n }, (_, at) => (at % 2 === 0 ? user(`question ${at}`) : assistant(`answer ${at}`))),
      cache_control: { type: 'ephemeral' },
      tools: [{ type: 'function', name: 'f' }],
    })
    const plain = (n: number): string =>
      anthropicMessages.encodeRequest(grow(n), messagesTarget()).body.replaceAll(',"cache_control":{"type":"ephemeral"}', '')
    const shared = plain(5).indexOf('question 4')
    expect(plain(7).slice(0, shared)).toBe(plain(5).slice(0, shared))
  })
  it('stand on pictures and documents, and on a result of a tool for those in it', () => {
    const mark = { prompt_cache_breakpoint: { mode: 'explicit', ttl: '1h' } }
    const image = { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=', ...mark }
    const file = { type: 'input_file', file_url: 'https://a.example/d.pdf', ...mark }
    const [shown, , result] = messages([user([image, file]), call('c'), output('c', [image])])
    const cache_control = { type: 'ephemeral', ttl: '1h' }
    expect(shown?.content).toMatchObject([
      { type: 'image', cache_control },
      { type: 'document', cache_control },
    ])
    expect(result?.content).toMatchObject([{ type: 'tool_result', cache_control, content: [{ type: 'image' }] }])
    expect(result?.content[0]?.['content']).not.toHaveProperty('0.cache_control')
  })
  it('are left out where they are not supported, and short where long ones are not supported', () => {
    const request = { instructions: 'i', cache_control: { type: 'ephemeral', ttl: '1h' } } as const
    expect(JSON.stringify(encode(request, { options: { cache_control: 'none' } }).body)).not.toContain('cache_control')
    expect(encode(request, { options: { cache_control: 'short' } }).body.messages[0]?.content[0]).toMatchObject({
      cache_control: { type: 'ephemeral' },
    })
  })
})

describe('through a cloud', () => {
  it('names model and stream in the path, version and betas in the body', () => {
    const options = invokeModel.options.parse({ betas: ['b'] })
    const target = { ...messagesTarget({ model: 'anthropic.claude-x-v1:0' }), options }
    const encoded = invokeModel.encodeRequest({ input: [user('q')] }, target)
    expect(encoded.path).toBe('/model/anthropic.claude-x-v1%3A0/invoke-with-response-stream')
    expect(encoded.headers).not.toHaveProperty('anthropic-version')
    expect(JSON.parse(encoded.body)).toEqual({
      anthropic_version: 'bedrock-2023-05-31',
      anthropic_beta: ['b'],
      max_tokens: 8192,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'q' }] }],
    })
    expect(invokeModel.encodeRequest({ input: [user('q')] }, { ...target, stream: false }).path).toBe('/model/anthropic.claude-x-v1%3A0/invoke')
  })
  it('passes on the beta features of the caller that it supports, and reports the others', () => {
    const options = { betas: ['b'], models: [{ match: 'claude-x', caller_betas: ['^think-'] }] }
    const request = { input: [user('q')], vendor_betas: ['think-2025-05-14', 'b', 'unheard-of-1'] }
    const asked = (model: string, more = {}) => {
      const target = { ...messagesTarget({ model }), options: anthropicMessages.options.parse({ ...options, ...more }) }
      const { headers, body, dropped } = anthropicMessages.encodeRequest(request, target)
      return [headers['anthropic-beta'], dropped, body.includes('vendor_betas')]
    }
    expect(asked('claude-x')).toEqual(['b,think-2025-05-14', ['beta feature unheard-of-1'], false])
    expect(asked('claude-y')).toEqual(['b', ['beta feature think-2025-05-14', 'beta feature unheard-of-1'], false])
    expect(asked('claude-y', { caller_betas: [''] })).toEqual(['b,think-2025-05-14,unheard-of-1', [], false])
  })
  it('reads exceptions in the stream', () => {
    const decoder = invokeModel.decoder({ input: [] }, messagesTarget())
    expect(() => decoder.push('{"message":"Too many"}', 'exception:throttlingException', [])).toThrowError(
      expect.objectContaining({ errorType: 'rate_limit_exceeded' }),
    )
  })
})

describe('options', () => {
  it('have defaults for all, refuse unknown ones and bad patterns', () => {
    expect(anthropicMessages.options.safeParse({}).success).toBe(true)
    expect(anthropicMessages.options.safeParse({ nonsense: 1 }).success).toBe(false)
    expect(anthropicMessages.options.safeParse({ models: [{ match: '(' }] }).success).toBe(false)
    expect(anthropicMessages.options.safeParse({ models: [{ match: 'x', nonsense: 1 }] }).success).toBe(false)
  })
  it('of a model count by its id, the first that matches, under those of the endpoint', () => {
    const options = {
      models: [
        { match: '^a', sampling: 'none' as const, prefill: false },
        { match: '.', thinking: 'none' as const },
      ],
    }
    expect(encode({ temperature: 0.5 }, { options, model: 'a1' }).body).not.toHaveProperty('temperature')
    expect(encode({ temperature: 0.5 }, { options, model: 'b1' }).body).toHaveProperty('temperature')
    expect(encode({ temperature: 0.5 }, { options: { ...options, sampling: 'all' }, model: 'a1' }).body).toHaveProperty('temperature')
  })
  it('declare which tools the upstream runs', () => {
    const options = anthropicMessages.options.parse({ web_search_tool: 'web_search_20250305', native_tools: ['^bash_\\d+$'] })
    const hosts = (type: string): boolean | undefined => anthropicMessages.hosts?.({ type }, [], { options, upstreamModel: 'claude-x' })
    expect([hosts('web_search'), hosts('web_search_preview'), hosts('bash_20250124'), hosts('gateway:web_search'), hosts('function')]).toEqual([
      true,
      true,
      true,
      false,
      false,
    ])
    const none = { options: anthropicMessages.options.parse({}), upstreamModel: 'claude-x' }
    expect(anthropicMessages.hosts?.({ type: 'web_search' }, [], none)).toBe(false)
  })
})
