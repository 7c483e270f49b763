import { randomUUID } from 'node:crypto'
import type { Encryption } from '../core/account.ts'
import { GatewayError } from '../core/error.ts'
import type { DesignatedPreset, PresetAccounts, PresetChange, PresetDraft, PresetStore, StoredPreset } from '../core/preset.ts'
import type { Clock } from '../lib/clock.ts'
import { defined } from '../lib/defined.ts'
import { openVersion, sealContent } from './preset-content.ts'

export interface PresetAccountsOptions {
  readonly store: PresetStore
  readonly encryption: Encryption
  readonly clock: Clock
  readonly newId?: () => string
  /** Told after every change, before it is answered. */
  readonly onChange?: () => Promise<void>
}

/** In one workspace: all of them are in memory. */
const MAX_PRESETS = 1_000

export function createPresetAccounts(options: PresetAccountsOptions): PresetAccounts {
  const { store, encryption, clock, newId = randomUUID, onChange = () => Promise.resolve() } = options

  const need = async (workspaceId: string, slug: string): Promise<StoredPreset> => {
    const preset = await store.find(workspaceId, slug)
    if (preset === undefined || preset.status === 'archived') throw notFound()
    return preset
  }
  const designatedOf = async (preset: StoredPreset): Promise<DesignatedPreset> => {
    const found = (await store.versions(preset.id)).find(({ id }) => id === preset.designatedVersionId)
    // Deleted between the two reads.
    if (found === undefined) throw notFound()
    return { preset, version: openVersion(encryption, found) }
  }
  const save = async (draft: PresetDraft, before: StoredPreset | undefined): Promise<DesignatedPreset> => {
    if (before === undefined) await checkRoom(store, draft.workspaceId)
    const now = clock.now()
    const versionId = newId()
    const saved = await store.save(
      { id: newId(), ...presetOf(draft, before, now) },
      { id: versionId, creatorId: draft.creatorId, sealed: sealContent(encryption, versionId, draft.content), createdAt: now },
    )
    await onChange()
    return { preset: saved.preset, version: openVersion(encryption, saved.version) }
  }

  return {
    list: async (workspaceId) => (await store.list({ workspaceId })).filter(({ status }) => status !== 'archived'),
    get: async (workspaceId, slug) => designatedOf(await need(workspaceId, slug)),
    async create(draft) {
      const before = await store.find(draft.workspaceId, draft.slug)
      if (before !== undefined && before.status !== 'archived')
        throw new GatewayError('conflict', `The workspace has a preset "${draft.slug}" already`)
      return save(draft, before)
    },
    save: async (draft) => save(draft, await store.find(draft.workspaceId, draft.slug)),
    async update(workspaceId, slug, change) {
      const before = await need(workspaceId, slug)
      const designatedVersionId = await versionWanted(store, before, change)
      const now = Math.max(clock.now(), before.updatedAt)
      const { name, description, status } = change
      const statusUpdatedAt = status === undefined || status === before.status ? undefined : now
      const patch = defined({ name, description, status, designatedVersionId, statusUpdatedAt, updatedAt: now })
      const updated = await store.update(before.id, patch)
      if (updated === undefined) throw notFound()
      await onChange()
      return designatedOf(updated)
    },
    async remove(workspaceId, slug) {
      const { id } = await need(workspaceId, slug)
      if (!(await store.remove(id))) throw notFound()
      await onChange()
    },
    versions: async (workspaceId, slug) => {
      const { id } = await need(workspaceId, slug)
      return (await store.versions(id)).map((one) => openVersion(encryption, one))
    },
  }
}

const notFound = (): GatewayError => new GatewayError('not_found', 'There is no such preset')

async function checkRoom(store: PresetStore, workspaceId: string): Promise<void> {
  if ((await store.list({ workspaceId })).length < MAX_PRESETS) return
  throw new GatewayError('conflict', `The workspace has ${MAX_PRESETS} presets already, and may not have more`)
}

/** What was archived comes back; what was disabled stays so. */
function presetOf(draft: PresetDraft, before: StoredPreset | undefined, now: number): Omit<StoredPreset, 'id' | 'designatedVersionId'> {
  return {
    workspaceId: draft.workspaceId,
    slug: draft.slug,
    name: draft.name ?? before?.name ?? draft.slug,
    description: draft.description === undefined ? (before?.description ?? null) : draft.description,
    status: before?.status === 'disabled' ? 'disabled' : 'active',
    creatorUserId: draft.creatorUserId,
    createdAt: now,
    updatedAt: Math.max(now, before?.updatedAt ?? 0),
    statusUpdatedAt: before?.status === 'archived' ? now : (before?.statusUpdatedAt ?? null),
  }
}

async function versionWanted(store: PresetStore, { id }: StoredPreset, { designatedVersion }: PresetChange): Promise<string | undefined> {
  if (designatedVersion === undefined) return undefined
  const wanted = (await store.versions(id)).find(({ version }) => version === designatedVersion)
  if (wanted !== undefined) return wanted.id
  throw new GatewayError('invalid_request', `designated_version: the preset has no version ${designatedVersion}`, { path: 'designated_version' })
}
