import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { OutputItem } from '../core/item.ts'
import { manualClock } from '../lib/clock.ts'
import { RecentItems, type RecentItemsOptions } from './recent-items.ts'

const HOUR = 3_600_000

function cache(options: Partial<RecentItemsOptions> = {}) {
  const clock = manualClock()
  return { clock, items: new RecentItems({ clock, maxEntries: 100, maxBytes: 1_000_000, ttlMs: HOUR, ...options }) }
}

const text = (id: string, words = 'Hello'): OutputItem => ({
  type: 'message',
  id,
  role: 'assistant',
  content: [{ type: 'output_text', text: words }],
})

describe('recent items', () => {
  it('are found by their id, as they are', () => {
    const { items } = cache()
    const message = text('msg_1')
    items.remember('home', [message, { type: 'reasoning', id: 'rs_1', summary: [] }])
    expect(items.find('home', 'msg_1')).toBe(message)
    expect(items.find('home', 'rs_1')).toMatchObject({ type: 'reasoning' })
    expect(items.find('home', 'msg_2')).toBeUndefined()
  })
  it('never cross workspaces, even under the same id', () => {
    const { items } = cache()
    items.remember('home', [text('mcpr_1', 'ours')])
    expect(items.find('away', 'mcpr_1')).toBeUndefined()
    items.remember('away', [text('mcpr_1', 'theirs')])
    expect(items.find('home', 'mcpr_1')).toEqual(text('mcpr_1', 'ours'))
    expect(items.find('away', 'mcpr_1')).toEqual(text('mcpr_1', 'theirs'))
  })
  it('are forgotten an hour after their last use', () => {
    const { items, clock } = cache()
    items.remember('home', [text('used'), text('unused')])
    clock.advance(HOUR)
    expect(items.find('home', 'used')).toBeDefined()
    clock.advance(1)
    expect(items.find('home', 'unused')).toBeUndefined()
    expect(items.stats().entries).toBe(1)
    expect(items.find('home', 'used')).toBeDefined()
  })
  it('make room for newer ones, the least recently used first', () => {
    const { items } = cache({ maxEntries: 2 })
    items.remember('home', [text('a'), text('b')])
    items.find('home', 'a')
    items.remember('home', [text('c')])
    expect(['a', 'b', 'c'].map((id) => items.find('home', id) !== undefined)).toEqual([true, false, true])
  })
  it('are bounded in bytes: one that fills the cache pushes out the others, one that is larger is not kept', () => {
    const { items } = cache({ maxBytes: 10_000 })
    items.remember('home', [text('small')])
    items.remember('home', [text('giant', 'x'.repeat(10_001))])
    expect(items.find('home', 'giant')).toBeUndefined()
    expect(items.find('home', 'small')).toBeDefined()
    items.remember('home', [text('large', 'x'.repeat(9_500))])
    expect(items.find('home', 'large')).toBeDefined()
    expect(items.find('home', 'small')).toBeUndefined()
  })
  it.each<[string, OutputItem]>([
    ['text', text('id', 'x'.repeat(5000))],
    ['a refusal', { type: 'message', id: 'id', role: 'assistant', content: [{ type: 'refusal', refusal: 'x'.repeat(5000) }] }],
    ['a summary', { type: 'reasoning', id: 'id', summary: [{ type: 'summary_text', text: 'x'.repeat(5000) }] }],
    ['raw reasoning', { type: 'reasoning', id: 'id', content: [{ type: 'reasoning_text', text: 'x'.repeat(5000) }] }],
    ['encrypted reasoning', { type: 'reasoning', id: 'id', encrypted_content: 'x'.repeat(5000) }],
    ['arguments', { type: 'function_call', id: 'id', call_id: 'c', name: 'f', arguments: 'x'.repeat(5000) }],
    ['a custom input', { type: 'custom_tool_call', id: 'id', call_id: 'c', name: 'f', input: 'x'.repeat(5000) }],
    ['an image', { type: 'image_generation_call', id: 'id', result: 'x'.repeat(5000) }],
  ])('count the size of %s', (_name, item) => {
    const { items } = cache()
    items.remember('home', [item])
    expect(items.stats().bytes).toBeGreaterThan(5000)
    expect(items.stats().bytes).toBeLessThan(6000)
  })
  it('keep their books in order whatever happens', () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('remember' as const), id: fc.nat(12), size: fc.nat(3000) }),
      fc.record({ do: fc.constant('find' as const), id: fc.nat(12), size: fc.constant(0) }),
      fc.record({ do: fc.constant('wait' as const), id: fc.constant(0), size: fc.nat(HOUR) }),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { items, clock } = cache({ maxEntries: 5, maxBytes: 9_000 })
        for (const { do: action, id, size } of steps) {
          if (action === 'remember') items.remember('home', [text(`${id}`, 'x'.repeat(size))])
          else if (action === 'wait') clock.advance(size)
          else expect(items.find('home', `${id}`)?.id ?? `${id}`).toBe(`${id}`)
          const { entries, bytes } = items.stats()
          expect(entries).toBeLessThanOrEqual(5)
          expect(bytes).toBeLessThanOrEqual(9_000)
          expect(bytes >= entries * 400 && (entries > 0 || bytes === 0)).toBe(true)
        }
      }),
    )
  })
  it('cost well under a microsecond each', () => {
    const { items } = cache({ maxEntries: 1000 })
    const answers = Array.from({ length: 20_000 }, (_, n) => [text(`msg_${n.toString(36).padStart(24, 'a')}`)])
    for (const answer of answers) items.remember('warm', answer)
    const started = performance.now()
    for (const answer of answers) items.remember('home', answer)
    // A shared machine may be ten times slower than the few hundred nanoseconds measured alone.
    expect((performance.now() - started) / answers.length).toBeLessThan(0.01)
  })
})
