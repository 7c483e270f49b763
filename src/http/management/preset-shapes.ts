import { z } from 'zod'
import type { DesignatedPreset, PresetVersion, StoredPreset } from '../../core/preset.ts'
import { TOOL_CREDENTIALS } from '../../core/tool-secrets.ts'
import { PRESET_SLUG } from '../../doors/shared/apply-preset.ts'
import { digits, isoTime, limitField, offsetField } from './request-input.ts'
import { component } from './route-doc.ts'

/** Shapes of `/api/v1/presets` on the wire. */

const slugField = z.string().regex(PRESET_SLUG, 'a letter or digit, then letters, digits, dots, dashes, underscores and tildes')
const status = z.enum(['active', 'disabled', 'archived'])
const name = z.string().min(1).max(256)
const description = z.string().max(1_000).nullable().optional()
const systemPrompt = z.string().max(200_000).nullable().optional()
const config = z.record(z.string(), z.unknown()).describe('Fields of a request, by their names.')

export const listPresetsQuery = z.object({ offset: offsetField, limit: limitField, workspace_id: z.uuid().optional() })
export const workspaceQuery = z.object({ workspace_id: z.uuid().optional() })
export const slugParams = z.object({ slug: slugField })
export const versionParams = z.object({ slug: z.string(), version: digits(999_999_999).pipe(z.int().min(1)) })

export const createPresetBody = component(
  'CreatePresetRequest',
  z.strictObject({
    slug: slugField,
    name: name.optional(),
    description,
    system_prompt: systemPrompt,
    config: config.optional(),
    workspace_id: z.uuid().optional(),
  }),
)
export const updatePresetBody = component(
  'UpdatePresetRequest',
  z.strictObject({
    name: name.optional(),
    description,
    status: status.optional(),
    system_prompt: systemPrompt,
    config: config.optional(),
    designated_version: z.int().min(1).optional().describe('Number of the version to activate.'),
  }),
)

const versionShape = component(
  'PresetVersion',
  z.object({
    id: z.string(),
    preset_id: z.string(),
    creator_id: z.string(),
    version: z.int(),
    system_prompt: z.string().nullable(),
    config,
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  }),
)
const presetFields = {
  id: z.string(),
  creator_user_id: z.string().nullable(),
  workspace_id: z.string(),
  name: z.string(),
  slug: z.string(),
  description: z.string().nullable(),
  status,
  designated_version_id: z.string(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  status_updated_at: z.iso.datetime().nullable(),
}
const presetShape = component('Preset', z.object(presetFields))
const designatedShape = component('PresetWithDesignatedVersion', z.object({ ...presetFields, designated_version: versionShape }))
export const presetAnswer = z.object({ data: designatedShape })
export const presetsAnswer = z.object({ data: z.array(presetShape), total_count: z.int() })
export const versionAnswer = z.object({ data: versionShape })
export const versionsAnswer = z.object({ data: z.array(versionShape), total_count: z.int() })

export function presentPreset(preset: StoredPreset): z.output<typeof presetShape> {
  return {
    id: preset.id,
    creator_user_id: preset.creatorUserId,
    workspace_id: preset.workspaceId,
    name: preset.name,
    slug: preset.slug,
    description: preset.description,
    status: preset.status,
    designated_version_id: preset.designatedVersionId,
    created_at: isoTime(preset.createdAt),
    updated_at: isoTime(preset.updatedAt),
    status_updated_at: preset.statusUpdatedAt === null ? null : isoTime(preset.statusUpdatedAt),
  }
}

/** `addresses`: whether the addresses of tools' servers are shown with their paths. */
export function presentVersion(version: PresetVersion, addresses: boolean): z.output<typeof versionShape> {
  const at = isoTime(version.createdAt)
  return {
    id: version.id,
    preset_id: version.presetId,
    creator_id: version.creatorId,
    version: version.version,
    system_prompt: version.systemPrompt,
    config: masked(version.config, addresses) as z.output<typeof config>,
    created_at: at,
    updated_at: at,
  }
}

export const presentDesignated = ({ preset, version }: DesignatedPreset, addresses: boolean): z.output<typeof designatedShape> => ({
  ...presentPreset(preset),
  designated_version: presentVersion(version, addresses),
})

const MASK = '***'
const CREDENTIALS: ReadonlySet<string> = new Set(TOOL_CREDENTIALS)
/** Fields that describe values of the caller's own, under names of any kind, none of which is a credential. */
const DESCRIBING_TYPES: ReadonlySet<unknown> = new Set(['function', 'custom', 'json_schema'])
const DESCRIPTIONS = new Set(['parameters', 'function', 'format', 'schema', 'input_schema', 'output_schema'])

/** Credentials are never readable again. */
function masked(value: unknown, addresses: boolean): unknown {
  if (Array.isArray(value)) return value.map((one) => masked(one, addresses))
  if (typeof value !== 'object' || value === null) return value
  const { type } = value as { readonly type?: unknown }
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      if (CREDENTIALS.has(key)) return [key, hidden(inner)]
      if (key === 'server_url' && typeof inner === 'string') return [key, shownAddress(inner, addresses)]
      return [key, isDescription(type, key) ? inner : masked(inner, addresses)]
    }),
  )
}

/** A key may be in the query of an address, before its host, or, which nobody but the owner can tell, in its path. */
function shownAddress(address: string, addresses: boolean): string {
  const url = URL.parse(address)
  if (url === null || url.origin === 'null') return MASK
  if (!addresses && url.pathname !== '/') return `${url.origin}/?${MASK}`
  return url.search === '' && url.username === '' && url.password === '' ? address : `${url.origin}${url.pathname}?${MASK}`
}

function hidden(value: unknown): unknown {
  if (value === null || value === undefined) return value
  if (typeof value !== 'object') return MASK
  return Object.fromEntries(Object.keys(value).map((key) => [key, MASK]))
}

const isDescription = (type: unknown, key: string): boolean => DESCRIBING_TYPES.has(type) && DESCRIPTIONS.has(key)

/** Whether a masked value is sent back as it was shown. */
export function hasMask(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return value === MASK
  const { type } = value as { readonly type?: unknown }
  return Object.entries(value).some(
    ([key, inner]) => !isDescription(type, key) && (hasMask(inner) || (key === 'server_url' && String(inner).endsWith(`?${MASK}`))),
  )
}
