import type { Selectable, Transaction } from 'kysely'
import type { GuardrailAssignment, GuardrailPatch, GuardrailStore, StoredGuardrail } from '../core/guardrail.ts'
import { defined } from '../lib/defined.ts'
import { changeConfiguration } from './config-version.ts'
import type { Db, Tables } from './database.ts'
import { decodeObject } from './decode-object.ts'
import { inRange, readInSteps, type SteppedTable } from './read-in-steps.ts'
import { guarded } from './store-error.ts'

type Row = Tables['guardrails']
type AssignmentRow = Tables['guardrail_keys']

/** SQLite reads two thousand in 4 ms. */
const ASSIGNMENT_STEPS: SteppedTable = { table: 'guardrail_keys', key: 'key_hash', rows: 2_000 }
/** Their rules are parsed, too. */
const STEPS: SteppedTable = { table: 'guardrails', key: 'id', rows: 1_000 }

export function createGuardrailStore(db: Db): GuardrailStore {
  return {
    list: (filter) =>
      guarded(async () => {
        const all = db.selectFrom('guardrails').selectAll()
        if (filter?.workspaceId !== undefined) {
          const rows = await all.where('workspace_id', '=', filter.workspaceId).orderBy('created_at').orderBy('id').execute()
          return rows.map(decode)
        }
        const found = await readInSteps(db, STEPS, async (range) => (await all.where(inRange('id', range)).execute()).map(decode))
        return found.sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
      }),
    get: (id) =>
      guarded(async () => {
        const row = await db.selectFrom('guardrails').selectAll().where('id', '=', id).executeTakeFirst()
        return row && decode(row)
      }),
    insert: async (guardrail) => {
      await changeConfiguration(db, (trx) => trx.insertInto('guardrails').values(encode(guardrail)).execute())
    },
    modify: (id, change, absent) =>
      changeConfiguration(db, async (trx) => {
        await insertAbsent(trx, absent)
        // Written before it is read, which locks the row.
        const before = await trx.updateTable('guardrails').set({ id }).where('id', '=', id).returningAll().executeTakeFirst()
        if (before === undefined) return undefined
        const row = await trx
          .updateTable('guardrails')
          .set({ id, ...encodePatch(change(decode(before))) })
          .where('id', '=', id)
          .returningAll()
          .executeTakeFirst()
        return row && decode(row)
      }),
    remove: (id) =>
      changeConfiguration(db, async (trx) => {
        const { numDeletedRows } = await trx.deleteFrom('guardrails').where('id', '=', id).executeTakeFirst()
        return numDeletedRows > 0n
      }),
    assignments: (filter) =>
      guarded(async () => {
        const all = db.selectFrom('guardrail_keys').selectAll()
        if (filter?.guardrailId !== undefined) {
          const rows = await all.where('guardrail_id', '=', filter.guardrailId).orderBy('created_at').orderBy('key_hash').execute()
          return rows.map(decodeAssignment)
        }
        const found = await readInSteps(db, ASSIGNMENT_STEPS, async (range) =>
          (await all.where(inRange('key_hash', range)).execute()).map(decodeAssignment),
        )
        return found.sort((a, b) => a.createdAt - b.createdAt || (a.keyHash < b.keyHash ? -1 : 1))
      }),
    assign: async (assignments, absent) => {
      if (assignments.length === 0) return
      await changeConfiguration(db, async (trx) => {
        await insertAbsent(trx, absent)
        for (const { id, guardrailId, keyHash, assignedBy, createdAt } of assignments) {
          const fields = { id, guardrail_id: guardrailId, assigned_by: assignedBy, created_at: createdAt }
          await trx
            .insertInto('guardrail_keys')
            .values({ key_hash: keyHash, ...fields })
            .onConflict((conflict) => conflict.column('key_hash').doUpdateSet(fields))
            .execute()
        }
        return true
      })
    },
    unassign: async (guardrailId, keyHashes) => {
      if (keyHashes.length === 0) return 0
      const removed = await changeConfiguration(db, async (trx) => {
        const { numDeletedRows } = await trx
          .deleteFrom('guardrail_keys')
          .where('guardrail_id', '=', guardrailId)
          .where('key_hash', 'in', [...keyHashes])
          .executeTakeFirst()
        return numDeletedRows === 0n ? undefined : Number(numDeletedRows)
      })
      return removed ?? 0
    },
  }
}

async function insertAbsent(trx: Transaction<Tables>, guardrail: StoredGuardrail | undefined): Promise<void> {
  if (guardrail === undefined) return
  await trx
    .insertInto('guardrails')
    .values(encode(guardrail))
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

function encode(guardrail: StoredGuardrail): Row {
  return {
    id: guardrail.id,
    workspace_id: guardrail.workspaceId,
    name: guardrail.name,
    description: guardrail.description,
    rules: JSON.stringify(guardrail.rules),
    created_at: guardrail.createdAt,
    updated_at: guardrail.updatedAt,
  }
}

function encodePatch(patch: GuardrailPatch): Partial<Row> {
  return defined({
    name: patch.name,
    description: patch.description,
    rules: patch.rules && JSON.stringify(patch.rules),
    updated_at: patch.updatedAt,
  })
}

function decode(row: Selectable<Row>): StoredGuardrail {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    name: row.name,
    description: row.description,
    rules: decodeObject(row.rules),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

function decodeAssignment(row: Selectable<AssignmentRow>): GuardrailAssignment {
  return { id: row.id, guardrailId: row.guardrail_id, keyHash: row.key_hash, assignedBy: row.assigned_by, createdAt: row.created_at }
}
