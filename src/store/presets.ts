import { sql, type Selectable, type Transaction } from 'kysely'
import { GatewayError } from '../core/error.ts'
import type { NewPresetVersion, PresetPatch, PresetStatus, PresetStore, StoredPreset, StoredPresetVersion } from '../core/preset.ts'
import { defined } from '../lib/defined.ts'
import { changeConfiguration } from './config-version.ts'
import type { Db, Tables } from './database.ts'
import { readInSteps, type SteppedTable } from './read-in-steps.ts'
import { assertCurrentKey } from './secrets.ts'
import { guarded } from './store-error.ts'

type Row = Tables['presets']
type VersionRow = Tables['preset_versions']

/** With versions of three kilobytes, SQLite reads five hundred in 5 ms. */
const STEPS: SteppedTable = { table: 'presets', key: 'id', rows: 500 }

/** A longer history than anybody reads. */
const MAX_VERSIONS = 1_000
/**
 * Stored bytes of all versions of all presets of a workspace. Any of its keys may save presets, and designated versions are in the memory of every
 * process and in its last-known-good file. Ten thousand presets of three kilobytes fit.
 */
const MAX_WORKSPACE_BYTES = 32 * 1024 * 1024

export function createPresetStore(db: Db): PresetStore {
  return {
    list: (filter) =>
      guarded(async () => {
        let query = db.selectFrom('presets').selectAll().orderBy('updated_at', 'desc').orderBy('id')
        if (filter?.workspaceId !== undefined) query = query.where('workspace_id', '=', filter.workspaceId)
        return (await query.execute()).map(decode)
      }),
    find: (workspaceId, slug) =>
      guarded(async () => {
        const row = await db.selectFrom('presets').selectAll().where('workspace_id', '=', workspaceId).where('slug', '=', slug).executeTakeFirst()
        return row && decode(row)
      }),
    save: (preset, version, again = () => preset) =>
      changeConfiguration(db, async (trx) => {
        await assertCurrentKey(trx, version.sealed)
        const row = await trx
          .insertInto('presets')
          .values(encode({ ...preset, designatedVersionId: version.id }))
          // Written even if it exists, which locks the row.
          .onConflict((conflict) => conflict.columns(['workspace_id', 'slug']).doUpdateSet({ slug: preset.slug }))
          .returningAll()
          .executeTakeFirstOrThrow()
        const added = await addVersion(trx, row, version)
        const isNew = row.designated_version_id === version.id
        return { preset: isNew ? decode(row) : await write(trx, row.id, { ...again(decode(row)), designatedVersionId: version.id }), version: added }
      }),
    modify: (id, change) =>
      changeConfiguration(db, async (trx) => {
        // Written before it is read, which locks the row.
        const before = await trx.updateTable('presets').set({ id }).where('id', '=', id).returningAll().executeTakeFirst()
        if (before === undefined) return undefined
        const serving = await trx.selectFrom('preset_versions').selectAll().where('id', '=', before.designated_version_id).executeTakeFirstOrThrow()
        const { patch, version, designatedVersion } = change({ preset: decode(before), version: decodeVersion(serving) })
        if (version !== undefined) await assertCurrentKey(trx, version.sealed)
        const added = version === undefined ? decodeVersion(serving) : await addVersion(trx, before, version)
        const designated = designatedVersion === undefined ? added : await versionOf(trx, id, designatedVersion)
        return { preset: await write(trx, id, { ...patch, designatedVersionId: designated.id }), version: designated }
      }),
    remove: (id) =>
      changeConfiguration(db, async (trx) => {
        const { numDeletedRows } = await trx.deleteFrom('presets').where('id', '=', id).executeTakeFirst()
        return numDeletedRows > 0n
      }),
    versions: (presetId, page) =>
      guarded(async () => {
        const all = db.selectFrom('preset_versions').selectAll().where('preset_id', '=', presetId).orderBy('version')
        const rows = await (page === undefined ? all : all.limit(page.limit).offset(page.offset)).execute()
        return rows.map(decodeVersion)
      }),
    countVersions: (presetId) =>
      guarded(async () => {
        const all = db.selectFrom('preset_versions').where('preset_id', '=', presetId)
        const { count } = await all.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow()
        return count
      }),
    version: (presetId, which) =>
      guarded(async () => {
        const all = db.selectFrom('preset_versions').selectAll().where('preset_id', '=', presetId)
        const row = await ('id' in which ? all.where('id', '=', which.id) : all.where('version', '=', which.number)).executeTakeFirst()
        return row && decodeVersion(row)
      }),
    designated: () =>
      guarded(() =>
        readInSteps(db, STEPS, async ({ after, last }) => {
          // One statement: between two, another version could be designated, and the preset would have none.
          const rows = await db
            .selectFrom('presets')
            .innerJoin('preset_versions', 'preset_versions.id', 'presets.designated_version_id')
            .selectAll('presets')
            .select(['preset_versions.version', 'preset_versions.creator_id', 'preset_versions.sealed', 'preset_versions.created_at as made_at'])
            .where('presets.status', '=', 'active')
            .where('presets.id', '>', after)
            .$if(last !== undefined, (each) => each.where('presets.id', '<=', last!))
            .execute()
          return rows.map((row) => ({
            preset: decode(row),
            version: decodeVersion({ ...row, id: row.designated_version_id, preset_id: row.id, created_at: row.made_at }),
          }))
        }),
      ),
  }
}

