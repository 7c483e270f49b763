import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { StoredPreset, StoredPresetVersion } from '../core/preset.ts'
import { DEFAULT_WORKSPACE_ID, type Store } from '../core/store.ts'
import { NOW, sampleWorkspace } from './sample-records.ts'
import type { StoreUnderTest } from './store-contract.ts'
import { createVersionWatch } from './version-watch.ts'

const preset = (id: string, overrides: Partial<StoredPreset> = {}): Omit<StoredPreset, 'designatedVersionId'> => ({
  id,
  workspaceId: DEFAULT_WORKSPACE_ID,
  slug: id,
  name: `Preset ${id}`,
  description: null,
  status: 'active',
  creatorUserId: null,
  createdAt: NOW,
  updatedAt: NOW,
  statusUpdatedAt: null,
  ...overrides,
})
const version = (id: string): Omit<StoredPresetVersion, 'version' | 'presetId'> => ({ id, creatorId: 'key', sealed: `sealed ${id}`, createdAt: NOW })

/** What every store must do with presets. */
export function describePresetsContract(name: string, open: () => Promise<StoreUnderTest>): void {
  describe(`presets contract: ${name}`, () => {
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

    it('are made with their first version, which serves', async () => {
      const saved = await store.presets.save(preset('p1', { description: 'All of “it”' }), version('v1'))
      expect(saved.preset).toEqual({ ...preset('p1', { description: 'All of “it”' }), designatedVersionId: 'v1' })
      expect(saved.version).toEqual({ ...version('v1'), presetId: 'p1', version: 1 })
      expect(await store.presets.find(DEFAULT_WORKSPACE_ID, 'p1')).toEqual(saved.preset)
      expect(await store.presets.designated()).toEqual([saved])
    })

    it('get further versions under the same slug and keep their id and age', async () => {
      await store.presets.save(preset('p1'), version('v1'))
      const again = await store.presets.save(
        preset('other id', { slug: 'p1', name: 'Renamed', createdAt: NOW + 5, updatedAt: NOW + 5 }),
        version('v2'),
      )
      expect(again.preset).toMatchObject({ id: 'p1', name: 'Renamed', createdAt: NOW, updatedAt: NOW + 5, designatedVersionId: 'v2' })
      expect(again.version).toMatchObject({ presetId: 'p1', version: 2 })
      expect((await store.presets.versions('p1')).map(({ id, version: number }) => [id, number])).toEqual([
        ['v1', 1],
        ['v2', 2],
      ])
    })

    it('of two workspaces may share a slug', async () => {
      await store.presets.save(preset('p1', { slug: 'mail' }), version('v1'))
      await store.presets.save(preset('p2', { slug: 'mail', workspaceId: 'w2', updatedAt: NOW + 1 }), version('v2'))
      expect((await store.presets.find('w2', 'mail'))?.id).toBe('p2')
      expect((await store.presets.list()).map(({ id }) => id)).toEqual(['p2', 'p1'])
      expect((await store.presets.list({ workspaceId: 'w2' })).map(({ id }) => id)).toEqual(['p2'])
    })

    it('number their versions without gap or repetition when several processes save at once', async () => {
      const other = await under.openAnother()
      const save = (from: Store, n: number) => from.presets.save(preset(`p${n}`, { slug: 'mail' }), version(`v${n}`))
      await save(store, 0)
      await Promise.all([1, 2, 3, 4, 5, 6].map((n) => save(n % 2 === 0 ? store : other, n)))
      await other.close()
      expect((await store.presets.versions('p0')).map(({ version: number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7])
    })

    it('serve only while they are active', async () => {
      await store.presets.save(preset('p1'), version('v1'))
      const off = await store.presets.modify('p1', () => ({ patch: { status: 'disabled', statusUpdatedAt: NOW + 1 } }))
      expect(off?.preset).toMatchObject({ status: 'disabled' })
      expect(await store.presets.designated()).toEqual([])
      expect(await store.presets.modify('nobody', () => ({ patch: { name: 'x' } }))).toBeUndefined()
    })

    it('are complete in a read during the change to a new version', async () => {
      await store.presets.save(preset('p1'), version('v0'))
      for (let n = 1; n <= 10; n++) {
        const change = () => ({ patch: {}, version: version(`v${n}`) })
        const [read] = await Promise.all([store.presets.designated(), store.presets.modify('p1', change)])
        expect(read.map(({ preset: { slug } }) => slug)).toEqual(['p1'])
      }
    })

    it('lose no change when several processes change different parts at once, or save them again', async () => {
      await store.presets.save(preset('p1', { name: '' }), { ...version('v0'), sealed: '' })
      const other = await under.openAnother()
      const add = (from: Store, letter: string) =>
        from.presets.modify('p1', (current) => ({
          patch: { name: current.preset.name + letter },
          version: { ...version(letter), sealed: current.version.sealed + letter },
        }))
      const again = (from: Store, letter: string) =>
        from.presets.save(preset('other id', { slug: 'p1' }), { ...version(letter), sealed: letter }, ({ name: before }) => ({
          name: before + letter,
        }))
      await Promise.all([...'abcd'].map((letter, n) => add(n % 2 === 0 ? store : other, letter)))
      expect([...(await store.presets.designated())[0]!.version.sealed].toSorted().join('')).toBe('abcd')
      await Promise.all([...'efghij'].map((letter, n) => (n < 3 ? add : again)(n % 2 === 0 ? store : other, letter)))
      await other.close()
      expect([...((await store.presets.find(DEFAULT_WORKSPACE_ID, 'p1'))?.name ?? '')].toSorted().join('')).toBe('abcdefghij')
      expect(await store.presets.versions('p1')).toHaveLength(11)
      expect(await store.presets.countVersions('p1')).toBe(11)
      expect((await store.presets.versions('p1', { offset: 3, limit: 2 })).map(({ version: number }) => number)).toEqual([4, 5])
      const fourth = await store.presets.version('p1', { number: 4 })
      expect(await store.presets.version('p1', { id: fourth!.id })).toEqual(fourth)
      expect(await store.presets.version('p1', { number: 12 })).toBeUndefined()
      expect(await store.presets.version('p2', { id: fourth!.id })).toBeUndefined()
    })

    it('are as they were when a part of a change is refused', async () => {
      const saved = await store.presets.save(preset('p1'), version('v1'))
      const refused = store.presets.modify('p1', () => ({ patch: { name: 'x' }, version: version('v2'), designatedVersion: 9 }))
      await expect(refused).rejects.toMatchObject({ errorType: 'invalid_request' })
      expect(await store.presets.designated()).toEqual([saved])
      expect(await store.presets.versions('p1')).toEqual([saved.version])
      const back = await store.presets.modify('p1', () => ({ patch: {}, version: version('v2'), designatedVersion: 1 }))
      expect(back).toEqual(saved)
      expect(await store.presets.versions('p1')).toHaveLength(2)
    })

    it('are limited per workspace in the size of all versions together', async () => {
      const sealed = 'x'.repeat(4 * 1024 * 1024)
      for (let n = 0; n < 8; n++) await store.presets.save(preset(`p${n % 2}`), { ...version(`v${n}`), sealed })
      const more = store.presets.save(preset('p9'), version('v9'))
      await expect(more).rejects.toMatchObject({ errorType: 'conflict', message: expect.stringContaining('32 MB') })
      const revised = store.presets.modify('p1', () => ({ patch: { name: 'x' }, version: version('v9') }))
      await expect(revised).rejects.toMatchObject({ errorType: 'conflict' })
      expect(await store.presets.find(DEFAULT_WORKSPACE_ID, 'p9')).toBeUndefined()
      expect((await store.presets.modify('p1', () => ({ patch: { name: 'y' } })))?.preset.name).toBe('y')
      await store.presets.save(preset('q', { workspaceId: 'w2' }), version('w'))
      await store.presets.remove('p0')
      await store.presets.save(preset('p9'), version('v9'))
    })

    it('go with their versions, and with their workspace', async () => {
      await store.presets.save(preset('p1'), version('v1'))
      await store.presets.save(preset('p2', { workspaceId: 'w2' }), version('v2'))
      expect(await store.presets.remove('p1')).toBe(true)
      expect(await store.presets.remove('p1')).toBe(false)
      expect(await store.presets.versions('p1')).toEqual([])
      await store.workspaces.remove('w2')
      expect(await store.presets.list()).toEqual([])
    })

    it('belong to a workspace that exists', async () => {
      await expect(store.presets.save(preset('p1', { workspaceId: 'nowhere' }), version('v1'))).rejects.toMatchObject({ errorType: 'not_found' })
      expect(await store.presets.list()).toEqual([])
    })

    it('are sealed anew with everything secret', async () => {
      await store.presets.save(preset('p1'), version('v1'))
      expect(await store.rewrapSecrets((envelope, context) => `${envelope} again for ${context}`)).toBe(1)
      expect((await store.presets.versions('p1'))[0]?.sealed).toBe('sealed v1 again for preset:v1')
    })

    it('are counted where another key sealed them', async () => {
      await store.presets.save(preset('p1'), { ...version('v1'), sealed: 'sbe1.0123456789ab.a.b' })
      expect(await store.foreignSecrets('0123456789ab')).toBe(0)
      expect(await store.foreignSecrets('ba9876543210')).toBe(1)
    })

    it('move the version with every change, and with nothing else', async () => {
      const moves = await createVersionWatch(store)
      await moves(1, store.presets.save(preset('p1'), version('v1')))
      await moves(
        1,
        store.presets.modify('p1', () => ({ patch: { name: 'x' } })),
      )
      await moves(0, store.presets.list())
      await moves(1, store.presets.remove('p1'))
      await moves(0, store.presets.remove('p1'))
    })
  })
}
