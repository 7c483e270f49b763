import type { ApiError } from '../../api/client.ts'
import type { CreatePresetRequest, Preset, PresetVersion, UpdatePresetRequest } from '../../api/schema.ts'
import { changesOf, withoutNulls } from '../../lib/changes.ts'
import { textOf } from '../../lib/fields.ts'

/** The content of a version, as edited. */
export interface ContentForm {
  readonly prompt: string
  /** JSON. */
  readonly config: string
}

export interface NewPresetForm extends ContentForm {
  readonly slug: string
  readonly name: string
  readonly description: string
  readonly workspaceId: string
}

/** Fields shared by all versions. */
export interface PresetForm {
  readonly name: string
  readonly description: string
  readonly status: Preset['status']
}

type Config = PresetVersion['config']

export type Parsed = { readonly config: Config; readonly problem?: never } | { readonly problem: string; readonly config?: never }

/** Parses the configuration field; an empty field is an empty configuration. */
export function parseConfig(text: string): Parsed {
  if (text.trim() === '') return { config: {} }
  try {
    const config = JSON.parse(text) as unknown
    if (typeof config === 'object' && config !== null && !Array.isArray(config)) return { config: config as Config }
    return { problem: 'Enter an object: { "temperature": 0.2 }' }
  } catch (error) {
    return { problem: `This is not valid JSON yet: ${error instanceof Error ? error.message : String(error)}` }
  }
}

export const configText = (config: Config): string => JSON.stringify(config, null, 2)

export const newPresetForm = (workspaceId: string): NewPresetForm => ({
  slug: '',
  name: '',
  description: '',
  workspaceId,
  prompt: '',
  config: '{\n  "temperature": 0.2\n}',
})

export const createPresetBody = ({ slug, name, description, workspaceId, prompt }: NewPresetForm, config: Config): CreatePresetRequest => ({
  slug: slug.trim(),
  config,
  ...withoutNulls({
    name: textOf(name),
    description: textOf(description),
    system_prompt: prompt === '' ? null : prompt,
    workspace_id: textOf(workspaceId),
  } as Omit<CreatePresetRequest, 'slug' | 'config'>),
})

export const presetFormOf = ({ name, description, status }: Preset): PresetForm => ({ name, description: description ?? '', status })

const bodyOf = ({ name, description, status }: PresetForm) => ({ name: name.trim(), description: textOf(description), status })

export const presetChanges = (preset: Preset, form: PresetForm): UpdatePresetRequest => changesOf(bodyOf(presetFormOf(preset)), bodyOf(form))

export const contentFormOf = ({ system_prompt: prompt, config }: PresetVersion): ContentForm => ({ prompt: prompt ?? '', config: configText(config) })

export const isSameContent = (one: ContentForm, other: ContentForm): boolean => one.prompt === other.prompt && one.config === other.config

/**
 * The body for a new version based on another: only what differs. An untouched configuration is not sent, because its credentials are read masked and
 * could not be stored again.
 */
export const contentChanges = (version: PresetVersion, prompt: string, config: Config): UpdatePresetRequest =>
  changesOf({ system_prompt: version.system_prompt, config: version.config }, { system_prompt: prompt === '' ? null : prompt, config })

const OWN_FIELDS: ReadonlySet<string> = new Set(['slug', 'name', 'description', 'status', 'workspace_id', 'system_prompt', 'designated_version'])

/** Errors in the configuration name the field as in a request: any path that is not a field of the preset itself belongs to the configuration. */
export const refusalOfConfig = (error: ApiError | null): string | undefined =>
  error !== null && error.path !== undefined && error.path !== '' && !OWN_FIELDS.has(error.path) ? error.message : undefined

/** A shell command for a request that uses a preset. */
export function curlOf(origin: string, slug: string): string {
  return [
    `curl ${origin}/api/v1/responses`,
    '-H "Authorization: Bearer $SIGNALBOX_API_KEY"',
    "-H 'Content-Type: application/json'",
    `-d '${JSON.stringify({ model: `@preset/${slug}`, input: 'Say hello.' })}'`,
  ].join(' \\\n  ')
}
