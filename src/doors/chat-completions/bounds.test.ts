import { describe, expect, it } from 'vitest'
import type { ModelEvent } from '../../core/event.ts'
import { manualClock, sequentialIds } from '../../testing/deterministic.ts'
import { Assembler } from '../responses/assemble.ts'
import type { AssemblerOptions } from '../responses/assembler-options.ts'
import { ChatWriter } from './chat-writer.ts'
import { chatCompletions } from './door.ts'

function assembler(stream: boolean): Assembler {
  const clock = manualClock()
  const facts = () => ({ model: 'acme/small' })
  const request = { model: 'acme/small', input: [] }
  const options: AssemblerOptions = { id: 'gen-1', request, receivedAt: clock.now(), stream, clock, newId: sequentialIds(), facts }
  return new Assembler(options, new ChatWriter(options, { usage: undefined, reasoning: true }))
}

const MANY = 150_000
const many = <T>(make: (n: number) => T): T[] => Array.from({ length: MANY }, (_, n) => make(n))
const message: ModelEvent = { type: 'item-start', key: 'm', item: { type: 'message', role: 'assistant', content: [] } }

describe('answers of any length', () => {
  const logprob = { token: 'x', logprob: -0.5, bytes: [120], top_logprobs: [] }
  const citation = { type: 'url_citation', url: 'u', title: '', start_index: 0, end_index: 1 } as const
  const LONG: { readonly [what: string]: readonly ModelEvent[] } = {
    'probabilities that come in one delta': [message, { type: 'text-delta', key: 'm', delta: 'x', logprobs: many(() => logprob) }],
    citations: [
      message,
      { type: 'text-delta', key: 'm', delta: 'x' },
      ...many((): ModelEvent => ({ type: 'annotation', key: 'm', annotation: citation })),
    ],
    'pieces of text': [message, ...many((): ModelEvent => ({ type: 'text-delta', key: 'm', delta: 'x' }))],
    'parts of thoughts': [
      { type: 'item-start', key: 'r', item: { type: 'reasoning' } },
      ...many((n): ModelEvent => ({ type: 'reasoning-delta', key: 'r', kind: 'text', delta: 'x', part: n })),
    ],
    'pieces of a call': [
      { type: 'item-start', key: 'c', item: { type: 'function_call', call_id: 'c', name: 'f', arguments: '' } },
      ...many((): ModelEvent => ({ type: 'arguments-delta', key: 'c', delta: 'x' })),
    ],
  }

  // A busy machine takes a second for each; anything that grows with the square of the length would take minutes.
  it.each(Object.entries(LONG))('are written in time linear in their %s', { timeout: 15_000 }, (_what, events) => {
    for (const stream of [true, false]) {
      const subject = assembler(stream)
      subject.push([...events, { type: 'response-end', reason: 'stop' }])
      subject.finish()
      expect((stream ? subject.takeWire() : subject.answer()).length).toBeGreaterThan(MANY)
    }
  })
})

describe('messages of any length', () => {
  it('are read, whatever one of them holds', () => {
    const images = many(() => ({ image_url: { url: 'https://acme.example/a.png' } }))
    const { body } = chatCompletions.read({ messages: [{ role: 'assistant', images }] })
    expect((body as { readonly input: readonly unknown[] }).input).toHaveLength(MANY)
  })
})
