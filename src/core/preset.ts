import type { JsonObject } from './item.ts'

/** `disabled` and `archived` presets serve nobody; archived ones are not listed either. */
export type PresetStatus = 'active' | 'disabled' | 'archived'

/** A named configuration of requests, as stored. What it configures is in its versions. */
export interface StoredPreset {
  readonly id: string
  readonly workspaceId: string
  /** Unique in its workspace. */
  readonly slug: string
  readonly name: string
  readonly description: string | null
  readonly status: PresetStatus
  readonly creatorUserId: string | null
  /** The version requests get. */
  readonly designatedVersionId: string
  readonly createdAt: number
  readonly updatedAt: number
  readonly statusUpdatedAt: number | null
}

export interface StoredPresetVersion {
  readonly id: string
  readonly presetId: string
  /** From 1. */
  readonly version: number
  readonly creatorId: string
  /** `PresetContent` as JSON in an envelope only accounts/ can open: tools of a preset may carry credentials. */
  readonly sealed: string
  readonly createdAt: number
}

/** What requests get of a preset, as stored. */
export interface ActivePreset {
  readonly preset: StoredPreset
  readonly version: StoredPresetVersion
}

export type PresetPatch = Partial<Pick<StoredPreset, 'name' | 'description' | 'status' | 'designatedVersionId' | 'updatedAt' | 'statusUpdatedAt'>>

export type NewPresetVersion = Omit<StoredPresetVersion, 'version' | 'presetId'>

/** What a change of a preset comes to. */
export interface PresetRevision {
  readonly patch: Omit<PresetPatch, 'designatedVersionId'>
  /** Requests get it from now on, unless another is named. */
  readonly version?: NewPresetVersion
  /** Number of the version requests get from now on. */
  readonly designatedVersion?: number
}

export interface VersionPage {
  readonly offset: number
  readonly limit: number
}

/** Every write adds one to the store's `version`, in the same transaction. */
export interface PresetStore {
  /** The most recently updated first. */
  list(filter?: { readonly workspaceId?: string }): Promise<readonly StoredPreset[]>
  find(workspaceId: string, slug: string): Promise<StoredPreset | undefined>
  /**
   * Adds a version to the preset of this workspace and slug and designates it; makes the preset when there is none, else takes over what
   * `again` makes of the one that is there, in the same transaction (default: what a patch may change of `preset`). Throws GatewayError
   * `not_found` when the workspace does not exist, `conflict` when the limit of versions, or of all that the presets of a workspace hold, is
   * reached, and what `again` throws.
   */
  save(
    preset: Omit<StoredPreset, 'designatedVersionId'>,
    version: NewPresetVersion,
    again?: (before: StoredPreset) => Omit<PresetPatch, 'designatedVersionId'>,
  ): Promise<ActivePreset>
  /**
   * Reads and writes in one transaction, all of it or nothing: `change` is given the preset and its designated version. Throws GatewayError
   * `invalid_request` when there is no version of the number it names, `conflict` when a limit is reached, and what it throws.
   */
  modify(id: string, change: (current: ActivePreset) => PresetRevision): Promise<ActivePreset | undefined>
  /** Takes its versions with it. */
  remove(id: string): Promise<boolean>
  /** The oldest first; `page`: some of them. */
  versions(presetId: string, page?: VersionPage): Promise<readonly StoredPresetVersion[]>
  countVersions(presetId: string): Promise<number>
  /** One of a preset's, by its id or its number. */
  version(presetId: string, which: { readonly id: string } | { readonly number: number }): Promise<StoredPresetVersion | undefined>
  /** The designated versions of all presets that are active. */
  designated(): Promise<readonly ActivePreset[]>
}

/** What a preset sets: fields of a request by their names, and the instructions apart. */
export interface PresetContent {
  readonly systemPrompt: string | null
  readonly config: JsonObject
}

/** A preset as requests meet it. */
export interface Preset extends PresetContent {
  readonly id: string
  readonly slug: string
}

/** The presets of workspaces, from memory. */
export interface Presets {
  /** Undefined when the workspace has no active preset of this slug. */
  find(workspaceId: string, slug: string): Preset | undefined
}

export interface PresetVersion extends PresetContent {
  readonly id: string
  readonly presetId: string
  readonly version: number
  readonly creatorId: string
  readonly createdAt: number
}

export interface PresetDraft {
  readonly workspaceId: string
  readonly slug: string
  /** Default: the slug. */
  readonly name?: string
  readonly description?: string | null
  readonly content: PresetContent
  readonly creatorUserId: string | null
  /** Who made the version: a member, else the hash of the key. */
  readonly creatorId: string
}

export interface PresetChange {
  readonly name?: string
  readonly description?: string | null
  readonly status?: PresetStatus
  /** What is named here makes a new version; the rest of it is that of the designated one. */
  readonly content?: Partial<PresetContent> & Pick<PresetDraft, 'creatorId'>
  /** Number of the version requests get from now on. */
  readonly designatedVersion?: number
}

export interface DesignatedPreset {
  readonly preset: StoredPreset
  readonly version: PresetVersion
}

/** Management of presets. Archived presets, and those of other workspaces, do not exist. Changes throw `not_found`. */
export interface PresetAccounts {
  list(workspaceId: string): Promise<readonly StoredPreset[]>
  get(workspaceId: string, slug: string): Promise<DesignatedPreset>
  /** A new preset; throws `conflict` when the slug is taken. */
  create(draft: PresetDraft): Promise<DesignatedPreset>
  /** A new version, of a new preset when there is none; what was archived comes back. */
  save(draft: PresetDraft): Promise<DesignatedPreset>
  /** All of it or nothing. Throws `invalid_request` when there is no version of the number it names. */
  update(workspaceId: string, slug: string, change: PresetChange): Promise<DesignatedPreset>
  remove(workspaceId: string, slug: string): Promise<void>
  /** The oldest first. */
  versions(workspaceId: string, slug: string, page: VersionPage): Promise<{ readonly versions: readonly PresetVersion[]; readonly total: number }>
  /** Throws `not_found` when there is no version of this number. */
  version(workspaceId: string, slug: string, number: number): Promise<PresetVersion>
}