async function addVersion(trx: Transaction<Tables>, preset: Selectable<Row>, version: NewPresetVersion): Promise<StoredPresetVersion> {
  const { id: presetId } = preset
  await checkRoom(trx, preset.workspace_id, version)
  const { last } = await trx
    .selectFrom('preset_versions')
    .select((expression) => expression.fn.max('version').as('last'))
    .where('preset_id', '=', presetId)
    .executeTakeFirstOrThrow()
  const number = (last ?? 0) + 1
  if (number > MAX_VERSIONS)
    throw new GatewayError('conflict', `The preset has ${MAX_VERSIONS} versions already; delete it or save it under another slug`)
  const row: VersionRow = {
    id: version.id,
    preset_id: presetId,
    version: number,
    creator_id: version.creatorId,
    sealed: version.sealed,
    created_at: version.createdAt,
  }
  await trx.insertInto('preset_versions').values(row).execute()
  return decodeVersion(row)
}

async function checkRoom(trx: Transaction<Tables>, workspaceId: string, { sealed }: NewPresetVersion): Promise<void> {
  const { bytes } = await trx
    .selectFrom('preset_versions')
    .innerJoin('presets', 'presets.id', 'preset_versions.preset_id')
    .select(sql<number | null>`cast(sum(octet_length(sealed)) as bigint)`.as('bytes'))
    .where('presets.workspace_id', '=', workspaceId)
    .executeTakeFirstOrThrow()
  if ((bytes ?? 0) + Buffer.byteLength(sealed) <= MAX_WORKSPACE_BYTES) return
  const room = MAX_WORKSPACE_BYTES / 1024 / 1024
  throw new GatewayError('conflict', `The presets of the workspace, all versions together, hold ${room} MB, which is all they may; delete one`)
}

async function versionOf(trx: Transaction<Tables>, presetId: string, number: number): Promise<StoredPresetVersion> {
  const row = await trx.selectFrom('preset_versions').selectAll().where('preset_id', '=', presetId).where('version', '=', number).executeTakeFirst()
  if (row !== undefined) return decodeVersion(row)
  throw new GatewayError('invalid_request', `designated_version: the preset has no version ${number}`, { path: 'designated_version' })
}

async function write(trx: Transaction<Tables>, id: string, patch: PresetPatch): Promise<StoredPreset> {
  const row = await trx
    .updateTable('presets')
    .set({ id, ...encodePatch(patch) })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
  return decode(row)
}

function encode(preset: StoredPreset): Row {
  return {
    id: preset.id,
    workspace_id: preset.workspaceId,
    slug: preset.slug,
    name: preset.name,
    description: preset.description,
    status: preset.status,
    creator_user_id: preset.creatorUserId,
    designated_version_id: preset.designatedVersionId,
    created_at: preset.createdAt,
    updated_at: preset.updatedAt,
    status_updated_at: preset.statusUpdatedAt,
  }
}

function encodePatch(patch: PresetPatch): Partial<Row> {
  return defined({
    name: patch.name,
    description: patch.description,
    status: patch.status,
    designated_version_id: patch.designatedVersionId,
    updated_at: patch.updatedAt,
    status_updated_at: patch.statusUpdatedAt,
  })
}

function decode(row: Selectable<Row>): StoredPreset {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    slug: row.slug,
    name: row.name,
    description: row.description,
    status: row.status as PresetStatus,
    creatorUserId: row.creator_user_id,
    designatedVersionId: row.designated_version_id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    statusUpdatedAt: row.status_updated_at,
  }
}

function decodeVersion(row: Selectable<VersionRow>): StoredPresetVersion {
  return {
    id: row.id,
    presetId: row.preset_id,
    version: row.version,
    creatorId: row.creator_id,
    sealed: row.sealed,
    createdAt: row.created_at,
  }
}
