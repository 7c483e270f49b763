import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { OwnKeyAccounts, OwnKeyChange } from '../../core/account.ts'
import { GatewayError } from '../../core/error.ts'
import type { StoredOwnKey } from '../../core/store.ts'
import { defined } from '../../lib/defined.ts'
import { Secret } from '../../lib/secret.ts'
import type { ManagementRoutes } from './app.ts'
import { createOwnKeyBody, listOwnKeysQuery, ownKeyAnswer, ownKeyParam, ownKeysAnswer, presentOwnKey, updateOwnKeyBody } from './byok-shapes.ts'
import { deletedAnswer, pageOf, parseBody, parseQuery, scopeOf, unlessNoWorkspace, workspaceForNew, workspaceWanted } from './request-input.ts'
import { SECRET_KEY_CHANGED, type RouteDoc } from './route-doc.ts'

export interface ByokRouteOptions {
  readonly ownKeys: OwnKeyAccounts
  /** The slug of the provider that can be reached here under this slug or name. */
  readonly providerNamed: (text: string) => string | undefined
  /** Whether the operator pays for all requests to a provider, whoever's key they have: keys of workspaces are not used there. */
  readonly operatorPays: (provider: string) => boolean
  readonly hasKey: (hash: string, workspaceId: string) => Promise<boolean>
}

const tag = 'Own provider keys'
const docs = {
  list: { id: 'listBYOKKeys', tag, summary: "List a workspace's own provider keys", query: listOwnKeysQuery, answer: ownKeysAnswer },
  create: {
    id: 'createBYOKKey',
    tag,
    summary: 'Store a provider key; it is encrypted',
    body: createOwnKeyBody,
    status: 201,
    answer: ownKeyAnswer,
    errors: SECRET_KEY_CHANGED,
  },
  get: { id: 'getBYOKKey', tag, summary: 'Read a provider key, without the key', params: ownKeyParam, answer: ownKeyAnswer },
  update: {
    id: 'updateBYOKKey',
    tag,
    summary: 'Change a provider key',
    params: ownKeyParam,
    body: updateOwnKeyBody,
    answer: ownKeyAnswer,
    errors: SECRET_KEY_CHANGED,
  },
  remove: { id: 'deleteBYOKKey', tag, summary: 'Delete a provider key', params: ownKeyParam, answer: deletedAnswer },
} satisfies { readonly [name: string]: RouteDoc }

type Fields = Omit<z.output<typeof updateOwnKeyBody>, 'key'>

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
export function byokRoutes({ ownKeys, providerNamed, operatorPays, hasKey }: ByokRouteOptions): ManagementRoutes {
  /** With a mistyped hash, or one of another workspace, the caller would silently be served at the gateway's expense. */
  const needKeys = async ({ allowed_api_key_hashes: hashes }: Fields, workspaceId: string): Promise<void> => {
    for (const [index, hash] of (hashes ?? []).entries()) {
      if (await hasKey(hash, workspaceId)) continue
      const path = `allowed_api_key_hashes[${index}]`
      throw new GatewayError('invalid_request', `${path}: the workspace has no key with the hash "${hash}"`, { path })
    }
  }

  const find = async (request: FastifyRequest<{ Params: { id: string } }>): Promise<StoredOwnKey> => {
    const found = await ownKeys.get(request.params.id, scopeOf(request))
    if (found === undefined) throw notFound()
    return found
  }

  return (app) => {
    app.get('/api/v1/byok', { config: { doc: docs.list } }, async (request): Promise<z.output<typeof ownKeysAnswer>> => {
      const { offset, limit, workspace_id, provider: named } = parseQuery(listOwnKeysQuery, request)
      const workspaceId = workspaceWanted(request, workspace_id)
      const provider = named === undefined ? undefined : (providerNamed(named) ?? named)
      const all = await ownKeys.list({ workspaceId, ...(provider === undefined ? {} : { provider }) })
      return { data: pageOf(all, offset, limit).map(presentOwnKey), total_count: all.length }
    })

    app.post('/api/v1/byok', { config: { doc: docs.create } }, async (request, reply) => {
      const body = parseBody(createOwnKeyBody, request)
      const provider = providerNamed(body.provider)
      if (provider === undefined)
        throw new GatewayError('invalid_request', `provider: "${body.provider}" is no provider of this gateway`, { path: 'provider' })
      if (operatorPays(provider))
        throw new GatewayError('invalid_request', `provider: keys of workspaces are not used at "${provider}": a header of its operator pays there`, {
          path: 'provider',
        })
      const workspaceId = workspaceForNew(request, body.workspace_id)
      await needKeys(body, workspaceId)
      const created = await unlessNoWorkspace(
        ownKeys.create({
          ...changeIn(body),
          provider,
          secret: new Secret(body.key.trim()),
          workspaceId,
        }),
      )
      return reply.code(201).send({ data: presentOwnKey(created) })
    })

    app.get<{ Params: { id: string } }>('/api/v1/byok/:id', { config: { doc: docs.get } }, async (request) => ({
      data: presentOwnKey(await find(request)),
    }))

    app.patch<{ Params: { id: string } }>('/api/v1/byok/:id', { config: { doc: docs.update } }, async (request) => {
      const { key: secret, ...body } = parseBody(updateOwnKeyBody, request)
      const before = await find(request)
      await needKeys(body, before.workspaceId)
      const changed = await ownKeys.update(
        before.id,
        { ...changeIn(body), ...(secret === undefined ? {} : { secret: new Secret(secret.trim()) }) },
        scopeOf(request),
      )
      return { data: presentOwnKey(changed) }
    })

    app.delete<{ Params: { id: string } }>('/api/v1/byok/:id', { config: { doc: docs.remove } }, async (request) => {
      await ownKeys.remove(request.params.id, scopeOf(request))
      return { deleted: true }
    })
  }
}
