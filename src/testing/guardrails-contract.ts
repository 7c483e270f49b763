import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { StoredGuardrail } from '../core/guardrail.ts'
import { DEFAULT_WORKSPACE_ID, type Store } from '../core/store.ts'
import { NOW, sampleKey, sampleWorkspace } from './sample-records.ts'
import type { StoreUnderTest } from './store-contract.ts'
import { createVersionWatch } from './version-watch.ts'

const guardrail = (id: string, overrides: Partial<StoredGuardrail> = {}): StoredGuardrail => ({
  id,
  workspaceId: DEFAULT_WORKSPACE_ID,
  name: `Guardrail ${id}`,
  description: null,
  rules: { allowed_models: ['acme/*'], content_filters: [{ pattern: 'a+', action: 'block', label: null }] },
  createdAt: NOW,
  updatedAt: null,
  ...overrides,
})
const assignment = (guardrailId: string, keyHash: string, createdAt = NOW) => ({
  id: `on ${keyHash}`,
  guardrailId,
  keyHash,
  assignedBy: null,
  createdAt,
})

/** What every store must do with guardrails. */
export function describeGuardrailsContract(name: string, open: () => Promise<StoreUnderTest>): void {
  describe(`guardrails contract: ${name}`, () => {
    let under: StoreUnderTest
    let store: Store
    beforeEach(async () => {
      under = await open()
      store = under.store
      await store.migrate()
      await store.workspaces.default()
      await store.workspaces.insert(sampleWorkspace('w2'))
    })
    afterEach(() => under.dispose())

    it('come back as they were inserted, oldest first', async () => {
      await store.guardrails.insert(guardrail('g2', { createdAt: NOW + 1 }))
      await store.guardrails.insert(guardrail('g1'))
      await store.guardrails.insert(guardrail('g3', { workspaceId: 'w2' }))
      expect(await store.guardrails.get('g1')).toEqual(guardrail('g1'))
      expect((await store.guardrails.list({ workspaceId: DEFAULT_WORKSPACE_ID })).map(({ id }) => id)).toEqual(['g1', 'g2'])
      expect(await store.guardrails.list()).toHaveLength(3)
      await expect(store.guardrails.insert(guardrail('g1'))).rejects.toMatchObject({ errorType: 'conflict' })
    })

    it('change field by field', async () => {
      await store.guardrails.insert(guardrail('g1'))
      const changed = await store.guardrails.modify('g1', () => ({ rules: { enforce_zdr: true }, updatedAt: NOW + 1 }))
      expect(changed).toEqual(guardrail('g1', { rules: { enforce_zdr: true }, updatedAt: NOW + 1 }))
      expect(await store.guardrails.modify('nobody', () => ({}))).toBeUndefined()
    })

    it('change and are assigned though they were not stored, if the change says what they are', async () => {
      const absent = guardrail('g1', { rules: {} })
      const rename = (name: string) => store.guardrails.modify('g1', () => ({ name }), absent)
      expect(await rename('new')).toEqual({ ...absent, name: 'new' })
      expect(await store.guardrails.modify('g1', () => ({ description: 'd' }), absent)).toEqual({ ...absent, name: 'new', description: 'd' })
      await store.guardrails.remove('g1')
      await store.keys.insert(sampleKey('k1'))
      await store.guardrails.assign([assignment('g1', 'k1')], absent)
      expect(await store.guardrails.get('g1')).toEqual(absent)
      await store.guardrails.assign([assignment('g1', 'k1')], guardrail('g1', { name: 'ignored' }))
      expect(await store.guardrails.get('g1')).toEqual(absent)
    })

    it('lose no change when several processes change different rules at once', async () => {
      await store.guardrails.insert(guardrail('g1', { rules: {} }))
      const other = await under.openAnother()
      const add = (from: Store, model: string) =>
        from.guardrails.modify('g1', ({ rules }) => ({ rules: { ...rules, allowed_models: [...(rules.allowed_models ?? []), model] } }))
      await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map((model, n) => add(n % 2 === 0 ? store : other, model)))
      await other.close()
      expect((await store.guardrails.get('g1'))?.rules.allowed_models?.toSorted()).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
    })

    it('are on a key one at a time', async () => {
      await store.keys.insert(sampleKey('k1'))
      await store.keys.insert(sampleKey('k2'))
      await store.guardrails.insert(guardrail('g1'))
      await store.guardrails.insert(guardrail('g2'))
      await store.guardrails.assign([assignment('g1', 'k1'), assignment('g1', 'k2', NOW + 1)])
      await store.guardrails.assign([assignment('g2', 'k2', NOW + 2)])
      expect((await store.guardrails.assignments()).map(({ guardrailId, keyHash }) => [guardrailId, keyHash])).toEqual([
        ['g1', 'k1'],
        ['g2', 'k2'],
      ])
      expect(await store.guardrails.assignments({ guardrailId: 'g2' })).toEqual([assignment('g2', 'k2', NOW + 2)])
      expect(await store.guardrails.unassign('g1', ['k1', 'k2'])).toBe(1)
      expect(await store.guardrails.unassign('g1', ['k1'])).toBe(0)
    })

    it('are assigned to all of several keys or to none', async () => {
      await store.keys.insert(sampleKey('k1'))
      await store.guardrails.insert(guardrail('g1'))
      await expect(store.guardrails.assign([assignment('g1', 'k1'), assignment('g1', 'nobody')])).rejects.toMatchObject({ errorType: 'not_found' })
      await expect(store.guardrails.assign([assignment('nothing', 'k1')])).rejects.toMatchObject({ errorType: 'not_found' })
      expect(await store.guardrails.assignments()).toEqual([])
    })

    it('go with their assignments; a key and a workspace take theirs along', async () => {
      await store.keys.insert(sampleKey('k1'))
      await store.keys.insert(sampleKey('k2'))
      await store.guardrails.insert(guardrail('g1'))
      await store.guardrails.insert(guardrail('g2'))
      await store.guardrails.assign([assignment('g1', 'k1'), assignment('g2', 'k2')])
      expect(await store.guardrails.remove('g1')).toBe(true)
      await store.keys.remove('k2')
      expect(await store.guardrails.assignments()).toEqual([])
      await store.guardrails.insert(guardrail('g3', { workspaceId: 'w2' }))
      await store.workspaces.remove('w2')
      expect((await store.guardrails.list()).map(({ id }) => id)).toEqual(['g2'])
    })

    it('move the version with every change, and with nothing else', async () => {
      const moves = await createVersionWatch(store)
      await moves(1, store.keys.insert(sampleKey('k1')))
      await moves(1, store.guardrails.insert(guardrail('g1')))
      await moves(1, store.guardrails.assign([assignment('g1', 'k1')]))
      await moves(1, store.guardrails.unassign('g1', ['k1']))
      await moves(0, store.guardrails.unassign('g1', ['k1']))
      await moves(
        1,
        store.guardrails.modify('g1', () => ({ name: 'x' })),
      )
      await moves(1, store.guardrails.remove('g1'))
    })
  })
}
