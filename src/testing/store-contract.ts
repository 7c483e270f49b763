import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DEFAULT_WORKSPACE_ID, type Store } from '../core/store.ts'
import { describeGenerations } from './generations-contract.ts'
import { describeKeys } from './keys-contract.ts'
import { describeNeighbours } from './neighbours-contract.ts'
import { NOW, sampleGeneration, sampleKey, sampleWorkspace } from './sample-records.ts'

/** One fresh, empty database. */
export interface StoreUnderTest {
  readonly store: Store
  /** A second process on the same database. */
  readonly openAnother: () => Promise<Store>
  /** Closes the store and removes the database. */
  readonly dispose: () => Promise<void>
}

/** What every database behind the `Store` port must do. */
export function describeStoreContract(name: string, open: () => Promise<StoreUnderTest>): void {
  describeStore(name, open, (current) => describeSeveralProcesses(current))
}

/** The same for a database used by a single process. */
export function describePrivateStoreContract(name: string, open: () => Promise<Omit<StoreUnderTest, 'openAnother'>>): void {
  describeStore(name, open, () => undefined)
}

function describeStore<T extends Omit<StoreUnderTest, 'openAnother'>>(
  name: string,
  open: () => Promise<T>,
  describeMore: (current: () => T) => void,
): void {
  describe(`store contract: ${name}`, () => {
    let under: T
    let store: Store
    beforeEach(async () => {
      under = await open()
      store = under.store
      await store.migrate()
    })
    afterEach(() => under.dispose())

    describe('migrations', () => {
      it('are applied once and then none is pending', async () => {
        expect(await store.pendingMigrations()).toEqual([])
        expect(await store.migrate()).toEqual([])
      })

      it('answers a ping', async () => {
        await expect(store.ping()).resolves.toBeUndefined()
      })
    })

    describe('workspaces', () => {
      it('creates the default workspace once, however many ask at the same time', async () => {
        const all = await Promise.all(Array.from({ length: 8 }, () => store.workspaces.default()))
        expect(new Set(all.map(({ id }) => id))).toEqual(new Set([DEFAULT_WORKSPACE_ID]))
        expect(await store.workspaces.list()).toHaveLength(1)
        expect(all[0]).toMatchObject({ slug: 'default', isDefault: true, settings: {} })
      })

      it('returns what was inserted, field by field', async () => {
        const workspace = sampleWorkspace('w1', {
          description: 'All of “it”',
          settings: { io_logging_sampling_rate: 0.5, nested: { list: [1, null] } },
        })
        await store.workspaces.insert(workspace)
        expect(await store.workspaces.get('w1')).toEqual(workspace)
        expect(await store.workspaces.list()).toEqual([workspace])
        expect(await store.workspaces.get('w2')).toBeUndefined()
      })

      it('changes only what a patch names', async () => {
        const workspace = sampleWorkspace('w1', { description: 'old', settings: { a: 1 } })
        await store.workspaces.insert(workspace)
        const changed = await store.workspaces.update('w1', { description: null, updatedAt: NOW + 5 })
        expect(changed).toEqual({ ...workspace, description: null, updatedAt: NOW + 5 })
        expect(await store.workspaces.get('w1')).toEqual(changed)
        expect(await store.workspaces.update('w1', {})).toEqual(changed)
        expect(await store.workspaces.update('missing', { name: 'x' })).toBeUndefined()
      })

      it('refuses a second workspace with the same id or slug, and a second default', async () => {
        await store.workspaces.default()
        await store.workspaces.insert(sampleWorkspace('w1'))
        await expect(store.workspaces.insert(sampleWorkspace('w1', { slug: 'other' }))).rejects.toMatchObject({ errorType: 'conflict' })
        await expect(store.workspaces.insert(sampleWorkspace('w2', { slug: 'w1' }))).rejects.toMatchObject({ errorType: 'conflict' })
        await expect(store.workspaces.insert(sampleWorkspace('w3', { isDefault: true }))).rejects.toMatchObject({ errorType: 'conflict' })
        expect((await store.workspaces.list()).map(({ id }) => id).sort()).toEqual([DEFAULT_WORKSPACE_ID, 'w1'])
      })

      it('takes its keys with it when it is removed, and never removes the default', async () => {
        await store.workspaces.default()
        await store.workspaces.insert(sampleWorkspace('w1'))
        await store.keys.insert(sampleKey('h1', { workspaceId: 'w1' }))
        await store.keys.insert(sampleKey('h2'))
        expect(await store.workspaces.remove('w1')).toBe(true)
        expect(await store.workspaces.remove('w1')).toBe(false)
        expect((await store.keys.list()).map(({ hash }) => hash)).toEqual(['h2'])
        await expect(store.workspaces.remove(DEFAULT_WORKSPACE_ID)).rejects.toMatchObject({ errorType: 'conflict' })
        expect(await store.workspaces.get(DEFAULT_WORKSPACE_ID)).toBeDefined()
      })
    })

    describeKeys(() => store)
    describeNeighbours(() => store)

    describe('version', () => {
      it('grows with every change of configuration and with nothing else', async () => {
        let version = await store.version()
        const grows = async (change: () => Promise<unknown>, by = 1) => {
          await change().catch(() => undefined)
          const next = await store.version()
          expect({ change: change.toString(), by: next - version }).toEqual({ change: change.toString(), by })
          version = next
        }
        await grows(() => store.workspaces.default())
        await grows(() => store.workspaces.default(), 0)
        await grows(() => store.workspaces.insert(sampleWorkspace('w1')))
        await grows(() => store.workspaces.update('w1', { name: 'x' }))
        await grows(() => store.keys.insert(sampleKey('h1')))
        await grows(() => store.keys.insert(sampleKey('h1')), 0)
        await grows(() => store.keys.update('h1', { disabled: true }))
        await grows(() => store.keys.update('missing', { disabled: true }), 0)
        await grows(() => store.keys.modify('h1', () => ({ disabled: false })))
        await grows(() => store.keys.modify('missing', () => ({ disabled: false })), 0)
        await grows(() => store.keys.remove('h1'))
        await grows(() => store.keys.remove('h1'), 0)
        await grows(() => store.workspaces.remove(DEFAULT_WORKSPACE_ID), 0)
        await grows(() => store.workspaces.remove('w1'))
        await grows(() => store.generations.insertMany([{ generation: sampleGeneration('g1') }]), 0)
        await grows(() => store.facts.replace('f', undefined, '1'), 0)
      })

      it('counts changes made at the same time one by one', async () => {
        await store.workspaces.default()
        const before = await store.version()
        await Promise.all(Array.from({ length: 20 }, (_, i) => store.keys.insert(sampleKey(`h${i}`))))
        expect(await store.version()).toBe(before + 20)
      })
    })

    describe('facts', () => {
      it('are written only over the value the writer knew', async () => {
        expect(await store.facts.get('canary')).toBeUndefined()
        expect(await store.facts.replace('canary', 'other', 'x')).toBe(false)
        expect(await store.facts.replace('canary', undefined, 'one')).toBe(true)
        expect(await store.facts.replace('canary', undefined, 'two')).toBe(false)
        expect(await store.facts.replace('canary', 'one', 'two')).toBe(true)
        expect(await store.facts.get('canary')).toBe('two')
      })

      it('are written by only one of several processes', async () => {
        const results = await Promise.all(Array.from({ length: 6 }, (_, i) => store.facts.replace('canary', undefined, String(i))))
        expect(results.filter(Boolean)).toHaveLength(1)
      })
    })

    describeGenerations(() => store)
    describeMore(() => under)

    it('closes more than once, and refuses work afterwards with a GatewayError', async () => {
      await store.close()
      await store.close()
      await expect(store.version()).rejects.toMatchObject({ errorType: 'provider_overloaded' })
    })
  })
}

