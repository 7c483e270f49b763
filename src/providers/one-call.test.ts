import { describe, expect, it } from 'vitest'
import type { InputItem } from '../core/item.ts'
import { databricks } from './databricks.ts'
import { chatTarget } from '../dialects/openai-chat/__fixtures__/target.ts'
import { openAiChat } from '../dialects/openai-chat/index.ts'

const call = (id: string, name: string): InputItem => ({ type: 'function_call', call_id: id, name, arguments: '{}' })
const result = (id: string, output: string): InputItem => ({ type: 'function_call_output', call_id: id, output })
const SEVERAL: readonly InputItem[] = [
  { type: 'message', role: 'user', content: 'Compare them.' },
  { type: 'message', role: 'assistant', content: 'I look.' },
  call('a', 'read'),
  call('b', 'list'),
  call('c', 'read'),
  result('a', 'of a'),
  result('b', 'of b'),
  result('c', 'of c'),
  { type: 'message', role: 'user', content: 'And?' },
]

interface Message {
  readonly role: string
  readonly content?: unknown
  readonly tool_calls?: readonly { readonly id: string }[]
  readonly tool_call_id?: string
}

function messagesFor(upstreamModel: string, input = SEVERAL): readonly Message[] {
  const { body } = openAiChat.encodeRequest({ input }, chatTarget({ options: databricks.options as object, upstreamModel }))
  return (JSON.parse(body) as { messages: readonly Message[] }).messages
}

/** Roles and contents, one line per message. */
const told = (messages: readonly Message[]): readonly string[] =>
  messages.map(({ role, content, tool_calls: calls, tool_call_id: id }) =>
    [role, content, ...(calls?.map((each) => `calls ${each.id}`) ?? []), id === undefined ? undefined : `for ${id}`].filter(Boolean).join(' '),
  )

describe('several calls of one turn, where a message may hold one', () => {
  it('are sent one after the other, each with its result', () => {
    expect(told(messagesFor('databricks-gpt-oss-120b'))).toEqual([
      'user Compare them.',
      'assistant I look. calls a',
      'tool of a for a',
      'assistant calls b',
      'tool of b for b',
      'assistant calls c',
      'tool of c for c',
      'user And?',
    ])
  })
  it('stay together where the model accepts them', () => {
    expect(told(messagesFor('databricks-claude-sonnet-4-5'))).toEqual([
      'user Compare them.',
      'assistant I look. calls a calls b calls c',
      'tool of a for a',
      'tool of b for b',
      'tool of c for c',
      'user And?',
    ])
  })
  it('leave a single call, and text after the last, unchanged', () => {
    const one: readonly InputItem[] = [SEVERAL[0]!, call('a', 'read'), result('a', 'of a'), SEVERAL[0]!]
    expect(messagesFor('databricks-gpt-oss-120b', one)).toEqual(messagesFor('databricks-claude-sonnet-4-5', one))
    const behind: readonly InputItem[] = [
      SEVERAL[0]!,
      call('a', 'read'),
      call('b', 'list'),
      { type: 'message', role: 'assistant', content: 'Both run.' },
      result('a', 'of a'),
      result('b', 'of b'),
    ]
    expect(told(messagesFor('databricks-gpt-oss-120b', behind))).toEqual([
      'user Compare them.',
      'assistant calls a',
      'tool of a for a',
      'assistant Both run. calls b',
      'tool of b for b',
    ])
  })
})
