import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { PresetAccounts, PresetDraft } from '../core/preset.ts'
import { DEFAULT_WORKSPACE_ID, type Store } from '../core/store.ts'
import { createStore } from '../store/index.ts'
import { sampleWorkspace } from '../testing/sample-records.ts'
import { createEncryption } from './encryption.ts'
import { createKnownPresets } from './last-known-good.ts'
import { createPresetSnapshot, type PresetSnapshot } from './preset-snapshot.ts'
import { createPresetAccounts } from './presets.ts'

const encryption = createEncryption({ current: randomBytes(32) })
let now = 1_000
const clock = { now: () => now, monotonic: () => now }

let store: Store
let presets: PresetAccounts
/** The view of another process, which looks only when told to. */
let elsewhere: PresetSnapshot
beforeEach(async () => {
  now = 1_000
  store = await createStore({ path: ':memory:' })
  await store.migrate()
  await store.workspaces.default()
  presets = createPresetAccounts({ store: store.presets, encryption, clock })
  elsewhere = createPresetSnapshot({ store, encryption, clock })
})
afterEach(async () => {
  await elsewhere.close()
  await store.close()
})

const draft = (overrides: Partial<PresetDraft> = {}): PresetDraft => ({
  workspaceId: DEFAULT_WORKSPACE_ID,
  slug: 'mail',
  content: { systemPrompt: 'You write mails.', config: { model: 'acme/small', tools: [{ type: 'mcp', authorization: 'canary-token' }] } },
  creatorUserId: null,
  creatorId: 'someone',
  ...overrides,
})
const find = (slug = 'mail') => elsewhere.find(DEFAULT_WORKSPACE_ID, slug)

