import { DatabaseSync } from 'node:sqlite'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KyselyPlugin } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createEncryption } from '../accounts/encryption.ts'
import type { DurableOutbox } from '../core/outbox.ts'
import { describeOnBothEngines, type OpenedStore } from '../testing/both-engines.ts'
import { sampleDestination, sampleEntry } from '../testing/sample-records.ts'
import { createStore } from './index.ts'
import { openDatabase } from './open-database.ts'
import { createTrim } from './outbox-trim.ts'

const encryption = createEncryption({ current: Buffer.alloc(32, 1) })
const UNBOUNDED = { records: 1_000_000, bytes: 1_000_000_000 }

await describeOnBothEngines('a queue that is full', createStore, (name, open) => {
  describe(`${name}: a queue that is full`, () => {
    let opened: OpenedStore
    let outbox: DurableOutbox
    beforeEach(async () => {
      opened = await open()
      await opened.store.migrate()
      await opened.store.workspaces.default()
      await opened.store.destinations.insert(sampleDestination('d'), 5)
      outbox = opened.store.outbox(encryption)
    })
    afterEach(() => opened.dispose())
    const enter = async (prefix: string, withContent: boolean): Promise<void> => {
      await outbox.record(Array.from({ length: 5 }, (_, i) => sampleEntry(`${prefix}-${i}`, ['d'], { withContent })))
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    const lease = () => outbox.lease('d', { owner: 'w', records: 5, bytes: 1e9, now: Date.now(), leaseMs: 30_000 })
    /** Tried in vain: the next try is far ahead of what was entered since. */
    const postpone = async (): Promise<void> => {
      const later = { state: 'retry', at: Date.now() + 600_000, status: 503, error: 'x' } as const
      const leased = await lease()
      await outbox.settle(
        'w',
        leased.map(({ id }) => ({ id, ...later })),
      )
    }
    const dead = async () => (await outbox.deadLetters('d', { offset: 0, limit: 50 })).letters.map(({ generationId }) => generationId)

    it('drops what was entered first, not what is tried next', async () => {
      await enter('old', false)
      await postpone()
      await enter('new', false)
      expect(await outbox.trim('d', { ...UNBOUNDED, records: 5 })).toEqual({ bodies: 0, deliveries: 5 })
      expect(await dead()).toEqual(['old-0', 'old-1', 'old-2', 'old-3', 'old-4'])
    })

    it('drops the bodies of what was entered first', async () => {
      await enter('old', true)
      await postpone()
      await enter('new', true)
      const { queuedBytes } = await outbox.status('d')
      expect(await outbox.trim('d', { ...UNBOUNDED, bytes: queuedBytes - 1 })).toEqual({ bodies: 1, deliveries: 0 })
      const fresh = opened.store.outbox(encryption)
      const all = await fresh.lease('d', { owner: 'x', records: 50, bytes: 1e9, now: Date.now() + 3_600_000, leaseMs: 1 })
      expect(all.filter(({ content }) => content === undefined).map(({ generation }) => generation.id)).toEqual(['old-0'])
    })

    it('drops no more when several processes trim at once', async () => {
      await enter('old', true)
      await enter('new', true)
      const trimInAll = async (bounds: typeof UNBOUNDED) => {
        const all = await Promise.all([outbox, ...[1, 2].map(() => opened.store.outbox(encryption))].map((each) => each.trim('d', bounds)))
        return { bodies: all.reduce((sum, { bodies }) => sum + bodies, 0), deliveries: all.reduce((sum, { deliveries }) => sum + deliveries, 0) }
      }
      const { queuedBytes } = await outbox.status('d')
      expect(await trimInAll({ ...UNBOUNDED, bytes: queuedBytes - 1 })).toEqual({ bodies: 1, deliveries: 0 })
      expect(await trimInAll({ ...UNBOUNDED, records: 8 })).toEqual({ bodies: 0, deliveries: 2 })
      expect(await dead()).toEqual(['old-0', 'old-1'])
    })

    it.each([
      ['records', { records: 8 }, 4],
      ['bytes, of which texts are enough', { bytes: 1 }, 0],
    ])('ends although more comes in meanwhile, and drops no more: too many %s', async (_what, bound, deliveries) => {
      await enter('old', true)
      await enter('new', true)
      let measured = 0
      // Two more come in each time the queue was measured.
      const transformResult: KyselyPlugin['transformResult'] = async ({ result }) => {
        if (result.rows[0] === undefined || !('records' in result.rows[0]) || ++measured > 9) return result
        const late = [0, 1].map((i) => sampleEntry(`late-${measured}-${i}`, ['d'], { withContent: true }))
        await outbox.record(late.map((entry) => ({ ...entry, bytes: 0 })))
        return result
      }
      const database = openDatabase(opened.at)
      const db = database.db.withPlugin({ transformQuery: ({ node }) => node, transformResult })
      try {
        const { queuedBytes } = await outbox.status('d')
        const bounds = 'bytes' in bound ? { ...UNBOUNDED, bytes: queuedBytes - 1 } : { ...UNBOUNDED, ...bound }
        expect((await createTrim({ ...database, db }, opened.store.clock)('d', bounds)).deliveries).toBe(deliveries)
        expect(measured).toBe(2)
      } finally {
        await database.db.destroy()
      }
    })

    it('leaves alone what is leased', async () => {
      await enter('old', false)
      await lease()
      await enter('new', false)
      expect(await outbox.trim('d', { ...UNBOUNDED, records: 7 })).toEqual({ bodies: 0, deliveries: 3 })
      expect(await dead()).toEqual(['new-0', 'new-1', 'new-2'])
    })
  })
})

describe('dead letters of one destination', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'signalbox-trim-'))
  })
  afterEach(() => rm(folder, { recursive: true }))

  it('are 100,000 at most, the newest, however they died', async () => {
    const path = join(folder, 'signalbox.db')
    const store = await createStore({ path })
    await store.migrate()
    await store.workspaces.default()
    await store.destinations.insert(sampleDestination('d'), 5)
    const database = new DatabaseSync(path)
    database.exec(`with recursive n(i) as (select 1 union all select i + 1 from n where i < 105000)
      insert into outbox_deliveries
        (generation_id, destination_id, entered_at, due_at, attempts, bytes, content_bytes, reason, died_at, last_status, last_error)
      select 'g' || i, 'd', 1, null, 1, 100, 0, 'rejected', i, 400, 'bad' from n`)
    database.close()
    const outbox = store.outbox(encryption)
    expect(await outbox.trim('d', UNBOUNDED)).toEqual({ bodies: 0, deliveries: 0 })
    const { letters, total } = await outbox.deadLetters('d', { offset: 0, limit: 1 })
    expect([total, letters[0]?.generationId]).toEqual([100_000, 'g5001'])
    await store.close()
  })
})
