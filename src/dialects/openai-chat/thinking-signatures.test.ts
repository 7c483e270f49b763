import { expect, it } from 'vitest'
import type { ModelEvent } from '../../core/event.ts'
import type { InputItem } from '../../core/item.ts'
import { checkEventBalance } from '../../testing/event-balance.ts'
import { chatTarget } from './__fixtures__/target.ts'
import { openAiChat } from './index.ts'
import { ChatDecoder } from './stream.ts'

const options = { reasoning_replay: 'thinking-part', think_tags: 'none' } as const

const thinking = (text: string, more: object = {}): object => ({ type: 'thinking', thinking: text === '' ? [] : [{ type: 'text', text }], ...more })

/** The reasoning items of a streamed answer in which every part comes alone, before a call. */
const reasoningOf = (...parts: readonly object[]): InputItem[] => reasoningAt(options, parts)

function reasoningAt(at: object, parts: readonly object[]): InputItem[] {
  const decoder = new ChatDecoder({ input: [] }, chatTarget({ options: at }))
  const out: ModelEvent[] = []
  const call = { tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: '{}' } }] }
  for (const delta of [...parts.map((part) => ({ content: [part] })), call])
    decoder.push(JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null }] }), undefined, out)
  decoder.push(JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] }), undefined, out)
  decoder.push('[DONE]', undefined, out)
  checkEventBalance(out)
  const ends = out.flatMap((event) => (event.type === 'item-end' && event.key.startsWith('r') ? [event.item ?? {}] : []))
  return ends.map((fields) => ({ type: 'reasoning', summary: [], ...fields }))
}

function sentBack(reasoning: readonly InputItem[], scope: string): unknown {
  const input: InputItem[] = [
    { type: 'message', role: 'user', content: 'q' },
    ...reasoning,
    { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
  ]
  const { messages } = JSON.parse(openAiChat.encodeRequest({ input }, chatTarget({ options, scope })).body) as { messages: { content: unknown }[] }
  return messages[1]!.content
}

it('signed thoughts go back to their server block by block, as it wrote them', () => {
  const items = reasoningOf(
    thinking('Let '),
    thinking('me.', { signature: 's1' }),
    thinking('Then', { signature: 's2' }),
    thinking('', { signature: 's3' }),
  )
  expect(items.map((item) => 'signature' in item && item.signature)).toEqual(['s1', 's2', 's3'])
  expect(sentBack(items, 'acme')).toEqual([
    thinking('Let me.', { signature: 's1', closed: true }),
    thinking('Then', { signature: 's2', closed: true }),
    thinking('', { signature: 's3', closed: true }),
  ])
  expect(sentBack(items, 'other')).toBe('')
})

it('thoughts without signatures go back as one block', () => {
  expect(sentBack(reasoningOf(thinking('Let '), thinking('me.', { signature: null })), 'acme')).toEqual([thinking('Let me.', { closed: true })])
})

it('signatures that no later request contains are not kept, and open no block of their own', () => {
  const parts = [thinking('Let me.', { signature: 's1' }), thinking('', { signature: 's2' })]
  const items = reasoningAt({ ...options, reasoning_replay: 'none' }, parts)
  expect(items).toHaveLength(1)
  expect(items[0]).not.toHaveProperty('signature')
})
