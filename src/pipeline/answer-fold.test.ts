import { describe, expect, it } from 'vitest'
import { AnswerFold } from './answer-fold.ts'

describe('the characters an estimate of an answer is made from', () => {
  it('are counted once, reasoning as well as text, calls and summaries', () => {
    const fold = new AnswerFold()
    fold.push({ type: 'item-start', key: 'r', item: { type: 'reasoning', summary: [] } })
    fold.push({ type: 'reasoning-delta', key: 'r', kind: 'text', delta: '12345' })
    expect(fold.chars).toBe(5)
    fold.push({ type: 'reasoning-delta', key: 'r', kind: 'summary', delta: '123' })
    expect(fold.chars).toBe(8)
    fold.push({ type: 'item-start', key: 'm', item: { type: 'message', role: 'assistant', content: [] } })
    fold.push({ type: 'text-delta', key: 'm', delta: '12' })
    fold.push({ type: 'item-start', key: 'c', item: { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '' } })
    fold.push({ type: 'arguments-delta', key: 'c', delta: '{}' })
    expect(fold.chars).toBe(12)
  })
})

describe('a citation', () => {
  it('stays with the text it follows, as the caller got it', () => {
    const fold = new AnswerFold()
    const annotation = { type: 'url_citation', url: 'http://u', title: 't', start_index: 0, end_index: 1 } as const
    fold.push({ type: 'item-start', key: 'm', item: { type: 'message', role: 'assistant', content: [] } })
    fold.push({ type: 'text-delta', key: 'm', delta: 'a', part: 0 })
    fold.push({ type: 'text-delta', key: 'm', delta: 'b', part: 1 })
    fold.push({ type: 'annotation', key: 'm', annotation, part: 0 })
    fold.push({ type: 'annotation', key: 'm', annotation, part: 1 })
    expect(fold.items()).toMatchObject([{ content: [{ annotations: [] }, { annotations: [annotation] }] }])
  })
})
