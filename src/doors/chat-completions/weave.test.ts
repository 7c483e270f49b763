import { describe, expect, it } from 'vitest'
import type { ModelEvent } from '../../core/event.ts'
import { openReasoning, sealReasoning } from '../../core/reasoning-envelope.ts'
import { manualClock, sequentialIds } from '../../testing/deterministic.ts'
import { Assembler } from '../responses/assemble.ts'
import type { AssemblerOptions } from '../responses/assembler-options.ts'
import { ChatWriter } from './chat-writer.ts'
import { chatCompletions } from './door.ts'

type Fields = { readonly [field: string]: unknown }

const says = (key: string, text: string): ModelEvent[] => [
  { type: 'item-start', key, item: { type: 'message', role: 'assistant', content: [] } },
  { type: 'text-delta', key, delta: text },
  { type: 'item-end', key },
]
const calls = (key: string): ModelEvent[] => [
  { type: 'item-start', key, item: { type: 'function_call', call_id: key, name: 'look', arguments: '' } },
  { type: 'arguments-delta', key, delta: '{}' },
  { type: 'item-end', key },
]
const thinks = (key: string): ModelEvent[] => [
  { type: 'item-start', key, item: { type: 'reasoning', summary: [] } },
  { type: 'reasoning-delta', key, kind: 'text', delta: key },
  { type: 'item-end', key, item: { signature: key, encrypted_content: sealReasoning({ format: 'acme-v1', scope: 's', signature: key, text: key }) } },
]

function messageOf(events: readonly ModelEvent[], stream: boolean): Fields {
  const clock = manualClock()
  const facts = () => ({ model: 'acme/small' })
  const options: AssemblerOptions = { id: 'gen-1', request: { input: [] }, receivedAt: clock.now(), stream, clock, newId: sequentialIds(), facts }
  const subject = new Assembler(options, new ChatWriter(options, { usage: undefined, reasoning: true }))
  subject.push([...events, { type: 'response-end', reason: 'stop' }])
  subject.finish()
  if (!stream) return (JSON.parse(subject.answer()) as { readonly choices: readonly [{ readonly message: Fields }] }).choices[0].message
  const deltas = [...subject.takeWire().matchAll(/^data: (\{.*)$/gm)].map(
    ([, chunk]) => (JSON.parse(chunk!) as { choices: readonly [{ delta: Fields }] }).choices[0].delta,
  )
  return { reasoning_details: deltas.flatMap(({ reasoning_details: pieces }) => (pieces ?? []) as readonly Fields[]) }
}

/** A short description of an item. */
const sketch = (item: Fields): string =>
  item['type'] === 'reasoning'
    ? `(${openReasoning(item['encrypted_content'] as string)?.text ?? 'plain'})`
    : String(item['call_id'] ?? (item['content'] as readonly Fields[])[0]!['text'])

function sentBack(message: Fields): string {
  const { body } = chatCompletions.read({ messages: [{ role: 'user', content: 'go' }, message] })
  return (body as { readonly input: readonly Fields[] }).input.slice(1).map(sketch).join(' ')
}

describe('reasoning that is sent back with a message', () => {
  it.each<[string, ModelEvent[], string]>([
    ['before all of it', [...thinks('t1'), ...says('m1', 'Hm.'), ...calls('c1')], '(t1) Hm. c1'],
    ['between words and a call', [...thinks('t1'), ...says('m1', 'Hm.'), ...thinks('t2'), ...calls('c1')], '(t1) Hm. (t2) c1'],
    ['between calls', [...thinks('t1'), ...calls('c1'), ...thinks('t2'), ...calls('c2'), ...calls('c3')], '(t1) c1 (t2) c2 c3'],
    [
      'between messages',
      [...thinks('t1'), ...says('m1', 'One.'), ...thinks('t2'), ...says('m2', 'Two.'), ...calls('c1'), ...thinks('t3'), ...calls('c2')],
      '(t1) One. (t2) Two. c1 (t3) c2',
    ],
    ['behind all of it', [...says('m1', 'Hm.'), ...calls('c1'), ...thinks('t1')], 'Hm. c1 (t1)'],
  ])('is put back in its place: %s', (_where, events, expected) => {
    const message = messageOf(events, false)
    expect(sentBack(message)).toBe(expected)
    // As sent by clients that keep the pieces of a stream.
    expect(sentBack({ ...message, ...messageOf(events, true) })).toBe(expected)
    // From a client that keeps only sealed pieces.
    const details = (message['reasoning_details'] as readonly Fields[]).filter(({ type }) => type === 'reasoning.encrypted')
    expect(sentBack({ ...message, reasoning: null, reasoning_details: details })).toBe(expected)
    expect(sentBack({ ...message, reasoning: null, reasoning_details: details.toReversed() })).toBe(expected)
  })

  it('keeps a place even if the client has changed the text or the calls', () => {
    const message = messageOf([...thinks('t1'), ...says('m1', 'A long one.'), ...thinks('t2'), ...calls('c1')], false)
    expect(sentBack({ ...message, content: 'A' })).toBe('(t1) A (t2) c1')
    expect(sentBack({ ...message, content: null })).toBe('(t1) (t2) c1')
    expect(sentBack({ ...message, tool_calls: null })).toBe('(t1) A long one. (t2)')
    const parts = [
      { type: 'text', text: 'A long' },
      { type: 'text', text: ' one.' },
    ]
    expect(sentBack({ ...message, content: parts })).toBe('(t1) A long (t2) c1')
  })

  it('comes first if its place is not known', () => {
    expect(
      sentBack({ role: 'assistant', content: 'Hm.', reasoning: 'Well.', tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look' } }] }),
    ).toBe('(plain) Hm. c1')
  })
})
