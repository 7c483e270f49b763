import type { Selectable, Transaction } from 'kysely'
import type { ApiKey, ApiKeyPatch, KeySecret, KeyStore } from '../core/store.ts'
import { defined } from '../lib/defined.ts'
import { changeConfiguration } from './config-version.ts'
import type { Db, Tables } from './database.ts'
import { decodeObject } from './decode-object.ts'
import { keysChangedSince } from './key-changes.ts'
import { forgetUses } from './key-uses.ts'
import { readInSteps, type KeyRange, type SteppedTable } from './read-in-steps.ts'
import { guarded } from './store-error.ts'

type Row = Tables['api_keys']

/** SQLite reads a thousand keys in 5 ms. */
const STEPS: SteppedTable = { table: 'api_keys', key: 'hash', rows: 1_000 }

const byAge = (a: ApiKey, b: ApiKey): number => a.createdAt - b.createdAt || (a.hash < b.hash ? -1 : 1)

const changeKey = <T>(db: Db, hash: string, work: (trx: Transaction<Tables>) => Promise<T>): Promise<T> => changeConfiguration(db, work, [hash])

export function createKeyStore(db: Db): KeyStore {
  return {
    list: createKeyList(db),
    page: ({ workspaceId, kind, disabledToo, offset, limit }) =>
      guarded(async () => {
        const rows = await db
          .selectFrom('api_keys')
          .selectAll()
          .where('workspace_id', '=', workspaceId)
          .where('revoked_at', 'is', null)
          .where('kind', '=', kind)
          .$if(!disabledToo, (each) => each.where('disabled', '=', false))
          .orderBy('created_at')
          .orderBy('hash')
          .offset(offset)
          .limit(limit)
          .execute()
        return rows.map(decode)
      }),
    any: () => guarded(async () => (await db.selectFrom('api_keys').select('hash').limit(1).execute()).length > 0),
    revokedBefore: (at) =>
      guarded(async () => {
        const rows = await db
          .selectFrom('api_keys')
          .select(['hash', 'secrets'])
          .where('revoked_at', '<', at)
          .where((key) => key.or([key('origin', 'is', null), key('origin', '<>', 'environment')]))
          .execute()
        return rows.flatMap(({ hash, secrets }) => (secrets === null ? hash : decodeSecrets(secrets).map((secret) => secret.hash)))
      }),
    countLive: (workspaceId) =>
      guarded(async () => {
        const { live } = await db
          .selectFrom('api_keys')
          .select((key) => key.fn.countAll().as('live'))
          .where('workspace_id', '=', workspaceId)
          .where('revoked_at', 'is', null)
          .executeTakeFirstOrThrow()
        return Number(live)
      }),
    get: (hash) =>
      guarded(async () => {
        const row = await db.selectFrom('api_keys').selectAll().where('hash', '=', hash).executeTakeFirst()
        return row && decode(row)
      }),
    insert: async (key) => {
      const row: Row = {
        hash: key.hash,
        kind: key.kind,
        workspace_id: key.workspaceId,
        name: key.name,
        label: key.label,
        disabled: key.disabled,
        created_at: key.createdAt,
        updated_at: key.updatedAt,
        expires_at: key.expiresAt,
        revoked_at: key.revokedAt,
        creator_user_id: key.creatorUserId,
        origin: key.origin ?? null,
        settings: JSON.stringify(key.settings),
        secrets: key.secrets === undefined ? null : JSON.stringify(key.secrets),
      }
      await changeKey(db, key.hash, (trx) => trx.insertInto('api_keys').values(row).execute())
    },
    update: (hash, patch) =>
      changeKey(db, hash, async (trx) => {
        // The row is written even by an empty patch, so that one statement returns it.
        const row = await trx
          .updateTable('api_keys')
          .set({ hash, ...encodePatch(patch) })
          .where('hash', '=', hash)
          .returningAll()
          .executeTakeFirst()
        return row && decode(row)
      }),
    modify: (hash, change) =>
      changeKey(db, hash, async (trx) => {
        // Written before it is read, which locks the row.
        const before = await trx.updateTable('api_keys').set({ hash }).where('hash', '=', hash).returningAll().executeTakeFirst()
        if (before === undefined) return undefined
        const patch = change(decode(before))
        const row = await trx
          .updateTable('api_keys')
          .set({ hash, ...encodePatch(patch) })
          .where('hash', '=', hash)
          .returningAll()
          .executeTakeFirstOrThrow()
        if (patch.secrets !== undefined)
          await forgetUses(
            trx,
            hash,
            patch.secrets.map((secret) => secret.hash),
          )
        return decode(row)
      }),
    remove: (hash) =>
      changeKey(db, hash, async (trx) => {
        return (await trx.deleteFrom('api_keys').where('hash', '=', hash).executeTakeFirst()).numDeletedRows > 0n
      }),
    changedSince: createChangedSince(db),
  }
}

