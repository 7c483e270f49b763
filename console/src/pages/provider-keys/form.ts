import type { BYOKKey, CreateBYOKKeyRequest, UpdateBYOKKeyRequest } from '../../api/schema.ts'
import { changesOf, withoutNulls } from '../../lib/changes.ts'
import { listOf, textOf } from '../../lib/fields.ts'

/** The values of a provider key's fields while they are edited. */
export interface ProviderKeyForm {
  readonly name: string
  /** The key itself, as typed; '' keeps the stored one. */
  readonly secret: string
  readonly fallback: boolean
  readonly models: readonly string[]
  /** Hashes. */
  readonly keys: readonly string[]
  readonly users: readonly string[]
}

/** Fields for new keys only. */
export interface NewProviderKeyForm extends ProviderKeyForm {
  readonly provider: string
  readonly workspaceId: string
}

export const newProviderKeyForm = (workspaceId: string, provider: string): NewProviderKeyForm => ({
  name: '',
  secret: '',
  fallback: false,
  models: [],
  keys: [],
  users: [],
  provider,
  workspaceId,
})

export const providerKeyFormOf = (own: BYOKKey): ProviderKeyForm => ({
  name: own.name ?? '',
  secret: '',
  fallback: own.is_fallback,
  models: own.allowed_models ?? [],
  keys: own.allowed_api_key_hashes ?? [],
  users: own.allowed_user_ids ?? [],
})

const bodyOf = ({ name, fallback, models, keys, users }: ProviderKeyForm) => ({
  name: textOf(name),
  is_fallback: fallback,
  allowed_models: listOf(models),
  allowed_api_key_hashes: listOf(keys),
  allowed_user_ids: listOf(users),
})

export const createProviderKeyBody = (form: NewProviderKeyForm): CreateBYOKKeyRequest => ({
  provider: form.provider,
  key: form.secret,
  ...withoutNulls({ workspace_id: textOf(form.workspaceId), ...bodyOf(form) } as Omit<CreateBYOKKeyRequest, 'provider' | 'key'>),
})

/** Only what differs, and the key if it was typed; an emptied list is null. */
export const providerKeyChanges = (own: BYOKKey, form: ProviderKeyForm): UpdateBYOKKeyRequest => ({
  ...changesOf(bodyOf(providerKeyFormOf(own)), bodyOf(form)),
  ...(form.secret === '' ? {} : { key: form.secret }),
})

/** `3 models, 1 key`: the restrictions of a provider key; undefined: every call of the workspace may use it. */
export function narrowedTo(own: BYOKKey): string | undefined {
  const parts = [
    [own.allowed_models, 'model', 'models'] as const,
    [own.allowed_api_key_hashes, 'key', 'keys'] as const,
    [own.allowed_user_ids, 'user', 'users'] as const,
  ].flatMap(([list, one, many]) => (list === null ? [] : [`${list.length} ${list.length === 1 ? one : many}`]))
  return parts.length === 0 ? undefined : parts.join(', ')
}
