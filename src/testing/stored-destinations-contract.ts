import { describe, expect, it } from 'vitest'
import type { DurableOutbox, LeasedDelivery, StoredDestination } from '../core/outbox.ts'
import { DEFAULT_WORKSPACE_ID, type Store } from '../core/store.ts'
import type { manualClock } from './deterministic.ts'
import { sampleDestination, sampleEntry, sampleWorkspace } from './sample-records.ts'

const OWNER = 'worker-1'

/** What the store of one test offers; each test has its own. */
export interface OutboxStage {
  readonly store: Store
  readonly outbox: DurableOutbox
  readonly clock: ReturnType<typeof manualClock>
  readonly lease: (destinationId?: string) => Promise<readonly LeasedDelivery[]>
  readonly add: (id: string, overrides?: Partial<StoredDestination>) => Promise<void>
}

/** What destinations in a database must do: a part of the contract of a durable outbox. */
export function describeStoredDestinations(stage: () => OutboxStage): void {
  describe('destinations', () => {
    it('come back as they were written, in order of creation, page by page', async () => {
      const { store, add } = stage()
      const full = sampleDestination('d1', {
        sealed: 'sbe1.k.w.b',
        apiKeyHashes: ['a', 'b'],
        filterRules: { enabled: true, groups: [{ logic: 'or', rules: [{ field: 'model', operator: 'equals', value: 'x' }] }] },
        samplingRate: 0.25,
        privacyMode: true,
        paused: true,
        broadcast: { cost: true, identity: false, requestContext: true },
      })
      await store.destinations.insert(full, 5)
      await add('d2', { createdAt: 1 })
      await add('d0')
      expect(await store.destinations.get('d1')).toEqual(full)
      const all = await store.destinations.list({ workspaceId: DEFAULT_WORKSPACE_ID })
      expect(all.destinations.map(({ id }) => id)).toEqual(['d2', 'd0', 'd1'])
      const page = await store.destinations.list({ offset: 1, limit: 1 })
      expect(page).toMatchObject({ total: 3 })
      expect(page.destinations.map(({ id }) => id)).toEqual(['d0'])
    })

    it('are invisible to other workspaces', async () => {
      const { store, add } = stage()
      await store.workspaces.insert(sampleWorkspace('w2'))
      await add('d1')
      expect(await store.destinations.get('d1', 'w2')).toBeUndefined()
      expect(await store.destinations.list({ workspaceId: 'w2' })).toEqual({ destinations: [], total: 0 })
      expect(await store.destinations.update('d1', 'w2', { name: 'x' }, 1)).toBeUndefined()
      expect(await store.destinations.remove('d1', 'w2')).toBe(false)
      expect((await store.destinations.get('d1'))?.name).toBe('destination d1')
    })

    it('are at most so many of a type, even when all are inserted at once', async () => {
      const { store, add } = stage()
      const results = await Promise.allSettled(Array.from({ length: 8 }, (_, i) => add(`d${i}`)))
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(5)
      for (const result of results) if (result.status === 'rejected') expect(result.reason).toMatchObject({ errorType: 'conflict' })
      await add('other', { type: 'langfuse' })
      await store.destinations.remove('d0', DEFAULT_WORKSPACE_ID)
      await store.destinations.remove('d1', DEFAULT_WORKSPACE_ID)
      await add('again')
    })

    it('change only by who read their newest revision, and move the version', async () => {
      const { store, add } = stage()
      await add('d1')
      const version = await store.version()
      const changed = await store.destinations.update('d1', DEFAULT_WORKSPACE_ID, { name: 'new', filterRules: null, updatedAt: 5 }, 1)
      expect(changed).toEqual(sampleDestination('d1', { name: 'new', updatedAt: 5, revision: 2 }))
      await expect(store.destinations.update('d1', DEFAULT_WORKSPACE_ID, { name: 'late' }, 1)).rejects.toMatchObject({ errorType: 'conflict' })
      expect(await store.version()).toBe(version + 1)
      expect(await store.destinations.update('d9', DEFAULT_WORKSPACE_ID, { name: 'x' }, 1)).toBeUndefined()
    })

    it('are tried again at once when they change: what waits for them waited for the old configuration', async () => {
      const { store, outbox, clock, lease, add } = stage()
      await add('d1')
      await add('d2')
      await outbox.record([sampleEntry('gen-1', ['d1', 'd2'])])
      for (const id of ['d1', 'd2'])
        await outbox.settle(
          OWNER,
          (await lease(id)).map((each) => ({ id: each.id, state: 'retry' as const, at: clock.now() + 3_600_000, status: 503, error: 'busy' })),
        )
      await expect(store.destinations.update('d1', DEFAULT_WORKSPACE_ID, { paused: false }, 7)).rejects.toMatchObject({ errorType: 'conflict' })
      expect((await outbox.due(clock.now(), 10)).work).toEqual([])
      await store.destinations.update('d1', DEFAULT_WORKSPACE_ID, { paused: false }, 1)
      expect((await outbox.due(clock.now(), 10)).work).toMatchObject([{ destinationId: 'd1', records: 1 }])
    })

    it('lose their secrets and their queue when they are deleted, once', async () => {
      const { store, outbox, add } = stage()
      await add('d1', { sealed: 'sbe1.k.w.b' })
      await outbox.record([sampleEntry('gen-1', ['d1'])])
      expect(await store.destinations.remove('d1', DEFAULT_WORKSPACE_ID)).toBe(true)
      expect(await store.destinations.remove('d1', DEFAULT_WORKSPACE_ID)).toBe(false)
      expect(await store.destinations.get('d1')).toBeUndefined()
      expect(await store.destinations.list({})).toEqual({ destinations: [], total: 0 })
      expect(await outbox.status('d1')).toMatchObject({ queued: 0 })
      let envelopes = 0
      await store.rewrapSecrets((envelope, context) => {
        if (context.startsWith('destination:')) envelopes++
        return envelope
      })
      expect(envelopes).toBe(0)
    })

    it('go with their workspace, and the sweep takes what waited for them', async () => {
      const { store, outbox, clock, add } = stage()
      await store.workspaces.insert(sampleWorkspace('w2'))
      await add('d1', { workspaceId: 'w2' })
      await outbox.record(['gen-1', 'gen-2', 'gen-3'].map((id) => sampleEntry(id, ['d1'])))
      await store.workspaces.remove('w2')
      expect(await store.destinations.get('d1')).toBeUndefined()
      // However many it takes at a time: content of a deleted workspace does not stay until a later sweep.
      expect(await outbox.sweep(2)).toBe(3)
      expect(await outbox.due(clock.now(), 1)).toEqual({ work: [], nextAt: undefined })
    })
  })
}
