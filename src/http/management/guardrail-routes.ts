import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { GuardrailAccounts, GuardrailAssignment } from '../../core/guardrail.ts'
import type { ApiKey } from '../../core/store.ts'
import { defined } from '../../lib/defined.ts'
import { callerOf, type ManagementRoutes } from './app.ts'
import {
  assignedAnswer,
  assignmentsAnswer,
  createGuardrailBody,
  guardrailAnswer,
  guardrailsAnswer,
  idParams,
  keyHashesBody,
  listGuardrailsQuery,
  pageQuery,
  presentAssignment,
  presentGuardrail,
  unassignedAnswer,
  updateGuardrailBody,
} from './guardrail-shapes.ts'
import { deletedAnswer, pageOf, parseBody, parseQuery, scopeOf, unlessNoWorkspace, workspaceForNew, workspaceWanted } from './request-input.ts'
import type { RouteDoc } from './route-doc.ts'

export interface GuardrailRouteOptions {
  readonly guardrails: GuardrailAccounts
  /** Includes revoked keys, whose assignments stay in the lists. */
  readonly keyOf: (hash: string) => Promise<ApiKey | undefined>
}

const tag = 'Guardrails'
const params = idParams
const docs = {
  list: {
    id: 'listGuardrails',
    tag,
    summary: "List guardrails, the workspace's default first",
    query: listGuardrailsQuery,
    answer: guardrailsAnswer,
  },
  create: {
    id: 'createGuardrail',
    tag,
    summary: 'Create a guardrail; it applies to the keys it is assigned to',
    body: createGuardrailBody,
    status: 201,
    answer: guardrailAnswer,
  },
  get: { id: 'getGuardrail', tag, summary: 'Read a guardrail', params, answer: guardrailAnswer },
  update: {
    id: 'updateGuardrail',
    tag,
    summary: 'Change a guardrail; null removes a rule',
    params,
    body: updateGuardrailBody,
    answer: guardrailAnswer,
  },
  remove: { id: 'deleteGuardrail', tag, summary: 'Delete a guardrail; a default one only loses its rules', params, answer: deletedAnswer },
  allKeys: { id: 'listKeyAssignments', tag, summary: 'List which keys have guardrails', query: pageQuery, answer: assignmentsAnswer },
  keys: { id: 'listGuardrailKeyAssignments', tag, summary: 'List the keys of a guardrail', params, query: pageQuery, answer: assignmentsAnswer },
  assign: {
    id: 'bulkAssignKeysToGuardrail',
    tag,
    summary: 'Assign keys to a guardrail, replacing the one they had',
    params,
    body: keyHashesBody,
    answer: assignedAnswer,
  },
  unassign: {
    id: 'bulkUnassignKeysFromGuardrail',
    tag,
    summary: 'Remove keys from a guardrail',
    params,
    body: keyHashesBody,
    answer: unassignedAnswer,
  },
} satisfies { readonly [name: string]: RouteDoc }

/** Not validated: a malformed id is simply not found. */
const idOf = (request: FastifyRequest): string => (request.params as { readonly id: string }).id

/** `/api/v1/guardrails`. */
export function guardrailRoutes({ guardrails, keyOf }: GuardrailRouteOptions): ManagementRoutes {
  const presentPage = async (request: FastifyRequest, all: readonly GuardrailAssignment[]): Promise<z.output<typeof assignmentsAnswer>> => {
    const { offset, limit } = parseQuery(pageQuery, request)
    const data = await Promise.all(pageOf(all, offset, limit).map(async (one) => presentAssignment(one, await keyOf(one.keyHash))))
    return { data, total_count: all.length }
  }
  return (app) => {
    app.get('/api/v1/guardrails', { config: { doc: docs.list } }, async (request): Promise<z.output<typeof guardrailsAnswer>> => {
      const { offset, limit, workspace_id } = parseQuery(listGuardrailsQuery, request)
      const all = await guardrails.list(workspaceWanted(request, workspace_id))
      return { data: pageOf(all, offset, limit).map(presentGuardrail), total_count: all.length }
    })

    app.post('/api/v1/guardrails', { config: { doc: docs.create } }, async (request, reply) => {
      const { name, description, workspace_id, ...rules } = parseBody(createGuardrailBody, request)
      const created = await unlessNoWorkspace(
        guardrails.create({
          workspaceId: workspaceForNew(request, workspace_id),
          name,
          description: description ?? null,
          rules,
        }),
      )
      return reply.code(201).send({ data: presentGuardrail(created) } satisfies z.output<typeof guardrailAnswer>)
    })

    app.get('/api/v1/guardrails/:id', { config: { doc: docs.get } }, async (request): Promise<z.output<typeof guardrailAnswer>> => ({
      data: presentGuardrail(await guardrails.get(idOf(request), scopeOf(request))),
    }))

    app.patch('/api/v1/guardrails/:id', { config: { doc: docs.update } }, async (request): Promise<z.output<typeof guardrailAnswer>> => {
      const { name, description, ...rules } = parseBody(updateGuardrailBody, request)
      return { data: presentGuardrail(await guardrails.update(idOf(request), { ...defined({ name, description }), rules }, scopeOf(request))) }
    })

    app.delete('/api/v1/guardrails/:id', { config: { doc: docs.remove } }, async (request): Promise<z.output<typeof deletedAnswer>> => {
      await guardrails.remove(idOf(request), scopeOf(request))
      return { deleted: true }
    })

    app.get('/api/v1/guardrails/assignments/keys', { config: { doc: docs.allKeys } }, async (request) =>
      presentPage(request, await guardrails.assignments(scopeOf(request))),
    )

    app.get('/api/v1/guardrails/:id/assignments/keys', { config: { doc: docs.keys } }, async (request) =>
      presentPage(request, await guardrails.assignments(scopeOf(request), idOf(request))),
    )

    app.post(
      '/api/v1/guardrails/:id/assignments/keys',
      { config: { doc: docs.assign } },
      async (request): Promise<z.output<typeof assignedAnswer>> => {
        const { key_hashes: hashes } = parseBody(keyHashesBody, request)
        return { assigned_count: await guardrails.assign(idOf(request), hashes, callerOf(request).owner.userId ?? null, scopeOf(request)) }
      },
    )

    app.post(
      '/api/v1/guardrails/:id/assignments/keys/remove',
      { config: { doc: docs.unassign } },
      async (request): Promise<z.output<typeof unassignedAnswer>> => {
        const { key_hashes: hashes } = parseBody(keyHashesBody, request)
        return { unassigned_count: await guardrails.unassign(idOf(request), hashes, scopeOf(request)) }
      },
    )
  }
}
