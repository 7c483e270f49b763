import { describe, expect, it } from 'vitest'
import type { InputItem, JsonObject } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { bedrockTarget, CLAUDE, LLAMA, NEW_CLAUDE } from './__fixtures__/target.ts'
import { bedrockConverse } from './index.ts'

const user = (content: string): InputItem => ({ type: 'message', role: 'user', content })
const assistant = (content: string): InputItem => ({ type: 'message', role: 'assistant', content })
const thought: InputItem = {
  type: 'reasoning',
  summary: [],
  signature: 'SIG',
  format: 'anthropic-claude-v1',
  content: [{ type: 'reasoning_text', text: 'hm' }],
}
const call = (id: string): InputItem => ({ type: 'function_call', call_id: id, name: 'f', arguments: '{}' })
const result = (id: string): InputItem => ({ type: 'function_call_output', call_id: id, output: 'ok' })
const tools = [{ type: 'function', name: 'f' }]
const low = { effort: 'low' } as const

interface Encoded {
  readonly messages: { readonly role: string; readonly content: JsonObject[] }[]
  readonly fields: JsonObject
  readonly dropped: readonly string[]
}

function encode(request: Partial<ModelRequest>, model = CLAUDE): Encoded {
  const { body, dropped } = bedrockConverse.encodeRequest({ input: [], ...request }, bedrockTarget({ model }))
  const { messages, additionalModelRequestFields = {} } = JSON.parse(body)
  return { messages, fields: additionalModelRequestFields, dropped }
}

const FOLLOWED = 'input: an answer begun is not continued but followed'
const OLD = 'anthropic.claude-3-7-sonnet-20250219-v1:0'

describe('a prefilled answer', () => {
  const input = [user('hi'), assistant('The answer ')]
  it.each([CLAUDE, OLD, 'anthropic.claude-v2:1', 'anthropic.claude-sonnet-4-20250514-v1:0', 'anthropic.claude-opus-4-1-20250805-v1:0', LLAMA])(
    'is continued by %s',
    (model) => {
      const { messages, dropped } = encode({ input }, model)
      expect(messages.at(-1)).toEqual({ role: 'assistant', content: [{ text: 'The answer' }] })
      expect(dropped).toEqual([])
    },
  )
  it.each([
    NEW_CLAUDE,
    'us.anthropic.claude-sonnet-4-6',
    'anthropic.claude-opus-4-10-v1:0',
    'anthropic.claude-sonnet-5-v1:0',
    'anthropic.claude-new-9',
  ])('is followed by the user for %s', (model) => {
    const { messages, dropped } = encode({ input }, model)
    expect(messages.slice(1)).toEqual([
      { role: 'assistant', content: [{ text: 'The answer ' }] },
      { role: 'user', content: [{ text: 'Continue.' }] },
    ])
    expect(dropped).toEqual([FOLLOWED])
  })
  it('is followed by the user while the model reasons', () => {
    const { messages, dropped } = encode({ input, reasoning: low })
    expect(messages.at(-1)).toEqual({ role: 'user', content: [{ text: 'Continue.' }] })
    expect(dropped).toContain(FOLLOWED)
    expect(encode({ input, reasoning: { effort: 'none' } }).messages.at(-1)?.role).toBe('assistant')
    expect(encode({ input, reasoning: low }, LLAMA).messages.at(-1)?.role).toBe('assistant')
  })
  it('is continued without the reasoning before it', () => {
    expect(encode({ input: [user('hi'), thought, assistant('So')] }).messages.at(-1)).toEqual({ role: 'assistant', content: [{ text: 'So' }] })
  })
  it('moves the cache point of the conversation behind the text that follows it', () => {
    const { messages } = encode({ input, cache_control: { type: 'ephemeral' } }, NEW_CLAUDE)
    expect(messages.at(-1)?.content).toEqual([{ text: 'Continue.' }, { cachePoint: { type: 'default' } }])
  })
  it('in the middle of a stream is requested only where the model continues it', () => {
    const prefills = (model: string, reasoning?: ModelRequest['reasoning']): boolean | undefined =>
      bedrockConverse.prefills?.({ input, ...(reasoning === undefined ? {} : { reasoning }) }, bedrockTarget({ model }))
    expect([prefills(CLAUDE), prefills(LLAMA), prefills(LLAMA, low)]).toEqual([true, true, true])
    expect([prefills(NEW_CLAUDE), prefills(CLAUDE, low), prefills(CLAUDE, { effort: 'none' })]).toEqual([false, false, true])
    expect(prefills('anthropic.claude-3-haiku-20240307-v1:0', low)).toBe(true)
  })
})

describe('reasoning without content after it', () => {
  const note = 'input: reasoning that led to nothing'
  it('is left out, with a turn that contains nothing else', () => {
    const { messages, dropped } = encode({ input: [user('hi'), thought, user('go on')], reasoning: low })
    expect(messages).toEqual([{ role: 'user', content: [{ text: 'hi' }, { text: 'go on' }] }])
    expect(dropped).toEqual([note])
  })
  it('is left out after a text, and reasoning before a text stays', () => {
    const { messages, dropped } = encode({ input: [user('hi'), thought, assistant('a'), thought, assistant(' '), user('go on')] })
    expect(messages[1]?.content).toEqual([{ reasoningContent: { reasoningText: { text: 'hm', signature: 'SIG' } } }, { text: 'a' }])
    expect(dropped).toEqual([note])
  })
})

describe('a tool loop', () => {
  const loop = 'reasoning: the thoughts of this tool loop are lost'
  const thinks = (input: InputItem[], model = CLAUDE): boolean => {
    const { fields, dropped } = encode({ input, tools, reasoning: low }, model)
    expect(dropped.includes(loop)).toBe(!('thinking' in fields))
    return 'thinking' in fields
  }
  it('that began without reasoning continues without it, whatever the user says beside the results', () => {
    expect(thinks([user('hi'), call('1'), result('1')])).toBe(false)
    expect(thinks([user('hi'), call('1'), result('1'), user('and hurry')])).toBe(false)
    expect(thinks([user('hi'), assistant('Let me see.'), call('1'), result('1'), user('and hurry')])).toBe(false)
    expect(thinks([user('hi'), call('1'), result('1'), user('and hurry')], NEW_CLAUDE)).toBe(true)
  })
  it('needs only the reasoning it began with', () => {
    expect(thinks([user('hi'), thought, call('1'), result('1'), call('2'), result('2'), user('and hurry')])).toBe(true)
    expect(thinks([user('hi'), call('1'), result('1'), thought, call('2'), result('2')])).toBe(false)
  })
  it('that has ended has no influence', () => {
    expect(thinks([user('hi'), call('1'), result('1'), assistant('Done.'), user('more')])).toBe(true)
    expect(thinks([user('hi'), assistant('Hello.'), user('more')])).toBe(true)
  })
})
