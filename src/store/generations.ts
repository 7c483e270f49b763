import type { Transaction } from 'kysely'
import type { Generation } from '../core/generation.ts'
import type { GenerationStore, RecordedGeneration } from '../core/store.ts'
import { createBulkInsert } from './bulk-insert.ts'
import type { Database, Db, Tables } from './database.ts'
import { createGenerationList } from './generation-list.ts'
import { decodeContent, decodeGeneration, encodeContent, encodeGeneration, GENERATION_COLUMNS } from './generation-row.ts'
import { addSpend } from './spend.ts'
import { guarded } from './store-error.ts'
import { inTransaction } from './transaction.ts'

/** Resolves with the ids that were new. */
export type InsertGenerations = (trx: Transaction<Tables>, batch: readonly RecordedGeneration[]) => Promise<readonly string[]>

/** Inserts a batch of generations within the caller's transaction, so that whatever else is written about them is in the same one. */
export function createGenerationInsert(db: Db): InsertGenerations {
  const insertGenerations = createBulkInsert(db, 'generations', GENERATION_COLUMNS, 'id')
  const insertContent = createBulkInsert(db, 'generation_content', ['id', 'content'])
  return async (trx, batch) => {
    const generations = batch.map(({ generation, record }) => encodeGeneration(generation, record))
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

/** A batch is repeated if its first try may have been lost, so spending is counted only with rows that are new. */
function onlyNew(batch: readonly RecordedGeneration[], rows: readonly { readonly id: string }[], added: readonly string[]): readonly Generation[] {
  const left = new Set(added)
  return batch.flatMap(({ generation }, i) => (left.delete(rows[i]!.id) ? [generation] : []))
}

export function createGenerationStore({ db, engine }: Pick<Database, 'db' | 'engine'>, insert: InsertGenerations): GenerationStore {
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
    between: (from, to) => walk(db, from, to),
    list: createGenerationList(db, engine),
  }
}

const WALK_ROWS = 500

/** Pages by the last row instead of a cursor, so that none is open while the caller works. Rows with the same time are not skipped. */
async function* walk(db: Db, from: number, to: number): AsyncGenerator<readonly Generation[]> {
  let last = { created_at: from, id: '' }
  for (;;) {
    const { created_at: time, id } = last
    const rows = await guarded(() =>
      db
        .selectFrom('generations')
        .select(['created_at', 'id', 'record'])
        .where('created_at', '>=', time)
        .where('created_at', '<', to)
        .where((row) => row.or([row('created_at', '>', time), row('id', '>', id)]))
        .orderBy('created_at')
        .orderBy('id')
        .limit(WALK_ROWS)
        .execute(),
    )
    if (rows.length > 0) yield rows.map(({ record }) => decodeGeneration(record))
    if (rows.length < WALK_ROWS) return
    last = rows.at(-1)!
  }
}
