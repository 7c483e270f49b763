import { sql, type Transaction } from 'kysely'
import type { Generation } from '../core/generation.ts'
import type { GenerationStore, RecordedGeneration } from '../core/store.ts'
import { createBulkInsert } from './bulk-insert.ts'
import type { Database, Db, Tables } from './database.ts'
import { decodeContent, decodeGeneration, encodeContent, encodeGeneration, GENERATION_COLUMNS } from './generation-row.ts'
import { addSpend } from './spend.ts'
import { guarded } from './store-error.ts'
import { inTransaction } from './transaction.ts'

/** Pages given back to the disk per pruned batch: bounded, because it holds the write lock. */
const VACUUM_PAGES = 2_000

/** Resolves with the ids that were new. */
export type InsertGenerations = (trx: Transaction<Tables>, batch: readonly RecordedGeneration[]) => Promise<readonly string[]>

/** The rows of a batch of generations within a transaction of the caller's: whoever writes more about them writes it in the same one. */
export function createGenerationInsert(db: Db): InsertGenerations {
  const insertGenerations = createBulkInsert(db, 'generations', GENERATION_COLUMNS, 'id')
  const insertContent = createBulkInsert(db, 'generation_content', ['id', 'content'])
  return async (trx, batch) => {
    const generations = batch.map(({ generation }) => encodeGeneration(generation))
    const added = await insertGenerations(trx, generations)
    const contents: Tables['generation_content'][] = []
    batch.forEach(({ content }, i) => {
      const encoded = content && encodeContent(content)
      if (encoded !== undefined) contents.push({ id: generations[i]!.id, content: encoded })
    })
    await insertContent(trx, contents)
    await addSpend(trx, onlyNew(batch, generations, added))
    return added
  }
}

/** A batch is repeated when its first try may have been lost: money is counted with the row that carries it, once. */
function onlyNew(batch: readonly RecordedGeneration[], rows: readonly { readonly id: string }[], added: readonly string[]): readonly Generation[] {
  const left = new Set(added)
  return batch.flatMap(({ generation }, i) => (left.delete(rows[i]!.id) ? [generation] : []))
}

export function createGenerationStore({ db, engine }: Database, insert: InsertGenerations): GenerationStore {
  return {
    insertMany: (batch) => (batch.length === 0 ? Promise.resolve() : inTransaction(db, async (trx) => void (await insert(trx, batch)))),
    get: (id, workspaceId) =>
      guarded(async () => {
        let query = db.selectFrom('generations').select('record').where('id', '=', id)
        if (workspaceId !== undefined) query = query.where('workspace_id', '=', workspaceId)
        const row = await query.executeTakeFirst()
        return row && decodeGeneration(row.record)
      }),
    content: (id, workspaceId) =>
      guarded(async () => {
        let query = db
          .selectFrom('generation_content')
          .innerJoin('generations', 'generations.id', 'generation_content.id')
          .select('generation_content.content')
          .where('generation_content.id', '=', id)
        if (workspaceId !== undefined) query = query.where('generations.workspace_id', '=', workspaceId)
        const row = await query.executeTakeFirst()
        return row && decodeContent(row.content)
      }),
    prune: (before, limit) =>
      inTransaction(db, async (trx) => {
        const oldest = trx
          .selectFrom('generations')
          .select('id')
          .where('created_at', '<', before)
          // What is still on its way to a destination, or may be replayed, is read from here.
          .where((expression) => {
            const awaited = expression
              .selectFrom('outbox_deliveries')
              .select('seq')
              .whereRef('outbox_deliveries.generation_id', '=', 'generations.id')
            return expression.not(expression.exists(awaited))
          })
          .orderBy('created_at')
          .limit(limit)
        const { numDeletedRows } = await trx.deleteFrom('generations').where('id', 'in', oldest).executeTakeFirst()
        // Deleting only marks pages as free; this gives them back to the disk. PostgreSQL's autovacuum needs no such help.
        if (numDeletedRows > 0n && engine === 'sqlite') await sql`pragma incremental_vacuum(${sql.lit(VACUUM_PAGES)})`.execute(trx)
        return Number(numDeletedRows)
      }),
  }
}
