import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { OutputItem } from '../core/item.ts'
import { manualClock } from '../lib/clock.ts'
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

const written = (...items: readonly OutputItem[]) => items.map((item) => ({ id: item.id, text: JSON.stringify(item) }))

describe('recent items', () => {
  it('are found by their id, as they were', () => {
    const { items } = cache()
    const reasoning: OutputItem = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'sb1.x.y' }
    items.remember('home', written(text('msg_1'), reasoning))
    expect(items.find('home', 'msg_1')).toEqual(text('msg_1'))
    expect(items.find('home', 'rs_1')).toEqual(reasoning)
    expect(items.find('home', 'msg_2')).toBeUndefined()
  })

  it('never cross workspaces, even under the same id', () => {
    const { items } = cache()
    items.remember('home', written(text('mcpr_1', 'ours')))
    expect(items.find('away', 'mcpr_1')).toBeUndefined()
    items.remember('away', written(text('mcpr_1', 'theirs')))
    expect(items.find('home', 'mcpr_1')).toEqual(text('mcpr_1', 'ours'))
    expect(items.find('away', 'mcpr_1')).toEqual(text('mcpr_1', 'theirs'))
  })

  it('are kept for their time and gone an eighth of it later, unless they are used', () => {
    const { items, clock } = cache()
    items.remember('home', written(text('used'), text('unused')))
    clock.advance(HOUR)
    expect(items.find('home', 'used')).toBeDefined()
    clock.advance(HOUR)
    expect(items.find('home', 'used')).toBeDefined()
    expect(items.find('home', 'unused')).toBeUndefined()
    clock.advance(HOUR + HOUR / 8)
    expect(items.find('home', 'used')).toBeDefined()
    clock.advance(HOUR + HOUR / 8 + 1)
    expect(items.find('home', 'used')).toBeUndefined()
    expect(items.stats()).toEqual({ entries: 0, chars: 0 })
  })

  it('are forgotten a few at a time: memory does not come and go with them', () => {
    const { items } = cache({ maxEntries: 1_600 })
    const sizes = Array.from({ length: 10_000 }, (_, i) => {
      items.remember('home', written(text(`msg_${i}`)))
      return items.stats().entries
    })
    expect(Math.min(...sizes.slice(1_600))).toBeGreaterThanOrEqual(1_500)
    expect(items.find('home', 'msg_8500')).toBeDefined()
    expect(items.find('home', 'msg_8399')).toBeUndefined()
  })

  it('one that takes more than half of the room is not kept, and pushes nobody out', () => {
    const { items } = cache({ maxChars: 10_000 })
    items.remember('home', written(text('small')))
    items.remember('home', written(text('giant', 'x'.repeat(10_001))))
    expect(items.find('home', 'giant')).toBeUndefined()
    expect(items.find('home', 'small')).toBeDefined()
  })

  it('stay within both bounds, and the latest are always there, whatever happens', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ id: fc.nat(30), size: fc.nat(400), find: fc.boolean(), wait: fc.nat(HOUR) }), { maxLength: 80 }), (steps) => {
        const { items, clock } = cache({ maxEntries: 10, maxChars: 4_000 })
        for (const { id, size, find, wait } of steps) {
          if (find) items.find('home', `id_${id}`)
          else {
            items.remember('home', written(text(`id_${id}`, 'x'.repeat(size))))
            expect(items.find('home', `id_${id}`)).toEqual(text(`id_${id}`, 'x'.repeat(size)))
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
