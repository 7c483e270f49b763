import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { DestinationRecord } from '../core/outbox.ts'
import { sampleDestination } from '../testing/sample-records.ts'
import { fullGeneration } from '../testing/sample-generations.ts'
import { isSampled, sampleValue } from './sampling.ts'
import { createSelector, textsOf, toOutboxEntry } from './select.ts'

const full = fullGeneration()

const destination = (changes: Partial<DestinationRecord> = {}): DestinationRecord =>
  sampleDestination('d1', { workspaceId: full.generation.workspaceId, ...changes })
const accepts = (changes: Partial<DestinationRecord>): boolean => createSelector(destination(changes)).accepts(full)

describe('createSelector', () => {
  it('offers a generation to the enabled destinations of its workspace', () => {
    expect(accepts({})).toBe(true)
    expect(accepts({ enabled: false })).toBe(false)
    expect(accepts({ workspaceId: 'other' })).toBe(false)
  })

  it('keeps accepting while paused: nothing is lost', () => {
    expect(accepts({ paused: true })).toBe(true)
  })

  it('obeys the key allowlist; null means every key', () => {
    expect(accepts({ apiKeyHashes: [full.generation.keyHash] })).toBe(true)
    expect(accepts({ apiKeyHashes: ['b'.repeat(64)] })).toBe(false)
  })

  it('filters on the full event even for a destination in privacy mode', () => {
    const filterRules = { groups: [{ rules: [{ field: 'input', operator: 'contains', value: 'CANARY' }] }] }
    expect(accepts({ privacyMode: true, filterRules })).toBe(true)
  })
})

describe('toOutboxEntry', () => {
  it('keeps content only for those who may see it, and never media', () => {
    const open = toOutboxEntry(full, textsOf(full), [createSelector(destination()), createSelector(destination({ id: 'd2', privacyMode: true }))])
    expect(open.deliveries).toEqual([
      { destinationId: 'd1', withContent: true },
      { destinationId: 'd2', withContent: false },
    ])
    expect(open.content).not.toContain('base64')
    const closed = toOutboxEntry(full, textsOf(full), [createSelector(destination({ privacyMode: true }))])
    expect(closed.content).toBeUndefined()
    expect(closed.bytes).toBeLessThan(open.bytes)
    expect(toOutboxEntry(full, textsOf(full), []).deliveries).toEqual([])
  })
})

describe('sampling', () => {
  it('takes a session whole or not at all, close to the rate, and differently per destination', () => {
    const sessions = Array.from({ length: 1000 }, (_, i) => `session-${i}`)
    const taken = (id: string): boolean[] => sessions.map((s) => isSampled(id, 0.3, { ...full.generation, sessionId: s }))
    const one = taken('d1')
    const two = taken('d2')
    expect(taken('d1')).toEqual(one)
    const count = one.filter(Boolean).length
    expect(Math.abs(count - 300)).toBeLessThan(3 * Math.sqrt(1000 * 0.3 * 0.7))
    expect(one).not.toEqual(two)
    for (const s of sessions) {
      const other = { ...full.generation, id: 'gen-other', sessionId: s }
      expect(isSampled('d1', 0.3, other)).toBe(isSampled('d1', 0.3, { ...full.generation, sessionId: s }))
    }
  })

  it('adds sessions when the rate rises and takes none away', () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.string(),
        fc.double({ min: 0.0001, max: 1, noNaN: true }),
        fc.double({ min: 0.0001, max: 1, noNaN: true }),
        (id, session, a, b) => {
          const generation = { ...full.generation, sessionId: session }
          if (isSampled(id, Math.min(a, b), generation)) expect(isSampled(id, Math.max(a, b), generation)).toBe(true)
        },
      ),
    )
  })

  it('is uniform in 0..1 by a fixed formula', () => {
    expect(sampleValue('d1', 'session-9')).toBe(sampleValue('d1', 'session-9'))
    for (let i = 0; i < 100; i++) {
      const u = sampleValue('d', String(i))
      expect(u >= 0 && u < 1).toBe(true)
    }
  })
})
