import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { KeyAccounts } from '../../core/account.ts'
import { earlierSecretsOf } from '../../core/api-key.ts'
import type { Owner } from '../../core/call.ts'
import type { CallLimits } from '../../core/call-limits.ts'
import { GatewayError, isGatewayError } from '../../core/error.ts'
import type { ApiKey, SpendFigures } from '../../core/store.ts'
import { callerOf, type ManagementRoutes } from './app.ts'
import {
  createdKeyAnswer,
  createKeyBody,
  currentKeyAnswer,
  keyAnswer,
  keysAnswer,
  listKeysQuery,
  presentCurrentKey,
  presentKey,
  rotateKeyBody,
  updateKeyBody,
} from './key-shapes.ts'
import { deletedAnswer, parseBody, parseInput, parseQuery, scopeOf, unlessNoWorkspace, workspaceForNew, workspaceWanted } from './request-input.ts'
import type { RouteDoc } from './route-doc.ts'
import { NO_SPENDING } from './spent-fields.ts'

export interface KeyRouteOptions {
  readonly accounts: KeyAccounts
  /** What keys have spent, by hash; keys that spent nothing are absent. Waits for records that are on their way, so it is current. */
  readonly spendOf: (hashes: readonly string[]) => Promise<ReadonlyMap<string, SpendFigures>>
  /** The limits of a key's calls; undefined if there are none. */
  readonly limitsOf: (owner: Owner) => CallLimits | undefined
  /** Whether the configuration refers to keys by this name, so that a tenant may not give it up. */
  readonly bindsName: (name: string) => boolean
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

const PAGE = 100

const tag = 'Keys'
const docs = {
  list: { id: 'list', tag, summary: `List inference keys, ${PAGE} at a time`, query: listKeysQuery, answer: keysAnswer },
  create: { id: 'createKeys', tag, summary: 'Create an inference key', body: createKeyBody, status: 201, answer: createdKeyAnswer },
  get: { id: 'getKey', tag, summary: 'Read a key', answer: keyAnswer },
  update: { id: 'updateKeys', tag, summary: 'Change a key; null removes a limit', body: updateKeyBody, answer: keyAnswer },
  rotate: {
    id: 'rotateKey',
    tag,
    summary: 'Give a key a new secret; earlier ones work until the grace period is over',
    body: rotateKeyBody,
    answer: createdKeyAnswer,
    errors: { 409: 'The key has expired, comes from a variable, or has too many earlier secrets that still work.' },
  },
  endGrace: { id: 'deleteKeyPreviousSecrets', tag, summary: 'End all secrets of a key but the newest', answer: keyAnswer },
  remove: { id: 'deleteKeys', tag, summary: 'Revoke a key', answer: deletedAnswer },
  current: { id: 'getCurrentKey', tag, summary: 'Read the key of the request', answer: currentKeyAnswer },
  currentByOldName: { id: 'getCurrentKeyByOldName', tag, summary: 'The same, under the path that older clients use', answer: currentKeyAnswer },
} satisfies { readonly [name: string]: RouteDoc }

type LimitFields = z.output<typeof updateKeyBody>

/** The settings that a body changes; null removes one. */
function settingsIn(body: LimitFields): { readonly [name: string]: unknown } {
  const settings: Record<string, unknown> = {}
  for (const field of ['limit', 'limit_reset', 'include_byok_in_limit', 'rate_limits'] as const)
    if (body[field] !== undefined) settings[field] = body[field]
  return settings
}

const timeIn = (written: string | null | undefined): number | null => (written == null ? null : Date.parse(written))

const withoutNulls = (settings: { readonly [name: string]: unknown }): { readonly [name: string]: unknown } =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null))

const notFound = (): GatewayError => new GatewayError('not_found', 'There is no such key')

/** A key that was revoked after it was found no longer exists for callers, and the contract has no 409 here. */
async function unlessRevoked<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw isGatewayError(error) && error.errorType === 'conflict' ? notFound() : error
  }
}

type Presenter = (key: ApiKey) => z.output<typeof keyAnswer>['data']

/** Reads what these keys spent and when they were used. Resolves with what shows them with it, and with their earlier secrets that still work. */
const presenterOf =
  ({ accounts, spendOf, now }: KeyRouteOptions) =>
  async (hashes: readonly string[]): Promise<Presenter> => {
    const [spend, uses] = await Promise.all([spendOf(hashes), accounts.usesOf(hashes)])
    const usesByKey = Map.groupBy(uses, ({ keyHash }) => keyHash)
    return (key) =>
      presentKey(key, {
        spend: spend.get(key.hash) ?? NO_SPENDING,
        uses: usesByKey.get(key.hash) ?? [],
        earlier: earlierSecretsOf(key, now()),
      })
  }

const presentNew: Presenter = (key) => presentKey(key, { spend: NO_SPENDING, uses: [], earlier: [] })

