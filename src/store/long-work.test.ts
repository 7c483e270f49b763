import { mkdtemp, rm } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createEncryption } from '../accounts/encryption.ts'
import type { DurableOutbox } from '../core/outbox.ts'
import { DEFAULT_WORKSPACE_ID, type Store } from '../core/store.ts'
import { sampleDestination } from '../testing/sample-records.ts'
import { createStore } from './index.ts'

const UNBOUNDED = { records: 1_000_000, bytes: 1_000_000_000 }
const ROWS = 9_000

/**
 * SQLite works in the thread that asks it, and answers without a turn of the event loop: what takes many steps would otherwise keep records
 * from being written, and other destinations from being served, until its last.
 */
describe('work on a long queue yields between its steps', () => {
  let folder: string
  let store: Store
  let outbox: DurableOutbox
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'signalbox-long-'))
    const path = join(folder, 'signalbox.db')
    store = await createStore({ path })
    await store.migrate()
    await store.workspaces.default()
    await store.destinations.insert(sampleDestination('d'), 5)
    outbox = store.outbox(createEncryption({ current: Buffer.alloc(32, 1) }))
    const database = new DatabaseSync(path)
    database.exec(`with recursive n(i) as (select 1 union all select i + 1 from n where i < ${ROWS})
      insert into outbox_deliveries (generation_id, destination_id, entered_at, due_at, attempts, bytes, content_bytes)
      select 'g' || i, 'd', i, i, 0, 200, 100 from n`)
    database.close()
  })
  afterEach(async () => {
    await store.close()
    await rm(folder, { recursive: true })
  })

  /** Turns of the event loop while the work lasted. */
  async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
    let turns = 0
    let isDone = false
    const count = (): void => {
      turns++
      if (!isDone) setImmediate(count)
    }
    setImmediate(count)
    await work()
    isDone = true
    return turns
  }

  it.each([
    ['dropping contents', () => outbox.trim('d', { ...UNBOUNDED, bytes: ROWS * 100 })],
    ['dropping deliveries', () => outbox.trim('d', { ...UNBOUNDED, records: 500 })],
    ['leaving contents out', () => store.destinations.update('d', DEFAULT_WORKSPACE_ID, { privacyMode: true }, 1)],
    ['giving up what is too old', () => outbox.sweep(1_000)],
    ['deleting the destination', () => store.destinations.remove('d', DEFAULT_WORKSPACE_ID)],
  ])('%s', async (_, work) => {
    expect(await turnsDuring(work)).toBeGreaterThanOrEqual(4)
  })

  describe('and so does work on dead letters', () => {
    beforeEach(() => outbox.trim('d', { ...UNBOUNDED, records: 0 }))

    it.each([
      ['trying them again', () => outbox.replay('d', Date.now()), { queued: ROWS, dead: 0 }],
      ['forgetting them', () => outbox.purge('d'), { queued: 0, dead: 0 }],
    ])('%s', async (_, work, left) => {
      let touched = 0
      expect(await turnsDuring(async () => (touched = await work()))).toBeGreaterThanOrEqual(4)
      expect(touched).toBe(ROWS)
      expect(await outbox.status('d')).toMatchObject(left)
    })
  })
})