function describeSeveralProcesses(current: () => StoreUnderTest): void {
  describe('several processes', () => {
    it('see each other’s changes and version', async () => {
      const { store, openAnother } = current()
      const other = await openAnother()
      try {
        expect(await other.pendingMigrations()).toEqual([])
        await store.workspaces.default()
        const version = await other.version()
        await store.keys.insert(sampleKey('h1'))
        expect(await other.version()).toBe(version + 1)
        await other.keys.update('h1', { revokedAt: NOW })
        expect((await store.keys.get('h1'))?.revokedAt).toBe(NOW)
      } finally {
        await other.close()
      }
    })

    it('lose no setting of a key that both change at once', async () => {
      const { store, openAnother } = current()
      const other = await openAnother()
      try {
        await store.workspaces.default()
        await store.keys.insert(sampleKey('h1', { settings: { limit: 1 } }))
        const set = (from: Store, name: string) => from.keys.modify('h1', ({ settings }) => ({ settings: { ...settings, [name]: true } }))
        await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map((name, n) => set(n % 2 === 0 ? store : other, name)))
        expect((await store.keys.get('h1'))?.settings).toEqual({ limit: 1, a: true, b: true, c: true, d: true, e: true, f: true })
      } finally {
        await other.close()
      }
    })

    it('keep the latest use of a key that any of them writes', async () => {
      const { store, openAnother } = current()
      const other = await openAnother()
      try {
        await store.workspaces.default()
        const hashes = Array.from({ length: 60 }, (_, n) => `h${n}`)
        for (const hash of hashes) await store.keys.insert(sampleKey(hash))
        const note = (from: Store, at: number, order: readonly string[]) =>
          from.keyUses.note(
            order.map((hash) => ({ keyHash: hash, secretHash: hash, at })),
            at,
          )
        await Promise.all([
          note(store, NOW, hashes),
          note(other, NOW + 60_000, hashes.toReversed()),
          note(store, NOW - 60_000, hashes),
          store.keys.update('h7', { name: 'renamed' }),
        ])
        expect(new Set((await store.keyUses.of(hashes)).map(({ at }) => at))).toEqual(new Set([NOW + 60_000]))
      } finally {
        await other.close()
      }
    })

    it('write at the same time without losing anything', async () => {
      const { store, openAnother } = current()
      const other = await openAnother()
      try {
        const write = async (target: Store, prefix: string) => {
          for (let i = 0; i < 20; i++) {
            await target.generations.insertMany([{ generation: sampleGeneration(`${prefix}-${i}`) }])
            await target.facts.replace(`${prefix}-${i}`, undefined, 'x')
          }
        }
        await Promise.all([write(store, 'a'), write(other, 'b')])
        for (const id of ['a-0', 'a-19', 'b-0', 'b-19']) expect(await store.generations.get(id)).toBeDefined()
      } finally {
        await other.close()
      }
    })
  })
}
