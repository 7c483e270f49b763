import { z } from 'zod'
import type { FastifyRequest } from 'fastify'
import { GatewayError, isGatewayError } from '../../core/error.ts'
import type { Workspace, WorkspaceStore } from '../../core/store.ts'
import { uuidFromId } from '../../lib/derived-id.ts'
import { callerOf, type ManagementRoutes } from './app.ts'
import { rateLimitsField } from './key-routes.ts'
import { isoTime, limitField, offsetField, pageOf, parseBody, parseQuery, scopeOf } from './request-input.ts'

export interface WorkspaceRouteOptions {
  readonly workspaces: WorkspaceStore
  /** Brings what the hot path knows up to date with a change. */
  readonly refresh: () => Promise<void>
  readonly newId: () => string
  readonly now: () => number
}

const fields = {
  description: z.string().max(500).nullable().optional(),
  default_text_model: z.string().max(256).nullable().optional(),
  default_image_model: z.string().max(256).nullable().optional(),
  default_provider_sort: z.string().max(64).nullable().optional(),
  io_logging_api_key_ids: z
    .array(z.union([z.int(), z.string().max(128)]))
    .max(1_000)
    .nullable()
    .optional(),
  io_logging_sampling_rate: z.number().min(0).max(1).optional(),
  is_data_discount_logging_enabled: z.boolean().optional(),
  is_observability_broadcast_enabled: z.boolean().optional(),
  is_observability_io_logging_enabled: z.boolean().optional(),
  rate_limits: rateLimitsField,
}
const slug = z
  .string()
  .min(1)
  .max(50)
  .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, 'lower-case letters and digits in groups joined by single dashes')
const name = z.string().min(1).max(100)
const createBody = z.strictObject({ name, slug, ...fields })
const updateBody = z.strictObject({ name: name.optional(), slug: slug.optional(), ...fields })
const listQuery = z.object({ offset: offsetField, limit: limitField })

type Fields = z.output<typeof updateBody>

/** A workspace by id or slug, within the caller's reach. Throws `not_found`. */
export async function findWorkspace(workspaces: WorkspaceStore, request: FastifyRequest<{ Params: { id: string } }>): Promise<Workspace> {
  const { id } = request.params
  const scope = scopeOf(request)
  const found = (await workspaces.get(id)) ?? (await workspaces.list()).find((workspace) => workspace.slug === id)
  if (found === undefined || (scope !== undefined && found.id !== scope)) throw new GatewayError('not_found', 'There is no such workspace')
  return found
}

/** `/api/v1/workspaces` and `/api/v1/workspaces/{id}`. */
export function workspaceRoutes({ workspaces, refresh, newId, now }: WorkspaceRouteOptions): ManagementRoutes {
  return (app) => {
    app.get('/api/v1/workspaces', async (request) => {
      const { offset, limit } = parseQuery(listQuery, request)
      const scope = scopeOf(request)
      const all = (await workspaces.list()).filter(({ id }) => scope === undefined || id === scope)
      return { data: pageOf(all, offset, limit).map(presentWorkspace), total_count: all.length }
    })

    app.post('/api/v1/workspaces', async (request, reply) => {
      const body = parseBody(createBody, request)
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
        settings: { ...settingsIn(body), created_by: callerOf(request).owner.userId ?? null },
      }
      await unlessTaken(workspaces.insert(workspace))
      await refresh()
      return reply.code(201).send({ data: presentWorkspace(workspace) })
    })

    app.get<{ Params: { id: string } }>('/api/v1/workspaces/:id', async (request) => ({
      data: presentWorkspace(await findWorkspace(workspaces, request)),
    }))

    app.patch<{ Params: { id: string } }>('/api/v1/workspaces/:id', async (request) => {
      const body = parseBody(updateBody, request)
      const { id } = await findWorkspace(workspaces, request)
      const changed = await unlessTaken(
        workspaces.modify(id, ({ settings }) => ({
          ...(body.name === undefined ? {} : { name: body.name }),
          ...(body.slug === undefined ? {} : { slug: body.slug }),
          ...(body.description === undefined ? {} : { description: body.description }),
          settings: { ...settings, ...settingsIn(body) },
          updatedAt: now(),
        })),
      )
      if (changed === undefined) throw new GatewayError('not_found', 'There is no such workspace')
      await refresh()
      return { data: presentWorkspace(changed) }
    })

    app.delete<{ Params: { id: string } }>('/api/v1/workspaces/:id', async (request) => {
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

/** A slug that exists is a mistake in the body: the contract knows no 409 here. */
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

/** The contract's workspace. */
function presentWorkspace({ id, slug: own, name: title, description, createdAt, updatedAt, settings }: Workspace): object {
  return {
    id,
    slug: own,
    name: title,
    description,
    default_guardrail_id: uuidFromId(`default guardrail of ${id}`),
    default_text_model: settings['default_text_model'] ?? null,
    default_image_model: settings['default_image_model'] ?? null,
    default_provider_sort: settings['default_provider_sort'] ?? null,
    io_logging_api_key_ids: settings['io_logging_api_key_ids'] ?? null,
    io_logging_sampling_rate: settings['io_logging_sampling_rate'] ?? 1,
    is_data_discount_logging_enabled: settings['is_data_discount_logging_enabled'] ?? false,
    is_observability_broadcast_enabled: settings['is_observability_broadcast_enabled'] ?? true,
    is_observability_io_logging_enabled: settings['is_observability_io_logging_enabled'] ?? false,
    include_byok_in_budgets: settings['include_byok_in_budgets'] === true,
    created_at: isoTime(createdAt),
    updated_at: isoTime(updatedAt),
    created_by: settings['created_by'] ?? null,
    ...(settings['rate_limits'] == null ? {} : { rate_limits: settings['rate_limits'] }),
  }
}