/** `/api/v1/keys` and `/api/v1/key`. Only inference keys are listed and changed here; management keys are managed by command line. */
export function keyRoutes(options: KeyRouteOptions): ManagementRoutes {
  const { accounts } = options
  const presenter = presenterOf(options)
  const one = async (key: ApiKey): Promise<ReturnType<Presenter>> => (await presenter([key.hash]))(key)
  const find = async (hash: string, scope: string | undefined): Promise<ApiKey> => {
    const key = await accounts.get(hash, scope)
    if (key === undefined || key.kind !== 'inference' || key.revokedAt !== null) throw notFound()
    return key
  }

  return (app) => {
    app.get('/api/v1/keys', { config: { doc: docs.list } }, async (request): Promise<z.output<typeof keysAnswer>> => {
      const query = parseQuery(listKeysQuery, request)
      const workspaceId = workspaceWanted(request, query.workspace_id)
      const disabledToo = query.include_disabled === 'true' || query.include_disabled === '1'
      const keys = await accounts.page({ workspaceId, kind: 'inference', disabledToo, offset: query.offset, limit: PAGE })
      const present = await presenter(keys.map(({ hash }) => hash))
      return { data: keys.map(present) }
    })

    app.post('/api/v1/keys', { config: { doc: docs.create } }, async (request, reply) => {
      const body = parseBody(createKeyBody, request)
      const { key, secret } = await unlessNoWorkspace(
        accounts.create({
          name: body.name,
          kind: 'inference',
          workspaceId: workspaceForNew(request, body.workspace_id),
          expiresAt: timeIn(body.expires_at),
          creatorUserId: body.creator_user_id === undefined ? (callerOf(request).owner.userId ?? null) : body.creator_user_id,
          settings: withoutNulls(settingsIn(body)),
        }),
      )
      return reply.code(201).send({ data: presentNew(key), key: secret.reveal() } satisfies z.output<typeof createdKeyAnswer>)
    })

    app.get<{ Params: { hash: string } }>(
      '/api/v1/keys/:hash',
      { config: { doc: docs.get } },
      async (request): Promise<z.output<typeof keyAnswer>> => ({ data: await one(await find(request.params.hash, scopeOf(request))) }),
    )

    app.patch<{ Params: { hash: string } }>(
      '/api/v1/keys/:hash',
      { config: { doc: docs.update } },
      async (request): Promise<z.output<typeof keyAnswer>> => {
        const body = parseBody(updateKeyBody, request)
        const { hash, name } = await find(request.params.hash, scopeOf(request))
        // A rule in the configuration refers to the key by name; its owner must not escape the rule by renaming.
        if (body.name !== undefined && body.name !== name && scopeOf(request) !== undefined && options.bindsName(name))
          throw new GatewayError(
            'permission_denied',
            'A guardrail of the configuration names this key: only a management key of the default workspace can rename it',
            { path: 'name' },
          )
        const key = await unlessRevoked(
          accounts.update(hash, {
            ...(body.name === undefined ? {} : { name: body.name }),
            ...(body.disabled === undefined ? {} : { disabled: body.disabled }),
            ...(body.expires_at === undefined ? {} : { expiresAt: timeIn(body.expires_at) }),
            settings: settingsIn(body),
          }),
        )
        return { data: await one(key) }
      },
    )

    app.post<{ Params: { hash: string } }>(
      '/api/v1/keys/:hash/rotate',
      { config: { doc: docs.rotate } },
      async (request): Promise<z.output<typeof createdKeyAnswer>> => {
        const { grace_seconds: graceSeconds } = parseInput(rotateKeyBody, request.body ?? {})
        const { hash } = await find(request.params.hash, scopeOf(request))
        // Read before: a failure afterwards would lose the secret, when earlier ones may have ended.
        const present = await presenter([hash])
        const { key, secret } = await accounts.rotate(hash, graceSeconds * 1_000)
        return { data: present(key), key: secret.reveal() }
      },
    )

    app.delete<{ Params: { hash: string } }>(
      '/api/v1/keys/:hash/previous-secrets',
      { config: { doc: docs.endGrace } },
      async (request): Promise<z.output<typeof keyAnswer>> => {
        const { hash } = await find(request.params.hash, scopeOf(request))
        return { data: await one(await unlessRevoked(accounts.endGrace(hash))) }
      },
    )

    app.delete<{ Params: { hash: string } }>('/api/v1/keys/:hash', { config: { doc: docs.remove } }, async (request) => {
      const { hash } = await find(request.params.hash, scopeOf(request))
      await accounts.revoke(hash)
      return { deleted: true }
    })

    const current = async (request: FastifyRequest): Promise<ReturnType<typeof presentCurrentKey>> => {
      const { key, owner } = callerOf(request)
      const spend = (await options.spendOf([key.hash])).get(key.hash) ?? NO_SPENDING
      const sent = key.secrets?.find(({ hash }) => hash === (owner.secretHash ?? owner.keyHash))
      return presentCurrentKey(key, spend, options.limitsOf(owner) ?? [], sent)
    }
    app.get('/api/v1/key', { config: { access: 'any', doc: docs.current } }, current)
    app.get('/api/v1/auth/key', { config: { access: 'any', doc: docs.currentByOldName } }, current)
  }
}
