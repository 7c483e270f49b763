import { z } from 'zod'
import { roundedRest } from '../../core/cost.ts'
import type { CallLimits, SubjectLimits } from '../../core/call-limits.ts'
import { addSpent, type Spent } from '../../core/counter.ts'
import type { KeyUse } from '../../core/key-use.ts'
import { creditLimitOf, rateLimitsOf, resetOf } from '../../core/limit-settings.ts'
import type { ApiKey, KeySecret, SpendFigures } from '../../core/store.ts'
import { amountField, isoTime, offsetField } from './request-input.ts'
import { component } from './route-doc.ts'
import { presentSpent, spentFields } from './spent-fields.ts'

/** Shapes of `/api/v1/keys` and `/api/v1/key` on the wire. */

/** A day, and the most there may be. */
const DEFAULT_GRACE_SECONDS = 86_400
const MAX_GRACE_SECONDS = 90 * 86_400

const perMinute = z.int().min(1).max(1e9).nullable().optional()
const rateLimits = z
  .strictObject({
    requests_per_minute: perMinute,
    tokens_per_minute: perMinute,
    concurrent_requests: perMinute.describe('Maximum number of concurrent calls.'),
  })
  .describe('Beyond the contract; null or absent: no limit of its own.')
export const rateLimitsField = rateLimits.nullable().optional()

const limits = {
  limit: amountField.nullable().optional().describe('USD the key may spend per `limit_reset`; null: no limit.'),
  limit_reset: z.enum(['daily', 'weekly', 'monthly']).nullable().optional().describe('When the limit resets, UTC; null: never.'),
  include_byok_in_limit: z.boolean().optional().describe("Whether calls served with the workspace's own provider keys count."),
  rate_limits: rateLimitsField,
}
const name = z.string().min(1).max(256)

const expiry = z.iso.datetime({ offset: true }).nullable().optional()

export const createKeyBody = component(
  'CreateKeyRequest',
  z.strictObject({
    name,
    ...limits,
    expires_at: expiry,
    creator_user_id: z.string().min(1).max(256).nullable().optional(),
    workspace_id: z.uuid().optional(),
  }),
)
export const updateKeyBody = component(
  'UpdateKeyRequest',
  z.strictObject({
    name: name.optional(),
    disabled: z.boolean().optional(),
    expires_at: expiry.describe('Beyond the contract. Also of a key that has expired; null: never.'),
    ...limits,
  }),
)
export const rotateKeyBody = component(
  'RotateKeyRequest',
  z.strictObject({
    grace_seconds: z
      .int()
      .min(0)
      .max(MAX_GRACE_SECONDS)
      .default(DEFAULT_GRACE_SECONDS)
      .describe('How long earlier secrets of the key still work; 0: they stop at once.'),
  }),
)
export const listKeysQuery = z.object({
  include_disabled: z.string().optional().describe('"true" lists disabled keys, too.'),
  offset: offsetField,
  workspace_id: z.uuid().optional(),
})

const money = {
  limit: z.number().nullable(),
  limit_remaining: z.number().nullable(),
  limit_reset: z.enum(['daily', 'weekly', 'monthly']).nullable(),
  include_byok_in_limit: z.boolean(),
  ...spentFields,
}

const apiKey = component(
  'ApiKey',
  z.object({
    hash: z.string().describe('SHA-256 of the key: its id.'),
    name: z.string(),
    label: z.string().describe('The beginning and end of the key.'),
    disabled: z.boolean(),
    ...money,
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime().nullable(),
    expires_at: z.iso.datetime().nullable(),
    creator_user_id: z.string().nullable(),
    // Required by newer clients of the contract; keys here have no owner outside.
    external_user: z.null(),
    workspace_id: z.string(),
    last_used_at: z.iso
      .datetime()
      .nullable()
      .describe('Beyond the contract. The minute in which the key was last accepted, a minute late for other processes; null: not yet.'),
    previous_secrets: z
      .array(
        z.object({
          label: z.string(),
          expires_at: z.iso.datetime().describe('When it stops working.'),
          last_used_at: z.iso.datetime().nullable(),
        }),
      )
      .optional()
      .describe('Beyond the contract. Secrets that the key had before a rotation and that still work.'),
    rate_limits: rateLimits.optional(),
  }),
)
export const keyAnswer = z.object({ data: apiKey })
export const keysAnswer = z.object({ data: z.array(apiKey) })
export const createdKeyAnswer = z.object({ data: apiKey, key: z.string().describe('The key itself; it is never shown again.') })

export const currentKeyAnswer = z.object({
  data: z.object({
    label: z.string(),
    ...money,
    expires_at: z.iso.datetime().nullable(),
    creator_user_id: z.string().nullable(),
    workspace_id: z.string(),
    // About plans and organisations of the hosted service; newer clients require them.
    organization_id: z.null(),
    allowed_data_regions: z.array(z.string()),
    free_model_daily_requests: z.object({ limit: z.int(), used: z.int(), remaining: z.int() }),
    is_free_tier: z.literal(false),
    is_management_key: z.boolean(),
    is_provisioning_key: z.boolean(),
    rate_limit: z.object({ requests: z.int().describe('-1: no limit.'), interval: z.string(), note: z.string() }),
  }),
})

