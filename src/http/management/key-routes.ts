import { z } from 'zod'
import type { KeyAccounts } from '../../core/account.ts'
import { addSpent, NOTHING_SPENT, type Spent } from '../../core/counter.ts'
import { GatewayError } from '../../core/error.ts'
import { creditLimitOf, rateLimitsOf, resetOf } from '../../core/limit-settings.ts'
import type { ApiKey, SpendFigures } from '../../core/store.ts'
import { callerOf, type ManagementRoutes } from './app.ts'
import { amountField, isoTime, offsetField, parseBody, parseQuery, scopeOf, workspaceWanted } from './request-input.ts'

export interface KeyRouteOptions {
  readonly accounts: KeyAccounts
  /** What keys have spent, by hash; those that spent nothing are absent. Up to this moment: records on their way are waited for. */
  readonly spendOf: (hashes: readonly string[]) => Promise<ReadonlyMap<string, SpendFigures>>
  /** Requests per minute a key may make when it has no limit of its own; undefined: no limit. */
  readonly defaultRequestsPerMinute: () => number | undefined
}

const PAGE = 100

const perMinute = z.int().min(1).max(1e9).nullable().optional()
export const rateLimitsField = z
  .strictObject({ requests_per_minute: perMinute, tokens_per_minute: perMinute, concurrent_requests: perMinute })
  .nullable()
  .optional()

const limits = {
  limit: amountField.nullable().optional(),
  limit_reset: z.enum(['daily', 'weekly', 'monthly']).nullable().optional(),
  include_byok_in_limit: z.boolean().optional(),
  rate_limits: rateLimitsField,
}
const name = z.string().min(1).max(256)
const createBody = z.strictObject({
  name,
  ...limits,
  expires_at: z.iso.datetime({ offset: true }).nullable().optional(),
  creator_user_id: z.string().min(1).max(256).nullable().optional(),
  workspace_id: z.uuid().optional(),
})
const updateBody = z.strictObject({ name: name.optional(), disabled: z.boolean().optional(), ...limits })
const listQuery = z.object({ include_disabled: z.string().optional(), offset: offsetField, workspace_id: z.uuid().optional() })

type LimitFields = z.output<typeof updateBody>

/** Settings a body names; null removes one. */
function settingsIn(body: LimitFields): { readonly [name: string]: unknown } {
  const settings: Record<string, unknown> = {}
  for (const field of ['limit', 'limit_reset', 'include_byok_in_limit', 'rate_limits'] as const)
    if (body[field] !== undefined) settings[field] = body[field]
  return settings
}

const withoutNulls = (settings: { readonly [name: string]: unknown }): { readonly [name: string]: unknown } =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null))

const NO_SPENDING: SpendFigures = { usd: NOTHING_SPENT, byokUsd: NOTHING_SPENT }

