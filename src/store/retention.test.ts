import { readFile } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { RETAINED, type Retained } from '../core/retention.ts'
import { DEFAULT_WORKSPACE_ID, type Store } from '../core/store.ts'
import { createEncryption } from '../accounts/encryption.ts'
import type { Clock } from '../lib/clock.ts'
import { findTestPostgres, type TestSchema } from '../testing/postgres.ts'
import { sampleContent, sampleDestination, sampleEntry, sampleGeneration } from '../testing/sample-records.ts'
import { createStore } from './index.ts'
import { verifies } from '../../e2e/requirements.ts'

const DAY = 86_400_000
/** A Wednesday, noon. */
const NOW = Date.UTC(2026, 0, 14, 12)
const clock: Clock = { now: () => NOW, monotonic: () => NOW }
const KEY = 'a'.repeat(64)

/** Who keeps each table within bounds. A table that grows needs an entry of `retention`; the others a reason why they do not grow. */
const OWNERS: { readonly [table: string]: Retained | 'dead_letters' | { readonly bound: string } } = {
  activity: 'activity',
  api_keys: { bound: 'as many as people make; revoked ones stay as evidence until they are deleted' },
  config_version: { bound: 'one row' },
  destinations: 'deleted_destinations',
  facts: { bound: 'a handful of names' },
  generation_content: 'content',
  generations: 'generations',
  guardrail_keys: { bound: 'one per key' },
  guardrails: { bound: 'as many as people make' },
  key_uses: { bound: 'one per secret that people make; they go with their key' },
  kept_answers: 'answers',
  migrations: { bound: 'one per migration' },
  outbox_contents: { bound: 'go with the last delivery of their generation' },
  outbox_counters: 'deleted_destinations',
  outbox_deliveries: 'dead_letters',
  outbox_keys: { bound: 'one per workspace and day; the sweep takes those without content' },
  own_keys: { bound: 'as many as people make' },
  preset_versions: { bound: 'a bound per preset' },
  presets: { bound: 'as many as people make' },
  spend: 'spend',
  workspaces: { bound: 'as many as people make' },
}

it(verifies('P4', 'every table is kept within bounds by retention or its owner'), async () => {
  const schema = await readFile(new URL('schema.sqlite.sql', import.meta.url), 'utf8')
  const tables = [...schema.matchAll(/^create table "(\w+)"/gim)].map(([, name = '']) => name)
  expect(tables.toSorted(), 'name the owner of a new table above; one that grows with calls needs a retention').toEqual(
    Object.keys(OWNERS).toSorted(),
  )
  const owned = Object.values(OWNERS).filter((owner) => typeof owner === 'string')
  expect([...new Set(owned)].toSorted()).toEqual([...RETAINED, 'dead_letters'].toSorted())
})

const postgres = await findTestPostgres('retention on PostgreSQL')

