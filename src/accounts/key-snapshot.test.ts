import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { KeyUse } from '../core/key-use.ts'
import { DEFAULT_WORKSPACE_ID, type ApiKey, type Store } from '../core/store.ts'
import { systemClock } from '../lib/clock.ts'
import { Secret } from '../lib/secret.ts'
import { createStore } from '../store/index.ts'
import { sampleKey, sampleWorkspace } from '../testing/sample-records.ts'
import { hashKey } from './api-key.ts'
import { environmentKeys } from './bootstrap.ts'
import { createKeySnapshot, type KeySnapshot, type KeySnapshotOptions, type SnapshotEvent } from './key-snapshot.ts'
import { createLastKnownGood } from './last-known-good.ts'
import { verifies } from '../../e2e/requirements.ts'

const SECRET = 'sk-sb-v1-the-key-itself'
const keyOf = (overrides: Partial<ApiKey> = {}) => sampleKey(hashKey(SECRET), { name: 'laptop', creatorUserId: 'user-1', ...overrides })
const UNAVAILABLE = expect.objectContaining({ errorType: 'provider_overloaded', status: 503 })

/** Wraps a store so that its database can fail, hang and recover. */
function breakable(store: Store) {
  let fault: 'none' | 'fails' | 'hangs' = 'none'
  let calls = 0
  const through = <T>(work: () => Promise<T>): Promise<T> => {
    calls++
    if (fault === 'hangs') return new Promise(() => undefined)
    return fault === 'fails' ? Promise.reject(new Error('connection refused')) : work()
  }
  return {
    set: (next: typeof fault) => void (fault = next),
    isAway: () => fault !== 'none',
    calls: () => calls,
    version: () => through(() => store.version()),
    keys: {
      list: (...args: Parameters<Store['keys']['list']>) => through(() => store.keys.list(...args)),
      revokedBefore: (at: number) => through(() => store.keys.revokedBefore(at)),
      changedSince: (...args: Parameters<Store['keys']['changedSince']>) => through(() => store.keys.changedSince(...args)),
    },
    workspaces: { list: () => through(() => store.workspaces.list()) },
  }
}

/** As after very many changes: all keys have to be read. */
const untold: Store['keys']['changedSince'] = () => Promise.resolve(undefined)