/** `/api/v1/keys` and `/api/v1/key`. Only inference keys are listed and changed here: management keys are the operator's, by command line. */
export function keyRoutes(options: KeyRouteOptions): ManagementRoutes {
  const { accounts } = options
  const present = async (keys: readonly ApiKey[]): Promise<readonly object[]> => {
    const spend = await options.spendOf(keys.map(({ hash }) => hash))
    return keys.map((key) => presentKey(key, spend.get(key.hash) ?? NO_SPENDING))
  }
  const one = async (key: ApiKey): Promise<object> => (await present([key]))[0]!
  const find = async (hash: string, scope: string | undefined): Promise<ApiKey> => {
    const key = await accounts.get(hash, scope)
    if (key === undefined || key.kind !== 'inference' || key.revokedAt !== null) throw new GatewayError('not_found', 'There is no such key')
    return key
  }

  return (app) => {
    app.get('/api/v1/keys', async (request) => {
      const query = parseQuery(listQuery, request)
      const workspaceId = workspaceWanted(request, query.workspace_id)
      const disabledToo = query.include_disabled === 'true' || query.include_disabled === '1'
      const keys = (await accounts.list({ workspaceId })).filter(({ kind, disabled }) => kind === 'inference' && (disabledToo || !disabled))
      return { data: await present(keys.slice(query.offset, query.offset + PAGE)) }
    })

    app.post('/api/v1/keys', async (request, reply) => {
      const body = parseBody(createBody, request)
      const { key, secret } = await accounts.create({
        name: body.name,
        kind: 'inference',
        workspaceId: workspaceWanted(request, body.workspace_id),
        expiresAt: body.expires_at == null ? null : Date.parse(body.expires_at),
        creatorUserId: body.creator_user_id === undefined ? (callerOf(request).owner.userId ?? null) : body.creator_user_id,
        settings: withoutNulls(settingsIn(body)),
      })
      return reply.code(201).send({ data: await one(key), key: secret.reveal() })
    })

    app.get<{ Params: { hash: string } }>('/api/v1/keys/:hash', async (request) => ({
      data: await one(await find(request.params.hash, scopeOf(request))),
    }))

    app.patch<{ Params: { hash: string } }>('/api/v1/keys/:hash', async (request) => {
      const body = parseBody(updateBody, request)
      const { hash } = await find(request.params.hash, scopeOf(request))
      const key = await accounts.update(hash, {
        ...(body.name === undefined ? {} : { name: body.name }),
        ...(body.disabled === undefined ? {} : { disabled: body.disabled }),
        settings: settingsIn(body),
      })
      return { data: await one(key) }
    })

    app.delete<{ Params: { hash: string } }>('/api/v1/keys/:hash', async (request) => {
      const { hash } = await find(request.params.hash, scopeOf(request))
      await accounts.revoke(hash)
      return { deleted: true }
    })

    app.get('/api/v1/key', { config: { access: 'any' } }, async (request) => {
      const { key } = callerOf(request)
      const spend = (await options.spendOf([key.hash])).get(key.hash) ?? NO_SPENDING
      const isManagement = key.kind === 'management'
      return {
        data: {
          label: key.label,
          ...moneyOf(key, spend),
          expires_at: key.expiresAt === null ? null : isoTime(key.expiresAt),
          creator_user_id: key.creatorUserId,
          workspace_id: key.workspaceId,
          // Of the hosted service's plans and organisations, which newer clients insist on.
          organization_id: null,
          allowed_data_regions: ['global'],
          free_model_daily_requests: { limit: -1, used: 0, remaining: -1 },
          is_free_tier: false,
          is_management_key: isManagement,
          is_provisioning_key: isManagement,
          rate_limit: rateLimitOf(key, options.defaultRequestsPerMinute()),
        },
      }
    })
  }
}

function rateLimitOf(key: ApiKey, fallback: number | undefined): object {
  const requests = rateLimitsOf(key).requests_per_minute ?? fallback
  return requests === undefined
    ? { requests: -1, interval: '1m', note: 'This key has no limit on its rate.' }
    : { requests, interval: '1m', note: 'Requests of this key per minute; a full minute’s worth may come at once.' }
}

/** The contract's key object. Never the key itself. */
function presentKey(key: ApiKey, spend: SpendFigures): object {
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
    // Newer clients of the contract insist on it; keys here belong to nobody outside.
    external_user: null,
    workspace_id: key.workspaceId,
    ...(Object.keys(rates).length === 0 ? {} : { rate_limits: rates }),
  }
}

function moneyOf(key: ApiKey, { usd, byokUsd }: SpendFigures): object {
  const limit = creditLimitOf(key)
  const includeByok = key.settings['include_byok_in_limit'] === true
  const counted: Spent = includeByok ? addSpent(usd, byokUsd) : usd
  const reset = resetOf(key)
  return {
    limit: limit ?? null,
    limit_remaining: limit === undefined ? null : Math.max(0, round(limit - counted[reset])),
    limit_reset: reset === 'lifetime' ? null : reset,
    include_byok_in_limit: includeByok,
    usage: round(usd.lifetime),
    usage_daily: round(usd.daily),
    usage_weekly: round(usd.weekly),
    usage_monthly: round(usd.monthly),
    byok_usage: round(byokUsd.lifetime),
    byok_usage_daily: round(byokUsd.daily),
    byok_usage_weekly: round(byokUsd.weekly),
    byok_usage_monthly: round(byokUsd.monthly),
  }
}

/** Sums of floats carry dust in the last digits. */
const round = (amount: number): number => Math.round(amount * 1e12) / 1e12
