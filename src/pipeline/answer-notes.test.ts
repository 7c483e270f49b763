import { describe, expect, it } from 'vitest'
import type { ModelEvent, Vector } from '../core/event.ts'
import { AnswerNotes } from './answer-notes.ts'

const end: ModelEvent = { type: 'response-end', reason: 'stop' }
const text = (delta: string, more: object = {}): ModelEvent => ({ type: 'text-delta', key: 'm', delta, ...more })
function noted(...events: readonly ModelEvent[]): readonly ModelEvent[] | undefined {
  const notes = new AnswerNotes()
  for (const event of events) notes.take([event])
  return notes.whole
}

describe('an answer recorded for the cache', () => {
  it('is complete with its end', () => {
    expect(noted(text('a'))).toBeUndefined()
    expect(noted(text('a'), end)).toEqual([text('a'), end])
  })
  it('has its small pieces joined, up to a maximum size', () => {
    expect(noted(text('a'), text('b'), text('c'), end)).toEqual([text('abc'), end])
    expect(noted(text('a'.repeat(500)), text('b'.repeat(20)), end)).toHaveLength(3)
  })
  it('needs no escaping only where none of its pieces does', () => {
    expect(noted(text('a', { plain: true }), text('b', { plain: true }), end)).toEqual([text('ab', { plain: true }), end])
    expect(noted(text('a', { plain: true }), text('"', { plain: false }), end)).toEqual([text('a"', { plain: false }), end])
    expect(noted(text('"'), text('b', { plain: true }), end)).toEqual([text('"b'), end])
  })
  it('keeps apart what are different parts, kinds, items or log probabilities', () => {
    const thought = (delta: string, kind: 'text' | 'summary'): ModelEvent => ({ type: 'reasoning-delta', key: 'r', kind, delta })
    for (const events of [
      [text('a', { part: 0 }), text('b', { part: 1 })],
      [thought('a', 'text'), thought('b', 'summary')],
      [text('a'), { ...text('b'), key: 'n' } as ModelEvent],
      [text('a', { logprobs: [] }), text('b', { logprobs: [] })],
    ])
      expect(noted(...events, end)).toEqual([...events, end])
  })
  it('is dropped when it exceeds the size limit', () => {
    expect(noted(...Array.from({ length: 5 }, () => text('x'.repeat(1024 * 1024))), end)).toBeUndefined()
  })
  it('is not read beyond the size limit, because vectors may be eight million numbers', () => {
    const unread = {
      toJSON: () => {
        throw new Error('read')
      },
    } as unknown as Vector
    const long = Array.from({ length: 300_000 }, () => 0.123_456_789_012_345_6)
    expect(noted({ ...end, vectors: [long, unread] })).toBeUndefined()
    expect(noted({ ...end, vectors: ['x'.repeat(5 * 1024 * 1024), unread] })).toBeUndefined()
    expect(noted({ ...end, vectors: [[1, 2], 'AAAA'] })).toHaveLength(1)
  })
})
