import type { DestinationAccounts, TestResult } from '../../core/destination-account.ts'
import { GatewayError } from '../../core/error.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ManagementRoutes } from './app.ts'
import { destinationDocs, type DestinationTypes } from './destination-docs.ts'
import {
  presentDestination,
  presentLetter,
  presentStatus,
  readCreate,
  readLetters,
  readLettersPage,
  readPage,
  readUpdate,
} from './destination-shapes.ts'
import { scopeOf, workspaceForNew, workspaceWanted } from './request-input.ts'

const BASE = '/api/v1/observability/destinations'

interface ById {
  readonly Params: { readonly id: string }
}

/**
 * `/api/v1/observability/destinations`: the contract's five operations, and ours beside them (test, send-test, status, dead letters, pause).
 * Management keys only. Keys of the default workspace are the operator's and reach every workspace; others see only their own.
 */
export function destinationRoutes(accounts: DestinationAccounts, known: DestinationTypes): ManagementRoutes {
  const docs = destinationDocs(known)
  return (app) => {
    app.post(BASE, { config: { doc: docs.create } }, async (request, reply) => {
      const { workspaceId, ...wanted } = readCreate(request.body)
      const destination = await accounts.create({ ...wanted, workspaceId: workspaceForNew(request, workspaceId) })
      return reply.code(201).send({ data: presentDestination(destination) })
    })
    app.get(BASE, { config: { doc: docs.list } }, async (request) => {
      const { workspaceId, ...page } = readPage(request.query)
      const { destinations, total } = await accounts.list({ ...page, workspaceId: workspaceWanted(request, workspaceId) })
      return { data: destinations.map(presentDestination), total_count: total }
    })
    app.get<ById>(`${BASE}/:id`, { config: { doc: docs.get } }, async (request) => ({
      data: presentDestination(await accounts.get(request.params.id, scopeOf(request))),
    }))
    app.patch<ById>(`${BASE}/:id`, { config: { doc: docs.update } }, async (request) => {
      const { fixed, change } = readUpdate(request.body)
      const scope = scopeOf(request)
      const before = Object.keys(fixed).length === 0 ? undefined : await accounts.get(request.params.id, scope)
      for (const [field, value] of [
        ['type', fixed.type],
        ['workspace_id', fixed.workspaceId],
      ] as const) {
        const current = field === 'type' ? before?.type : before?.workspaceId
        if (value !== undefined && value !== current)
          throw new GatewayError('invalid_request', `${field}: cannot change; create another destination`, { path: field })
      }
      return { data: presentDestination(await accounts.update(request.params.id, change, scope)) }
    })
    app.delete<ById>(`${BASE}/:id`, { config: { doc: docs.remove } }, async (request) => {
      await accounts.remove(request.params.id, scopeOf(request))
      return { deleted: true }
    })
  }
}

/** Not in the contract: how a destination is doing, and what to do about it. */
export function destinationOperations(accounts: DestinationAccounts, clock: Clock, known: DestinationTypes): ManagementRoutes {
  const docs = destinationDocs(known)
  return (app) => {
    app.post<ById>(`${BASE}/:id/test`, { config: { doc: docs.test, asksElsewhere: true } }, async (request) => ({
      data: presentTest(await accounts.test(request.params.id, scopeOf(request))),
    }))
    app.post<ById>(`${BASE}/:id/send-test`, { config: { doc: docs.sendTest, asksElsewhere: true } }, async (request) => ({
      data: presentTest(await accounts.sendTest(request.params.id, scopeOf(request))),
    }))
    app.get<ById>(`${BASE}/:id/status`, { config: { doc: docs.status } }, async (request) => ({
      data: presentStatus(await accounts.status(request.params.id, scopeOf(request)), clock.now()),
    }))
    for (const [action, paused] of [
      ['pause', true],
      ['resume', false],
    ] as const) {
      app.post<ById>(`${BASE}/:id/${action}`, { config: { doc: docs[action] } }, async (request) => {
        await accounts.update(request.params.id, { paused }, scopeOf(request))
        return { data: presentStatus(await accounts.status(request.params.id, scopeOf(request)), clock.now()) }
      })
    }
    app.get<ById>(`${BASE}/:id/dead-letters`, { config: { doc: docs.letters } }, async (request) => {
      const { letters, total } = await accounts.deadLetters(request.params.id, readLettersPage(request.query), scopeOf(request))
      return { data: letters.map(presentLetter), total_count: total }
    })
    app.post<ById>(`${BASE}/:id/dead-letters/replay`, { config: { doc: docs.replay } }, async (request) => ({
      replayed: await accounts.replay(request.params.id, readLetters(request.body), scopeOf(request)),
    }))
    app.post<ById>(`${BASE}/:id/dead-letters/purge`, { config: { doc: docs.purge } }, async (request) => ({
      purged: await accounts.purge(request.params.id, readLetters(request.body), scopeOf(request)),
    }))
  }
}

function presentTest({ ok, steps }: TestResult) {
  return { ok, steps: steps.map(({ latencyMs, ...step }) => ({ ...step, latency_ms: latencyMs })) }
}
