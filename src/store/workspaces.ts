import type { Selectable } from 'kysely'
import { GatewayError } from '../core/error.ts'
import { DEFAULT_WORKSPACE_ID, type Workspace, type WorkspacePatch, type WorkspaceStore } from '../core/store.ts'
import type { Clock } from '../lib/clock.ts'
import { defined } from '../lib/defined.ts'
import { changeConfiguration } from './config-version.ts'
import type { Db, Tables } from './database.ts'
import { decodeObject } from './decode-object.ts'
import { inRange, readInSteps, type SteppedTable } from './read-in-steps.ts'
import { guarded } from './store-error.ts'

type Row = Tables['workspaces']

/** SQLite reads a thousand in 3 ms. */
const STEPS: SteppedTable = { table: 'workspaces', key: 'id', rows: 1_000 }

export function createWorkspaceStore(db: Db, clock: Clock): WorkspaceStore {
  const findDefault = () =>
    guarded(async () => {
      const row = await db.selectFrom('workspaces').selectAll().where('is_default', '=', true).executeTakeFirst()
      return row && decode(row)
    })

  return {
    list: (onStep) =>
      guarded(async () => {
        const all = db.selectFrom('workspaces').selectAll()
        const found = await readInSteps(db, STEPS, async (range) => (await all.where(inRange('id', range)).execute()).map(decode), onStep)
        return found.sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
      }),
    get: (id) =>
      guarded(async () => {
        const row = await db.selectFrom('workspaces').selectAll().where('id', '=', id).executeTakeFirst()
        return row && decode(row)
      }),
    insert: async (workspace) => {
      await changeConfiguration(db, (trx) => trx.insertInto('workspaces').values(encode(workspace)).execute())
    },
    update: (id, patch) =>
      changeConfiguration(db, async (trx) => {
        const row = await trx
          .updateTable('workspaces')
          .set({ id, ...encodePatch(patch) })
          .where('id', '=', id)
          .returningAll()
          .executeTakeFirst()
        return row && decode(row)
      }),
    modify: (id, change) =>
      changeConfiguration(db, async (trx) => {
        // Written before it is read, which locks the row.
        const row = await trx.updateTable('workspaces').set({ id }).where('id', '=', id).returningAll().executeTakeFirst()
        if (row === undefined) return undefined
        const patch = encodePatch(change(decode(row)))
        const changed = await trx
          .updateTable('workspaces')
          .set({ id, ...patch })
          .where('id', '=', id)
          .returningAll()
          .executeTakeFirstOrThrow()
        return decode(changed)
      }),
    remove: (id) =>
      changeConfiguration(
        db,
        async (trx) => {
          const row = await trx.deleteFrom('workspaces').where('id', '=', id).returning('is_default').executeTakeFirst()
          // Thrown inside the transaction, so that nothing is deleted.
          if (row?.is_default) throw new GatewayError('conflict', 'The default workspace cannot be deleted')
          return row !== undefined
          // Its keys, however many.
        },
        'unknown',
      ),
    default: async () => {
      const existing = await findDefault()
      if (existing) return existing
      const now = clock.now()
      await changeConfiguration(db, async (trx) => {
        const { numInsertedOrUpdatedRows } = await trx
          .insertInto('workspaces')
          .values(
            encode({
              id: DEFAULT_WORKSPACE_ID,
              slug: 'default',
              name: 'Default',
              description: null,
              isDefault: true,
              createdAt: now,
              updatedAt: now,
              settings: {},
            }),
          )
          .onConflict((conflict) => conflict.doNothing())
          .executeTakeFirst()
        return (numInsertedOrUpdatedRows ?? 0n) > 0n
      })
      const workspace = await findDefault()
      if (!workspace) throw new GatewayError('conflict', 'The slug "default" belongs to another workspace')
      return workspace
    },
  }
}

function encodePatch(patch: WorkspacePatch): Partial<Row> {
  return defined({
    slug: patch.slug,
    name: patch.name,
    description: patch.description,
    updated_at: patch.updatedAt,
    settings: patch.settings && JSON.stringify(patch.settings),
  })
}

function encode(workspace: Workspace): Row {
  return {
    id: workspace.id,
    slug: workspace.slug,
    name: workspace.name,
    description: workspace.description,
    is_default: workspace.isDefault,
    created_at: workspace.createdAt,
    updated_at: workspace.updatedAt,
    settings: JSON.stringify(workspace.settings),
  }
}

function decode(row: Selectable<Row>): Workspace {
  return {
    id: row.id,
    slug: row.slug,
    name: row.name,
    description: row.description,
    isDefault: Boolean(row.is_default),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    settings: decodeObject(row.settings),
  }
}
