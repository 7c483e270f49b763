import { z } from 'zod'
import type { OwnKeyAccounts, OwnKeyChange } from '../../core/account.ts'
import { GatewayError } from '../../core/error.ts'
import type { StoredOwnKey } from '../../core/store.ts'
import { defined } from '../../lib/defined.ts'
import { Secret } from '../../lib/secret.ts'
import type { ManagementRoutes } from './app.ts'
import { isoTime, limitField, offsetField, pageOf, parseBody, parseInput, parseQuery, scopeOf, workspaceWanted } from './request-input.ts'

export interface ByokRouteOptions {
  readonly ownKeys: OwnKeyAccounts
  /** Whether a slug names a provider this gateway can reach. */
  readonly isProvider: (slug: string) => boolean
}

const texts = (text: z.ZodString) => z.array(text).max(100)
const fields = {
  name: z.string().max(255).nullable().optional(),
  disabled: z.boolean().optional(),
  is_fallback: z.boolean().optional(),
  allowed_models: texts(z.string().min(1).max(256)).nullable().optional(),
  allowed_api_key_hashes: texts(z.string().regex(/^[a-f0-9]{64}$/, 'the hash of a key is expected'))
    .min(1)
    .nullable()
    .optional(),
  allowed_user_ids: texts(z.string().min(1).max(256)).nullable().optional(),
}
/** Cloud accounts are pasted as JSON files of a few kilobytes. */
const key = z.string().min(1).max(16_384)
const createBody = z.strictObject({ provider: z.string().min(1).max(64), key, workspace_id: z.uuid().optional(), ...fields })
const updateBody = z.strictObject({ key: key.optional(), ...fields })
const listQuery = z.object({ offset: offsetField, limit: limitField, workspace_id: z.uuid().optional(), provider: z.string().max(64).optional() })
const idParam = z.object({ id: z.uuid() })

type Fields = Omit<z.output<typeof updateBody>, 'key'>

const changeIn = (body: Fields): OwnKeyChange =>
  defined({
    name: body.name,
    disabled: body.disabled,
    isFallback: body.is_fallback,
    allowedModels: body.allowed_models,
    allowedKeyHashes: body.allowed_api_key_hashes,
    allowedUserIds: body.allowed_user_ids,
  })

const notFound = (): GatewayError => new GatewayError('not_found', 'There is no such provider key')

/** `/api/v1/byok`: callers' own provider keys. They are encrypted at rest and never readable again. */
export function byokRoutes({ ownKeys, isProvider }: ByokRouteOptions): ManagementRoutes {
  return (app) => {
    app.get('/api/v1/byok', async (request) => {
      const { offset, limit, workspace_id, provider } = parseQuery(listQuery, request)
      const workspaceId = workspaceWanted(request, workspace_id)
      const all = await ownKeys.list({ workspaceId, ...(provider === undefined ? {} : { provider }) })
      return { data: pageOf(all, offset, limit).map(presentOwnKey), total_count: all.length }
    })

    app.post('/api/v1/byok', async (request, reply) => {
      const body = parseBody(createBody, request)
      if (!isProvider(body.provider))
        throw new GatewayError('invalid_request', `provider: "${body.provider}" is no provider of this gateway`, { path: 'provider' })
      const created = await ownKeys.create({
        ...changeIn(body),
        provider: body.provider,
        secret: new Secret(body.key.trim()),
        workspaceId: workspaceWanted(request, body.workspace_id),
      })
      return reply.code(201).send({ data: presentOwnKey(created) })
    })

    app.get<{ Params: { id: string } }>('/api/v1/byok/:id', async (request) => {
      const found = await ownKeys.get(request.params.id, scopeOf(request))
      if (found === undefined) throw notFound()
      return { data: presentOwnKey(found) }
    })

    app.patch<{ Params: { id: string } }>('/api/v1/byok/:id', async (request) => {
      const { id } = parseInput(idParam, request.params)
      const { key: secret, ...body } = parseBody(updateBody, request)
      const changed = await ownKeys.update(
        id,
        { ...changeIn(body), ...(secret === undefined ? {} : { secret: new Secret(secret.trim()) }) },
        scopeOf(request),
      )
      return { data: presentOwnKey(changed) }
    })

    app.delete<{ Params: { id: string } }>('/api/v1/byok/:id', async (request) => {
      await ownKeys.remove(request.params.id, scopeOf(request))
      return { deleted: true }
    })
  }
}

function presentOwnKey(own: StoredOwnKey): object {
  return {
    id: own.id,
    provider: own.provider,
    workspace_id: own.workspaceId,
    name: own.name,
    label: own.label,
    disabled: own.disabled,
    is_fallback: own.isFallback,
    allowed_models: own.allowedModels,
    allowed_api_key_hashes: own.allowedKeyHashes,
    allowed_user_ids: own.allowedUserIds,
    sort_order: own.sortOrder,
    // Switches of the hosted service, which newer clients insist on; here they are always off.
    declared_zdr: null,
    is_byok_only: false,
    is_required: false,
    created_at: isoTime(own.createdAt),
  }
}
