import { sql, type Selectable, type Transaction } from 'kysely'
import { GatewayError } from '../core/error.ts'
import type { DestinationPatch, DestinationStore, FilterRules, StoredDestination } from '../core/outbox.ts'
import type { Clock } from '../lib/clock.ts'
import { defined } from '../lib/defined.ts'
import { changeConfiguration } from './config-version.ts'
import type { Database, Tables } from './database.ts'
import { cancelDeliveries, clearAhead, stripDeliveries } from './outbox-cleanup.ts'
import { retryDeliveries } from './outbox-retry.ts'
import { decodeObject } from './decode-object.ts'
import { assertCurrentKey } from './secrets.ts'
import { guarded } from './store-error.ts'
import { againAfterDeadlock } from './transaction.ts'

type Row = Tables['destinations']

export function createDestinationStore(database: Database, clock: Clock): DestinationStore {
  const { db, engine } = database
  const visible = () => db.selectFrom('destinations').where('deleted_at', 'is', null)

  /** Two concurrent inserts must not both see the last free place. SQLite has one writer anyway. */
  const lockPlaces = async (trx: Transaction<Tables>, workspaceId: string, type: string): Promise<void> => {
    if (engine === 'postgres')
      await sql`select pg_advisory_xact_lock(hashtextextended(${`signalbox.destinations.${workspaceId}.${type}`}, 0))`.execute(trx)
  }

  const current = (id: string, workspaceId: string): Promise<Pick<Row, 'revision'> | undefined> =>
    guarded(() => visible().select('revision').where('id', '=', id).where('workspace_id', '=', workspaceId).executeTakeFirst())

  /** Workers settle what these changes delete or rewrite, in another order. */
  const change = <T>(work: (trx: Transaction<Tables>) => Promise<T>): Promise<T> => againAfterDeadlock(() => changeConfiguration(db, work))

  return {
    list: (filter) =>
      guarded(async () => {
        let rows = visible()
        if (filter.workspaceId !== undefined) rows = rows.where('workspace_id', '=', filter.workspaceId)
        const { total } = await rows.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
        let page = rows.selectAll().orderBy('created_at').orderBy('id')
        if (filter.limit !== undefined) page = page.limit(filter.limit)
        // SQLite allows an offset only with a limit; callers without a limit want everything.
        if (filter.limit !== undefined && filter.offset !== undefined) page = page.offset(filter.offset)
        return { destinations: (await page.execute()).map(decode), total }
      }),
    get: (id, workspaceId) =>
      guarded(async () => {
        let query = visible().selectAll().where('id', '=', id)
        if (workspaceId !== undefined) query = query.where('workspace_id', '=', workspaceId)
        const row = await query.executeTakeFirst()
        return row && decode(row)
      }),
    insert: async (destination, maxPerType) => {
      await changeConfiguration(db, async (trx) => {
        const { workspaceId, type, sealed } = destination
        await lockPlaces(trx, workspaceId, type)
        if (sealed !== null) await assertCurrentKey(trx, sealed)
        const { count } = await trx
          .selectFrom('destinations')
          .select(({ fn }) => fn.countAll<number>().as('count'))
          .where('workspace_id', '=', workspaceId)
          .where('type', '=', type)
          .where('deleted_at', 'is', null)
          .executeTakeFirstOrThrow()
        if (count >= maxPerType) {
          throw new GatewayError('conflict', `The workspace has ${maxPerType} destinations of type ${type} already, and may not have more`)
        }
        return trx.insertInto('destinations').values(encode(destination)).execute()
      })
    },
    update: async (id, workspaceId, patch, revision) => {
      if (patch.privacyMode === true && (await current(id, workspaceId))?.revision === revision) await clearAhead(database, 'content', id)
      return change(async (trx) => {
        if (typeof patch.sealed === 'string') await assertCurrentKey(trx, patch.sealed)
        const before = await trx
          .selectFrom('destinations')
          .select(['privacy_mode', 'revision'])
          .where('id', '=', id)
          .where('workspace_id', '=', workspaceId)
          .where('deleted_at', 'is', null)
          .executeTakeFirst()
        if (before === undefined) return undefined
        const row = await trx
          .updateTable('destinations')
          .set({ ...encodePatch(patch), revision: revision + 1 })
          .where('id', '=', id)
          .where('revision', '=', revision)
          .where('deleted_at', 'is', null)
          .returningAll()
          .executeTakeFirst()
        if (row === undefined) throw new GatewayError('conflict', 'The destination was changed by somebody else meanwhile; read it and try again')
        await retryDeliveries(trx, engine, id, clock.now())
        if (patch.privacyMode === true && !before.privacy_mode) await stripDeliveries(trx, engine, id)
        return decode(row)
      })
    },
    remove: async (id, workspaceId) => {
      if ((await current(id, workspaceId)) !== undefined) await clearAhead(database, 'deliveries', id)
      return change(async (trx) => {
        const { numUpdatedRows } = await trx
          .updateTable('destinations')
          .set({ deleted_at: clock.now(), sealed: null, config: '{}', enabled: false })
          .where('id', '=', id)
          .where('workspace_id', '=', workspaceId)
          .where('deleted_at', 'is', null)
          .executeTakeFirst()
        if (numUpdatedRows === 0n) return false
        await cancelDeliveries(trx, engine, id)
        return true
      })
    },
  }
}