describe('the key snapshot', () => {
  let store: Store
  let database: ReturnType<typeof breakable>
  let folder: string
  let events: SnapshotEvent[]
  const open: KeySnapshot[] = []
  const createSnapshot = (options: Partial<KeySnapshotOptions> = {}) => {
    const snapshot = createKeySnapshot({ store: database, clock: systemClock, onEvent: (event) => void events.push(event), ...options })
    open.push(snapshot)
    return snapshot
  }
  const attempt = (snapshot: KeySnapshot, bearer = SECRET) => {
    try {
      const result = snapshot.authenticate(bearer)
      return result.ok ? 'ok' : result.reason
    } catch (error) {
      return error
    }
  }
  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] })
    store = await createStore({ path: ':memory:' })
    await store.migrate()
    await store.workspaces.default()
    database = breakable(store)
    folder = await mkdtemp(join(tmpdir(), 'signalbox-snapshot-'))
    events = []
  })
  afterEach(async () => {
    for (const snapshot of open.splice(0)) await snapshot.close()
    vi.useRealTimers()
    await store.close()
    await rm(folder, { recursive: true })
  })

  it('reports once that the secret key was replaced', async () => {
    let isOutdated = false
    const snapshot = createSnapshot({ isSecretKeyOutdated: () => Promise.resolve(isOutdated) })
    await snapshot.start()
    isOutdated = true
    for (const hash of ['one', 'two']) {
      await store.keys.insert(sampleKey(hash))
      await snapshot.refresh()
    }
    expect(events).toEqual([{ type: 'secret-key-outdated' }])
    expect(snapshot.stats().secretKeyOutdated).toBe(true)
  })

  it('knows the workspace of every key, also if both are made while the keys are read', async () => {
    const list: Store['keys']['list'] = async (filter) => {
      await new Promise((resolve) => setImmediate(resolve))
      await store.workspaces.insert(sampleWorkspace('w2'))
      await store.keys.insert(keyOf({ workspaceId: 'w2' }))
      return store.keys.list(filter)
    }
    const snapshot = createSnapshot({ store: { ...database, keys: { ...database.keys, list } } })
    await snapshot.start()
    expect([attempt(snapshot), snapshot.workspace('w2')?.id]).toEqual(['ok', 'w2'])
  })

  it('knows the owner of a key', async () => {
    await store.keys.insert(keyOf())
    const snapshot = createSnapshot()
    await snapshot.start()
    expect(snapshot.authenticate(SECRET)).toEqual({
      ok: true,
      key: keyOf(),
      owner: { workspaceId: keyOf().workspaceId, keyHash: hashKey(SECRET), keyName: 'laptop', keyLabel: keyOf().label, userId: 'user-1' },
    })
    expect(snapshot.workspace(keyOf().workspaceId)).toMatchObject({ slug: 'default' })
    expect(snapshot.stats()).toMatchObject({ source: 'database', keys: 1, workspaces: 1, failing: false, contactAgeMs: 0 })
  })

  it('reports the use of a key once a minute, also after keys were read again, and no use of one that is refused', async () => {
    vi.setSystemTime(Date.UTC(2026, 0, 1, 12, 0, 30))
    await store.keys.insert(keyOf())
    await store.keys.insert(sampleKey(hashKey('off'), { disabled: true }))
    const uses: string[] = []
    const onUse = ({ keyHash, secretHash, at }: KeyUse) => void uses.push(`${keyHash === secretHash} ${new Date(at).toISOString()}`)
    const snapshot = createSnapshot({ onUse })
    await snapshot.start()
    for (const bearer of [SECRET, SECRET, 'off', 'nobody']) attempt(snapshot, bearer)
    await store.keys.update(hashKey(SECRET), { name: 'renamed' })
    await snapshot.refresh()
    vi.advanceTimersByTime(29_999)
    attempt(snapshot)
    expect(uses).toEqual(['true 2026-01-01T12:00:00.000Z'])
    vi.advanceTimersByTime(1)
    attempt(snapshot)
    expect(uses.slice(1)).toEqual(['true 2026-01-01T12:01:00.000Z'])
    vi.setSystemTime(Date.now() - 3_600_000)
    attempt(snapshot)
    expect(uses.slice(2)).toEqual(['true 2026-01-01T11:01:00.000Z'])
  })

  it.each([
    ['missing', {}, ''],
    ['unknown', {}, 'sk-sb-v1-another'],
    ['unknown', {}, hashKey(SECRET)],
    ['unknown', {}, `${SECRET} `],
    ['unknown', {}, 'x'.repeat(100_000)],
    ['revoked', { revokedAt: 1, disabled: true }, SECRET],
    ['disabled', { disabled: true }, SECRET],
    ['expired', { expiresAt: 1 }, SECRET],
  ] as const)('says %s when the key is %j', async (reason, overrides, bearer) => {
    await store.keys.insert(keyOf(overrides))
    const snapshot = createSnapshot()
    await snapshot.start()
    expect(attempt(snapshot, bearer)).toBe(reason)
  })

  it('accepts every secret of a rotated key until it ends, as the same key', async () => {
    vi.setSystemTime(Date.UTC(2026, 0, 1))
    const [now, NEW] = [Date.now(), 'sk-sb-v1-the-new-secret']
    const secrets = [
      { hash: hashKey(SECRET), label: 'old...one', endsAt: now + 60_000 },
      { hash: hashKey('ended'), label: 'ended...one', endsAt: 0 },
      { hash: hashKey(NEW), label: 'new...one', endsAt: null },
    ]
    await store.keys.insert(keyOf({ secrets, label: 'new...one' }))
    const uses: KeyUse[] = []
    const snapshot = createSnapshot({ onUse: (use) => void uses.push(use) })
    await snapshot.start()
    expect([SECRET, 'ended', NEW].map((bearer) => attempt(snapshot, bearer))).toEqual(['ok', 'replaced', 'ok'])
    const ownerOf = (bearer: string) => (snapshot.authenticate(bearer) as { readonly owner: object }).owner
    expect(ownerOf(SECRET)).toMatchObject({ keyHash: hashKey(SECRET), keyLabel: 'old...one' })
    expect(ownerOf(SECRET)).not.toHaveProperty('secretHash')
    expect(ownerOf(NEW)).toMatchObject({ keyHash: hashKey(SECRET), keyLabel: 'new...one', secretHash: hashKey(NEW) })
    expect(uses).toEqual([SECRET, NEW].map((bearer) => ({ keyHash: hashKey(SECRET), secretHash: hashKey(bearer), at: now })))
    expect([snapshot.key(hashKey(SECRET))?.name, snapshot.key(hashKey(NEW))]).toEqual(['laptop', undefined])
    vi.setSystemTime(now + 60_000)
    expect([SECRET, NEW].map((bearer) => attempt(snapshot, bearer))).toEqual(['replaced', 'ok'])
    expect([SECRET, NEW].map((bearer) => snapshot.ended(hashKey(bearer)))).toEqual(['replaced', undefined])
    await store.keys.update(hashKey(SECRET), { revokedAt: Date.now() })
    await snapshot.refresh()
    expect([SECRET, NEW].map((bearer) => attempt(snapshot, bearer))).toEqual(['revoked', 'revoked'])
    vi.setSystemTime(now + 1_000_000)
    await store.keys.insert(sampleKey(hashKey('another')))
    await snapshot.refresh()
    const fresh = createSnapshot()
    await fresh.start()
    for (const one of [snapshot, fresh]) expect([SECRET, NEW].map((bearer) => attempt(one, bearer))).toEqual(['revoked', 'revoked'])
  })

  it('refuses a secret that its key no longer has, as soon as a change is applied', async () => {
    await store.keys.insert(keyOf())
    const snapshot = createSnapshot()
    await snapshot.start()
    const secret = (bearer: string, endsAt: number | null) => ({ hash: hashKey(bearer), label: bearer, endsAt })
    snapshot.apply(keyOf({ secrets: [secret(SECRET, 0), secret('second', null)] }))
    snapshot.apply(keyOf({ secrets: [secret(SECRET, 0), secret('third', null)] }))
    expect([SECRET, 'second', 'third'].map((bearer) => attempt(snapshot, bearer))).toEqual(['replaced', 'revoked', 'ok'])
  })

  it('keeps only the revocation of a key that was revoked long ago', async () => {
    const others = Array.from({ length: 3 }, (_, n) => keyOf({ hash: hashKey(`other ${n}`), revokedAt: Date.now() - 400_000 }))
    for (const key of [keyOf({ revokedAt: Date.now() }), ...others]) await store.keys.insert(key)
    const snapshot = createSnapshot()
    await snapshot.start()
    expect([SECRET, 'other 0', 'other 2'].map((bearer) => attempt(snapshot, bearer))).toEqual(['revoked', 'revoked', 'revoked'])
    // A request that arrived with the key a moment ago still finds its limits.
    expect(snapshot.key(hashKey(SECRET))).toMatchObject({ name: 'laptop' })
    expect(snapshot.key(hashKey('other 0'))).toBeUndefined()
    expect(snapshot.stats().keys).toBe(4)
  })

  it('reads keys revoked long ago only once, and forgets none of them', async () => {
    const [old, live] = [keyOf({ hash: hashKey('old'), revokedAt: 5 }), keyOf()]
    for (const key of [old, live]) await store.keys.insert(key)
    const lists: (readonly string[])[] = []
    let hashes = 0
    const snapshot = createSnapshot({
      store: {
        ...database,
        keys: {
          list: async (filter) => {
            const list = await store.keys.list(filter)
            lists.push(list.map(({ name }) => name))
            return list
          },
          revokedBefore: async (at) => (hashes++, store.keys.revokedBefore(at)),
          changedSince: untold,
        },
      },
    })
    await snapshot.start()
    await store.keys.insert(keyOf({ hash: hashKey('another'), name: 'another' }))
    await snapshot.refresh()
    expect([lists, hashes]).toEqual([[['laptop'], ['laptop', 'another']], 1])
    // Revoked by another process, minutes before this one notices.
    await store.keys.update(live.hash, { revokedAt: 6 })
    await snapshot.refresh()
    expect([SECRET, 'old', 'another'].map((bearer) => attempt(snapshot, bearer))).toEqual(['revoked', 'revoked', 'ok'])
    expect([SECRET, 'old', 'another', 'nobody'].map((bearer) => snapshot.ended(hashKey(bearer)))).toEqual([
      'revoked',
      'revoked',
      undefined,
      undefined,
    ])
    await store.keys.update(live.hash, { revokedAt: null })
    await snapshot.refresh()
    expect(attempt(snapshot)).toBe('ok')
  })

  it(verifies('F6', 'lets a key expire to the millisecond, without a query'), async () => {
    await store.keys.insert(keyOf({ expiresAt: Date.now() + 1_000 }))
    const snapshot = createSnapshot()
    await snapshot.start()
    vi.setSystemTime(Date.now() + 999)
    expect([attempt(snapshot), snapshot.ended(hashKey(SECRET))]).toEqual(['ok', undefined])
    vi.setSystemTime(Date.now() + 1)
    expect([attempt(snapshot), snapshot.ended(hashKey(SECRET))]).toEqual(['expired', 'expired'])
  })

  it('asks the database nothing when it authenticates', async () => {
    const snapshot = createSnapshot()
    await snapshot.start()
    const before = database.calls()
    for (let i = 0; i < 1_000; i++) attempt(snapshot, `key-${i}`)
    expect(database.calls()).toBe(before)
  })

  describe('follows', () => {
    it('a change of another process within two seconds, reading only the version in between', async () => {
      await store.keys.insert(keyOf())
      const snapshot = createSnapshot()
      await snapshot.start()
      const before = database.calls()
      await vi.advanceTimersByTimeAsync(10_000)
      expect(database.calls() - before).toBe(5)
      await store.keys.update(hashKey(SECRET), { revokedAt: Date.now() })
      await vi.advanceTimersByTimeAsync(2_000)
      expect(attempt(snapshot)).toBe('revoked')
    })

    describe.each(['all keys', 'changed keys'] as const)('while keys are changed in this process and %s are read', (what) => {
      const OTHER = 'sk-sb-v1-another'
      const other = (overrides: Partial<ApiKey> = {}) => sampleKey(hashKey(OTHER), { name: 'another', ...overrides })
      let lists = 0
      /** A snapshot in whose process `meanwhile` runs during each read of the keys. */
      const during = async (meanwhile: (snapshot: KeySnapshot) => Promise<void> | void): Promise<KeySnapshot> => {
        lists = 0
        for (const key of [keyOf(), other()]) await store.keys.insert(key)
        let isOn = false
        const snapshot: KeySnapshot = createSnapshot({
          store: {
            ...database,
            keys: {
              ...database.keys,
              // Bounded, because an endless loop would hang the test instead of failing it.
              list: async (...args) => {
                const list = await store.keys.list(...args)
                if (isOn && ++lists < 50) await meanwhile(snapshot)
                return list
              },
              changedSince: async (...args) => {
                if (what === 'all keys') return undefined
                const changes = await store.keys.changedSince(...args)
                if (isOn && ++lists < 50) await meanwhile(snapshot)
                return changes
              },
            },
          },
        })
        await snapshot.start()
        isOn = true
        return snapshot
      }

      it(verifies('F6', 'a revocation by another, however often they change'), async () => {
        const snapshot = await during((one) => one.apply(other({ name: `name ${lists}`, updatedAt: Date.now() })))
        await store.keys.update(hashKey(SECRET), { revokedAt: Date.now() })
        await snapshot.refresh()
        expect([attempt(snapshot), lists]).toEqual(['revoked', 1])
      })

      it('changes in this process since the read began, until they are read', async () => {
        const changed = other({ disabled: true, updatedAt: Date.now() + 1 })
        const snapshot = await during(async (one) => {
          if (lists > 1) return
          one.apply(changed)
          await store.keys.update(changed.hash, { disabled: true, updatedAt: changed.updatedAt })
        })
        await store.keys.update(hashKey(SECRET), { name: 'anything' })
        await snapshot.refresh()
        expect(attempt(snapshot, OTHER)).toBe('disabled')
        await snapshot.refresh()
        expect([attempt(snapshot, OTHER), snapshot.stats().version]).toEqual(['disabled', await store.version()])
      })

      it(verifies('F6', 'a revocation that was read, whatever is changed in this process'), async () => {
        const snapshot = await during((one) => one.apply(other({ name: 'renamed', updatedAt: Date.now() })))
        await store.keys.update(other().hash, { revokedAt: Date.now() })
        await snapshot.refresh()
        expect(attempt(snapshot, OTHER)).toBe('revoked')
      })
    })

    it(verifies('F6', 'a revocation within five seconds even if one poll is lost'), async () => {
      await store.keys.insert(keyOf())
      const snapshot = createSnapshot()
      await snapshot.start()
      await store.keys.update(hashKey(SECRET), { revokedAt: Date.now() })
      database.set('hangs')
      await vi.advanceTimersByTimeAsync(2_500)
      database.set('none')
      await vi.advanceTimersByTimeAsync(2_490)
      expect(attempt(snapshot)).toBe('revoked')
    })

    it('a change of this process at once', async () => {
      await store.keys.insert(keyOf())
      const snapshot = createSnapshot()
      await snapshot.start()
      snapshot.apply(keyOf({ revokedAt: Date.now() }))
      expect(attempt(snapshot)).toBe('revoked')
    })

    it('a change of this process even while an older list is on its way', async () => {
      await store.keys.insert(keyOf())
      let release: () => void = () => undefined
      const held = new Promise<void>((resolve) => (release = resolve))
      let lists = 0
      const slow = {
        ...database,
        keys: {
          ...database.keys,
          list: async () => {
            const list = await store.keys.list()
            if (++lists === 1) await held
            return list
          },
          changedSince: untold,
        },
      }
      const snapshot = createSnapshot({ store: slow })
      const started = snapshot.start()
      await vi.advanceTimersByTimeAsync(10)
      const revoked = await store.keys.update(hashKey(SECRET), { revokedAt: Date.now() })
      if (revoked) snapshot.apply(revoked)
      release()
      await started
      expect(attempt(snapshot)).toBe('revoked')
      await snapshot.refresh()
      expect(attempt(snapshot)).toBe('revoked')
      expect(lists).toBeGreaterThan(1)
    })
  })

  describe('reads only the keys that changed', () => {
    let read: (readonly string[])[]
    const started = async (...all: readonly ApiKey[]): Promise<KeySnapshot> => {
      for (const key of all) await store.keys.insert(key)
      read = []
      const list: Store['keys']['list'] = async (...args) => {
        const keys = await store.keys.list(...args)
        read.push(keys.map(({ name }) => name))
        return keys
      }
      const changedSince: Store['keys']['changedSince'] = async (...args) => {
        const changes = await store.keys.changedSince(...args)
        if (changes !== undefined) read.push(changes.keys.map(({ name }) => name))
        return changes
      }
      const snapshot = createSnapshot({
        store: { ...database, keys: { ...database.keys, list, changedSince } },
        lastKnownGood: createLastKnownGood(join(folder, 'known.json')),
      })
      await snapshot.start()
      read = []
      return snapshot
    }
    const other = (n: number, overrides: Partial<ApiKey> = {}) => sampleKey(hashKey(`other ${n}`), { name: `other ${n}`, ...overrides })

    it('when one is made, changed, revoked, deleted or rotated, whatever else changes', async () => {
      const snapshot = await started(keyOf(), other(1), other(2))
      await store.keys.insert(other(3))
      await snapshot.refresh()
      await store.keys.update(other(1).hash, { revokedAt: Date.now() })
      await store.guardrails.insert({
        id: 'g',
        workspaceId: DEFAULT_WORKSPACE_ID,
        name: 'g',
        description: null,
        rules: {},
        createdAt: 1,
        updatedAt: null,
      })
      await snapshot.refresh()
      await store.keys.remove(other(2).hash)
      await snapshot.refresh()
      await store.keys.modify(keyOf().hash, () => ({ secrets: [{ hash: hashKey('new'), label: 'new...one', endsAt: null }] }))
      await snapshot.refresh()
      expect(read).toEqual([['other 3'], ['other 1'], [], ['laptop']])
      expect([SECRET, 'new', 'other 1', 'other 2', 'other 3', 'nobody'].map((bearer) => attempt(snapshot, bearer))).toEqual([
        'revoked',
        'ok',
        'revoked',
        'revoked',
        'ok',
        'unknown',
      ])
      await snapshot.close()
      const restored = createSnapshot({ lastKnownGood: createLastKnownGood(join(folder, 'known.json')) })
      await restored.restore()
      expect([SECRET, 'new', 'other 1', 'other 2', 'other 3'].map((bearer) => attempt(restored, bearer))).toEqual([
        'revoked',
        'ok',
        'revoked',
        'revoked',
        'ok',
      ])
    })

    it('and knows what their workspaces are now, in new owners', async () => {
      await store.workspaces.insert(sampleWorkspace('w2'))
      const snapshot = await started(keyOf({ workspaceId: 'w2' }), other(1))
      const ownerOf = (bearer: string) => {
        const found = snapshot.authenticate(bearer)
        return found.ok ? found.owner : undefined
      }
      const before = [ownerOf(SECRET), ownerOf('other 1')]
      await store.workspaces.update('w2', { name: 'renamed' })
      await snapshot.refresh()
      expect([read, snapshot.workspace('w2')?.name, ownerOf(SECRET) === before[0], ownerOf('other 1') === before[1]]).toEqual([
        [[]],
        'renamed',
        false,
        true,
      ])
      await store.workspaces.remove('w2')
      await snapshot.refresh()
      expect([read.slice(1), attempt(snapshot), attempt(snapshot, 'other 1')]).toEqual([[['other 1']], 'revoked', 'ok'])
    })

    it('and keeps only the revocation of those revoked long ago', async () => {
      vi.setSystemTime(Date.UTC(2026, 0, 1))
      const snapshot = await started(keyOf(), other(1))
      await store.keys.update(keyOf().hash, { revokedAt: Date.now() })
      await snapshot.refresh()
      expect(snapshot.key(keyOf().hash)).toBeDefined()
      vi.setSystemTime(Date.now() + 300_001)
      await store.keys.update(other(1).hash, { name: 'renamed' })
      await snapshot.refresh()
      expect([snapshot.key(keyOf().hash), attempt(snapshot)]).toEqual([undefined, 'revoked'])
    })
  })

  it('waits for all keys of a large installation as long as they arrive', async () => {
    await store.keys.insert(keyOf())
    let silent = false
    const list: Store['keys']['list'] = async (filter, onStep) => {
      for (let step = 0; step < 5; step++) {
        await new Promise((resolve) => setTimeout(resolve, silent ? 11_000 : 9_000))
        onStep?.()
      }
      return store.keys.list(filter)
    }
    const snapshot = createSnapshot({ store: { ...database, keys: { ...database.keys, list } } })
    const started = snapshot.start()
    const pass = async (ms: number) => {
      for (let at = 0; at < ms; at += 1_000) {
        await new Promise(setImmediate)
        await vi.advanceTimersByTimeAsync(1_000)
      }
    }
    await pass(50_000)
    await started
    expect([attempt(snapshot), events]).toEqual(['ok', []])
    silent = true
    const another = createSnapshot({ store: { ...database, keys: { ...database.keys, list } }, timing: { failedPollMs: 3_600_000 } })
    const refused = another.start().catch((error: unknown) => error)
    await pass(12_000)
    expect(await refused).toEqual(UNAVAILABLE)
  })

  it('waits for all workspaces of a large installation as long as they arrive, with all keys and with one that changed', async () => {
    await store.keys.insert(keyOf())
    const list: Store['workspaces']['list'] = async (onStep) => {
      for (let step = 0; step < 2; step++) {
        await new Promise((resolve) => setTimeout(resolve, 9_000))
        onStep?.()
      }
      return store.workspaces.list()
    }
    const snapshot = createSnapshot({ store: { ...database, workspaces: { list } }, timing: { pollMs: 3_600_000 } })
    const arriving = async (reading: Promise<void>) => {
      for (let at = 0; at < 20_000; at += 1_000) {
        await new Promise(setImmediate)
        await vi.advanceTimersByTimeAsync(1_000)
      }
      await reading
    }
    await arriving(snapshot.start())
    expect(attempt(snapshot)).toBe('ok')
    await store.keys.update(keyOf().hash, { disabled: true })
    await arriving(snapshot.refresh())
    expect([attempt(snapshot), events]).toEqual(['disabled', []])
  })

  it('does not prefer a change of its own for long over a later one of another process that the database reported earlier', async () => {
    await store.keys.insert(keyOf())
    const snapshot = createSnapshot()
    await snapshot.start()
    const renamed = (await store.keys.update(hashKey(SECRET), { name: 'renamed' }))!
    await store.keys.update(hashKey(SECRET), { revokedAt: Date.now() })
    await snapshot.refresh()
    expect(attempt(snapshot)).toBe('revoked')
    snapshot.apply(renamed)
    await snapshot.refresh()
    expect(attempt(snapshot)).toBe('revoked')
  })

  describe('a key it does not know', () => {
    it('is looked for once more, and found when another process made it a moment ago', async () => {
      const snapshot = createSnapshot()
      await snapshot.start()
      await store.keys.insert(keyOf())
      expect(attempt(snapshot)).toBe('unknown')
      await snapshot.lookAgain()
      expect(attempt(snapshot)).toBe('ok')
    })

    it('shares a lookup with all other unknown keys of that moment, so that a thousand cause few queries', async () => {
      const snapshot = createSnapshot()
      await snapshot.start()
      const before = database.calls()
      const looks = Array.from({ length: 1_000 }, () => snapshot.lookAgain())
      expect(new Set(looks).size).toBe(1)
      await looks[0]
      expect(database.calls() - before).toBe(1)
      for (let n = 0; n < 1_000; n++) {
        await snapshot.lookAgain()
        await vi.advanceTimersByTimeAsync(1)
      }
      // Ten in the past second; the second look at the interval of two seconds has not come yet.
      expect(database.calls() - before).toBeLessThanOrEqual(11)
      expect(database.calls() - before).toBeGreaterThanOrEqual(10)
    })

    it('is not looked up while the database is down, or was never reachable', async () => {
      const snapshot = createSnapshot()
      expect(snapshot.lookAgain()).toBeUndefined()
      await snapshot.start()
      database.set('fails')
      await expect(snapshot.lookAgain()).rejects.toEqual(UNAVAILABLE)
      const before = database.calls()
      await vi.advanceTimersByTimeAsync(500)
      expect(snapshot.lookAgain()).toBeUndefined()
      expect(database.calls()).toBe(before)
    })

    it('cannot be checked when the database does not answer within half a second', async () => {
      const snapshot = createSnapshot()
      await snapshot.start()
      database.set('hangs')
      let outcome: unknown
      snapshot.lookAgain()!.catch((error: unknown) => (outcome = error))
      await vi.advanceTimersByTimeAsync(499)
      expect(outcome).toBeUndefined()
      await vi.advanceTimersByTimeAsync(1)
      expect(outcome).toEqual(UNAVAILABLE)
      // Lets the look itself end.
      await vi.advanceTimersByTimeAsync(1_000)
    })
  })

  describe('when the database goes away', () => {
    it(verifies('P6', 'I1', 'keeps known keys in force, says so once, and recovers by itself'), async () => {
      await store.keys.insert(keyOf())
      const snapshot = createSnapshot()
      await snapshot.start()
      database.set('fails')
      await vi.advanceTimersByTimeAsync(60_000)
      expect(attempt(snapshot)).toBe('ok')
      expect(snapshot.stats()).toMatchObject({ failing: true, contactAgeMs: 60_000 })
      await store.keys.update(hashKey(SECRET), { disabled: true })
      database.set('none')
      await vi.advanceTimersByTimeAsync(1_000)
      expect(attempt(snapshot)).toBe('disabled')
      expect(events.map(({ type }) => type)).toEqual(['database-lost', 'database-back'])
    })

    it.each(['fails', 'hangs'] as const)(verifies('P6', 'I1', 'and %s, never rejects a key that it cannot look up'), async (fault) => {
      const snapshot = createSnapshot()
      await snapshot.start()
      expect(attempt(snapshot)).toBe('unknown')
      database.set(fault)
      await vi.advanceTimersByTimeAsync(20_000)
      expect(attempt(snapshot)).toEqual(UNAVAILABLE)
      expect(attempt(snapshot, '')).toBe('missing')
      database.set('none')
      await vi.advanceTimersByTimeAsync(3_000)
      expect(attempt(snapshot)).toBe('unknown')
    })

    it('reads again after an outage even with an unchanged version, because a failover server may lack the last change', async () => {
      await store.keys.insert(keyOf())
      const snapshot = createSnapshot()
      await snapshot.start()
      database.set('fails')
      await vi.advanceTimersByTimeAsync(2_000)
      await store.keys.update(keyOf().hash, { disabled: true })
      database.version = () => (database.isAway() ? Promise.reject(new Error('connection refused')) : Promise.resolve(snapshot.stats().version!))
      database.set('none')
      await vi.advanceTimersByTimeAsync(1_000)
      expect(attempt(snapshot)).toBe('disabled')
    })

    it('rejects a refresh, and the next one works', async () => {
      const snapshot = createSnapshot()
      await snapshot.start()
      database.set('fails')
      await expect(snapshot.refresh()).rejects.toThrow('connection refused')
      database.set('none')
      await expect(snapshot.refresh()).resolves.toBeUndefined()
    })
  })

  describe('without the database at the start', () => {
    const file = () => join(folder, 'last-known-good.json')

    it('is empty, says so, and rejects no key', async () => {
      database.set('fails')
      const snapshot = createSnapshot({ lastKnownGood: createLastKnownGood(file()) })
      await expect(snapshot.start()).rejects.toThrow('connection refused')
      expect(await snapshot.restore()).toBe(false)
      expect(attempt(snapshot)).toEqual(UNAVAILABLE)
      await store.keys.insert(keyOf())
      database.set('none')
      await vi.advanceTimersByTimeAsync(1_000)
      expect(attempt(snapshot)).toBe('ok')
    })

    it('serves from the file of the last run, which contains no key and is readable by its owner alone', async () => {
      await store.keys.insert(keyOf())
      const first = createSnapshot({ lastKnownGood: createLastKnownGood(file()) })
      await first.start()
      await first.close()
      expect((await stat(file())).mode & 0o777).toBe(0o600)
      expect(await readFile(file(), 'utf8')).not.toContain(SECRET)

      database.set('fails')
      const second = createSnapshot({ lastKnownGood: createLastKnownGood(file()) })
      expect(await second.restore()).toBe(true)
      expect(attempt(second)).toBe('ok')
      expect(attempt(second, 'sk-sb-v1-made-since')).toEqual(UNAVAILABLE)
      expect(second.stats().source).toBe('file')
    })

    it.each(['', '{', '[]', '{"format":2}', '{"format":1,"version":1,"keys":[1],"workspaces":[]}'])(
      'ignores a file that contains %j',
      async (text) => {
        await writeFile(file(), text)
        const snapshot = createSnapshot({ lastKnownGood: createLastKnownGood(file()) })
        expect(await snapshot.restore()).toBe(false)
      },
    )

    it('serves the keys of the environment, and no longer those of an earlier one', async () => {
      const earlier = keyOf({ hash: hashKey('earlier'), origin: 'environment' })
      await createLastKnownGood(file()).write({ version: 7, keys: [earlier, keyOf()], workspaces: [] })
      database.set('fails')
      const snapshot = createSnapshot({
        environmentKeys: environmentKeys({ apiKey: new Secret('env-key'), managementKey: new Secret('env-management-key') }, systemClock),
        lastKnownGood: createLastKnownGood(file()),
      })
      await snapshot.restore()
      expect(snapshot.authenticate('env-key')).toMatchObject({ ok: true, key: { kind: 'inference' } })
      expect(snapshot.authenticate('env-management-key')).toMatchObject({ ok: true, key: { kind: 'management' } })
      expect(attempt(snapshot)).toBe('ok')
      expect(attempt(snapshot, 'earlier')).toEqual(UNAVAILABLE)
    })

    it('keeps the revocation of a key from the environment', async () => {
      const revoked = keyOf({ hash: hashKey('env-key'), revokedAt: 5 })
      await createLastKnownGood(file()).write({ version: 7, keys: [revoked], workspaces: [] })
      const snapshot = createSnapshot({
        environmentKeys: environmentKeys({ apiKey: new Secret('env-key') }, systemClock),
        lastKnownGood: createLastKnownGood(file()),
      })
      await snapshot.restore()
      expect(attempt(snapshot, 'env-key')).toBe('revoked')
    })

    it('knows keys revoked long ago from the file, by their hashes alone', async () => {
      for (const bearer of ['env-key', 'old']) await store.keys.insert(keyOf({ hash: hashKey(bearer), name: 'long gone', revokedAt: 5 }))
      const first = createSnapshot({ lastKnownGood: createLastKnownGood(file()) })
      await first.start()
      await first.close()
      expect(await readFile(file(), 'utf8')).not.toContain('long gone')

      const second = createSnapshot({
        environmentKeys: environmentKeys({ apiKey: new Secret('env-key') }, systemClock),
        lastKnownGood: createLastKnownGood(file()),
      })
      await second.restore()
      expect(['env-key', 'old'].map((bearer) => attempt(second, bearer))).toEqual(['revoked', 'revoked'])
    })

    it('leaves the settings of a key from the environment unchanged: disabled, expiring, with its limits', async () => {
      const [named] = environmentKeys({ apiKey: new Secret('env-key') }, systemClock)
      const limits = { limit: 1, rate_limits: { requests_per_minute: 1 } }
      const restored = async (stored: ApiKey): Promise<KeySnapshot> => {
        await createLastKnownGood(file()).write({ version: 7, keys: [stored], workspaces: [] })
        const snapshot = createSnapshot({ environmentKeys: [named!], lastKnownGood: createLastKnownGood(file()) })
        await snapshot.restore()
        return snapshot
      }
      expect(attempt(await restored({ ...named!, disabled: true }), 'env-key')).toBe('disabled')
      expect(attempt(await restored({ ...named!, expiresAt: Date.now() - 1 }), 'env-key')).toBe('expired')
      // An earlier change of the variable revoked the key. Naming it again restores it, with its settings.
      const back = (await restored({ ...named!, name: 'ours', settings: limits, revokedAt: 5 })).authenticate('env-key')
      expect(back).toMatchObject({ ok: true, key: { name: 'ours', settings: limits, revokedAt: null }, owner: { keyName: 'ours' } })
    })

    it('reports when the file cannot be written, and continues to serve', async () => {
      await store.keys.insert(keyOf())
      const snapshot = createSnapshot({ lastKnownGood: createLastKnownGood(join(folder, 'nowhere', 'file.json')) })
      await snapshot.start()
      await snapshot.close()
      expect(events).toEqual([{ type: 'file-not-written', error: expect.anything() }])
      expect(attempt(snapshot)).toBe('ok')
    })
  })

  it('stops polling after it is closed', async () => {
    const snapshot = createSnapshot()
    await snapshot.start()
    await snapshot.close()
    const before = database.calls()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(database.calls()).toBe(before)
    expect(vi.getTimerCount()).toBe(0)
  })
})
