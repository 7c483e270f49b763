import type { JsonObject } from './item.ts'

/** `disabled` and `archived` presets cannot be used; archived ones are not listed either. */
export type PresetStatus = 'active' | 'disabled' | 'archived'

/** A named configuration of requests, as stored. Its versions contain the configuration. */
export interface StoredPreset {
  readonly id: string
  readonly workspaceId: string
  /** Unique within the workspace. */
  readonly slug: string
  readonly name: string
  readonly description: string | null
  readonly status: PresetStatus
  readonly creatorUserId: string | null
  /** The version that requests use. */
  readonly designatedVersionId: string
  readonly createdAt: number
  readonly updatedAt: number
  readonly statusUpdatedAt: number | null
}

export interface StoredPresetVersion {
  readonly id: string
  readonly presetId: string
  /** Starts at 1. */
  readonly version: number
  readonly creatorId: string
  /** `PresetContent` as JSON, in an envelope that only accounts/ can open, because tools in a preset may contain credentials. */
  readonly sealed: string
  readonly createdAt: number
}

/** The stored form of what requests get from a preset. */
export interface ActivePreset {
  readonly preset: StoredPreset
  readonly version: StoredPresetVersion
}

export type PresetPatch = Partial<Pick<StoredPreset, 'name' | 'description' | 'status' | 'designatedVersionId' | 'updatedAt' | 'statusUpdatedAt'>>

export type NewPresetVersion = Omit<StoredPresetVersion, 'version' | 'presetId'>

/** The result of a change of a preset. */
export interface PresetRevision {
  readonly patch: Omit<PresetPatch, 'designatedVersionId'>
  /** Requests use it from now on, unless `designatedVersion` names another. */
  readonly version?: NewPresetVersion
  /** Number of the version that requests use from now on. */
  readonly designatedVersion?: number
}

export interface VersionPage {
  readonly offset: number
  readonly limit: number
}

/** Every write increments the store's `version` in the same transaction. */
export interface PresetStore {
  /** The most recently updated first. */
  list(filter?: { readonly workspaceId?: string }): Promise<readonly StoredPreset[]>
  find(workspaceId: string, slug: string): Promise<StoredPreset | undefined>
  /**
   * Adds a version to the preset with this workspace and slug, and designates it. If there is no such preset, it is created. Otherwise `again`
   * returns the changes to the existing preset, in the same transaction (default: what a patch may change of `preset`). Throws GatewayError
   * `not_found` if the workspace does not exist, `conflict` if the limit of versions or of the total size of a workspace's presets is reached, and
   * what `again` throws.
   */
  save(
    preset: Omit<StoredPreset, 'designatedVersionId'>,
    version: NewPresetVersion,
    again?: (before: StoredPreset) => Omit<PresetPatch, 'designatedVersionId'>,
  ): Promise<ActivePreset>
  /**
   * Reads and writes in one transaction, all or nothing: `change` gets the preset and its designated version. Throws GatewayError `invalid_request`
   * if there is no version with the given number, `conflict` if a limit is reached, and what `change` throws.
   */
  modify(id: string, change: (current: ActivePreset) => PresetRevision): Promise<ActivePreset | undefined>
  /** Also removes its versions. */
  remove(id: string): Promise<boolean>
  /** The oldest first; `page` selects a part. */
  versions(presetId: string, page?: VersionPage): Promise<readonly StoredPresetVersion[]>
  countVersions(presetId: string): Promise<number>
  /** One version of a preset, by id or number. */
  version(presetId: string, which: { readonly id: string } | { readonly number: number }): Promise<StoredPresetVersion | undefined>
  /** The designated versions of all active presets. */
  designated(): Promise<readonly ActivePreset[]>
}

/** What a preset sets: request fields by name, and the instructions separately. */
export interface PresetContent {
  readonly systemPrompt: string | null
  readonly config: JsonObject
}

/** A preset for use in requests. */
export interface Preset extends PresetContent {
  readonly id: string
  readonly slug: string
}

/** The presets of workspaces, read from memory. */
export interface Presets {
  /** Undefined if the workspace has no active preset with this slug. */
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
  /** The author of the version: a member, or else the hash of the key. */
  readonly creatorId: string
  /** An existing preset may be changed only if its current version has the same author. */
  readonly ownOnly?: boolean
}

export interface PresetChange {
  readonly name?: string
  readonly description?: string | null
  readonly status?: PresetStatus
  /** The given fields create a new version; its other fields are those of the designated version. */
  readonly content?: Partial<PresetContent> & Pick<PresetDraft, 'creatorId'>
  /** Number of the version that requests use from now on. */
  readonly designatedVersion?: number
}

export interface DesignatedPreset {
  readonly preset: StoredPreset
  readonly version: PresetVersion
}

/** Management of presets. Archived presets and those of other workspaces appear not to exist. Changes throw `not_found`. */
export interface PresetAccounts {
  list(workspaceId: string): Promise<readonly StoredPreset[]>
  get(workspaceId: string, slug: string): Promise<DesignatedPreset>
  /** Creates a preset; throws `conflict` if the slug is taken. */
  create(draft: PresetDraft): Promise<DesignatedPreset>
  /** Creates a version, and the preset if there is none; an archived preset is restored. Throws `permission_denied` for one of others (`ownOnly`). */
  save(draft: PresetDraft): Promise<DesignatedPreset>
  /** All or nothing. Throws `invalid_request` if there is no version with the given number. */
  update(workspaceId: string, slug: string, change: PresetChange): Promise<DesignatedPreset>
  remove(workspaceId: string, slug: string): Promise<void>
  /** The oldest first. */
  versions(workspaceId: string, slug: string, page: VersionPage): Promise<{ readonly versions: readonly PresetVersion[]; readonly total: number }>
  /** Throws `not_found` if there is no version with this number. */
  version(workspaceId: string, slug: string, number: number): Promise<PresetVersion>
}