function encode(destination: StoredDestination): Row {
  const { broadcast } = destination
  return {
    id: destination.id,
    workspace_id: destination.workspaceId,
    type: destination.type,
    name: destination.name,
    enabled: destination.enabled,
    paused: destination.paused,
    config: JSON.stringify(destination.config),
    sealed: destination.sealed,
    api_key_hashes: optionalJson(destination.apiKeyHashes),
    filter_rules: optionalJson(destination.filterRules),
    sampling_rate: destination.samplingRate,
    privacy_mode: destination.privacyMode,
    broadcast_cost: broadcast.cost,
    broadcast_identity: broadcast.identity,
    broadcast_request_context: broadcast.requestContext,
    revision: destination.revision,
    created_at: destination.createdAt,
    updated_at: destination.updatedAt,
    deleted_at: null,
  }
}

function encodePatch(patch: DestinationPatch): Partial<Row> {
  return defined({
    name: patch.name,
    enabled: patch.enabled,
    paused: patch.paused,
    config: patch.config && JSON.stringify(patch.config),
    sealed: patch.sealed,
    api_key_hashes: patch.apiKeyHashes === undefined ? undefined : optionalJson(patch.apiKeyHashes),
    filter_rules: patch.filterRules === undefined ? undefined : optionalJson(patch.filterRules),
    sampling_rate: patch.samplingRate,
    privacy_mode: patch.privacyMode,
    broadcast_cost: patch.broadcast?.cost,
    broadcast_identity: patch.broadcast?.identity,
    broadcast_request_context: patch.broadcast?.requestContext,
    updated_at: patch.updatedAt,
  })
}

const optionalJson = (value: unknown): string | null => (value === null ? null : JSON.stringify(value))

function decode(row: Selectable<Row>): StoredDestination {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    type: row.type,
    name: row.name,
    enabled: Boolean(row.enabled),
    paused: Boolean(row.paused),
    config: decodeObject(row.config),
    sealed: row.sealed,
    apiKeyHashes: row.api_key_hashes === null ? null : (JSON.parse(row.api_key_hashes) as readonly string[]),
    filterRules: row.filter_rules === null ? null : (JSON.parse(row.filter_rules) as FilterRules),
    samplingRate: row.sampling_rate,
    privacyMode: Boolean(row.privacy_mode),
    broadcast: {
      cost: Boolean(row.broadcast_cost),
      identity: Boolean(row.broadcast_identity),
      requestContext: Boolean(row.broadcast_request_context),
    },
    revision: row.revision,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
