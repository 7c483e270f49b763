import type { Transaction } from 'kysely'
import { GatewayError } from '../core/error.ts'
import { contentKeyContext, destinationContext, masterKeyOf, ownKeyContext, presetContext, SECRET_KEY_CANARY } from '../core/secret-context.ts'
import { changeConfiguration } from './config-version.ts'
import type { Db, Tables } from './database.ts'
import { isPostgres } from './transaction.ts'

/** See `Store.rewrapSecrets`. */
export async function rewrapSecrets(db: Db, rewrap: (envelope: string, context: string) => string): Promise<number> {
  return changeConfiguration(db, async (trx) => {
    let count = 0
    const canary = await trx.selectFrom('facts').select('value').where('name', '=', SECRET_KEY_CANARY).executeTakeFirst()
    if (canary !== undefined) {
      const value = rewrap(canary.value, SECRET_KEY_CANARY)
      // First, because it locks the row: writers with the old key are refused from here on (`assertCurrentKey`).
      await trx.updateTable('facts').set({ value }).where('name', '=', SECRET_KEY_CANARY).execute()
      count++
    }
    // Kept answers can be made again.
    await trx.deleteFrom('kept_answers').execute()
    for (const { id, type, sealed } of await trx
      .selectFrom('destinations')
      .select(['id', 'type', 'sealed'])
      .where('sealed', 'is not', null)
      .execute()) {
      if (sealed === null) continue
      await trx
        .updateTable('destinations')
        .set({ sealed: rewrap(sealed, destinationContext(id, type)) })
        .where('id', '=', id)
        .execute()
      count++
    }
    for (const { id, sealed } of await trx.selectFrom('own_keys').select(['id', 'sealed']).execute()) {
      await trx
        .updateTable('own_keys')
        .set({ sealed: rewrap(sealed, ownKeyContext(id)) })
        .where('id', '=', id)
        .execute()
      count++
    }
    for (const { id, sealed } of await trx.selectFrom('preset_versions').select(['id', 'sealed']).execute()) {
      await trx
        .updateTable('preset_versions')
        .set({ sealed: rewrap(sealed, presetContext(id)) })
        .where('id', '=', id)
        .execute()
      count++
    }
    for (const { id, sealed } of await trx.selectFrom('outbox_keys').select(['id', 'sealed']).execute()) {
      await trx
        .updateTable('outbox_keys')
        .set({ sealed: rewrap(sealed, contentKeyContext(id)) })
        .where('id', '=', id)
        .execute()
      count++
    }
    return count
  })
}

/** See `Store.foreignSecrets`. */
export async function countForeignSecrets(db: Db, keyId: string): Promise<number> {
  let count = 0
  for (const table of ['destinations', 'own_keys', 'preset_versions', 'outbox_keys'] as const) {
    const { rows } = await db
      .selectFrom(table)
      .select((select) => select.fn.countAll().as('rows'))
      .where('sealed', 'is not', null)
      .where('sealed', 'not like', `%.${keyId}.%`)
      .executeTakeFirstOrThrow()
    count += Number(rows)
  }
  return count
}

/**
 * Refuses to write an envelope of another master key than the canary's: a process that runs on after `secrets rotate` would leave secrets that nobody
 * can open. In PostgreSQL the canary stays locked until the transaction ends: a rotation that comes meanwhile waits and finds what was written, and
 * writers during a rotation wait for its end. SQLite has one writer anyway. Throws GatewayError `precondition_failed`.
 */
export async function assertCurrentKey(trx: Transaction<Tables>, envelope: string): Promise<void> {
  const query = trx.selectFrom('facts').select('value').where('name', '=', SECRET_KEY_CANARY)
  const canary = await (isPostgres(trx) ? query.forShare() : query).executeTakeFirst()
  if (canary === undefined || masterKeyOf(canary.value) === masterKeyOf(envelope)) return
  throw new GatewayError('precondition_failed', 'The secret key was changed while this process ran; restart it with the new one')
}
