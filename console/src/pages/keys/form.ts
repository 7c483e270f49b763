import type { ApiKey, CreateKeyRequest, UpdateKeyRequest } from '../../api/schema.ts'
import { changesOf, withoutNulls } from '../../lib/changes.ts'
import { fieldOf, numberOf, rateFieldsOf, ratesOf, type NumberField, type RateFields } from '../../lib/fields.ts'

/** The values of a key's fields while they are edited. */
export interface KeyForm {
  readonly name: string
  readonly limit: NumberField
  readonly reset: Reset
  readonly includeByok: boolean
  readonly rates: RateFields
  /** A time in the reader's time zone, as date fields have it: `2026-01-31T12:00`; '' means never. */
  readonly expires: string
}
export type Reset = NonNullable<ApiKey['limit_reset']> | 'never'

/** Fields for new keys only. */
export interface NewKeyForm extends KeyForm {
  readonly workspaceId: string
}

export const newKeyForm = (workspaceId: string): NewKeyForm => ({
  name: '',
  limit: '',
  reset: 'never',
  includeByok: false,
  rates: rateFieldsOf(undefined),
  expires: '',
  workspaceId,
})

export const keyFormOf = (key: ApiKey): KeyForm => ({
  name: key.name,
  limit: fieldOf(key.limit),
  reset: key.limit_reset ?? 'never',
  includeByok: key.include_byok_in_limit,
  rates: rateFieldsOf(key.rate_limits),
  expires: key.expires_at === null ? '' : localMinute(new Date(key.expires_at)),
})

function localMinute(time: Date): string {
  const two = (n: number): string => String(n).padStart(2, '0')
  const date = [String(time.getFullYear()).padStart(4, '0'), two(time.getMonth() + 1), two(time.getDate())]
  return `${date.join('-')}T${two(time.getHours())}:${two(time.getMinutes())}`
}

const bodyOf = ({ name, limit, reset, includeByok, rates, expires }: KeyForm) => ({
  name: name.trim(),
  limit: numberOf(limit),
  limit_reset: reset === 'never' ? null : reset,
  include_byok_in_limit: includeByok,
  rate_limits: ratesOf(rates),
  expires_at: isTime(expires) ? new Date(expires).toISOString() : null,
})

/** Where a browser has no date fields, anything may be typed. */
export const isTime = (text: string): boolean => !Number.isNaN(Date.parse(text))

export function createKeyBody(form: NewKeyForm): CreateKeyRequest {
  return withoutNulls({ ...bodyOf(form), workspace_id: form.workspaceId === '' ? null : form.workspaceId }) as CreateKeyRequest
}

/** Only what differs; an emptied limit or expiry is null. */
export const keyChanges = (key: ApiKey, form: KeyForm): UpdateKeyRequest => changesOf(bodyOf(keyFormOf(key)), bodyOf(form))

/** A complete shell command that calls a model with the key and works without editing. */
export function curlOf(origin: string, key: string, model: string | undefined): string {
  const body = JSON.stringify({ ...(model === undefined ? {} : { model }), input: 'Say hello.' }).replaceAll("'", String.raw`'\''`)
  return [`curl ${origin}/api/v1/responses`, `-H 'Authorization: Bearer ${key}'`, `-H 'Content-Type: application/json'`, `-d '${body}'`].join(
    ' \\\n  ',
  )
}
