import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Owner } from '../core/call.ts'
import { GatewayError } from '../core/error.ts'
import type { ConfiguredGuardrail, GuardrailAccounts } from '../core/guardrail.ts'
import { DEFAULT_WORKSPACE_ID, type Store } from '../core/store.ts'
import { createStore } from '../store/index.ts'
import { sampleKey, sampleWorkspace } from '../testing/sample-records.ts'
import { createGuardrailSnapshot, defaultGuardrailId, type GuardrailSnapshot, type GuardrailSnapshotOptions } from './guardrail-snapshot.ts'
import { createGuardrailAccounts } from './guardrails.ts'
import { createKnownGuardrails } from './last-known-good.ts'

let now = 1_000
const clock = { now: () => now, monotonic: () => now }
const KEY = 'a'.repeat(64)
const owner = (overrides: Partial<Owner> = {}): Owner => ({
  workspaceId: DEFAULT_WORKSPACE_ID,
  keyHash: KEY,
  keyName: 'app',
  keyLabel: 'l',
  ...overrides,
})
const rule = (name: string, more: Partial<ConfiguredGuardrail> = {}): ConfiguredGuardrail => ({
  name,
  rules: { allowed_models: [`${name}/*`] },
  ...more,
})

let store: Store
let accounts: GuardrailAccounts
const open: GuardrailSnapshot[] = []
/** The view of another process, which looks only when told to. */
const snapshot = (
  options: Partial<GuardrailSnapshotOptions> & { readonly rules?: readonly ConfiguredGuardrail[]; readonly whenUnknown?: 'allow' | 'refuse' } = {},
): GuardrailSnapshot => {
  const { rules = [], whenUnknown = 'allow', ...rest } = options
  const config = { rules, whenUnknown }
  const made = createGuardrailSnapshot({
    store,
    clock,
    authenticator: { workspace: (id) => (id === DEFAULT_WORKSPACE_ID ? sampleWorkspace(id, { slug: 'default' }) : undefined) },
    config: () => config,
    ...rest,
  })
  open.push(made)
  return made
}
beforeEach(async () => {
  now = 1_000
  store = await createStore({ path: ':memory:' })
  await store.migrate()
  await store.workspaces.default()
  await store.workspaces.insert(sampleWorkspace('w2'))
  await store.keys.insert(sampleKey(KEY))
  accounts = createGuardrailAccounts({ store, clock })
})
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()))
  await store.close()
})

