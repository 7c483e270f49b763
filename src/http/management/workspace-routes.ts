import type { z } from 'zod'
import type { FastifyRequest } from 'fastify'
import { GatewayError, isGatewayError } from '../../core/error.ts'
import type { SpendFigures, Workspace, WorkspaceStore } from '../../core/store.ts'
import { callerOf, type ManagementRoutes } from './app.ts'
import { rateLimitMark } from './operators-limits.ts'
import { deletedAnswer, pageOf, parseBody, parseQuery, scopeOf } from './request-input.ts'
import type { RouteDoc } from './route-doc.ts'
import { NO_SPENDING } from './spent-fields.ts'
import {
  createWorkspaceBody,
  listWorkspacesQuery,
  presentWorkspace,
  updateWorkspaceBody,
  workspaceAnswer,
  workspacesAnswer,
} from './workspace-shapes.ts'

export interface WorkspaceRouteOptions {
  readonly workspaces: WorkspaceStore
  /** What workspaces have spent, by id; those that spent nothing are absent. Waits for records that are on their way, so it is current. */
  readonly spendOf: (ids: readonly string[]) => Promise<ReadonlyMap<string, SpendFigures>>
  /** Applies a change to what the hot path reads. */
  readonly refresh: () => Promise<void>
  readonly newId: () => string
  readonly now: () => number
  /** Whether the configuration refers to workspaces by this slug, so that a tenant may not give it up. */
  readonly bindsSlug: (slug: string) => boolean
}

const tag = 'Workspaces'
const docs = {
  list: { id: 'listWorkspaces', tag, summary: 'List workspaces', query: listWorkspacesQuery, answer: workspacesAnswer },
  create: { id: 'createWorkspace', tag, summary: 'Create a workspace', body: createWorkspaceBody, status: 201, answer: workspaceAnswer },
  get: { id: 'getWorkspace', tag, summary: 'Read a workspace, by id or slug', answer: workspaceAnswer },
  update: { id: 'updateWorkspace', tag, summary: 'Change a workspace', body: updateWorkspaceBody, answer: workspaceAnswer },
  remove: {
    id: 'deleteWorkspace',
    tag,
    summary: 'Delete a workspace with its keys',
    answer: deletedAnswer,
    errors: { 400: 'The default workspace stays.' },
  },
} satisfies { readonly [name: string]: RouteDoc }

type Fields = z.output<typeof updateWorkspaceBody>

/** A workspace by id or slug, within the caller's reach. Throws `not_found`. */
export async function findWorkspace(workspaces: WorkspaceStore, request: FastifyRequest<{ Params: { id: string } }>): Promise<Workspace> {
  const { id } = request.params
  const scope = scopeOf(request)
  const found = (await workspaces.get(id)) ?? (await workspaces.list()).find((workspace) => workspace.slug === id)
  if (found === undefined || (scope !== undefined && found.id !== scope)) throw new GatewayError('not_found', 'There is no such workspace')
  return found
}

