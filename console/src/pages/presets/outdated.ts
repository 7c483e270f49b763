/** The routes that any change of a preset outdates. */
export const OUTDATED = ['GET /api/v1/presets', 'GET /api/v1/presets/{slug}', 'GET /api/v1/presets/{slug}/versions'] as const

/** A preset, by its slug within a workspace. */
export interface PresetAddress {
  readonly params: { readonly slug: string }
  readonly query: { readonly workspace_id?: string }
}