describe('presets', () => {
  it('are found by their workspace and slug, and by nobody else', async () => {
    const { preset } = await presets.create(draft())
    await elsewhere.start()
    expect(find()).toMatchObject({ id: preset.id, slug: 'mail', systemPrompt: 'You write mails.', config: { model: 'acme/small' } })
    expect(elsewhere.find('another workspace', 'mail')).toBeUndefined()
    await expect(presets.get('another workspace', 'mail')).rejects.toMatchObject({ errorType: 'not_found' })
  })

  it('are changed by an inference key only where it has written the current version itself (F3)', async () => {
    const saved = (creatorId: string, slug = 'mail') => presets.save(draft({ slug, creatorId, ownOnly: true })).then(({ version }) => version.version)
    const denied = { errorType: 'permission_denied' }
    expect([await saved('key'), await saved('key')]).toEqual([1, 2])
    await expect(saved('another key')).rejects.toMatchObject(denied)
    await presets.update(DEFAULT_WORKSPACE_ID, 'mail', { content: { systemPrompt: 'Better.', creatorId: 'admin' } })
    await expect(saved('key')).rejects.toMatchObject(denied)
    await presets.create(draft({ slug: 'made', creatorId: 'admin' }))
    await presets.update(DEFAULT_WORKSPACE_ID, 'made', { status: 'archived' })
    await expect(saved('key', 'made')).rejects.toMatchObject(denied)
    expect((await presets.save(draft({ creatorId: 'admin' }))).version.version).toBe(4)
  })

  it('keep name and description when a request is saved as one of them again, unless it has its own', async () => {
    const { preset } = await presets.create(draft({ name: 'Mails', description: 'For letters', creatorUserId: 'first' }))
    await presets.update(DEFAULT_WORKSPACE_ID, 'mail', { status: 'disabled' })
    now = 2_000
    const again = await presets.save(draft({ content: { systemPrompt: null, config: {} }, creatorUserId: 'second' }))
    expect(again.preset).toEqual({
      ...preset,
      status: 'disabled',
      designatedVersionId: again.version.id,
      updatedAt: 2_000,
      statusUpdatedAt: 1_000,
    })
    expect((await presets.save(draft({ name: 'Letters', description: null }))).preset).toMatchObject({ name: 'Letters', description: null })
  })

  it('are encrypted in the database', async () => {
    const { preset } = await presets.create(draft())
    expect(JSON.stringify([await store.presets.list(), await store.presets.versions(preset.id)])).not.toContain('canary-token')
  })

  it('serve their newest version, until another one is designated', async () => {
    await presets.create(draft())
    now += 10
    const second = await presets.save(draft({ content: { systemPrompt: null, config: { model: 'acme/large' } } }))
    expect(second).toMatchObject({ preset: { updatedAt: 1_010, createdAt: 1_000 }, version: { version: 2 } })
    await elsewhere.start()
    expect(find()?.config).toEqual({ model: 'acme/large' })
    await presets.update(DEFAULT_WORKSPACE_ID, 'mail', { designatedVersion: 1 })
    await elsewhere.refresh()
    expect(find()?.config).toMatchObject({ model: 'acme/small' })
    const { versions, total } = await presets.versions(DEFAULT_WORKSPACE_ID, 'mail', { offset: 0, limit: 10 })
    expect([versions.map(({ version }) => version), total]).toEqual([[1, 2], 2])
    expect((await presets.versions(DEFAULT_WORKSPACE_ID, 'mail', { offset: 1, limit: 10 })).versions.map(({ version }) => version)).toEqual([2])
    expect((await presets.version(DEFAULT_WORKSPACE_ID, 'mail', 2)).version).toBe(2)
    await expect(presets.version(DEFAULT_WORKSPACE_ID, 'mail', 3)).rejects.toMatchObject({ errorType: 'not_found' })
    await expect(presets.update(DEFAULT_WORKSPACE_ID, 'mail', { designatedVersion: 3 })).rejects.toMatchObject({ errorType: 'invalid_request' })
  })

  it('that are disabled cannot be used and stay disabled through new versions; archived ones are gone until they are saved again', async () => {
    await presets.create(draft())
    now += 10
    expect((await presets.update(DEFAULT_WORKSPACE_ID, 'mail', { status: 'disabled' })).preset).toMatchObject({ statusUpdatedAt: 1_010 })
    await presets.save(draft())
    await elsewhere.start()
    expect(find()).toBeUndefined()
    expect(await presets.list(DEFAULT_WORKSPACE_ID)).toHaveLength(1)
    await presets.update(DEFAULT_WORKSPACE_ID, 'mail', { status: 'archived' })
    expect(await presets.list(DEFAULT_WORKSPACE_ID)).toEqual([])
    await expect(presets.get(DEFAULT_WORKSPACE_ID, 'mail')).rejects.toMatchObject({ errorType: 'not_found' })
    expect((await presets.create(draft())).preset.status).toBe('active')
  })

  it('keep every one of several changes that are made at once', async () => {
    await presets.create(draft())
    const creatorId = 'someone'
    await Promise.all([
      presets.update(DEFAULT_WORKSPACE_ID, 'mail', { content: { systemPrompt: 'New.', creatorId } }),
      presets.update(DEFAULT_WORKSPACE_ID, 'mail', { content: { config: { model: 'acme/large' }, creatorId } }),
    ])
    expect((await presets.get(DEFAULT_WORKSPACE_ID, 'mail')).version).toMatchObject({
      version: 3,
      systemPrompt: 'New.',
      config: { model: 'acme/large' },
    })
  })

  it('that are disabled while they are saved again stay disabled', async () => {
    await presets.create(draft())
    await Promise.all([presets.update(DEFAULT_WORKSPACE_ID, 'mail', { status: 'disabled' }), presets.save(draft())])
    expect((await presets.get(DEFAULT_WORKSPACE_ID, 'mail')).preset.status).toBe('disabled')
  })

  it('are created once, though two create them at once', async () => {
    const outcomes = await Promise.allSettled([presets.create(draft()), presets.create(draft({ content: { systemPrompt: 'Two.', config: {} } }))])
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    expect(outcomes[1]).toMatchObject({ reason: { errorType: 'conflict' } })
    expect((await presets.versions(DEFAULT_WORKSPACE_ID, 'mail', { offset: 0, limit: 10 })).total).toBe(1)
  })

  it('are as they were when a part of a change is refused', async () => {
    const before = await presets.create(draft())
    const change = { name: 'x', content: { systemPrompt: 'TWO', creatorId: 'someone' }, designatedVersion: 99 }
    await expect(presets.update(DEFAULT_WORKSPACE_ID, 'mail', change)).rejects.toMatchObject({ errorType: 'invalid_request' })
    expect(await presets.get(DEFAULT_WORKSPACE_ID, 'mail')).toEqual(before)
  })

  it('have slugs of their own', async () => {
    await presets.create(draft())
    await expect(presets.create(draft())).rejects.toMatchObject({ errorType: 'conflict' })
    await presets.remove(DEFAULT_WORKSPACE_ID, 'mail')
    await expect(presets.remove(DEFAULT_WORKSPACE_ID, 'mail')).rejects.toMatchObject({ errorType: 'not_found' })
    await presets.create(draft())
  })

  it('may not be larger than what is kept in memory for them', async () => {
    const large = draft({ content: { systemPrompt: 'x'.repeat(300_000), config: {} } })
    await expect(presets.create(large)).rejects.toMatchObject({ errorType: 'invalid_request' })
  })

  it('are not reported as missing before the database was ever read', () => {
    expect(() => find()).toThrow(expect.objectContaining({ errorType: 'provider_overloaded' }) as Error)
  })

  it('serve from the last-known-good file while the database is away at the start, sealed on disk', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'signalbox-presets-'))
    const file = join(folder, 'known.json')
    await presets.create(draft())
    const before = createPresetSnapshot({ store, encryption, clock, lastKnownGood: createKnownPresets(file) })
    await before.start()
    await before.close()
    expect(await readFile(file, 'utf8')).not.toContain('canary-token')

    const away = { version: () => Promise.reject(new Error('away')), presets: { designated: () => Promise.reject(new Error('away')) } }
    const after = createPresetSnapshot({ store: away, encryption, clock, lastKnownGood: createKnownPresets(file) })
    await expect(after.start()).rejects.toThrow('away')
    expect(after.find(DEFAULT_WORKSPACE_ID, 'mail')).toMatchObject({ slug: 'mail', systemPrompt: 'You write mails.' })
    // A preset may have been made since the file was written, so this process must not claim that it does not exist.
    expect(() => after.find(DEFAULT_WORKSPACE_ID, 'other')).toThrow(expect.objectContaining({ errorType: 'provider_overloaded' }) as Error)
    await after.close()
    await rm(folder, { recursive: true })
  })

  it('are written to that file when they change, not when anything else does', async () => {
    const written: number[] = []
    const lastKnownGood = {
      read: () => Promise.resolve(undefined),
      write: (known: { readonly presets: readonly unknown[] }) => Promise.resolve(void written.push(known.presets.length)),
    }
    const snapshot = createPresetSnapshot({ store, encryption, clock, lastKnownGood })
    await snapshot.start()
    await presets.create(draft())
    await snapshot.refresh()
    for (let i = 0; i < 3; i++) {
      await store.workspaces.insert(sampleWorkspace(`w${i}`))
      await snapshot.refresh()
    }
    await presets.update(DEFAULT_WORKSPACE_ID, 'mail', { content: { systemPrompt: 'You write letters.', creatorId: 'someone' } })
    await snapshot.refresh()
    await store.rewrapSecrets((sealed) => sealed.replace('sbe1.', 'sbe1.other.'))
    await snapshot.refresh()
    await snapshot.close()
    expect(written).toEqual([0, 1, 1, 1])
  })

  it('that cannot be decrypted are left out, and the others serve', async () => {
    await presets.create(draft())
    const other = createPresetAccounts({ store: store.presets, encryption: createEncryption({ current: randomBytes(32) }), clock })
    await other.create(draft({ slug: 'foreign' }))
    const unreadable: string[] = []
    const snapshot = createPresetSnapshot({ store, encryption, clock, onUnreadable: (id) => unreadable.push(id) })
    await snapshot.start()
    expect(snapshot.find(DEFAULT_WORKSPACE_ID, 'foreign')).toBeUndefined()
    expect(snapshot.find(DEFAULT_WORKSPACE_ID, 'mail')).toBeDefined()
    expect(unreadable).toHaveLength(1)
    await snapshot.close()
  })
})
