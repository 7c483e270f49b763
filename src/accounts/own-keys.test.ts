import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Store } from '../core/store.ts'
import { DEFAULT_WORKSPACE_ID } from '../core/store.ts'
import { systemClock } from '../lib/clock.ts'
import { Secret } from '../lib/secret.ts'
import { createStore } from '../store/index.ts'
import { createEncryption } from './encryption.ts'
import { createKnownOwnKeys } from './last-known-good.ts'
import { rotateSecrets } from './rotate-secrets.ts'
import { createOwnKeyRing, type OwnKeyRing } from './own-keys.ts'

const encryption = createEncryption({ current: Buffer.alloc(32, 7) })
const SECRET = 'sk-vendor-of-a-caller-0123456789'
let folder: string
let store: Store
const rings: OwnKeyRing[] = []

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'signalbox-own-keys-'))
  store = await createStore({ path: ':memory:' })
  await store.migrate()
  await store.workspaces.default()
})
afterEach(async () => {
  for (const ring of rings.splice(0)) await ring.close()
  await store.close()
  await rm(folder, { recursive: true, force: true })
})

const file = (): string => join(folder, 'own-keys.json')
function ringOver(source: Pick<Store, 'version' | 'ownKeys' | 'workspaces'>): OwnKeyRing {
  const ring = createOwnKeyRing({ store: source, encryption, clock: systemClock, lastKnownGood: createKnownOwnKeys(file()), pollMs: 60_000 })
  rings.push(ring)
  return ring
}
const secretsOf = (ring: OwnKeyRing) => ring.of(DEFAULT_WORKSPACE_ID)?.map(({ secret }) => secret.reveal())
const away = { ...({} as Store), version: () => Promise.reject(new Error('away')) }

describe('own provider keys', () => {
  const byWorkspace = async () => {
    const other = '00000000-0000-4000-8000-0000000000aa'
    const base = { description: null, isDefault: false, createdAt: 1, updatedAt: 1, settings: {} }
    await store.workspaces.insert({ ...base, id: other, slug: 'other', name: 'Other' })
    const ring = ringOver(store)
    await ring.start()
    return { ring, other }
  }

  it('are a thousand in a workspace at the most: all of them are in memory', async () => {
    const { ring, other } = await byWorkspace()
    const add = (workspaceId: string) => ring.create({ workspaceId, provider: 'acme', secret: new Secret(SECRET) })
    await add(other)
    const [row] = await store.ownKeys.list()
    for (let n = 0; n < 999; n++) await store.ownKeys.insert({ ...row!, id: `00000000-0000-4000-9000-${String(n).padStart(12, '0')}` })
    await expect(add(other)).rejects.toMatchObject({ errorType: 'invalid_request', message: expect.stringContaining('1000') })
    await expect(add(DEFAULT_WORKSPACE_ID)).resolves.toBeDefined()
  })

  it('lie encrypted in the database, each sealed for its own row', async () => {
    const { ring } = await byWorkspace()
    const { id } = await ring.create({ workspaceId: DEFAULT_WORKSPACE_ID, provider: 'acme', secret: new Secret(SECRET) })
    const second = await ring.create({ workspaceId: DEFAULT_WORKSPACE_ID, provider: 'acme', secret: new Secret(`${SECRET}-2`) })
    const rows = await store.ownKeys.list()
    expect(JSON.stringify(rows)).not.toContain(SECRET.slice(6))
    // A sealed value that is moved to another row cannot be opened.
    await store.ownKeys.update(id, { sealed: rows.find((row) => row.id === second.id)!.sealed, updatedAt: 2 })
    await ring.refresh()
    expect(secretsOf(ring)).toEqual([`${SECRET}-2`])
  })

  it('belong to one workspace: others neither use nor find them', async () => {
    const { ring, other } = await byWorkspace()
    const { id } = await ring.create({ workspaceId: other, provider: 'acme', secret: new Secret(SECRET) })
    expect([secretsOf(ring), ring.of(other)?.length]).toEqual([undefined, 1])
    expect([await ring.get(id, DEFAULT_WORKSPACE_ID), (await ring.get(id, other))?.id]).toEqual([undefined, id])
    await expect(ring.update(id, { disabled: true }, DEFAULT_WORKSPACE_ID)).rejects.toMatchObject({ errorType: 'not_found' })
    await expect(ring.remove(id, DEFAULT_WORKSPACE_ID)).rejects.toMatchObject({ errorType: 'not_found' })
    await ring.remove(id, other)
    expect(ring.of(other)).toBeUndefined()
  })

  it('are decrypted once, however often others change, and again when they are replaced', async () => {
    let opened = 0
    const counting = {
      ...encryption,
      keyId: encryption.keyId,
      open: (...args: Parameters<typeof encryption.open>) => (opened++, encryption.open(...args)),
    }
    const ring = createOwnKeyRing({ store, encryption: counting, clock: systemClock, pollMs: 60_000 })
    rings.push(ring)
    await ring.start()
    const add = (secret: string) => ring.create({ workspaceId: DEFAULT_WORKSPACE_ID, provider: 'acme', secret: new Secret(secret) })
    const { id } = await add(SECRET)
    await add(`${SECRET}-2`)
    expect(opened).toBe(2)
    await ring.update(id, { disabled: true })
    await ring.update(id, { disabled: false, secret: new Secret(`${SECRET}-3`) })
    expect([secretsOf(ring), opened]).toEqual([[`${SECRET}-3`, `${SECRET}-2`], 3])
  })

  it('keep the order they were made in, and leave out those that are disabled', async () => {
    const { ring } = await byWorkspace()
    const ids: string[] = []
    for (const n of [1, 2, 3])
      ids.push((await ring.create({ workspaceId: DEFAULT_WORKSPACE_ID, provider: 'acme', secret: new Secret(`${SECRET}-${n}`) })).id)
    expect(secretsOf(ring)).toEqual([1, 2, 3].map((n) => `${SECRET}-${n}`))
    await ring.update(ids[1]!, { disabled: true })
    expect(secretsOf(ring)).toEqual([1, 3].map((n) => `${SECRET}-${n}`))
  })

  it.each([SECRET, 'short', 'a-key-of-20-letters!', '{"type":"service_account","project_id":"acme"}'])(
    'are never replaced by the label of %j, which reads show instead of it',
    async (text) => {
      const { ring } = await byWorkspace()
      const base = { workspaceId: DEFAULT_WORKSPACE_ID, provider: 'acme' }
      const { id, label } = await ring.create({ ...base, secret: new Secret(text) })
      const refused = { errorType: 'invalid_request', message: expect.stringMatching(/^key: .*label/) }
      await expect(ring.update(id, { secret: new Secret(label) })).rejects.toMatchObject(refused)
      await expect(ring.create({ ...base, secret: new Secret(label) })).rejects.toMatchObject(refused)
      expect(secretsOf(ring)).toEqual([text])
    },
  )
})

