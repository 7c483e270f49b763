import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Store } from '../core/store.ts'
import { nextTurn } from '../lib/next-turn.ts'
import { openInFile, type OpenedStore } from '../testing/both-engines.ts'
import { sampleKey } from '../testing/sample-records.ts'
import { createStore } from './index.ts'
import { openDatabase } from './open-database.ts'
import { readInSteps } from './read-in-steps.ts'

describe('a table that is read in steps', () => {
  let path = ''
  let under: OpenedStore
  let store: Store
  let database: ReturnType<typeof openDatabase>
  beforeEach(async () => {
    under = await openInFile((file) => createStore({ path: (path = file) }))
    store = under.store
    await store.migrate()
    await store.workspaces.default()
    database = openDatabase({ path })
  })
  afterEach(async () => {
    await database.db.destroy()
    await under.dispose()
  })
  const insertKeys = async (count: number): Promise<void> => {
    const [{ workspaceId }, rows] = [sampleKey('x'), Array.from({ length: count }, (_, n) => `k${String(n).padStart(5, '0')}`)]
    const row = { kind: 'inference', workspace_id: workspaceId, name: 'key', label: 'sk', disabled: false, updated_at: 0, expires_at: null } as const
    for (let at = 0; at < count; at += 500) {
      const some = rows.slice(at, at + 500).map((hash, n) => ({ ...row, hash, created_at: at + n, revoked_at: n % 4 === 0 ? 1 : null }))
      await database.db
        .insertInto('api_keys')
        .values(some.map((each) => ({ ...each, disabled: 0 as never, creator_user_id: null, origin: null, settings: '{}' })))
        .execute()
    }
  }

  it.each([1, 2, 6, 7, 8, 100])('is read whole and each row once, %d rows at a time', async (rows) => {
    await insertKeys(7)
    const ranges: unknown[] = []
    const found = await readInSteps(database.db, { table: 'api_keys', key: 'hash', rows }, async (range) => {
      ranges.push(range)
      let query = database.db.selectFrom('api_keys').select('hash').where('hash', '>', range.after)
      if (range.last !== undefined) query = query.where('hash', '<=', range.last)
      const step = await query.execute()
      expect(step.length).toBeLessThanOrEqual(rows)
      return step
    })
    expect(found.map(({ hash }) => hash)).toEqual([0, 1, 2, 3, 4, 5, 6].map((n) => `k0000${n}`))
    expect(ranges).toHaveLength(Math.floor(7 / rows) + 1)
  })

  /** Turns of the event loop while something is read. */
  async function turnsOf(read: () => Promise<unknown>): Promise<number> {
    let turns = 0
    let isDone = false
    const count = (): void => {
      turns++
      if (!isDone) setImmediate(count)
    }
    setImmediate(count)
    await read()
    isDone = true
    return turns
  }

  it('lets others in between: all keys are read again after each change of one', async () => {
    await insertKeys(4_000)
    expect(await turnsOf(async () => expect(await store.keys.list({ revokedSince: 2 })).toHaveLength(3_000))).toBeGreaterThanOrEqual(4)
    const hashes = (await store.keys.list()).map(({ hash }) => hash)
    expect(hashes).toHaveLength(4_000)
    expect(hashes).toEqual(hashes.toSorted())
  })

  // Each would take its turn between two steps: while many long texts are scanned, a revoked key would go on for as long as that lasts.
  it('does not line up behind long tasks, however many there are', async () => {
    await insertKeys(8_000)
    const progress = { turns: 0, isRead: false }
    const task = async (): Promise<void> => {
      for (; !progress.isRead; progress.turns++) await nextTurn()
    }
    const tasks = Array.from({ length: 100 }, task)
    expect(await store.keys.list()).toHaveLength(8_000)
    progress.isRead = true
    expect(progress.turns).toBeLessThan(100)
    await Promise.all(tasks)
  })

  it('lets others in between: so are workspaces, guardrails and own provider keys', async () => {
    const workspace_id = sampleKey('x').workspaceId
    const at = { created_at: 7, updated_at: 7 }
    const rows = Array.from({ length: 2_200 }, (_, n) => `i${String(n).padStart(5, '0')}`)
    for (let first = 0; first < rows.length; first += 550) {
      const ids = rows.slice(first, first + 550)
      const spaces = ids.map((id) => ({ ...at, id, slug: id, name: id, description: null, is_default: 0 as never, settings: '{}' }))
      await database.db.insertInto('workspaces').values(spaces).execute()
      const guardrails = ids.map((id) => ({ ...at, id, workspace_id, name: id, description: null, rules: '{}' }))
      await database.db.insertInto('guardrails').values(guardrails).execute()
      const flags = { disabled: 0 as never, is_fallback: 0 as never, allowed_models: null, allowed_key_hashes: null, allowed_user_ids: null }
      const keys = ids.map((id) => ({ ...at, ...flags, id, workspace_id, provider: 'p', name: null, label: 'l', sealed: 's', sort_order: 0 }))
      await database.db.insertInto('own_keys').values(keys).execute()
    }
    for (const list of [() => store.workspaces.list(), () => store.guardrails.list(), () => store.ownKeys.list()]) {
      const read = async (): Promise<void> => {
        const found = (await list()).map(({ id }) => id).filter((id) => id.startsWith('i'))
        expect(found).toEqual(rows)
      }
      expect(await turnsOf(read)).toBeGreaterThanOrEqual(2)
    }
  })

  it('lets others in between: so are the presets that are in use, and the keys under guardrails', async () => {
    const at = { created_at: 0, updated_at: 0, description: null }
    const workspace_id = sampleKey('x').workspaceId
    const ids = Array.from({ length: 1_200 }, (_, n) => `p${String(n).padStart(5, '0')}`)
    for (const id of ids) {
      const preset = { ...at, id, workspace_id, slug: id, name: id, status: 'active', creator_user_id: null, status_updated_at: null } as const
      await database.db
        .insertInto('presets')
        .values({ ...preset, designated_version_id: `v${id}` })
        .execute()
      await database.db
        .insertInto('preset_versions')
        .values({ id: `v${id}`, preset_id: id, version: 1, creator_id: 'u', sealed: 's', created_at: 0 })
        .execute()
    }
    expect(await turnsOf(async () => expect(await store.presets.designated()).toHaveLength(1_200))).toBeGreaterThanOrEqual(2)

    await insertKeys(4_500)
    await database.db
      .insertInto('guardrails')
      .values({ id: 'g', workspace_id, name: 'g', description: null, rules: '{}', created_at: 0, updated_at: null })
      .execute()
    for (let at = 0; at < 4_500; at += 500) {
      const hashes = Array.from({ length: 500 }, (_, n) => `k${String(at + n).padStart(5, '0')}`)
      await store.guardrails.assign(hashes.map((keyHash) => ({ id: keyHash, guardrailId: 'g', keyHash, assignedBy: null, createdAt: 9_999 - at })))
    }
    const read = async (): Promise<void> => {
      const all = await store.guardrails.assignments()
      expect([all.length, all[0]?.keyHash, all.at(-1)?.keyHash]).toEqual([4_500, 'k04000', 'k00499'])
    }
    expect(await turnsOf(read)).toBeGreaterThanOrEqual(2)
  })
})
