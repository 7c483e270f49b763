import type { Transaction } from 'kysely'
import type { KeyUse, KeyUseStore } from '../core/key-use.ts'
import { compareText } from '../lib/compare-text.ts'
import { nextTurn } from '../lib/next-turn.ts'
import type { Db, Tables } from './database.ts'
import { guarded } from './store-error.ts'
import { inTransaction, isPostgres } from './transaction.ts'

/** Uses of one transaction. SQLite blocks the thread that serves calls meanwhile, for about a millisecond. */
const WRITTEN_AT_ONCE = 250
const READ_AT_ONCE = 500
/** How far the clocks of processes may differ. A use that is later was noted while a clock was wrong. */
const MAX_SKEW_MS = 3_600_000

export function createKeyUseStore(db: Db): KeyUseStore {
  return {
    note: async (uses, now) => {
      // In the same order everywhere, so that processes which write the same rows do not deadlock.
      const sorted = [...uses].sort((a, b) => compareText(a.keyHash, b.keyHash) || compareText(a.secretHash, b.secretHash))
      for (let i = 0; i < sorted.length; i += WRITTEN_AT_ONCE) {
        if (i > 0) await nextTurn()
        await inTransaction(db, (trx) => write(trx, sorted.slice(i, i + WRITTEN_AT_ONCE), now))
      }
    },
    of: (keyHashes) =>
      guarded(async () => {
        const found: KeyUse[] = []
        for (let i = 0; i < keyHashes.length; i += READ_AT_ONCE) {
          if (i > 0) await nextTurn()
          const rows = await db
            .selectFrom('key_uses')
            .selectAll()
            .where('key_hash', 'in', keyHashes.slice(i, i + READ_AT_ONCE))
            .execute()
          for (const row of rows) found.push({ keyHash: row.key_hash, secretHash: row.secret_hash, at: row.used_at })
        }
        return found
      }),
  }
}

async function write(trx: Transaction<Tables>, uses: readonly KeyUse[], now: number): Promise<void> {
  let existing = trx
    .selectFrom('api_keys')
    .select('hash')
    .where('hash', 'in', [...new Set(uses.map(({ keyHash }) => keyHash))])
  // A key that is being deleted at this moment is passed over: waiting for it could end in a deadlock.
  if (isPostgres(trx)) existing = existing.forKeyShare().skipLocked()
  const hashes = new Set((await existing.execute()).map(({ hash }) => hash))
  const rows = uses
    .filter(({ keyHash }) => hashes.has(keyHash))
    .map((use) => ({ key_hash: use.keyHash, secret_hash: use.secretHash, used_at: use.at }))
  if (rows.length > 0) await keepLatest(trx, rows, now + MAX_SKEW_MS)
}

/** `latest`: times after it are wrong. */
async function keepLatest(trx: Transaction<Tables>, rows: readonly Tables['key_uses'][], latest: number): Promise<void> {
  await trx
    .insertInto('key_uses')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .columns(['key_hash', 'secret_hash'])
        .doUpdateSet((eb) => ({ used_at: eb.ref('excluded.used_at') }))
        .where((eb) => eb.or([eb('key_uses.used_at', '<', eb.ref('excluded.used_at')), eb('key_uses.used_at', '>', latest)])),
    )
    .execute()
}

/**
 * Removes the uses of secrets that a key no longer has: otherwise each rotation would leave a row for good. The last of them becomes a use of the
 * key's first secret, which it always has and which ended before them, so that it is still known when the key was last used.
 */
export async function forgetUses(trx: Transaction<Tables>, keyHash: string, secretHashes: readonly string[]): Promise<void> {
  const gone = await trx
    .deleteFrom('key_uses')
    .where('key_hash', '=', keyHash)
    .where('secret_hash', 'not in', secretHashes)
    .returning('used_at')
    .execute()
  if (gone.length === 0) return
  const last = gone.reduce((latest, { used_at: at }) => Math.max(latest, at), 0)
  await keepLatest(trx, [{ key_hash: keyHash, secret_hash: keyHash, used_at: last }], Number.MAX_SAFE_INTEGER)
}