describe.each(['sqlite', 'postgres'] as const)('retention on %s', (engine) => {
  if (engine === 'postgres' && !postgres.available) return
  let schema: TestSchema | undefined
  let store: Store
  beforeEach(async () => {
    schema = engine === 'postgres' && postgres.available ? await postgres.createSchema() : undefined
    store = await createStore({ ...(schema === undefined ? { path: ':memory:' } : { url: schema.url, maxConnections: 3 }), clock })
    await store.migrate()
    await store.workspaces.default()
  })
  afterEach(async () => {
    await store.close()
    await schema?.drop()
  })

  const record = (ages: readonly number[], kept = true): Promise<void> =>
    store.generations.insertMany(
      ages.map((age) => {
        const startedAt = NOW - age
        const generation = sampleGeneration(`gen-${age}`, { startedAt, endedAt: startedAt + 900, keyHash: KEY })
        return kept ? { generation, content: sampleContent } : { generation }
      }),
    )
  const drain = async (what: Retained, before: number, limit: number): Promise<number> => {
    let deleted = 0
    for (let more = true, steps = 0; more; steps++) {
      if (steps > 100) throw new Error('it does not end')
      const step = await store.retention.expire(what, before, limit)
      deleted += step.deleted
      ;({ more } = step)
    }
    return deleted
  }

  it(verifies('P2', 'P3', 'deletes content before its record, a batch at a time, and nothing younger'), async () => {
    await record([10 * DAY, 9 * DAY, 8 * DAY, 2 * DAY, 0])
    expect(await store.retention.expire('content', NOW - 5 * DAY, 2)).toEqual({ deleted: 2, more: true })
    expect(await drain('content', NOW - 5 * DAY, 2)).toBe(1)
    expect(await store.generations.content(`gen-${8 * DAY}`)).toBeUndefined()
    expect(await store.generations.get(`gen-${8 * DAY}`)).toBeDefined()
    expect(await store.generations.content(`gen-${2 * DAY}`)).toEqual(sampleContent)
    // Time goes by.
    expect(await drain('content', NOW - DAY, 2)).toBe(1)
    expect(await store.generations.content('gen-0')).toEqual(sampleContent)
  })

  it('continues after records without content and records of the same millisecond', async () => {
    await store.generations.insertMany(
      Array.from({ length: 7 }, (_, i) => ({
        generation: sampleGeneration(`gen-${i}`, { startedAt: NOW - 10 * DAY }),
        ...(i % 2 === 0 ? { content: sampleContent } : {}),
      })),
    )
    await record([9 * DAY])
    expect(await drain('content', NOW, 2)).toBe(5)
  })

  it('deletes content of records that came late: by hours in the next round, by days in the first round of the next day', async () => {
    const HOUR = 3_600_000
    await record([10 * HOUR])
    expect(await drain('content', NOW - HOUR, 2)).toBe(1)
    // Recorded by a process that was cut off from the database.
    await record([12 * HOUR, 5 * DAY])
    expect(await drain('content', NOW - HOUR, 2)).toBe(1)
    expect(await drain('content', NOW - HOUR, 2)).toBe(0)
    expect(await drain('content', NOW + DAY, 2)).toBe(1)
    expect(await store.generations.content(`gen-${5 * DAY}`)).toBeUndefined()
  })

  it('continues to delete content after a clock that ran ahead was corrected', async () => {
    await record([10 * DAY, 0])
    // Set a month ahead for a while: everything looks old.
    expect(await drain('content', NOW + 20 * DAY, 2)).toBe(2)
    await record([9 * DAY, DAY])
    expect(await drain('content', NOW - 5 * DAY, 2)).toBe(1)
    expect(await store.generations.content(`gen-${DAY}`)).toEqual(sampleContent)
    // Time goes by, in rounds of an hour or so.
    await record([4 * DAY])
    expect(await drain('content', NOW - 5 * DAY + 3_600_000, 2)).toBe(0)
    expect(await drain('content', NOW - 4 * DAY + 3_600_000, 2)).toBe(1)
  })

  it('deletes records whose deliveries are settled, and leaves those with waiting ones', async () => {
    await record([20 * DAY, 10 * DAY, DAY])
    expect(await drain('generations', NOW - 5 * DAY, 1)).toBe(2)
    expect(await store.generations.get(`gen-${DAY}`)).toBeDefined()
  })

  it('reads at most one batch of them at a time, however many wait, and starts over with each round', async () => {
    const outbox = store.outbox(createEncryption({ current: Buffer.alloc(32, 1) }))
    await store.destinations.insert(sampleDestination('d1'), 5)
    const entry = (age: number, to: readonly string[]) => {
      const entered = sampleEntry(`gen-${age}`, to)
      return { ...entered, generation: { ...entered.generation, startedAt: NOW - age } }
    }
    await outbox.record([9, 8, 7, 6].map((days) => entry(days * DAY, ['d1'])))
    await outbox.record([5, 4, 3].map((days) => entry(days * DAY, [])))
    const step = () => store.retention.expire('generations', NOW - DAY, 2)
    expect([await step(), await step()]).toEqual([
      { deleted: 0, more: true },
      { deleted: 0, more: true },
    ])
    expect([await step(), await step()]).toEqual([
      { deleted: 2, more: true },
      { deleted: 1, more: false },
    ])
    expect(await store.destinations.remove('d1', DEFAULT_WORKSPACE_ID)).toBe(true)
    expect(await drain('generations', NOW - DAY, 2)).toBe(4)
  })

  it('deletes old days of activity and keeps the report of the others', async () => {
    await record([100 * DAY, 50 * DAY, DAY], false)
    expect(await drain('activity', NOW - 60 * DAY, 10)).toBe(1)
    expect(await store.spend.activity({ from: 0, to: NOW + DAY })).toHaveLength(2)
  })

  it('deletes spending of finished periods, and keeps current periods and the total', async () => {
    await record([100 * DAY, 0], false)
    const before = await store.spend.of(`key:${KEY}`, NOW)
    expect(before.usd.lifetime).toBeGreaterThan(before.usd.daily)
    // A day, a week and a month of the key, the workspace and the installation.
    expect(await drain('spend', NOW - 32 * DAY, 4)).toBe(9)
    expect(await store.spend.of(`key:${KEY}`, NOW)).toEqual(before)
    expect(await drain('spend', NOW - 32 * DAY, 4)).toBe(0)
  })

  it('deletes the rest of deleted destinations, and figures written after their deletion', async () => {
    const outbox = store.outbox(createEncryption({ current: Buffer.alloc(32, 1) }))
    const destination = (id: string) => ({
      id,
      workspaceId: DEFAULT_WORKSPACE_ID,
      type: 'webhook',
      name: id,
      enabled: true,
      paused: false,
      config: {},
      sealed: null,
      apiKeyHashes: null,
      filterRules: null,
      samplingRate: 1,
      privacyMode: false,
      broadcast: { cost: false, identity: false, requestContext: false },
      revision: 1,
      createdAt: NOW,
      updatedAt: NOW,
    })
    for (const id of ['gone', 'here']) await store.destinations.insert(destination(id), 5)
    await store.destinations.remove('gone', DEFAULT_WORKSPACE_ID)
    for (const id of ['gone', 'here']) await outbox.report(id, { breaker: 'closed' })
    expect(await drain('deleted_destinations', NOW - 1, 10)).toBe(0)
    expect((await outbox.status('gone')).health).toBeUndefined()
    expect((await outbox.status('here')).health).toEqual({ breaker: 'closed' })
    expect(await drain('deleted_destinations', NOW + 1, 10)).toBe(1)
    expect((await store.destinations.list({})).total).toBe(1)
  })

  it('runs in one process at a time', async () => {
    if (schema === undefined) return
    const other = await createStore({ url: schema.url, maxConnections: 1, clock })
    try {
      const inside = await store.retention.exclusively(async () => {
        expect(await other.retention.exclusively(() => Promise.reject(new Error('both at once')))).toBe(false)
      })
      expect(inside).toBe(true)
      expect(await other.retention.exclusively(() => Promise.resolve())).toBe(true)
      await expect(store.retention.exclusively(() => Promise.reject(new Error('broken')))).rejects.toThrow()
      expect(await other.retention.exclusively(() => Promise.resolve())).toBe(true)
    } finally {
      await other.close()
    }
  })
})
