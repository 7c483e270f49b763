import type { Selectable } from 'kysely'
import type { OwnKeyPatch, OwnKeyStore, StoredOwnKey } from '../core/store.ts'
import { compareText } from '../lib/compare-text.ts'
import { defined } from '../lib/defined.ts'
import { changeConfiguration } from './config-version.ts'
import type { Db, Tables } from './database.ts'
import { inRange, readInSteps, type SteppedTable } from './read-in-steps.ts'
import { assertCurrentKey } from './secrets.ts'
import { guarded } from './store-error.ts'

type Row = Tables['own_keys']

/** SQLite reads a thousand in 5 ms. */
const STEPS: SteppedTable = { table: 'own_keys', key: 'id', rows: 1_000 }

export function createOwnKeyStore(db: Db): OwnKeyStore {
  return {
    list: (filter) =>
      guarded(async () => {
        if (filter === undefined) return readAll(db)
        let query = db.selectFrom('own_keys').selectAll().orderBy('provider').orderBy('sort_order').orderBy('created_at').orderBy('id')
        if (filter.workspaceId !== undefined) query = query.where('workspace_id', '=', filter.workspaceId)
        if (filter.provider !== undefined) query = query.where('provider', '=', filter.provider)
        return (await query.execute()).map(decode)
      }),
    get: (id) =>
      guarded(async () => {
        const row = await db.selectFrom('own_keys').selectAll().where('id', '=', id).executeTakeFirst()
        return row && decode(row)
      }),
    insert: (key) =>
      changeConfiguration(db, async (trx) => {
        await assertCurrentKey(trx, key.sealed)
        const { last } = await trx
          .selectFrom('own_keys')
          .select((expression) => expression.fn.max('sort_order').as('last'))
          .where('workspace_id', '=', key.workspaceId)
          .where('provider', '=', key.provider)
          .executeTakeFirstOrThrow()
        const complete: StoredOwnKey = { ...key, sortOrder: last === null ? 0 : last + 1 }
        await trx.insertInto('own_keys').values(encode(complete)).execute()
        return complete
      }),
    update: (id, patch) =>
      changeConfiguration(db, async (trx) => {
        if (patch.sealed !== undefined) await assertCurrentKey(trx, patch.sealed)
        const row = await trx
          .updateTable('own_keys')
          .set({ id, ...encodePatch(patch) })
          .where('id', '=', id)
          .returningAll()
          .executeTakeFirst()
        return row && decode(row)
      }),
    remove: (id) =>
      changeConfiguration(db, async (trx) => {
        const { numDeletedRows } = await trx.deleteFrom('own_keys').where('id', '=', id).executeTakeFirst()
        return numDeletedRows > 0n
      }),
  }
}

/** For the copy in memory, which any change of the configuration brings again. */
async function readAll(db: Db): Promise<readonly StoredOwnKey[]> {
  const all = db.selectFrom('own_keys').selectAll()
  const found = await readInSteps(db, STEPS, async (range) => (await all.where(inRange('id', range)).execute()).map(decode))
  return found.sort(
    (a, b) => compareText(a.provider, b.provider) || a.sortOrder - b.sortOrder || a.createdAt - b.createdAt || compareText(a.id, b.id),
  )
}

const encodeList = (list: readonly string[] | null): string | null => (list === null ? null : JSON.stringify(list))

function encode(key: StoredOwnKey): Row {
  return {
    id: key.id,
    workspace_id: key.workspaceId,
    provider: key.provider,
    name: key.name,
    label: key.label,
    sealed: key.sealed,
    disabled: key.disabled,
    is_fallback: key.isFallback,
    sort_order: key.sortOrder,
    allowed_models: encodeList(key.allowedModels),
    allowed_key_hashes: encodeList(key.allowedKeyHashes),
    allowed_user_ids: encodeList(key.allowedUserIds),
    created_at: key.createdAt,
    updated_at: key.updatedAt,
  }
}

function encodePatch(patch: OwnKeyPatch): Partial<Row> {
  return defined({
    name: patch.name,
    label: patch.label,
    sealed: patch.sealed,
    disabled: patch.disabled,
    is_fallback: patch.isFallback,
    sort_order: patch.sortOrder,
    allowed_models: patch.allowedModels === undefined ? undefined : encodeList(patch.allowedModels),
    allowed_key_hashes: patch.allowedKeyHashes === undefined ? undefined : encodeList(patch.allowedKeyHashes),
    allowed_user_ids: patch.allowedUserIds === undefined ? undefined : encodeList(patch.allowedUserIds),
    updated_at: patch.updatedAt,
  })
}

/** A restriction that cannot be parsed (a row edited by hand) admits nobody, rather than everybody. */
function decodeList(text: string | null): readonly string[] | null {
  if (text === null) return null
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : []
  } catch {
    return []
  }
}

function decode(row: Selectable<Row>): StoredOwnKey {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    provider: row.provider,
    name: row.name,
    label: row.label,
    sealed: row.sealed,
    disabled: Boolean(row.disabled),
    isFallback: Boolean(row.is_fallback),
    sortOrder: row.sort_order,
    allowedModels: decodeList(row.allowed_models),
    allowedKeyHashes: decodeList(row.allowed_key_hashes),
    allowedUserIds: decodeList(row.allowed_user_ids),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
