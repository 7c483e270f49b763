import type { CreateWorkspaceRequest, UpdateWorkspaceRequest, Workspace } from '../../api/schema.ts'
import { changesOf, withoutNulls } from '../../lib/changes.ts'
import { numberOf, rateFieldsOf, ratesOf, textOf, type NumberField, type RateFields } from '../../lib/fields.ts'

/** The values of a workspace's fields while they are edited. */
export interface WorkspaceForm {
  readonly name: string
  readonly slug: string
  readonly description: string
  readonly textModel: string
  readonly imageModel: string
  readonly sort: Sort | ''
  readonly logs: boolean
  /** Hashes of keys, or numbers of a hosted service, which are kept as they are; empty means all keys. */
  readonly loggedKeys: readonly (string | number)[]
  /** Percent. */
  readonly sampling: NumberField
  readonly broadcasts: boolean
  readonly discount: boolean
  readonly rates: RateFields
}

export type Sort = NonNullable<UpdateWorkspaceRequest['default_provider_sort']>

export const NEW_WORKSPACE: WorkspaceForm = {
  name: '',
  slug: '',
  description: '',
  textModel: '',
  imageModel: '',
  sort: '',
  logs: false,
  loggedKeys: [],
  sampling: 100,
  broadcasts: true,
  discount: false,
  rates: rateFieldsOf(undefined),
}

export const workspaceFormOf = (workspace: Workspace): WorkspaceForm => ({
  name: workspace.name,
  slug: workspace.slug,
  description: workspace.description ?? '',
  textModel: workspace.default_text_model ?? '',
  imageModel: workspace.default_image_model ?? '',
  sort: (workspace.default_provider_sort as Sort | null) ?? '',
  logs: workspace.is_observability_io_logging_enabled,
  loggedKeys: workspace.io_logging_api_key_ids ?? [],
  sampling: Number((workspace.io_logging_sampling_rate * 100).toPrecision(12)),
  broadcasts: workspace.is_observability_broadcast_enabled,
  discount: workspace.is_data_discount_logging_enabled,
  rates: rateFieldsOf(workspace.rate_limits),
})

const bodyOf = (form: WorkspaceForm) => {
  const sampling = numberOf(form.sampling)
  return {
    name: form.name.trim(),
    slug: form.slug.trim(),
    description: textOf(form.description),
    default_text_model: textOf(form.textModel),
    default_image_model: textOf(form.imageModel),
    default_provider_sort: form.sort === '' ? null : form.sort,
    is_observability_io_logging_enabled: form.logs,
    io_logging_api_key_ids: form.loggedKeys.length === 0 ? null : form.loggedKeys,
    // An emptied share becomes that of a new workspace, because the gateway does not accept null for it.
    io_logging_sampling_rate: sampling === null ? 1 : Number((sampling / 100).toPrecision(12)),
    is_observability_broadcast_enabled: form.broadcasts,
    is_data_discount_logging_enabled: form.discount,
    rate_limits: ratesOf(form.rates),
  }
}

/** Name, slug, and everything that differs from the gateway's defaults for a new workspace. */
export function createWorkspaceBody(form: WorkspaceForm): CreateWorkspaceRequest {
  const { name, slug, ...rest } = bodyOf(form)
  return { name, slug, ...withoutNulls(changesOf(bodyOf(NEW_WORKSPACE), { name: '', slug: '', ...rest })) }
}

/** Only what differs; an emptied field is null. */
export const workspaceChanges = (workspace: Workspace, form: WorkspaceForm): UpdateWorkspaceRequest =>
  changesOf(bodyOf(workspaceFormOf(workspace)), bodyOf(form))

/** A default slug for a name: lower-case letters and digits, joined by dashes. */
export const slugOf = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 50)
    .replaceAll(/^-+|-+$/g, '')
