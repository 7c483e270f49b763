import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { DurableOutbox } from '../core/outbox.ts'
import { systemClock } from '../lib/clock.ts'
import { openInFile, type OpenedStore } from '../testing/both-engines.ts'
import { createStore } from './index.ts'
import { openDatabase } from './open-database.ts'
import { createOutbox } from './outbox.ts'

const OWNER = 'host/1/a'

describe('leases in SQLite, in front of queues of any length', () => {
  let path = ''
  let under: OpenedStore
  let database: ReturnType<typeof openDatabase>
  beforeEach(async () => {
    under = await openInFile((file) => createStore({ path: (path = file) }))
    await under.store.migrate()
    database = openDatabase({ path })
    const rows = Array.from({ length: 40 }, (_, n) => ({
      generation_id: `gen-${n}`,
      destination_id: 'd',
      entered_at: n,
      due_at: n,
      owner: n % 10 === 0 ? OWNER : n === 1 ? 'host/2/b' : null,
      attempts: 0,
      bytes: 1,
      content_bytes: 0,
    }))
    await database.db.insertInto('outbox_deliveries').values(rows).execute()
  })
  afterEach(async () => {
    await database.db.destroy()
    await under.dispose()
  })

  /** How SQLite goes about every statement of the work that names an owner. */
  async function plansOf(work: (outbox: DurableOutbox) => Promise<unknown>): Promise<readonly string[]> {
    const { db } = database
    const plans: string[] = []
    const file = new DatabaseSync(path)
    const watched = db.withPlugin({
      transformQuery: ({ node, queryId }) => {
        const { sql, parameters } = db.getExecutor().compileQuery(node, queryId)
        if (sql.includes('owner')) {
          const steps = file.prepare(`explain query plan ${sql}`).all(...(parameters as readonly string[]))
          plans.push(steps.map(({ detail }) => String(detail)).join('; '))
        }
        return node
      },
      transformResult: ({ result }) => Promise.resolve(result),
    })
    const unused = new Proxy({}, { get: () => () => expect.unreachable() }) as never
    await work(
      createOutbox({ database: { ...database, db: watched }, encryption: unused, clock: systemClock, insertGenerations: unused, recentBytes: 0 }),
    )
    file.close()
    return plans
  }

  it.each<[string, (outbox: DurableOutbox) => Promise<unknown>, wanted: unknown, plan: RegExp]>([
    ['their owners are found', async (outbox) => [...(await outbox.owners())].sort(), [OWNER, 'host/2/b'], /\(owner>\?\)/],
    ['all of one owner are released', (outbox) => outbox.releaseAll(OWNER), undefined, /\(owner=\?\)/],
    ['some of one owner are extended', (outbox) => outbox.extend(OWNER, ['1', '2', '11'], 1_000), ['1', '11'], /\(owner=\? AND seq=\?\)/],
    [
      'some of one owner are settled',
      (outbox) =>
        outbox.settle(
          OWNER,
          ['1', '2'].map((id) => ({ id, state: 'released' })),
        ),
      1,
      /\(owner=\? AND seq=\?\)/,
    ],
  ])('%s by an index of leases alone', async (_, work, wanted, plan) => {
    const plans = await plansOf(async (outbox) => expect(await work(outbox)).toEqual(wanted))
    expect(plans).toHaveLength(1)
    expect(plans[0]).toMatch(/^SEARCH outbox_deliveries USING (?:COVERING )?INDEX outbox_deliveries_leased /)
    expect(plans[0]).toMatch(plan)
  })
})
