import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Store } from '../core/store.ts'
import { systemClock } from '../lib/clock.ts'
import { createStore } from '../store/index.ts'
import { sampleKey, sampleWorkspace } from '../testing/sample-records.ts'
import { hashKey } from './api-key.ts'
import { createKeySnapshot, type KeySnapshot } from './key-snapshot.ts'
import type { KnownAccounts } from './last-known-good.ts'

let store: Store
let snapshot: KeySnapshot
let reads: number
/** What happens while workspaces are read. */
let meanwhile: () => void
let saved: KnownAccounts | undefined

beforeEach(async () => {
  store = await createStore({ path: ':memory:' })
  await store.migrate()
  await store.workspaces.default()
  for (const name of ['one', 'two']) await store.keys.insert(sampleKey(hashKey(name), { name }))
  reads = 0
  meanwhile = () => undefined
  snapshot = createKeySnapshot({
    clock: systemClock,
    timing: { pollMs: 3_600_000 },
    lastKnownGood: { read: () => Promise.resolve(undefined), write: (known) => Promise.resolve(void (saved = known)) },
    store: {
      version: store.version,
      keys: store.keys,
      workspaces: {
        list: (onStep) => {
          reads++
          meanwhile()
          return store.workspaces.list(onStep)
        },
      },
    },
  })
  await snapshot.start()
  reads = 0
})
afterEach(async () => {
  await snapshot.close()
  await store.close()
})

const attempt = (bearer: string) => {
  const found = snapshot.authenticate(bearer)
  return found.ok ? 'ok' : found.reason
}

it('reads tens of thousands of workspaces only if something else than keys was changed', async () => {
  await store.keys.update(hashKey('one'), { revokedAt: Date.now() })
  await store.keys.insert(sampleKey(hashKey('three')))
  await snapshot.refresh()
  expect([reads, attempt('one'), attempt('three')]).toEqual([0, 'revoked', 'ok'])
  await store.workspaces.insert(sampleWorkspace('w2'))
  await store.keys.insert(sampleKey(hashKey('four'), { workspaceId: 'w2' }))
  await snapshot.refresh()
  expect([reads, attempt('four'), snapshot.workspace('w2')?.id]).toEqual([1, 'ok', 'w2'])
  await store.keys.update(hashKey('four'), { name: 'renamed' })
  await snapshot.refresh()
  await snapshot.close()
  expect([reads, saved?.keys.length, saved?.workspaces.length]).toEqual([1, 4, 2])
})

it('refuses a key that was revoked, disabled or deleted before it has read the workspaces that were changed with it', async () => {
  for (const name of ['three', 'four']) await store.keys.insert(sampleKey(hashKey(name)))
  await snapshot.refresh()
  await store.workspaces.insert(sampleWorkspace('w2'))
  await store.keys.insert(sampleKey(hashKey('five'), { workspaceId: 'w2' }))
  await store.keys.update(hashKey('one'), { revokedAt: Date.now() })
  await store.keys.update(hashKey('two'), { disabled: true })
  await store.keys.remove(hashKey('three'))
  await store.keys.update(hashKey('four'), { name: 'renamed' })
  const names = ['one', 'two', 'three', 'four', 'five']
  let found: readonly string[] = []
  meanwhile = () => (found = names.map(attempt))
  await snapshot.refresh()
  expect(found).toEqual(['revoked', 'disabled', 'revoked', 'ok', 'unknown'])
  expect(names.map(attempt)).toEqual(['revoked', 'disabled', 'revoked', 'ok', 'ok'])
})

it('lets others have their turn while all keys and workspaces are replaced, in which nothing is half replaced', async () => {
  const known = {
    version: 2,
    keys: Array.from({ length: 5_000 }, (_, n) => sampleKey(`k${n}`, { workspaceId: `w${n}` })),
    workspaces: Array.from({ length: 5_000 }, (_, n) => sampleWorkspace(`w${n}`)),
  }
  const lastKnownGood = { read: () => Promise.resolve(known), write: () => Promise.resolve() }
  const restored = createKeySnapshot({ store, clock: systemClock, lastKnownGood, environmentKeys: [] })
  const sizes = new Set<string>()
  const look = () => sizes.add(`${restored.stats().keys} ${restored.stats().workspaces}`)
  let turns = 0
  let ended = false
  const count = () => {
    turns++
    look()
    if (!ended) setImmediate(count)
  }
  setImmediate(count)
  await restored.restore()
  ended = true
  look()
  expect(turns).toBeGreaterThan(8)
  expect([...sizes]).toEqual(['0 0', '5000 5000'])
  await restored.close()
})

it('takes nothing from a copy that is read only after the database was reached', async () => {
  const copy = { version: 1, keys: [], workspaces: [], gone: [hashKey('one')] }
  let read: (copy: KnownAccounts) => void = () => undefined
  const slow = new Promise<KnownAccounts>((resolve) => (read = resolve))
  const restarted = createKeySnapshot({
    clock: systemClock,
    timing: { pollMs: 3_600_000 },
    lastKnownGood: { read: () => slow, write: () => Promise.resolve() },
    store,
  })
  const restored = restarted.restore()
  await restarted.start()
  read(copy)
  await restored
  expect([restarted.authenticate('one').ok, restarted.ended(hashKey('one')), restarted.ended(hashKey('nobody'))]).toEqual([
    true,
    undefined,
    undefined,
  ])
  await restarted.close()
})