function createKeyList(db: Db): KeyStore['list'] {
  return (filter = {}, onStep) =>
    guarded(async () => {
      const { workspaceId, hashes, creatorUserId, origin, revokedSince: since } = filter
      if (hashes?.length === 0) return []
      const read = async (range?: KeyRange): Promise<readonly ApiKey[]> => {
        let query = db.selectFrom('api_keys').selectAll()
        if (range !== undefined) query = query.where('hash', '>', range.after)
        if (range?.last !== undefined) query = query.where('hash', '<=', range.last)
        if (workspaceId !== undefined) query = query.where('workspace_id', '=', workspaceId)
        if (hashes !== undefined) query = query.where('hash', 'in', [...hashes])
        if (creatorUserId !== undefined) query = query.where('creator_user_id', '=', creatorUserId)
        if (origin !== undefined) query = query.where('origin', '=', origin)
        if (since !== undefined)
          query = query.where((key) => key.or([key('revoked_at', 'is', null), key('revoked_at', '>=', since), key('origin', '=', 'environment')]))
        return (await query.execute()).map(decode)
      }
      // The keys of one workspace are found by its index, and named ones by theirs, in one statement.
      const found = workspaceId === undefined && hashes === undefined ? await readInSteps(db, STEPS, read, onStep) : [...(await read())]
      return found.sort(byAge)
    })
}

function createChangedSince(db: Db): KeyStore['changedSince'] {
  return (version, alsoOf) =>
    guarded(async () => {
      const changed = await keysChangedSince(db, version)
      if (changed === undefined) return undefined
      const hashes = [...new Set([...changed.hashes, ...alsoOf])]
      const { version: upTo, onlyKeys } = changed
      if (hashes.length === 0) return { version: upTo, keys: [], removed: [], onlyKeys }
      const rows = await db.selectFrom('api_keys').selectAll().where('hash', 'in', hashes).execute()
      const found = new Set(rows.map(({ hash }) => hash))
      return { version: upTo, keys: rows.map(decode), removed: hashes.filter((hash) => !found.has(hash)), onlyKeys }
    })
}

function encodePatch(patch: ApiKeyPatch): Partial<Row> {
  return defined({
    kind: patch.kind,
    workspace_id: patch.workspaceId,
    name: patch.name,
    label: patch.label,
    disabled: patch.disabled,
    updated_at: patch.updatedAt,
    expires_at: patch.expiresAt,
    revoked_at: patch.revokedAt,
    creator_user_id: patch.creatorUserId,
    origin: patch.origin,
    settings: patch.settings && JSON.stringify(patch.settings),
    secrets: patch.secrets && JSON.stringify(patch.secrets),
  })
}

function decode(row: Selectable<Row>): ApiKey {
  return {
    hash: row.hash,
    kind: row.kind,
    workspaceId: row.workspace_id,
    name: row.name,
    label: row.label,
    disabled: Boolean(row.disabled),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    creatorUserId: row.creator_user_id,
    ...(row.origin === 'environment' || row.origin === 'generated' ? { origin: row.origin } : {}),
    // Absent before the migration that adds them.
    ...(row.secrets == null ? {} : { secrets: decodeSecrets(row.secrets) }),
    settings: decodeObject(row.settings),
  }
}

const decodeSecrets = (text: string): readonly KeySecret[] => JSON.parse(text) as readonly KeySecret[]
