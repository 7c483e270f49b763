import fc from 'fast-check'
import { expect, it } from 'vitest'
import { secretsOf } from '../core/api-key.ts'
import { DEFAULT_WORKSPACE_ID, type Store } from '../core/store.ts'
import { systemClock } from '../lib/clock.ts'
import { createStore } from '../store/index.ts'
import { sampleKey, sampleWorkspace } from '../testing/sample-records.ts'
import { hashKey } from './api-key.ts'
import { rotation } from './key-rotation.ts'
import { createKeySnapshot, type KeySnapshot } from './key-snapshot.ts'

const HOUR = 3_600_000
const WORKSPACES = [DEFAULT_WORKSPACE_ID, 'w1', 'w2']

const changeOf = fc.oneof(
  fc.record({ type: fc.constant('insert' as const), key: fc.nat(3), workspace: fc.nat(2) }),
  fc.record({ type: fc.constant('disable' as const), key: fc.nat(3), value: fc.boolean() }),
  fc.record({ type: fc.constant('revoke' as const), key: fc.nat(3), agoMs: fc.constantFrom(0, HOUR, undefined) }),
  fc.record({ type: fc.constant('rotate' as const), key: fc.nat(3), graceMs: fc.constantFrom(0, HOUR), applied: fc.boolean() }),
  fc.record({ type: fc.constant('delete' as const), key: fc.nat(3) }),
  fc.record({ type: fc.constant('rename workspace' as const), workspace: fc.nat(2) }),
  fc.record({ type: fc.constant('delete workspace' as const), workspace: fc.integer({ min: 1, max: 2 }) }),
  fc.record({ type: fc.constant('look' as const) }),
)
type Change = typeof changeOf extends fc.Arbitrary<infer T> ? T : never

/** Makes the change in the store, as another process would, or as this one if it is applied. */
async function make(change: Change, store: Store, snapshot: KeySnapshot, bearers: Set<string>): Promise<unknown> {
  if (change.type === 'look') return snapshot.refresh()
  if ('workspace' in change) {
    const id = WORKSPACES[change.workspace]!
    if (change.type === 'delete workspace') return store.workspaces.remove(id)
    if ((await store.workspaces.get(id)) === undefined) await store.workspaces.insert(sampleWorkspace(id))
    if (change.type === 'rename workspace') return store.workspaces.update(id, { name: `name ${bearers.size}` })
    return insertKey(store, change.key, id, bearers)
  }
  const hash = hashKey(`key ${change.key}`)
  switch (change.type) {
    case 'disable':
      return store.keys.update(hash, { disabled: change.value })
    case 'revoke':
      return store.keys.update(hash, { revokedAt: change.agoMs === undefined ? null : Date.now() - change.agoMs })
    case 'delete':
      return store.keys.remove(hash)
    case 'rotate': {
      const bearer = `secret ${bearers.size}`
      bearers.add(bearer)
      const changed = await store.keys.modify(hash, (key) =>
        key.revokedAt === null && secretsOf(key).length < 5
          ? rotation(key, { hash: hashKey(bearer), label: bearer }, change.graceMs, Date.now())
          : { name: 'at its limit' },
      )
      if (changed !== undefined && change.applied) snapshot.apply(changed)
    }
  }
}

async function insertKey(store: Store, key: number, workspaceId: string, bearers: Set<string>): Promise<void> {
  const bearer = `key ${key}`
  bearers.add(bearer)
  if ((await store.keys.get(hashKey(bearer))) === undefined) await store.keys.insert(sampleKey(hashKey(bearer), { workspaceId }))
}

const isKnown = (snapshot: KeySnapshot, bearer: string): { readonly key: unknown; readonly workspace: unknown } | string => {
  const found = snapshot.authenticate(bearer)
  if (found.ok) return { key: found.key, workspace: snapshot.workspace(found.owner.workspaceId) }
  // A process that starts later has never heard of a key that was deleted.
  return found.reason === 'unknown' ? 'revoked' : found.reason
}

it('a process that reads what changed knows the same as one that reads everything', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(changeOf, { minLength: 5, maxLength: 30 }), async (changes) => {
      const store = await createStore({ path: ':memory:' })
      await store.migrate()
      await store.workspaces.default()
      const following = createKeySnapshot({ store, clock: systemClock })
      const later = createKeySnapshot({ store, clock: systemClock })
      try {
        await following.start()
        const bearers = new Set<string>()
        for (const change of changes) await make(change, store, following, bearers)
        await following.refresh()
        await later.start()
        for (const bearer of bearers) expect(isKnown(following, bearer)).toEqual(isKnown(later, bearer))
      } finally {
        await Promise.all([following.close(), later.close()])
        await store.close()
      }
    }),
    { numRuns: 25 },
  )
})
