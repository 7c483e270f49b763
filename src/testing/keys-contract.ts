import { beforeEach, describe, expect, it } from 'vitest'
import { GatewayError } from '../core/error.ts'
import { DEFAULT_WORKSPACE_ID, NONE_REVOKED, type ApiKey, type Store } from '../core/store.ts'
import { NOW, sampleKey, sampleWorkspace } from './sample-records.ts'

/** What every database must do with API keys. */
export function describeKeys(store: () => Store): void {
  describe('keys', () => {
    beforeEach(() => store().workspaces.default())

    it('returns what was inserted, field by field', async () => {
      const full = sampleKey('h1', {
        kind: 'management',
        disabled: true,
        expiresAt: NOW + 1_000,
        revokedAt: NOW + 500,
        creatorUserId: 'user-1',
        origin: 'environment',
        settings: { limit: 12.5, limit_reset: 'monthly' },
      })
      const plain = sampleKey('h2', { createdAt: NOW + 1 })
      await store().keys.insert(full)
      await store().keys.insert(plain)
      expect(await store().keys.get('h1')).toEqual(full)
      expect(await store().keys.list()).toEqual([full, plain])
      expect(await store().keys.get('h3')).toBeUndefined()
    })

    it('lists the keys of one workspace', async () => {
      await store().workspaces.insert(sampleWorkspace('w1'))
      await store().keys.insert(sampleKey('h1'))
      await store().keys.insert(sampleKey('h2', { workspaceId: 'w1' }))
      expect((await store().keys.list({ workspaceId: 'w1' })).map(({ hash }) => hash)).toEqual(['h2'])
    })

    it('lists the keys that are named, whatever their number, and no others', async () => {
      for (const hash of ['a', 'b', 'c']) await store().keys.insert(sampleKey(hash))
      const named = async (...hashes: readonly string[]) => (await store().keys.list({ hashes })).map(({ hash }) => hash)
      expect(await named('c', 'a', 'unknown')).toEqual(['a', 'c'])
      expect(await named()).toEqual([])
    })

    it('gives a page of the keys of a workspace that may be used, the oldest first', async () => {
      await store().workspaces.insert(sampleWorkspace('w1'))
      for (const [n, hash] of ['h3', 'h1', 'h2', 'h4'].entries())
        await store().keys.insert(sampleKey(hash, { workspaceId: 'w1', createdAt: NOW + n, disabled: hash === 'h2' }))
      await store().keys.insert(sampleKey('h5', { workspaceId: 'w1', revokedAt: NOW, origin: 'environment' }))
      await store().keys.insert(sampleKey('h6', { workspaceId: 'w1', kind: 'management' }))
      await store().keys.insert(sampleKey('h7'))
      const page = async (offset: number, limit: number, disabledToo = true) =>
        (await store().keys.page({ workspaceId: 'w1', kind: 'inference', disabledToo, offset, limit })).map(({ hash }) => hash)
      expect(await page(0, 3)).toEqual(['h3', 'h1', 'h2'])
      expect([await page(3, 3), await page(9, 3), await page(0, 9, false)]).toEqual([['h4'], [], ['h3', 'h1', 'h4']])
      expect(
        (await store().keys.page({ workspaceId: 'w1', kind: 'management', disabledToo: false, offset: 0, limit: 9 })).map(({ hash }) => hash),
      ).toEqual(['h6'])
    })

    it('counts the keys of a workspace that are not revoked', async () => {
      await store().workspaces.insert(sampleWorkspace('w1'))
      for (const hash of ['h1', 'h2']) await store().keys.insert(sampleKey(hash, { workspaceId: 'w1' }))
      await store().keys.insert(sampleKey('h3', { workspaceId: 'w1', revokedAt: NOW }))
      await store().keys.insert(sampleKey('h4'))
      expect([await store().keys.countLive('w1'), await store().keys.countLive('w2')]).toEqual([2, 0])
    })

    it('leaves out of a list what was revoked before a time, but what an environment named', async () => {
      const revoked = (hash: string, revokedAt: number, overrides: Partial<ApiKey> = {}) => sampleKey(hash, { revokedAt, ...overrides })
      const keys = [sampleKey('h1'), revoked('h2', NOW - 1), revoked('h3', NOW), revoked('h4', 1, { origin: 'environment' })]
      for (const key of [...keys, revoked('h5', 1, { origin: 'generated' })]) await store().keys.insert(key)
      const hashes = async (revokedSince: number) => (await store().keys.list({ revokedSince })).map(({ hash }) => hash)
      expect(await hashes(NOW)).toEqual(['h1', 'h3', 'h4'])
      expect([...(await store().keys.revokedBefore(NOW))].toSorted()).toEqual(['h2', 'h5'])
      expect(await hashes(NONE_REVOKED)).toEqual(['h1', 'h4'])
    })

    it('lists what one person has created, of all workspaces or of one', async () => {
      const by = (creatorUserId: string | null, hash: string) => sampleKey(hash, { creatorUserId })
      for (const key of [by('u1', 'h1'), by('u2', 'h2'), by(null, 'h3'), by('u1', 'h4')]) await store().keys.insert(key)
      const hashes = async (filter: Parameters<Store['keys']['list']>[0]) => (await store().keys.list(filter)).map(({ hash }) => hash)
      expect(await hashes({ creatorUserId: 'u1' })).toEqual(['h1', 'h4'])
      expect(await hashes({ creatorUserId: 'u1', workspaceId: DEFAULT_WORKSPACE_ID })).toEqual(['h1', 'h4'])
      expect(await hashes({ creatorUserId: 'u1', workspaceId: 'another' })).toEqual([])
    })

    it('changes only what a patch names; null clears', async () => {
      const key = sampleKey('h1', { expiresAt: NOW + 1, origin: 'environment', settings: { limit: 1 } })
      await store().keys.insert(key)
      const changed = await store().keys.update('h1', { revokedAt: NOW + 9, expiresAt: null, origin: null })
      const { origin: _origin, ...withoutOrigin } = key
      expect(changed).toEqual({ ...withoutOrigin, revokedAt: NOW + 9, expiresAt: null })
      expect(await store().keys.get('h1')).toEqual(changed)
      expect(await store().keys.update('h2', { name: 'x' })).toBeUndefined()
    })

    it('keeps what it had when a change refuses', async () => {
      await store().keys.insert(sampleKey('h1'))
      const version = await store().version()
      const refusal = new GatewayError('conflict', 'revoked')
      const refuse = (): never => {
        throw refusal
      }
      await expect(store().keys.modify('h1', refuse)).rejects.toBe(refusal)
      expect(await store().keys.get('h1')).toEqual(sampleKey('h1'))
      expect(await store().version()).toBe(version)
    })

    it('refuses a hash twice and a workspace that is not there', async () => {
      await store().keys.insert(sampleKey('h1'))
      await expect(store().keys.insert(sampleKey('h1', { name: 'again' }))).rejects.toMatchObject({ errorType: 'conflict' })
      await expect(store().keys.insert(sampleKey('h2', { workspaceId: 'nowhere' }))).rejects.toMatchObject({ errorType: 'not_found' })
      expect(await store().keys.list()).toHaveLength(1)
    })

    it('keeps the secrets of a rotated key, and knows them when it was revoked long ago', async () => {
      const secrets = [
        { hash: 'h1', label: 'sk-1', endsAt: NOW },
        { hash: 's1', label: 'sk-2', endsAt: null },
      ]
      await store().keys.insert(sampleKey('h1'))
      await store().keys.insert(sampleKey('h2', { secrets: [{ ...secrets[0]!, hash: 'h2' }] }))
      expect(await store().keys.modify('h1', () => ({ secrets }))).toEqual(sampleKey('h1', { secrets }))
      expect(await store().keys.list()).toEqual([sampleKey('h1', { secrets }), sampleKey('h2', { secrets: [{ ...secrets[0]!, hash: 'h2' }] })])
      expect((await store().keys.update('h1', { revokedAt: NOW - 1 }))?.secrets).toEqual(secrets)
      expect([...(await store().keys.revokedBefore(NOW))].toSorted()).toEqual(['h1', 's1'])
    })

    it('remembers the last use of each secret of a key, whatever the order in which uses are written', async () => {
      for (const hash of ['h1', 'h2', 'h3']) await store().keys.insert(sampleKey(hash))
      const use = (keyHash: string, at: number, secretHash = keyHash) => ({ keyHash, secretHash, at })
      const version = await store().version()
      await store().keyUses.note([use('h2', NOW), use('h1', NOW), use('h1', NOW - 5, 's1')], NOW)
      await store().keyUses.note([use('h1', NOW - 60_000), use('h1', NOW + 60_000, 's1'), use('gone', NOW)], NOW)
      await store().keyUses.note([], NOW)
      const found = async (hashes: readonly string[]) =>
        (await store().keyUses.of(hashes)).map(({ secretHash, at }) => `${secretHash} ${at - NOW}`).toSorted()
      expect(await found(['h1', 'h2', 'h3', 'gone'])).toEqual(['h1 0', 'h2 0', 's1 60000'])
      expect([await found(['h2']), await found([])]).toEqual([['h2 0'], []])
      expect(await store().version()).toBe(version)
      await store().keys.remove('h1')
      expect(await found(['h1', 'h2'])).toEqual(['h2 0'])
    })

    it('remembers the uses of many keys', async () => {
      const hashes = Array.from({ length: 1_100 }, (_, n) => `key-${n}`)
      for (const hash of hashes) await store().keys.insert(sampleKey(hash))
      await store().keyUses.note(
        hashes.map((hash) => ({ keyHash: hash, secretHash: hash, at: NOW })),
        NOW,
      )
      expect(await store().keyUses.of(hashes)).toHaveLength(1_100)
    })

    it('keeps no uses of secrets that a key no longer has, but when the last of them was', async () => {
      await store().keys.insert(sampleKey('h1'))
      const use = (secretHash: string, at: number) => ({ keyHash: 'h1', secretHash, at })
      await store().keyUses.note([use('h1', NOW), use('s1', NOW + 1), use('s2', NOW + 3), use('s3', NOW - 7_200_000)], NOW)
      const secrets = ['h1', 's3', 's4'].map((hash) => ({ hash, label: hash, endsAt: hash === 's4' ? null : 0 }))
      await store().keys.modify('h1', () => ({ secrets }))
      const found = async () => [...(await store().keyUses.of(['h1']))].toSorted((a, b) => a.at - b.at)
      expect(await found()).toEqual([use('s3', NOW - 7_200_000), use('h1', NOW + 3)])
      await store().keys.modify('h1', () => ({ secrets: [secrets[0]!, secrets[2]!] }))
      expect(await found()).toEqual([use('h1', NOW + 3)])
    })

    it('replaces a use in the future, which a clock that was wrong has left', async () => {
      await store().keys.insert(sampleKey('h1'))
      const use = (at: number) => ({ keyHash: 'h1', secretHash: 'h1', at })
      const year = 365 * 86_400_000
      await store().keyUses.note([use(NOW + year)], NOW + year)
      await store().keyUses.note([use(NOW)], NOW)
      expect(await store().keyUses.of(['h1'])).toEqual([use(NOW)])
    })

    it('removes a key once', async () => {
      await store().keys.insert(sampleKey('h1'))
      expect(await store().keys.remove('h1')).toBe(true)
      expect(await store().keys.remove('h1')).toBe(false)
      expect(await store().keys.get('h1')).toBeUndefined()
    })

    it('tells which keys changed since a version, and which of them are gone', async () => {
      const { keys, workspaces, version } = store()
      const namesSince = async (seen: number, alsoOf: readonly string[] = []) => {
        const changes = await keys.changedSince(seen, alsoOf)
        return changes && { ...changes, keys: changes.keys.map(({ name }) => name).toSorted() }
      }
      expect(await keys.any()).toBe(false)
      const before = await version()
      for (const name of ['a', 'b', 'c']) await keys.insert(sampleKey(name, { name }))
      const made = await version()
      await keys.update('a', { disabled: true })
      await keys.modify('b', () => ({ name: 'renamed' }))
      await keys.remove('c')
      await workspaces.update(DEFAULT_WORKSPACE_ID, { name: 'anything' })
      const now = await version()
      expect([await namesSince(before), await namesSince(made), await namesSince(now), await namesSince(now, ['a', 'nobody'])]).toEqual([
        { version: now, keys: ['a', 'renamed'], removed: ['c'], onlyKeys: false },
        { version: now, keys: ['a', 'renamed'], removed: ['c'], onlyKeys: false },
        { version: now, keys: [], removed: [], onlyKeys: true },
        { version: now, keys: ['a'], removed: ['nobody'], onlyKeys: true },
      ])
      expect(await keys.changedSince(now + 1, [])).toBeUndefined()
      await keys.update('a', { disabled: false })
      await keys.update('b', { name: 'b' })
      expect(await namesSince(now)).toEqual({ version: now + 2, keys: ['a', 'b'], removed: [], onlyKeys: true })
      await workspaces.insert(sampleWorkspace('w1'))
      await keys.insert(sampleKey('d', { workspaceId: 'w1' }))
      await workspaces.remove('w1')
      expect([await namesSince(now), await namesSince(await version()), await keys.any()]).toEqual([
        undefined,
        { version: await version(), keys: [], removed: [], onlyKeys: true },
        true,
      ])
    })

    it('lists the keys that an environment named', async () => {
      for (const [hash, origin] of [
        ['h1', 'environment'],
        ['h2', 'generated'],
      ] as const)
        await store().keys.insert(sampleKey(hash, { origin }))
      await store().keys.insert(sampleKey('h3'))
      expect((await store().keys.list({ origin: 'environment' })).map(({ hash }) => hash)).toEqual(['h1'])
    })

    it('treats any text as data', async () => {
      const hostile = `'; drop table api_keys; -- " \\ %_ \u2028 😀`
      await store().keys.insert(sampleKey(hostile, { name: hostile, settings: { [hostile]: hostile } }))
      expect(await store().keys.get(hostile)).toMatchObject({ name: hostile, settings: { [hostile]: hostile } })
      expect(await store().keys.get(`' or '1'='1`)).toBeUndefined()
    })
  })
}