type WireKey = z.output<typeof apiKey>
type WireMoney = Pick<WireKey, keyof typeof money>

/** What is known of a key besides its settings. */
export interface KeyFacts {
  readonly spend: SpendFigures
  /** Of its secrets. */
  readonly uses: readonly KeyUse[]
  /** Secrets from before a rotation that still work. */
  readonly earlier: readonly KeySecret[]
}

/** The contract's key object, without the key itself. */
export function presentKey(key: ApiKey, { spend, uses, earlier }: KeyFacts): WireKey {
  const rates = rateLimitsOf(key)
  return {
    hash: key.hash,
    name: key.name,
    label: key.label,
    disabled: key.disabled,
    ...moneyOf(key, spend),
    created_at: isoTime(key.createdAt),
    updated_at: isoTime(key.updatedAt),
    expires_at: key.expiresAt === null ? null : isoTime(key.expiresAt),
    creator_user_id: key.creatorUserId,
    external_user: null,
    workspace_id: key.workspaceId,
    last_used_at: lastOf(uses),
    ...(earlier.length === 0
      ? {}
      : {
          previous_secrets: earlier.map(({ hash, label, endsAt }) => ({
            label,
            expires_at: isoTime(endsAt!),
            last_used_at: lastOf(uses.filter(({ secretHash }) => secretHash === hash)),
          })),
        }),
    ...(Object.keys(rates).length === 0 ? {} : { rate_limits: rates }),
  }
}

const lastOf = (uses: readonly KeyUse[]): string | null => (uses.length === 0 ? null : isoTime(Math.max(...uses.map(({ at }) => at))))

/** What a key may know about itself. `ownLimits`: the limits of its calls; `sent`: the secret that the caller sent, if the key was rotated. */
export function presentCurrentKey(
  key: ApiKey,
  spend: SpendFigures,
  ownLimits: CallLimits,
  sent: KeySecret | undefined,
): z.output<typeof currentKeyAnswer> {
  const isManagement = key.kind === 'management'
  const expiresAt = Math.min(key.expiresAt ?? Infinity, sent?.endsAt ?? Infinity)
  return {
    data: {
      label: sent?.label ?? key.label,
      ...moneyOf(key, spend),
      expires_at: expiresAt === Infinity ? null : isoTime(expiresAt),
      creator_user_id: key.creatorUserId,
      workspace_id: key.workspaceId,
      organization_id: null,
      allowed_data_regions: ['global'],
      free_model_daily_requests: { limit: -1, used: 0, remaining: -1 },
      is_free_tier: false,
      is_management_key: isManagement,
      is_provisioning_key: isManagement,
      // Calls with management keys are not counted.
      rate_limit: rateLimitOf(isManagement ? [] : ownLimits),
    },
  }
}

/** The contract has one number for a limit. If another limit refuses calls, its number must be visible, too. */
function rateLimitOf(ownLimits: CallLimits): z.output<typeof currentKeyAnswer>['data']['rate_limit'] {
  const own = ownLimits.find(({ kind }) => kind === 'key')
  const shared = ownLimits.find(({ kind }) => kind === 'workspace')
  const notes = [
    ...(own?.requestsPerMinute === undefined ? [] : ['Requests of this key per minute; a full minute’s worth may come at once.']),
    ...ratesIn({ ...own, requestsPerMinute: undefined }, 'this key'),
    ...ratesIn(shared, 'all keys of its workspace'),
  ]
  return { requests: own?.requestsPerMinute ?? -1, interval: '1m', note: notes.join(' ') || 'This key has no limit on its rate.' }
}

type Rates = { readonly [R in 'requestsPerMinute' | 'tokensPerMinute' | 'maxOpen']?: SubjectLimits[R] | undefined }

const ratesIn = ({ requestsPerMinute, tokensPerMinute, maxOpen }: Rates = {}, whose: string): readonly string[] =>
  [
    [`Requests of ${whose} per minute`, requestsPerMinute] as const,
    [`Tokens of ${whose} per minute`, tokensPerMinute] as const,
    [`Requests of ${whose} at a time`, maxOpen] as const,
  ].flatMap(([what, limit]) => (limit === undefined ? [] : [`${what}: ${limit}.`]))

function moneyOf(key: ApiKey, spend: SpendFigures): WireMoney {
  const limit = creditLimitOf(key)
  const includeByok = key.settings['include_byok_in_limit'] === true
  const counted: Spent = includeByok ? addSpent(spend.usd, spend.byokUsd) : spend.usd
  const reset = resetOf(key)
  return {
    limit: limit ?? null,
    limit_remaining: limit === undefined ? null : Math.max(0, roundedRest(limit, counted[reset])),
    limit_reset: reset === 'lifetime' ? null : reset,
    include_byok_in_limit: includeByok,
    ...presentSpent(spend),
  }
}
