import { z } from 'zod'
import type { StoredOwnKey } from '../../core/store.ts'
import { isCredentialText } from '../../lib/credential-text.ts'
import { isoTime, limitField, offsetField } from './request-input.ts'
import { component } from './route-doc.ts'

/** Shapes of `/api/v1/byok` on the wire. */

const texts = (text: z.ZodString) => z.array(text).max(100)
const fields = {
  name: z.string().max(255).nullable().optional(),
  disabled: z.boolean().optional(),
  is_fallback: z.boolean().optional().describe("Tried after the gateway's own credentials instead of before them."),
  allowed_models: texts(z.string().min(1).max(256)).nullable().optional().describe('Slugs; a * stands for any characters. null: all models.'),
  allowed_api_key_hashes: texts(z.string().regex(/^[a-f0-9]{64}$/, 'the hash of a key is expected'))
    .min(1)
    .nullable()
    .optional(),
  allowed_user_ids: texts(z.string().min(1).max(256)).nullable().optional(),
}
/** Credentials of cloud accounts are JSON files of a few kilobytes; any other key is sent in a header, which takes no more than this. */
const key = z
  .string()
  .min(1)
  .max(16_384)
  .refine(isCredentialText, { error: 'must be visible ASCII characters in one line, or the JSON file of a cloud account' })

export const createOwnKeyBody = component(
  'CreateBYOKKeyRequest',
  z.strictObject({ provider: z.string().min(1).max(64), key, workspace_id: z.uuid().optional(), ...fields }),
)
export const updateOwnKeyBody = component('UpdateBYOKKeyRequest', z.strictObject({ key: key.optional(), ...fields }))
export const listOwnKeysQuery = z.object({
  offset: offsetField,
  limit: limitField,
  workspace_id: z.uuid().optional(),
  provider: z.string().max(64).optional(),
})
export const ownKeyParam = z.object({ id: z.uuid() })

const ownKey = component(
  'BYOKKey',
  z.object({
    id: z.uuid(),
    provider: z.string(),
    workspace_id: z.string().nullable(),
    name: z.string().nullable(),
    label: z.string().describe('The beginning and end of the credential.'),
    disabled: z.boolean(),
    is_fallback: z.boolean(),
    allowed_models: z.array(z.string()).nullable(),
    allowed_api_key_hashes: z.array(z.string()).nullable(),
    allowed_user_ids: z.array(z.string()).nullable(),
    sort_order: z.int().describe('Keys of a provider are tried in this order.'),
    // Options of the hosted service that newer clients require; here they are always off.
    declared_zdr: z.null(),
    is_byok_only: z.literal(false),
    is_required: z.literal(false),
    created_at: z.iso.datetime(),
  }),
)
export const ownKeyAnswer = z.object({ data: ownKey })
export const ownKeysAnswer = z.object({ data: z.array(ownKey), total_count: z.int() })

export function presentOwnKey(own: StoredOwnKey): z.output<typeof ownKey> {
  const listed = (list: readonly string[] | null): string[] | null => (list === null ? null : [...list])
  return {
    id: own.id,
    provider: own.provider,
    workspace_id: own.workspaceId,
    name: own.name,
    label: own.label,
    disabled: own.disabled,
    is_fallback: own.isFallback,
    allowed_models: listed(own.allowedModels),
    allowed_api_key_hashes: listed(own.allowedKeyHashes),
    allowed_user_ids: listed(own.allowedUserIds),
    sort_order: own.sortOrder,
    declared_zdr: null,
    is_byok_only: false,
    is_required: false,
    created_at: isoTime(own.createdAt),
  }
}
