import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { KeyAccounts } from '../core/account.ts'
import { DEFAULT_WORKSPACE_ID, type ApiKey, type Store } from '../core/store.ts'
import { createStore } from '../store/index.ts'
import { manualClock } from '../testing/deterministic.ts'
import { sampleKey, sampleWorkspace } from '../testing/sample-records.ts'
import { hashKey } from './api-key.ts'
import { createKeyAccounts } from './keys.ts'

describe('key accounts', () => {
  const clock = manualClock()
  let store: Store
  let accounts: KeyAccounts
  let changes: ApiKey[]
  beforeEach(async () => {
    store = await createStore({ path: ':memory:', clock })
    await store.migrate()
    changes = []
    accounts = createKeyAccounts({ store, clock, onChange: (key) => void changes.push(key) })
  })
  afterEach(() => store.close())

  it('create a key that is shown once and stored as a hash, in the default workspace', async () => {
    const { key, secret } = await accounts.create({ name: 'laptop', kind: 'inference', expiresAt: clock.now() + 5, settings: { limit: 3 } })
    expect(key).toMatchObject({
      hash: hashKey(secret.reveal()),
      workspaceId: DEFAULT_WORKSPACE_ID,
      name: 'laptop',
      revokedAt: null,
      settings: { limit: 3 },
    })
    expect(await store.keys.list()).toEqual([key])
    expect(JSON.stringify(await store.keys.list())).not.toContain(secret.reveal())
    expect(changes).toEqual([key])
  })

  it.each([
    [{ name: '' }, 'name'],
    [{ name: '  ' }, 'name'],
    [{ name: 'x'.repeat(257) }, 'name'],
    [{ name: 'red \u001b[31m' }, 'name'],
    [{ expiresAt: Date.parse('9999-12-31T23:59:59-14:00') }, 'expires_at'],
    [{ expiresAt: 1 }, 'expires_at'],
    [{ expiresAt: NaN }, 'expires_at'],
    [{ expiresAt: clock.now() }, 'expires_at'],
  ])('refuse %j, naming the field', async (wrong, path) => {
    await expect(accounts.create({ name: 'ok', kind: 'inference', ...wrong })).rejects.toMatchObject({
      errorType: 'invalid_request',
      details: { path },
    })
    expect(await store.keys.list()).toEqual([])
  })

  it('are limited in number per workspace, not counting revoked ones, because all are in memory', async () => {
    await store.workspaces.insert(sampleWorkspace('other'))
    const few = createKeyAccounts({ store, clock, maxKeys: 2 })
    const add = (workspaceId?: string) => few.create({ name: 'k', kind: 'inference', ...(workspaceId === undefined ? {} : { workspaceId }) })
    const { key } = await add()
    await add()
    await expect(add()).rejects.toMatchObject({ errorType: 'invalid_request', message: expect.stringContaining('has 2 keys already') })
    await expect(add('other')).resolves.toBeDefined()
    await few.revoke(key.hash)
    await expect(add()).resolves.toBeDefined()
  })

  it('have names whose length is counted in characters, not in UTF-16 units', async () => {
    const { key } = await accounts.create({ name: '🚀'.repeat(256), kind: 'inference' })
    expect([...key.name]).toHaveLength(256)
    await expect(accounts.create({ name: '🚀'.repeat(257), kind: 'inference' })).rejects.toMatchObject({ errorType: 'invalid_request' })
  })

  it('refuse a workspace that is not there', async () => {
    await expect(accounts.create({ name: 'k', kind: 'inference', workspaceId: 'nowhere' })).rejects.toMatchObject({ errorType: 'not_found' })
  })

  it('list the keys that still work, or all', async () => {
    const { key: first } = await accounts.create({ name: 'a', kind: 'inference' })
    const { key: second } = await accounts.create({ name: 'b', kind: 'management' })
    await accounts.revoke(first.hash)
    expect((await accounts.list()).map(({ hash }) => hash)).toEqual([second.hash])
    expect(await accounts.list({ includeRevoked: true })).toHaveLength(2)
    expect(await accounts.list({ workspaceId: 'another' })).toEqual([])
  })

  it('have no change time before their creation time, also if the clock was set back', async () => {
    const { key } = await accounts.create({ name: 'a', kind: 'inference' })
    clock.advance(-10)
    expect((await accounts.update(key.hash, { name: 'b' })).updatedAt).toBe(key.updatedAt)
  })

  it('change only the named fields: settings are merged, null removes one', async () => {
    const { key } = await accounts.create({ name: 'a', kind: 'inference', settings: { limit: 1, limit_reset: 'daily' } })
    clock.advance(10)
    const changed = await accounts.update(key.hash, { name: 'b', disabled: true, settings: { limit: null, include_byok_in_limit: true } })
    expect(changed).toEqual({
      ...key,
      name: 'b',
      disabled: true,
      updatedAt: clock.now(),
      settings: { limit_reset: 'daily', include_byok_in_limit: true },
    })
    expect(changes.at(-1)).toEqual(changed)
    await expect(accounts.update(key.hash, { name: '' })).rejects.toMatchObject({ errorType: 'invalid_request' })
    await expect(accounts.update('missing', { name: 'x' })).rejects.toMatchObject({ errorType: 'not_found' })
  })

  it('keep every one of several changes that are made at once', async () => {
    const { key } = await accounts.create({ name: 'a', kind: 'inference' })
    await Promise.all([
      accounts.update(key.hash, { settings: { limit: 5 } }),
      accounts.update(key.hash, { settings: { rate_limits: { requests_per_minute: 7 } } }),
      accounts.update(key.hash, { settings: { limit_reset: 'daily' } }),
    ])
    expect((await accounts.get(key.hash))?.settings).toEqual({ limit: 5, rate_limits: { requests_per_minute: 7 }, limit_reset: 'daily' })
  })

  it('list working keys, and revoked ones on request, however they were revoked', async () => {
    await store.workspaces.default()
    await store.keys.insert(sampleKey('1'.repeat(64)))
    await store.keys.insert(sampleKey('2'.repeat(64), { revokedAt: 1 }))
    await store.keys.insert(sampleKey('3'.repeat(64), { revokedAt: 1, origin: 'environment' }))
    const listed = async (filter?: { readonly includeRevoked: boolean }) => (await accounts.list(filter)).map(({ hash }) => hash[0])
    expect(await listed()).toEqual(['1'])
    expect(await listed({ includeRevoked: true })).toEqual(['1', '2', '3'])
  })

  it('do not change a key that is revoked while the change is on its way', async () => {
    const { key } = await accounts.create({ name: 'a', kind: 'inference' })
    const [revoked, changed] = await Promise.allSettled([accounts.revoke(key.hash), accounts.update(key.hash, { name: 'b' })])
    expect(revoked.status).toBe('fulfilled')
    expect(changed).toMatchObject({ status: 'rejected', reason: { errorType: 'conflict' } })
    expect((await accounts.get(key.hash))?.name).toBe('a')
  })

  it('revoke for good', async () => {
    const { key } = await accounts.create({ name: 'a', kind: 'inference' })
    const revoked = await accounts.revoke(key.hash)
    expect(revoked.revokedAt).toBe(clock.now())
    clock.advance(10)
    expect(await accounts.revoke(key.hash)).toEqual(revoked)
    await expect(accounts.update(key.hash, { disabled: false })).rejects.toMatchObject({ errorType: 'conflict' })
    await expect(accounts.revoke('missing')).rejects.toMatchObject({ errorType: 'not_found' })
  })

  it('rotate: the key has a new secret, shown once, and is still the same key', async () => {
    const { key, secret: first } = await accounts.create({ name: 'a', kind: 'inference', expiresAt: clock.now() + 50_000, settings: { limit: 1 } })
    clock.advance(10)
    const { key: rotated, secret } = await accounts.rotate(key.hash, 5_000)
    expect(secret.reveal()).toMatch(/^sk-sb-v1-/)
    expect(rotated).toEqual({
      ...key,
      label: expect.stringContaining(secret.reveal().slice(-3)),
      updatedAt: clock.now(),
      secrets: [
        { hash: key.hash, label: key.label, endsAt: clock.now() + 5_000 },
        { hash: hashKey(secret.reveal()), label: rotated.label, endsAt: null },
      ],
    })
    expect(await accounts.get(key.hash)).toEqual(rotated)
    expect(changes.at(-1)).toEqual(rotated)
    for (const reference of [first.reveal(), secret.reveal(), key.label, rotated.label, key.hash])
      expect((await accounts.find(reference)).hash).toBe(key.hash)
    expect(JSON.stringify(await store.keys.list())).not.toContain(secret.reveal())
    expect((await accounts.endGrace(key.hash)).secrets?.map(({ endsAt }) => endsAt)).toEqual([0, null])
    expect((await accounts.endGrace(key.hash)).secrets?.map(({ endsAt }) => endsAt)).toEqual([0, null])
  })

  it('rotate several times at once without losing a secret', async () => {
    const { key } = await accounts.create({ name: 'a', kind: 'management' })
    const made = await Promise.all([1, 2, 3].map(() => accounts.rotate(key.hash, 60_000)))
    const hashes = (await accounts.get(key.hash))?.secrets?.map(({ hash }) => hash)
    expect(new Set(hashes)).toEqual(new Set([key.hash, ...made.map(({ secret }) => hashKey(secret.reveal()))]))
  })

  it('do not rotate keys that are revoked or missing, nor for longer than allowed', async () => {
    const { key } = await accounts.create({ name: 'a', kind: 'inference' })
    for (const graceMs of [-1, 0.5, NaN, 90 * 86_400_000 + 1])
      await expect(accounts.rotate(key.hash, graceMs)).rejects.toMatchObject({ errorType: 'invalid_request', details: { path: 'grace_seconds' } })
    await accounts.revoke(key.hash)
    await expect(accounts.rotate(key.hash, 0)).rejects.toMatchObject({ errorType: 'conflict' })
    await expect(accounts.endGrace(key.hash)).rejects.toMatchObject({ errorType: 'conflict' })
    await expect(accounts.rotate('missing', 0)).rejects.toMatchObject({ errorType: 'not_found' })
    expect((await accounts.get(key.hash))?.secrets).toBeUndefined()
  })

  it('show one workspace nothing of another', async () => {
    await store.workspaces.insert(sampleWorkspace('w1'))
    const { key } = await accounts.create({ name: 'a', kind: 'inference' })
    expect(await accounts.get(key.hash, 'w1')).toBeUndefined()
    expect(await accounts.get(key.hash, DEFAULT_WORKSPACE_ID)).toEqual(key)
    for (const attempt of [
      accounts.update(key.hash, { name: 'x' }, 'w1'),
      accounts.rotate(key.hash, 0, 'w1'),
      accounts.endGrace(key.hash, 'w1'),
      accounts.revoke(key.hash, 'w1'),
      accounts.find(key.hash, 'w1'),
    ]) {
      await expect(attempt).rejects.toMatchObject({ errorType: 'not_found' })
    }
  })

  describe('find a key', () => {
    beforeEach(async () => {
      await store.workspaces.default()
      await store.keys.insert(sampleKey(`aaaaaaaa1${'0'.repeat(55)}`, { name: 'one', label: 'label-1' }))
      await store.keys.insert(sampleKey(`aaaaaaaa2${'0'.repeat(55)}`, { name: 'two', label: 'label-2' }))
      await store.keys.insert(sampleKey(`bbbbbbbb1${'0'.repeat(55)}`, { name: 'two', label: 'label-3', revokedAt: 1 }))
    })

    it.each([
      [`aaaaaaaa1${'0'.repeat(55)}`, 'one'],
      ['aaaaaaaa2', 'two'],
      ['label-1', 'one'],
      ['one', 'one'],
    ])('by %s', async (reference, name) => {
      expect(await accounts.find(reference)).toMatchObject({ name })
    })

    it('by the key itself', async () => {
      const { key, secret } = await accounts.create({ name: 'a', kind: 'inference' })
      expect((await accounts.find(secret.reveal())).hash).toBe(key.hash)
    })

    it('that works rather than a revoked one of the same name', async () => {
      expect((await accounts.find('two')).label).toBe('label-2')
    })

    it('only when it is clear which', async () => {
      await expect(accounts.find('aaaaaaaa')).rejects.toMatchObject({ errorType: 'conflict' })
      for (const reference of ['aaaaaaa', '', 'three', '%']) await expect(accounts.find(reference)).rejects.toMatchObject({ errorType: 'not_found' })
    })
  })
})
