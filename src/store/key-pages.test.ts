import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DEFAULT_WORKSPACE_ID } from '../core/store.ts'
import { openInFile, type OpenedStore } from '../testing/both-engines.ts'
import { sampleKey } from '../testing/sample-records.ts'
import { createStore } from './index.ts'
import { createKeyStore } from './keys.ts'
import { openDatabase } from './open-database.ts'

describe('a page of the list of keys in SQLite', () => {
  let path = ''
  let under: OpenedStore
  let database: ReturnType<typeof openDatabase>
  beforeEach(async () => {
    under = await openInFile((file) => createStore({ path: (path = file) }))
    await under.store.migrate()
    await under.store.workspaces.default()
    database = openDatabase({ path })
  })
  afterEach(async () => {
    await database.db.destroy()
    await under.dispose()
  })

  it.each([
    ['and passes over those that are disabled', false, ['k3', 'k1', 'k4']],
    ['and shows those that are disabled', true, ['k3', 'k1', 'k2', 'k4']],
  ])('is read from an index in its order %s', async (_, disabledToo, hashes) => {
    const changes = [{ createdAt: 2 }, { createdAt: 2, disabled: true }, { createdAt: 1 }, { createdAt: 3 }, { createdAt: 1, revokedAt: 5 }]
    for (const [n, change] of changes.entries()) await under.store.keys.insert({ ...sampleKey(`k${n + 1}`), ...change })
    const plans: string[] = []
    const file = new DatabaseSync(path)
    const { db } = database
    const watched = db.withPlugin({
      transformQuery: ({ node, queryId }) => {
        const { sql, parameters } = db.getExecutor().compileQuery(node, queryId)
        plans.push(
          ...file
            .prepare(`explain query plan ${sql}`)
            .all(...(parameters as readonly string[]))
            .map(({ detail }) => String(detail)),
        )
        return node
      },
      transformResult: ({ result }) => Promise.resolve(result),
    })
    const keys = await createKeyStore(watched).page({ workspaceId: DEFAULT_WORKSPACE_ID, kind: 'inference', disabledToo, offset: 0, limit: 100 })
    file.close()
    expect(keys.map(({ hash }) => hash)).toEqual(hashes)
    // Nothing is sorted.
    expect(plans).toEqual(['SEARCH api_keys USING INDEX api_keys_listed (workspace_id=? AND kind=?)'])
  })
})