describe('the guardrails of a caller', () => {
  it('have a new revision whenever one changes or applies again, because spending in between counts', async () => {
    let config = { rules: [rule('a')], whenUnknown: 'allow' as const }
    const guardrails = snapshot({ config: () => config })
    await guardrails.start()
    const { id } = await accounts.create({ workspaceId: DEFAULT_WORKSPACE_ID, name: 'budget', rules: { limit_usd: 5 } })
    const revisions = async (): Promise<readonly (number | undefined)[]> => {
      now += 1_000
      await guardrails.refresh()
      return guardrails.of(owner())?.map(({ revision }) => revision) ?? []
    }
    await accounts.assign(id, [KEY], null)
    const first = await revisions()
    expect(await revisions()).toEqual(first)
    await accounts.update(id, { rules: { limit_usd: 6 } })
    const changed = await revisions()
    await accounts.unassign(id, [KEY])
    expect(await revisions()).toEqual([first[0]])
    await accounts.assign(id, [KEY], null)
    const again = await revisions()
    config = { ...config, rules: [rule('a')] }
    const [configured, stored] = await revisions()
    expect(configured).toBeGreaterThan(first[0]!)
    expect(stored).toBe(again[1])
    const steps = [first[1]!, changed[1]!, again[1]!]
    expect(steps).toEqual([...new Set(steps)].toSorted((a, b) => a - b))
  })

  it('are none until one is assigned or the default has rules', async () => {
    const guardrails = snapshot()
    await guardrails.start()
    expect(guardrails.of(owner())).toBeUndefined()
    const { id } = await accounts.create({ workspaceId: DEFAULT_WORKSPACE_ID, name: 'strict', rules: { enforce_zdr: true } })
    await guardrails.refresh()
    expect(guardrails.of(owner())).toBeUndefined()
    await accounts.assign(id, [KEY], null)
    await accounts.update(defaultGuardrailId(DEFAULT_WORKSPACE_ID), { rules: { allowed_models: ['a/*'] } })
    await guardrails.refresh()
    expect(guardrails.of(owner())?.map(({ scope, rules }) => [scope, rules])).toEqual([
      ['workspace', { allowed_models: ['a/*'] }],
      ['api-key', { enforce_zdr: true }],
    ])
    expect(guardrails.of(owner({ keyHash: 'b' }))?.map(({ scope }) => scope)).toEqual(['workspace'])
    expect(guardrails.of(owner({ workspaceId: 'w2', keyHash: 'c' }))).toBeUndefined()
  })

  it('are the same list for the same owner until something changes', async () => {
    await accounts.update(defaultGuardrailId(DEFAULT_WORKSPACE_ID), { rules: { enforce_zdr: true } })
    const guardrails = snapshot()
    await guardrails.start()
    const me = owner()
    const before = guardrails.of(me)!
    expect(guardrails.of(me)).toBe(before)
    await store.keys.insert(sampleKey('k2'))
    await guardrails.refresh()
    // A new list after any change, but the same rules object where nothing changed, so that what was compiled for it stays in use.
    expect(guardrails.of(me)![0]!.rules).toBe(before[0]!.rules)
  })

  it.each(['before', 'after'] as const)('apply to a key that gets another one while all are read, if it was read %s that', async (when) => {
    const { id } = await accounts.create({ workspaceId: DEFAULT_WORKSPACE_ID, name: 'first', rules: { enforce_zdr: true } })
    await accounts.assign(id, [KEY], null)
    let changes = 1
    const change = async (): Promise<void> => {
      if (changes-- < 1) return
      const next = await accounts.create({ workspaceId: DEFAULT_WORKSPACE_ID, name: 'second', rules: { enforce_zdr: true } })
      await accounts.assign(next.id, [KEY], null)
      await accounts.remove(id)
    }
    const view = snapshot({
      store: {
        version: () => store.version(),
        guardrails: {
          list: () => store.guardrails.list(),
          assignments: async () => {
            if (when === 'after') await change()
            const found = await store.guardrails.assignments()
            await change()
            return found
          },
        },
      },
    })
    await view.start()
    expect(view.of(owner())?.map(({ name }) => name)).toEqual(['second'])
  })

  it('include those of the configuration file for its workspace and key', async () => {
    const guardrails = snapshot({
      rules: [
        rule('all'),
        rule('slug', { workspaces: ['default'] }),
        rule('id', { workspaces: [DEFAULT_WORKSPACE_ID] }),
        rule('other', { workspaces: ['w2'] }),
        rule('name', { keys: ['app'] }),
        rule('hash', { keys: [KEY] }),
        rule('stranger', { keys: ['somebody'] }),
      ],
    })
    await guardrails.start()
    expect(guardrails.of(owner())?.map(({ name }) => name)).toEqual(['all', 'slug', 'id', 'name', 'hash'])
    expect(guardrails.of(owner({ workspaceId: 'w2' }))?.map(({ name }) => name)).toEqual(['all', 'other', 'name', 'hash'])
  })
})

describe('while the database is away', () => {
  const away: GuardrailSnapshotOptions['store'] = {
    version: () => Promise.reject(new GatewayError('provider_overloaded', 'away')),
    guardrails: { list: () => Promise.reject(new Error('away')), assignments: () => Promise.reject(new Error('away')) },
  }

  it('from the start, calls are served or refused as the operator wants', async () => {
    const lenient = snapshot({ store: away })
    await expect(lenient.start()).rejects.toThrow('away')
    expect(lenient.of(owner())).toBeUndefined()
    const strict = snapshot({ store: away, whenUnknown: 'refuse' })
    await expect(strict.start()).rejects.toThrow('away')
    expect(() => strict.of(owner())).toThrow(expect.objectContaining({ errorType: 'provider_overloaded' }) as Error)
  })

  it('the last known rules stay in force, even across a restart', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'signalbox-guardrails-'))
    const lastKnownGood = createKnownGuardrails(join(folder, 'known.json'))
    await accounts.update(defaultGuardrailId(DEFAULT_WORKSPACE_ID), { rules: { enforce_zdr: true } })
    const before = snapshot({ lastKnownGood })
    await before.start()
    await before.close()
    const after = snapshot({ store: away, lastKnownGood, whenUnknown: 'refuse' })
    await expect(after.start()).rejects.toThrow('away')
    expect(after.of(owner())).toMatchObject([{ scope: 'workspace', rules: { enforce_zdr: true } }])
    await rm(folder, { recursive: true })
  })
})

