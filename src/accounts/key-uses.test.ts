import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { KeyUse } from '../core/key-use.ts'
import { createKeyUses, minuteOf, type KeyUses, type KeyUsesOptions } from './key-uses.ts'

const use = (keyHash: string, at: number, secretHash = keyHash): KeyUse => ({ keyHash, secretHash, at })

/** A store in memory, which can be away or slow. */
function fakeStore() {
  const rows = new Map<string, KeyUse>()
  let gate: Promise<void> | undefined
  let isAway = false
  let writes = 0
  let writtenAt = 0
  return {
    away: (next: boolean) => void (isAway = next),
    wait: (until: Promise<void>) => void (gate = until),
    writes: () => writes,
    writtenAt: () => writtenAt,
    note: async (uses: readonly KeyUse[], at = 0) => {
      writes++
      writtenAt = at
      await gate
      if (isAway) throw new Error('away')
      for (const one of uses) if (one.at > (rows.get(one.secretHash)?.at ?? 0)) rows.set(one.secretHash, one)
    },
    of: async (hashes: readonly string[]) => [...rows.values()].filter(({ keyHash }) => hashes.includes(keyHash)),
  }
}

describe('the uses of keys', () => {
  let store: ReturnType<typeof fakeStore>
  let failures: number
  const now = 7_200_000
  const open: KeyUses[] = []
  const create = (options: Partial<KeyUsesOptions> = {}) => {
    const uses = createKeyUses({ store, now: () => now, onFailure: () => void failures++, ...options })
    open.push(uses)
    return uses
  }
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
    store = fakeStore()
    failures = 0
  })
  afterEach(async () => {
    vi.useRealTimers()
    for (const uses of open.splice(0)) await uses.close()
  })

  it('are known at once here, and written every minute, if there are any', async () => {
    const uses = create()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(store.writes()).toBe(0)
    uses.note(use('a', 60_000))
    uses.note(use('a', 120_000))
    uses.note(use('a', 60_000, 'older secret'))
    expect(await store.of(['a'])).toEqual([])
    expect(await uses.of(['a', 'b'])).toEqual([use('a', 120_000), use('a', 60_000, 'older secret')])
    await vi.advanceTimersByTimeAsync(60_000)
    expect([store.writes(), await store.of(['a'])]).toEqual([1, [use('a', 120_000), use('a', 60_000, 'older secret')]])
    expect(store.writtenAt()).toBe(now)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(store.writes()).toBe(1)
  })

  it('that another process wrote count, if they are later', async () => {
    const uses = create()
    await store.note([use('a', 180_000), use('b', 60_000)])
    uses.note(use('a', 120_000))
    uses.note(use('b', 120_000))
    expect(await uses.of(['a', 'b'])).toEqual([use('a', 180_000), use('b', 120_000)])
    await uses.flush()
    expect(await store.of(['a', 'b'])).toEqual([use('a', 180_000), use('b', 120_000)])
  })

  it('are kept while the store is away, which is reported once', async () => {
    const uses = create()
    store.away(true)
    uses.note(use('a', 60_000))
    uses.note(use('b', 60_000))
    await vi.advanceTimersByTimeAsync(120_000)
    uses.note(use('a', 180_000))
    await vi.advanceTimersByTimeAsync(60_000)
    expect([store.writes(), failures]).toEqual([3, 1])
    store.away(false)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(await store.of(['a', 'b'])).toEqual([use('a', 180_000), use('b', 60_000)])
    store.away(true)
    uses.note(use('a', 240_000))
    await vi.advanceTimersByTimeAsync(60_000)
    expect(failures).toBe(2)
  })

  it('are known while they are being written, and what comes meanwhile is written afterwards', async () => {
    const uses = create()
    const gate = Promise.withResolvers<void>()
    store.wait(gate.promise)
    uses.note(use('a', 60_000))
    const first = uses.flush()
    uses.note(use('b', 60_000))
    expect(await uses.of(['a', 'b'])).toEqual([use('a', 60_000), use('b', 60_000)])
    const second = uses.flush()
    gate.resolve()
    await Promise.all([first, second])
    expect([store.writes(), await store.of(['a', 'b'])]).toEqual([2, [use('a', 60_000), use('b', 60_000)]])
  })

  it('are written at the end, which waits for a store that hangs no longer than seconds', async () => {
    const uses = create()
    uses.note(use('a', 60_000))
    await uses.close()
    expect(await store.of(['a'])).toEqual([use('a', 60_000)])
    const hanging = create()
    const gate = Promise.withResolvers<void>()
    store.wait(gate.promise)
    hanging.note(use('b', 60_000))
    let isClosed = false
    void hanging.close().then(() => (isClosed = true))
    await vi.advanceTimersByTimeAsync(1_999)
    expect(isClosed).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(isClosed).toBe(true)
    gate.resolve()
  })
})

it('a minute begins with its first millisecond', () => {
  expect([minuteOf(60_000), minuteOf(119_999)]).toEqual([60_000, 60_000])
})
