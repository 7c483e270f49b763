import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openInFile, type OpenedStore } from '../testing/both-engines.ts'
import { createStore } from './index.ts'
import { openDatabase } from './open-database.ts'
import { createDue } from './outbox-due.ts'

const NOW = 1_000

describe('a look at the queues in SQLite', () => {
  let path = ''
  let under: OpenedStore
  let database: ReturnType<typeof openDatabase>
  beforeEach(async () => {
    under = await openInFile((file) => createStore({ path: (path = file) }))
    await under.store.migrate()
    database = openDatabase({ path })
  })
  afterEach(async () => {
    await database.db.destroy()
    await under.dispose()
  })

  /** How SQLite goes about every statement of a look. */
  async function plansOf(maySend: (id: string) => boolean): Promise<readonly string[]> {
    const { db } = database
    const plans: string[] = []
    const file = new DatabaseSync(path)
    const watched = db.withPlugin({
      transformQuery: ({ node, queryId }) => {
        const { sql, parameters } = db.getExecutor().compileQuery(node, queryId)
        const steps = file.prepare(`explain query plan ${sql}`).all(...(parameters as readonly string[]))
        plans.push(steps.map(({ detail }) => String(detail)).join('; '))
        return node
      },
      transformResult: ({ result }) => Promise.resolve(result),
    })
    const { work } = await createDue({ ...database, db: watched })(NOW, 10, maySend)
    expect(work).toHaveLength(30)
    file.close()
    return plans
  }

  it('takes a statement for every twenty queues that may be sent, and two for all others, none of which reads a queue', async () => {
    const rows = Array.from({ length: 120 }, (_, n) => ({
      generation_id: `gen-${n}`,
      destination_id: `d${String(n % 40).padStart(2, '0')}`,
      entered_at: n,
      // A quarter waits for its next try.
      due_at: n % 4 === 0 ? NOW + n + 1 : n,
      attempts: 0,
      bytes: 1,
      content_bytes: 0,
    }))
    await database.db.insertInto('outbox_deliveries').values(rows).execute()
    expect(await createDue(database)(NOW, 10)).toMatchObject({ nextAt: NOW + 1 })

    expect(await plansOf(() => false)).toHaveLength(2)
    const plans = [...(await plansOf((id) => id < 'd04')), ...(await plansOf((id) => id !== 'd39'))]
    expect(plans).toHaveLength(2 + 1 + 2 + 2)
    for (const plan of plans) {
      expect(plan).toMatch(/SEARCH outbox_deliveries USING (?:COVERING INDEX outbox_deliveries_due|INTEGER PRIMARY KEY)/)
      expect(plan).not.toMatch(/SCAN outbox_deliveries|TEMP B-TREE/)
    }
  })

  it('has each queue once, where a destination changes meanwhile', async () => {
    const waiting = (destination_id: string) => ({
      generation_id: `of ${destination_id}`,
      destination_id,
      entered_at: 1,
      due_at: 1,
      attempts: 0,
      bytes: 1,
      content_bytes: 0,
    })
    await database.db.insertInto('outbox_deliveries').values(['begins', 'pauses', 'stays'].map(waiting)).execute()
    let isLater = false
    const { work } = await createDue(database)(NOW, 10, (id) => {
      // The last of them: statements come next.
      if (id === 'stays') queueMicrotask(() => (isLater = true))
      return id === 'begins' ? isLater : id === 'stays' || !isLater
    })
    expect(work.map(({ destinationId }) => destinationId).sort()).toEqual(['begins', 'pauses', 'stays'])
  })
})