describe('users of the API', () => {
  it('are assigned without reading the other keys of the workspace, which may be tens of thousands', async () => {
    for (const other of ['b', 'c', 'd']) await store.keys.insert(sampleKey(other.repeat(64)))
    let read = 0
    const list: Store['keys']['list'] = async (...args) => {
      const found = await store.keys.list(...args)
      read += found.length
      return found
    }
    const { id } = await accounts.create({ workspaceId: DEFAULT_WORKSPACE_ID, name: 'g', rules: {} })
    const counting = createGuardrailAccounts({ store: { ...store, keys: { list } }, clock })
    expect(await counting.assign(id, [KEY], null)).toBe(1)
    expect(read).toBe(1)
  })

  it('change and assign a default that somebody else takes back at the same moment', async () => {
    const id = defaultGuardrailId(DEFAULT_WORKSPACE_ID)
    const takenBack = {
      ...store,
      guardrails: {
        ...store.guardrails,
        get: async (wanted: string) => {
          const found = await store.guardrails.get(wanted)
          await store.guardrails.remove(wanted)
          return found
        },
      },
    }
    const late = createGuardrailAccounts({ store: takenBack, clock })
    await accounts.update(id, { rules: { enforce_zdr: true } })
    expect(await late.update(id, { name: 'new' })).toMatchObject({ name: 'new', rules: {} })
    await accounts.update(id, { rules: { enforce_zdr: true } })
    expect(await late.assign(id, [KEY], null)).toBe(1)
    expect((await accounts.assignments(undefined)).map(({ guardrailId }) => guardrailId)).toEqual([id])
  })

  it('see the same creation time of a default before and after it is changed', async () => {
    const id = defaultGuardrailId(DEFAULT_WORKSPACE_ID)
    const { createdAt } = await accounts.get(id)
    now += 5_000
    expect((await accounts.update(id, { name: 'new' })).createdAt).toBe(createdAt)
  })

  it('see no change time before the creation time, also if the clock was set back', async () => {
    const { id, createdAt } = await accounts.create({ workspaceId: 'w2', name: 'g', description: null, rules: {} })
    now -= 500
    expect((await accounts.update(id, { name: 'h' })).updatedAt).toBe(createdAt)
  })

  it('see a default before anybody has changed it, change it, and take it back', async () => {
    const id = defaultGuardrailId(DEFAULT_WORKSPACE_ID)
    expect(await accounts.list(DEFAULT_WORKSPACE_ID)).toMatchObject([{ id, rules: {}, name: `Workspace ${DEFAULT_WORKSPACE_ID} Default` }])
    now += 5
    await Promise.all([accounts.update(id, { rules: { enforce_zdr: true } }), accounts.update(id, { rules: { limit_usd: 5 } })])
    expect((await accounts.get(id)).rules).toEqual({ enforce_zdr: true, limit_usd: 5 })
    await accounts.update(id, { rules: { limit_usd: null } })
    expect((await accounts.get(id)).rules).toEqual({ enforce_zdr: true })
    await accounts.remove(id)
    await accounts.remove(id)
    expect((await accounts.get(id)).rules).toEqual({})
  })

  it('reach only their workspace', async () => {
    const { id } = await accounts.create({ workspaceId: DEFAULT_WORKSPACE_ID, name: 'ours', rules: {} })
    const notFound = expect.objectContaining({ errorType: 'not_found' }) as Error
    for (const work of [
      () => accounts.get(id, 'w2'),
      () => accounts.update(id, {}, 'w2'),
      () => accounts.remove(id, 'w2'),
      () => accounts.assignments('w2', id),
      () => accounts.assign(id, [KEY], null, 'w2'),
      () => accounts.unassign(id, [KEY], 'w2'),
      () => accounts.get(defaultGuardrailId('nowhere')),
    ])
      await expect(work()).rejects.toEqual(notFound)
    const { id: theirs } = await accounts.create({ workspaceId: 'w2', name: 'theirs', rules: {} })
    await expect(accounts.assign(theirs, [KEY], null)).rejects.toMatchObject({ errorType: 'invalid_request' })
    await accounts.assign(id, [KEY], 'me')
    expect(await accounts.assignments('w2')).toEqual([])
    expect(await accounts.assignments(undefined)).toMatchObject([{ guardrailId: id, keyHash: KEY, assignedBy: 'me' }])
  })
})
