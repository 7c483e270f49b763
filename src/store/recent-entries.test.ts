import { describe, expect, it } from 'vitest'
import { sampleEntry } from '../testing/sample-records.ts'
import { RecentEntries } from './recent-entries.ts'

const NOW = 1_700_000_000_000

describe('entries that wait for their first lease', () => {
  it('are returned once for each delivery, and then removed', () => {
    const recent = new RecentEntries()
    const entry = sampleEntry('gen-1', ['d1', 'd2'])
    recent.add(entry, NOW)
    expect(recent.take('gen-1')).toMatchObject({ generation: entry.generation, content: entry.content })
    expect(recent.take('gen-1')).toBeDefined()
    expect(recent.take('gen-1')).toBeUndefined()
    expect(recent.bytes).toBe(0)
  })

  it('never exceed the bound: the oldest stay, because they are needed first', () => {
    const recent = new RecentEntries(2_500)
    for (const id of ['gen-1', 'gen-2', 'gen-3']) recent.add(sampleEntry(id, ['d1']), NOW)
    expect(recent.bytes).toBe(2_000)
    expect(['gen-1', 'gen-2', 'gen-3'].map((id) => recent.take(id) !== undefined)).toEqual([true, true, false])
  })

  it('are dropped when not requested within ten seconds', () => {
    const recent = new RecentEntries(2_500)
    for (const id of ['gen-1', 'gen-2']) recent.add(sampleEntry(id, ['d1']), NOW)
    recent.add(sampleEntry('gen-3', ['d1']), NOW + 10_001)
    expect(recent.bytes).toBe(1_000)
    expect(['gen-1', 'gen-2', 'gen-3'].map((id) => recent.take(id) !== undefined)).toEqual([false, false, true])
  })

  it('are not kept without a delivery, or when they are large', () => {
    const recent = new RecentEntries()
    recent.add(sampleEntry('gen-1', []), NOW)
    recent.add(sampleEntry('gen-2', ['d1'], { bytes: 300_000 }), NOW)
    expect([recent.take('gen-1'), recent.take('gen-2'), recent.bytes]).toEqual([undefined, undefined, 0])
  })

  it('count once when they are entered again', () => {
    const recent = new RecentEntries()
    recent.add(sampleEntry('gen-1', ['d1']), NOW)
    recent.add(sampleEntry('gen-1', ['d1']), NOW)
    expect(recent.bytes).toBe(1_000)
  })
})
