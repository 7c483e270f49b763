import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Encryption } from '../core/account.ts'
import type { DestinationPatch, DestinationRecord } from '../core/outbox.ts'
import { DEFAULT_WORKSPACE_ID, type Store } from '../core/store.ts'
import { GatewayError } from '../core/error.ts'
import { Secret } from '../lib/secret.ts'
import { createStore } from '../store/index.ts'
import { manualClock } from '../testing/deterministic.ts'
import { sampleDestination } from '../testing/sample-records.ts'
import { createDestinationSnapshot, type DestinationSnapshot } from './destination-snapshot.ts'
import { createEncryption } from './encryption.ts'

const OTHER_KEY = createEncryption({ current: Buffer.alloc(32, 9) })

describe('the snapshot of destinations', () => {
  const encryption = createEncryption({ current: Buffer.alloc(32, 1) })
  let store: Store
  let snapshot: DestinationSnapshot
  let changes: ReadonlyMap<string, DestinationRecord>[]
  let problems: (string | undefined)[]
  beforeEach(async () => {
    store = await createStore({ path: ':memory:' })
    await store.migrate()
    await store.workspaces.default()
    changes = []
    problems = []
  })
  afterEach(async () => {
    await snapshot.close()
    await store.close()
  })
  const open = (from: Pick<Store, 'version' | 'destinations' | 'workspaces'> = store, opening: Encryption = encryption) =>
    (snapshot = createDestinationSnapshot({
      store: from,
      encryption: opening,
      clock: manualClock(),
      onChange: (destinations) => void changes.push(destinations),
      onProblem: (_message, id) => void problems.push(id),
    }))
  const sealed = (id: string, key = encryption) => key.seal(new Secret('{"headers":{"a":"secret"}}'), `destination:${id}:webhook`)

  it('holds every destination with its secrets, and follows the version', async () => {
    await store.destinations.insert(sampleDestination('d1', { sealed: sealed('d1') }), 5)
    await open().start()
    expect(snapshot.get('d1')?.config).toEqual({ url: 'https://example.com/hook', method: 'POST', headers: { a: 'secret' } })
    await snapshot.refresh()
    expect(changes).toHaveLength(1)
    await store.destinations.update('d1', DEFAULT_WORKSPACE_ID, { paused: true }, 1)
    await snapshot.refresh()
    expect(snapshot.get('d1')).toMatchObject({ paused: true, revision: 2 })
    await store.destinations.remove('d1', DEFAULT_WORKSPACE_ID)
    await snapshot.refresh()
    expect(snapshot.get('d1')).toBeUndefined()
  })

  it('opens secrets once, however often other things change', async () => {
    let opened = 0
    const counting = {
      ...encryption,
      keyId: encryption.keyId,
      open: (...args: Parameters<Encryption['open']>) => (opened++, encryption.open(...args)),
    }
    await store.destinations.insert(sampleDestination('d1', { sealed: sealed('d1') }), 5)
    await open(store, counting).start()
    await store.destinations.update('d1', DEFAULT_WORKSPACE_ID, { paused: true }, 1)
    await snapshot.refresh()
    expect([snapshot.get('d1')?.config['headers'], opened]).toEqual([{ a: 'secret' }, 1])
    await store.destinations.update(
      'd1',
      DEFAULT_WORKSPACE_ID,
      { sealed: encryption.seal(new Secret('{"headers":{"a":"new"}}'), 'destination:d1:webhook') },
      2,
    )
    await snapshot.refresh()
    expect([snapshot.get('d1')?.config['headers'], opened]).toEqual([{ a: 'new' }, 2])
  })

  it('leaves out and reports destinations its key cannot decrypt; the others work', async () => {
    await store.destinations.insert(sampleDestination('d1', { sealed: sealed('d1', OTHER_KEY) }), 5)
    await store.destinations.insert(sampleDestination('d2'), 5)
    await open().start()
    expect([snapshot.get('d1'), snapshot.get('d2')?.id]).toEqual([undefined, 'd2'])
    expect(problems).toEqual(['d1'])
  })

  it('forgets the secrets of what was deleted', async () => {
    let { destinations } = await store.destinations.list({})
    const list = () => Promise.resolve({ destinations, total: destinations.length })
    let version = 0
    open({ ...store, version: () => Promise.resolve(++version), destinations: { ...store.destinations, list } })
    for (const stored of [[sampleDestination('d1', { sealed: sealed('d1') })], [], [sampleDestination('d1', { sealed: sealed('d1', OTHER_KEY) })]]) {
      destinations = stored
      await snapshot.refresh()
    }
    expect(snapshot.get('d1')).toBeUndefined()
  })

  describe('when the secret key is changed while the process runs', () => {
    const next = createEncryption({ current: Buffer.alloc(32, 2), previous: [Buffer.alloc(32, 1)] })
    const rotate = () => store.rewrapSecrets((envelope, context) => next.rewrap(envelope, context))
    const patch = (change: DestinationPatch, revision: number) => store.destinations.update('d1', DEFAULT_WORKSPACE_ID, change, revision)
    const SECRET = { url: 'https://example.com/hook', method: 'POST', headers: { a: 'secret' } }
    beforeEach(async () => {
      await store.destinations.insert(sampleDestination('d1', { sealed: sealed('d1') }), 5)
      await open().start()
      await rotate()
    })

    it('keeps the known secrets, and says that the process has to be restarted', async () => {
      await snapshot.refresh()
      expect(snapshot.get('d1')?.config).toEqual(SECRET)
      expect(changes.at(-1)?.has('d1')).toBe(true)
      expect(problems).toEqual(['d1'])
    })

    it('follows everything else its owner changes', async () => {
      await patch({ privacyMode: true, config: { url: 'https://example.com/other', method: 'POST' } }, 1)
      await snapshot.refresh()
      expect(snapshot.get('d1')).toMatchObject({ privacyMode: true, config: { ...SECRET, url: 'https://example.com/other' } })
    })

    it('sends the old secrets to no address that came with new ones', async () => {
      const replaced = next.seal(new Secret('{"headers":{"a":"new"}}'), 'destination:d1:webhook')
      await patch({ sealed: replaced, paused: true, config: { url: 'https://other.example/hook', method: 'POST' } }, 1)
      await snapshot.refresh()
      expect(snapshot.get('d1')).toMatchObject({ paused: true, config: SECRET })
    })

    it('selects events for a destination that it could never decrypt, and sends it nothing', async () => {
      const added = next.seal(new Secret('{"headers":{"a":"new"}}'), 'destination:d2:webhook')
      await store.destinations.insert(sampleDestination('d2', { sealed: added }), 5)
      await snapshot.refresh()
      expect([snapshot.get('d2'), changes.at(-1)?.get('d2')?.enabled]).toEqual([undefined, true])
      expect(problems).toContain('d2')
    })
  })

  it('shows destinations of a workspace whose switch is off as disabled', async () => {
    await store.destinations.insert(sampleDestination('d1'), 5)
    await store.workspaces.modify(DEFAULT_WORKSPACE_ID, () => ({ settings: { is_observability_broadcast_enabled: false } }))
    await open().start()
    expect(snapshot.get('d1')?.enabled).toBe(false)
  })

  it('starts while the store is down, and reports that it is empty', async () => {
    let away = true
    const version = () => (away ? Promise.reject(new GatewayError('provider_overloaded', 'away')) : store.version())
    await open({ ...store, version }).start()
    expect([snapshot.loaded, problems.length]).toEqual([false, 1])
    await expect(snapshot.refresh()).rejects.toMatchObject({ errorType: 'provider_overloaded' })
    away = false
    await snapshot.refresh()
    expect(snapshot.loaded).toBe(true)
  })
})