describe('own provider keys when the secret key is changed while the process runs', () => {
  it('go on serving, within what their owner allows by then, and the operator is told once per change', async () => {
    const outdated: (readonly string[])[] = []
    const ring = createOwnKeyRing({ store, encryption, clock: systemClock, pollMs: 60_000, onOutdated: (ids) => void outdated.push(ids) })
    rings.push(ring)
    await ring.start()
    const { id } = await ring.create({ workspaceId: DEFAULT_WORKSPACE_ID, provider: 'acme', secret: new Secret(SECRET) })
    const { id: second } = await ring.create({ workspaceId: DEFAULT_WORKSPACE_ID, provider: 'acme', secret: new Secret(`${SECRET}-2`) })
    await rotateSecrets(store, Buffer.alloc(32, 7), Buffer.alloc(32, 8))
    await ring.refresh()
    expect(secretsOf(ring)).toEqual([SECRET, `${SECRET}-2`])
    expect(outdated).toEqual([[id, second]])
    await ring.update(second, { disabled: true })
    expect(secretsOf(ring)).toEqual([SECRET])
  })
})

describe('own provider keys while the database is away at the start', () => {
  it('are the last known ones, so that no call is served at the expense of the gateway', async () => {
    const before = ringOver(store)
    await before.start()
    await before.create({ workspaceId: DEFAULT_WORKSPACE_ID, provider: 'acme', secret: new Secret(SECRET) })
    await before.close()

    const after = ringOver(away)
    await expect(after.start()).rejects.toThrow('away')
    expect(secretsOf(after)).toEqual([SECRET])
    expect(await readFile(file(), 'utf8')).not.toContain(SECRET)
  })

  it('are replaced by those of the database once it answers', async () => {
    const before = ringOver(store)
    await before.start()
    const { id } = await before.create({ workspaceId: DEFAULT_WORKSPACE_ID, provider: 'acme', secret: new Secret(SECRET) })
    await before.close()
    let reachable = false
    const after = ringOver({
      version: () => (reachable ? store.version() : Promise.reject(new Error('away'))),
      ownKeys: store.ownKeys,
      workspaces: store.workspaces,
    })
    await after.start().catch(() => undefined)
    expect(secretsOf(after)).toEqual([SECRET])
    await store.ownKeys.remove(id)
    reachable = true
    await after.refresh()
    expect(secretsOf(after)).toBeUndefined()
  })

  it('are none when nothing was ever stored, or the file is from another installation', async () => {
    const ring = ringOver(away)
    await ring.start().catch(() => undefined)
    expect(secretsOf(ring)).toBeUndefined()
  })
})