/** `/api/v1/workspaces` and `/api/v1/workspaces/{id}`. */
export function workspaceRoutes({ workspaces, spendOf, refresh, newId, now, bindsSlug }: WorkspaceRouteOptions): ManagementRoutes {
  const presentAll = async (found: readonly Workspace[]): Promise<z.output<typeof workspacesAnswer>['data']> => {
    const spend = await spendOf(found.map(({ id }) => id))
    return found.map((workspace) => presentWorkspace(workspace, spend.get(workspace.id) ?? NO_SPENDING))
  }
  const present = async (workspace: Workspace): Promise<z.output<typeof workspaceAnswer>['data']> => (await presentAll([workspace]))[0]!

  return (app) => {
    app.get('/api/v1/workspaces', { config: { doc: docs.list } }, async (request): Promise<z.output<typeof workspacesAnswer>> => {
      const { offset, limit } = parseQuery(listWorkspacesQuery, request)
      const scope = scopeOf(request)
      const all = (await workspaces.list()).filter(({ id }) => scope === undefined || id === scope)
      return { data: await presentAll(pageOf(all, offset, limit)), total_count: all.length }
    })

    app.post('/api/v1/workspaces', { config: { doc: docs.create } }, async (request, reply) => {
      const body = parseBody(createWorkspaceBody, request)
      if (scopeOf(request) !== undefined)
        throw new GatewayError('permission_denied', 'Only a management key of the default workspace can create workspaces')
      const at = now()
      const workspace: Workspace = {
        id: newId(),
        slug: body.slug,
        name: body.name,
        description: body.description ?? null,
        isDefault: false,
        createdAt: at,
        updatedAt: at,
        settings: { ...settingsIn(body), ...rateLimitMark(request, {}, body.rate_limits), created_by: callerOf(request).owner.userId ?? null },
      }
      await unlessTaken(workspaces.insert(workspace))
      await refresh()
      return reply.code(201).send({ data: presentWorkspace(workspace, NO_SPENDING) })
    })

    app.get<{ Params: { id: string } }>('/api/v1/workspaces/:id', { config: { doc: docs.get } }, async (request) => ({
      data: await present(await findWorkspace(workspaces, request)),
    }))

    app.patch<{ Params: { id: string } }>('/api/v1/workspaces/:id', { config: { doc: docs.update } }, async (request) => {
      const body = parseBody(updateWorkspaceBody, request)
      const { id, slug } = await findWorkspace(workspaces, request)
      // A rule in the configuration refers to the workspace by slug; its owner must not escape the rule by renaming.
      if (body.slug !== undefined && body.slug !== slug && scopeOf(request) !== undefined && bindsSlug(slug))
        throw new GatewayError(
          'permission_denied',
          'A guardrail of the configuration names this workspace by its slug: only a management key of the default workspace can change it',
          { path: 'slug' },
        )
      const changed = await unlessTaken(
        workspaces.modify(id, ({ settings, updatedAt }) => ({
          ...(body.name === undefined ? {} : { name: body.name }),
          ...(body.slug === undefined ? {} : { slug: body.slug }),
          ...(body.description === undefined ? {} : { description: body.description }),
          settings: { ...settings, ...settingsIn(body), ...rateLimitMark(request, settings, body.rate_limits) },
          updatedAt: Math.max(now(), updatedAt),
        })),
      )
      if (changed === undefined) throw new GatewayError('not_found', 'There is no such workspace')
      await refresh()
      return { data: await present(changed) }
    })

    app.delete<{ Params: { id: string } }>('/api/v1/workspaces/:id', { config: { doc: docs.remove } }, async (request) => {
      const workspace = await findWorkspace(workspaces, request)
      if (workspace.isDefault) throw new GatewayError('invalid_request', 'The default workspace cannot be deleted')
      if (workspace.id === callerOf(request).owner.workspaceId)
        throw new GatewayError('permission_denied', 'A key cannot delete the workspace it belongs to')
      await workspaces.remove(workspace.id)
      await refresh()
      return { deleted: true }
    })
  }
}

/** A slug that is taken is an error in the body, because the contract has no 409 here. */
async function unlessTaken<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!isGatewayError(error) || error.errorType !== 'conflict') throw error
    throw new GatewayError('invalid_request', 'slug: another workspace has it already', { path: 'slug' })
  }
}

const SETTINGS = [
  'default_text_model',
  'default_image_model',
  'default_provider_sort',
  'io_logging_api_key_ids',
  'io_logging_sampling_rate',
  'is_data_discount_logging_enabled',
  'is_observability_broadcast_enabled',
  'is_observability_io_logging_enabled',
  'rate_limits',
] as const

function settingsIn(body: Fields): { readonly [name: string]: unknown } {
  const settings: Record<string, unknown> = {}
  for (const field of SETTINGS) if (body[field] !== undefined) settings[field] = body[field]
  return settings
}
