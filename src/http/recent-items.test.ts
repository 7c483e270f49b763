import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { OutputItem } from '../core/item.ts'
import { manualClock } from '../testing/deterministic.ts'
import { RecentItems, type RecentItemsOptions } from './recent-items.ts'

const HOUR = 3_600_000

function cache(options: Partial<RecentItemsOptions> = {}) {
  const clock = manualClock()
  return { clock, items: new RecentItems({ clock, maxEntries: 100, maxChars: 1_000_000, ttlMs: HOUR, ...options }) }
}

const text = (id: string, words = 'Hello'): OutputItem => ({
  type: 'message',
  id,
  role: 'assistant',
  content: [{ type: 'output_text', text: words }],
})

const found = (items: RecentItems, workspaceId: string, id: string): unknown => {
  const json = items.find(workspaceId, id)
  return json && JSON.parse(json)
}

const written = (...items: readonly OutputItem[]) => items.map((item) => ({ id: item.id, text: JSON.stringify(item) }))

describe('recent items', () => {
  it('are found by their id, as they were', () => {
    const { items } = cache()
    const reasoning: OutputItem = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'sb1.x.y' }
    items.remember('home', written(text('msg_1'), reasoning))
    expect(found(items, 'home', 'msg_1')).toEqual(text('msg_1'))
    expect(found(items, 'home', 'rs_1')).toEqual(reasoning)
    expect(found(items, 'home', 'msg_2')).toBeUndefined()
  })

  it('never cross workspaces, even under the same id', () => {
    const { items } = cache()
    items.remember('home', written(text('mcpr_1', 'ours')))
    expect(found(items, 'away', 'mcpr_1')).toBeUndefined()
    items.remember('away', written(text('mcpr_1', 'theirs')))
    expect(found(items, 'home', 'mcpr_1')).toEqual(text('mcpr_1', 'ours'))
    expect(found(items, 'away', 'mcpr_1')).toEqual(text('mcpr_1', 'theirs'))
  })

  it('are kept for their lifetime and gone at most an eighth of it later, unless they are used', () => {
    const { items, clock } = cache()
    items.remember('home', written(text('used'), text('unused')))
    clock.advance(HOUR)
    expect(found(items, 'home', 'used')).toBeDefined()
    clock.advance(HOUR)
    expect(found(items, 'home', 'used')).toBeDefined()
    expect(found(items, 'home', 'unused')).toBeUndefined()
    clock.advance(HOUR + HOUR / 8)
    expect(found(items, 'home', 'used')).toBeDefined()
    clock.advance(HOUR + HOUR / 8 + 1)
    expect(found(items, 'home', 'used')).toBeUndefined()
    expect(items.stats()).toEqual({ entries: 0, chars: 0 })
  })

  it('are forgotten a few at a time, so that memory stays even', () => {
    const { items } = cache({ maxEntries: 1_600 })
    const sizes = Array.from({ length: 10_000 }, (_, i) => {
      items.remember('home', written(text(`msg_${i}`)))
      return items.stats().entries
    })
    expect(Math.min(...sizes.slice(1_600))).toBeGreaterThanOrEqual(1_500)
    expect(found(items, 'home', 'msg_8500')).toBeDefined()
    expect(found(items, 'home', 'msg_8399')).toBeUndefined()
  })

  it('larger than half of the bound are not kept, and evict no others', () => {
    const { items } = cache({ maxChars: 10_000 })
    items.remember('home', written(text('small')))
    items.remember('home', written(text('giant', 'x'.repeat(10_001))))
    expect(found(items, 'home', 'giant')).toBeUndefined()
    expect(found(items, 'home', 'small')).toBeDefined()
  })

  it('stay within both bounds, and the latest are always there, whatever happens', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ id: fc.nat(30), size: fc.nat(400), find: fc.boolean(), wait: fc.nat(HOUR) }), { maxLength: 80 }), (steps) => {
        const { items, clock } = cache({ maxEntries: 10, maxChars: 4_000 })
        for (const { id, size, find, wait } of steps) {
          if (find) found(items, 'home', `id_${id}`)
          else {
            items.remember('home', written(text(`id_${id}`, 'x'.repeat(size))))
            expect(found(items, 'home', `id_${id}`)).toEqual(text(`id_${id}`, 'x'.repeat(size)))
          }
          clock.advance(wait / 10)
          const { entries, chars } = items.stats()
          expect(entries).toBeLessThanOrEqual(10)
          expect(chars).toBeLessThanOrEqual(4_000)
          expect(chars).toBeGreaterThanOrEqual(0)
        }
      }),
    )
  })
})
