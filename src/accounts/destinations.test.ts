import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { DestinationAccounts } from '../core/destination-account.ts'
import { DEFAULT_WORKSPACE_ID, type Store } from '../core/store.ts'
import { filterRulesSchema } from '../delivery/filter-rules.ts'
import { DESTINATIONS } from '../destinations/index.ts'
import { createStore } from '../store/index.ts'
import { manualClock } from '../testing/deterministic.ts'
import { createDestinationAccounts } from './destinations.ts'
import { createEncryption } from './encryption.ts'

const encryption = createEncryption({ current: Buffer.alloc(32, 1) })
const other = createEncryption({ current: Buffer.alloc(32, 2), previous: [Buffer.alloc(32, 1)] })

describe('a destination whose secrets cannot be read any more', () => {
  let store: Store
  let accounts: DestinationAccounts
  let damaged: string
  beforeEach(async () => {
    const clock = manualClock()
    store = await createStore({ path: ':memory:' })
    await store.migrate()
    await store.workspaces.default()
    accounts = createDestinationAccounts({
      store: store.destinations,
      workspaces: store.workspaces,
      outbox: store.outbox(encryption),
      encryption,
      types: DESTINATIONS,
      filterRules: filterRulesSchema,
      clock,
      test: () => Promise.resolve({ ok: true, steps: [] }),
      sendTest: () => Promise.resolve({ ok: true, steps: [] }),
    })
    const make = (name: string) =>
      accounts.create({
        workspaceId: DEFAULT_WORKSPACE_ID,
        type: 'arize',
        name,
        config: { apiKey: 'secret-of-the-api', spaceKey: 'secret-of-the-space', modelId: 'm', headers: { 'x-key': 'secret-header' } },
      })
    damaged = (await make('damaged')).id
    // Destinations of the same moment are listed in any order.
    clock.advance(1)
    await make('whole')
    await store.destinations.update(damaged, DEFAULT_WORKSPACE_ID, { sealed: 'damaged' }, 1)
  })
  afterEach(() => store.close())

  it('is still listed, and hides no other', async () => {
    const { destinations } = await accounts.list({ workspaceId: DEFAULT_WORKSPACE_ID, offset: 0, limit: 10 })
    expect(destinations.map(({ name, config }) => [name, config['apiKey'], config['spaceKey'], config['modelId']])).toEqual([
      ['damaged', '********', '********', 'm'],
      ['whole', 'secr...-api', 'secr...pace', 'm'],
    ])
    expect(await accounts.get(damaged)).toMatchObject({ name: 'damaged', config: { baseUrl: 'https://otlp.arize.com' } })
  })

  it('can be changed in everything else, and keeps the encrypted secrets', async () => {
    expect(await accounts.update(damaged, { enabled: false })).toMatchObject({ enabled: false, config: { apiKey: '********' } })
    expect(await store.destinations.get(damaged)).toMatchObject({ sealed: 'damaged', revision: 3 })
  })

  it('takes changes of different fields that come at once, one after the other', async () => {
    const { id } = (await accounts.list({ workspaceId: DEFAULT_WORKSPACE_ID, offset: 1, limit: 1 })).destinations[0]!
    const changes = [
      { name: 'new' },
      { samplingRate: 0.5 },
      { privacyMode: true },
      { config: { modelId: 'n' } },
      { config: { apiKey: 'a-new-secret' } },
    ]
    await Promise.all([...changes, ...changes].map((change) => accounts.update(id, change)))
    expect(await accounts.get(id)).toMatchObject({
      name: 'new',
      samplingRate: 0.5,
      privacyMode: true,
      config: { modelId: 'n', apiKey: 'a-ne...cret', spaceKey: 'secr...pace' },
    })
  })

  it('works again once all of its secrets are given, and not with a mask', async () => {
    for (const config of [{ modelId: 'n' }, { apiKey: 'a-new-secret-of-the-api' }])
      await expect(accounts.update(damaged, { config })).rejects.toMatchObject({ errorType: 'invalid_request' })
    await expect(accounts.update(damaged, { config: { apiKey: '********', spaceKey: '********' } })).rejects.toMatchObject({
      errorType: 'invalid_request',
    })
    const mended = await accounts.update(damaged, { config: { apiKey: 'a-new-secret-of-the-api', spaceKey: 'a-new-secret-of-the-space' } })
    expect(mended.config).toMatchObject({ apiKey: 'a-ne...-api', modelId: 'm' })
    expect((await accounts.get(damaged)).config).toEqual(mended.config)
  })

  it('refuses changes where the secret key was rotated, until a restart', async () => {
    await store.rewrapSecrets((envelope, context) => (envelope === 'damaged' ? envelope : other.rewrap(envelope, context)))
    await expect(accounts.list({ workspaceId: DEFAULT_WORKSPACE_ID, offset: 0, limit: 10 })).rejects.toMatchObject({
      errorType: 'precondition_failed',
    })
  })
})
