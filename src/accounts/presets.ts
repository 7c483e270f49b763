import { randomUUID } from 'node:crypto'
import type { Encryption } from '../core/account.ts'
import { GatewayError } from '../core/error.ts'
import type {
  ActivePreset,
  DesignatedPreset,
  NewPresetVersion,
  PresetAccounts,
  PresetChange,
  PresetContent,
  PresetDraft,
  PresetRevision,
  PresetStore,
  StoredPreset,
} from '../core/preset.ts'
import type { Clock } from '../lib/clock.ts'
import { defined } from '../lib/defined.ts'
import { openVersion, sealContent } from './preset-content.ts'

export interface PresetAccountsOptions {
  readonly store: PresetStore
  readonly encryption: Encryption
  readonly clock: Clock
  readonly newId?: () => string
  /** Awaited after every change, before the change is answered. */
  readonly onChange?: () => Promise<void>
}

/** The limit for one workspace, because all presets are in memory. */
const MAX_PRESETS = 1_000

export function createPresetAccounts(options: PresetAccountsOptions): PresetAccounts {
  const { store, encryption, clock, newId = randomUUID, onChange = () => Promise.resolve() } = options

  const need = async (workspaceId: string, slug: string): Promise<StoredPreset> => {
    const preset = await store.find(workspaceId, slug)
    if (preset === undefined || preset.status === 'archived') throw notFound()
    return preset
  }
  const designatedOf = async (preset: StoredPreset): Promise<DesignatedPreset> => {
    const found = await store.version(preset.id, { id: preset.designatedVersionId })
    // Deleted between the two reads.
    if (found === undefined) throw notFound()
    return { preset, version: openVersion(encryption, found) }
  }
  const newVersion = (content: PresetContent, creatorId: string): NewPresetVersion => {
    const id = newId()
    return { id, creatorId, sealed: sealContent(encryption, id, content), createdAt: clock.now() }
  }
  const checkOwn = async ({ id, slug, designatedVersionId }: StoredPreset, creatorId: string): Promise<void> => {
    if ((await store.version(id, { id: designatedVersionId }))?.creatorId === creatorId) return
    throw new GatewayError('permission_denied', `Others made the preset "${slug}": only they and management keys can change it`)
  }
  const save = async (draft: PresetDraft, mayMeet: (before: StoredPreset) => boolean): Promise<DesignatedPreset> => {
    const before = await store.find(draft.workspaceId, draft.slug)
    if (before === undefined) await checkRoom(store, draft.workspaceId)
    else if (draft.ownOnly === true) await checkOwn(before, draft.creatorId)
    const now = clock.now()
    const saved = await store.save({ id: newId(), ...presetOf(draft, undefined, now) }, newVersion(draft.content, draft.creatorId), (found) => {
      if (!mayMeet(found)) throw new GatewayError('conflict', `The workspace has a preset "${draft.slug}" already`)
      if (draft.ownOnly === true && found.designatedVersionId !== before?.designatedVersionId)
        throw new GatewayError('conflict', `The preset "${draft.slug}" was changed at the same time; try again`)
      return presetOf(draft, found, now)
    })
    await onChange()
    return { preset: saved.preset, version: openVersion(encryption, saved.version) }
  }
  const revise = (current: ActivePreset, { content, designatedVersion, ...fields }: PresetChange): PresetRevision => {
    const { preset } = current
    if (preset.status === 'archived') throw notFound()
    const now = Math.max(clock.now(), preset.updatedAt)
    const statusUpdatedAt = fields.status === undefined || fields.status === preset.status ? undefined : now
    const version = content && newVersion(isWhole(content) ? content : { ...openVersion(encryption, current.version), ...content }, content.creatorId)
    return { patch: defined({ ...fields, statusUpdatedAt, updatedAt: now }), ...defined({ version, designatedVersion }) }
  }

  return {
    list: async (workspaceId) => (await store.list({ workspaceId })).filter(({ status }) => status !== 'archived'),
    get: async (workspaceId, slug) => designatedOf(await need(workspaceId, slug)),
    create: (draft) => save(draft, ({ status }) => status === 'archived'),
    save: (draft) => save(draft, () => true),
    async update(workspaceId, slug, change) {
      const { id } = await need(workspaceId, slug)
      const revised = await store.modify(id, (current) => revise(current, change))
      if (revised === undefined) throw notFound()
      await onChange()
      return { preset: revised.preset, version: openVersion(encryption, revised.version) }
    },
    async remove(workspaceId, slug) {
      const { id } = await need(workspaceId, slug)
      if (!(await store.remove(id))) throw notFound()
      await onChange()
    },
    versions: async (workspaceId, slug, page) => {
      const { id } = await need(workspaceId, slug)
      const [stored, total] = await Promise.all([store.versions(id, page), store.countVersions(id)])
      return { versions: stored.map((one) => openVersion(encryption, one)), total }
    },
    version: async (workspaceId, slug, number) => {
      const { id } = await need(workspaceId, slug)
      const found = await store.version(id, { number })
      if (found === undefined) throw new GatewayError('not_found', `The preset has no version ${number}`)
      return openVersion(encryption, found)
    },
  }
}

const notFound = (): GatewayError => new GatewayError('not_found', 'There is no such preset')

const isWhole = (content: Partial<PresetContent>): content is PresetContent => content.systemPrompt !== undefined && content.config !== undefined

async function checkRoom(store: PresetStore, workspaceId: string): Promise<void> {
  if ((await store.list({ workspaceId })).length < MAX_PRESETS) return
  throw new GatewayError('conflict', `The workspace has ${MAX_PRESETS} presets already, and may not have more`)
}

/** An archived preset is restored; a disabled one stays disabled. */
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
